//! Schemas by which messages are inspected.

use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;

use crate::model::Transportable;
use crate::schema::{Schema, SchemaError, TypeIndex};
use crate::walk::{Plan, Unsound};

/// A set of schemas, keyed by descriptor.
#[derive(Debug, Default)]
pub struct Catalog {
    known: BTreeMap<u64, Rc<Plan>>,
}

impl Catalog {
    /// Adds the schema of a type, and returns its descriptor.
    ///
    /// # Errors
    ///
    /// [`CatalogError::Unsound`] if the sizes and offsets of its types are inconsistent.
    pub fn add(&mut self, schema: &Schema, root: TypeIndex) -> Result<u64, CatalogError> {
        let plan = Plan::spelled(schema, root).map_err(CatalogError::Unsound)?;
        let descriptor = plan.schema().descriptor(plan.root);
        self.known.insert(descriptor, Rc::new(plan));
        Ok(descriptor)
    }

    /// Adds the schema or snapshot that `bytes` encode. The bytes need not be trusted.
    ///
    /// # Errors
    ///
    /// [`CatalogError::Encoding`] if they do not encode a schema; otherwise as for
    /// [`add`](Self::add).
    pub fn add_bytes(&mut self, bytes: &[u8]) -> Result<u64, CatalogError> {
        let (schema, root) = Schema::from_snapshot(bytes).map_err(CatalogError::Encoding)?;
        self.add(&schema, root)
    }

    /// Adds the schema of a type of the program.
    ///
    /// # Errors
    ///
    /// As for [`add`](Self::add). Types that derive their implementation never fail.
    pub fn add_type<T: Transportable + 'static>(&mut self) -> Result<u64, CatalogError> {
        let (schema, root) = Schema::of::<T>();
        self.add(&schema, root)
    }

    /// Returns the descriptors of all schemas, in ascending order.
    pub fn descriptors(&self) -> impl Iterator<Item = u64> + '_ {
        self.known.keys().copied()
    }

    /// Returns a schema and its root.
    #[must_use]
    pub fn get(&self, descriptor: u64) -> Option<(&Schema, TypeIndex)> {
        let plan = self.known.get(&descriptor)?;
        Some((plan.schema(), plan.root))
    }

    /// Returns the name of a schema's root.
    #[must_use]
    pub fn name(&self, descriptor: u64) -> Option<Rc<str>> {
        Some(self.known.get(&descriptor)?.name())
    }

    pub(super) fn plan(&self, descriptor: u64) -> Option<&Rc<Plan>> {
        self.known.get(&descriptor)
    }
}

/// An error of adding a schema.
#[derive(jstream_derive::ErrorDebug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum CatalogError {
    /// The bytes do not encode a schema.
    Encoding(SchemaError),
    /// The schema does not describe a valid type.
    Unsound(Unsound),
}

impl CatalogError {
    /// Returns the offset of the invalid byte, if there is one.
    #[must_use]
    pub fn at(&self) -> Option<usize> {
        match self {
            Self::Encoding(SchemaError::Malformed { at, .. }) => Some(*at),
            Self::Encoding(SchemaError::Version { .. }) => Some(0),
            _ => None,
        }
    }
}

impl fmt::Display for CatalogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Encoding(error) => error.fmt(f),
            Self::Unsound(unsound) => unsound.fmt(f),
        }
    }
}

impl std::error::Error for CatalogError {}
