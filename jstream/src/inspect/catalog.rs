//! The schemas that messages are looked at by.

use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;

use crate::model::Transportable;
use crate::schema::{Schema, SchemaError, TypeIndex};
use crate::walk::{Plan, Unsound};

/// Schemas, by their descriptors.
#[derive(Debug, Default)]
pub struct Catalog {
    known: BTreeMap<u64, Rc<Plan>>,
}

impl Catalog {
    /// Adds the schema of a type, and gives its descriptor.
    ///
    /// # Errors
    ///
    /// When no walk can go by it, because sizes and places of its types don't fit one another.
    pub fn add(&mut self, schema: &Schema, root: TypeIndex) -> Result<u64, CatalogError> {
        let plan = Plan::spelled(schema, root).map_err(CatalogError::Unsound)?;
        let descriptor = plan.schema().descriptor(plan.root);
        self.known.insert(descriptor, Rc::new(plan));
        Ok(descriptor)
    }

    /// Adds the schema that these bytes encode. They may come from anywhere.
    ///
    /// # Errors
    ///
    /// When they encode none, and as for [`add`](Self::add).
    pub fn add_bytes(&mut self, bytes: &[u8]) -> Result<u64, CatalogError> {
        let (schema, root) = Schema::from_bytes(bytes).map_err(CatalogError::Encoding)?;
        self.add(&schema, root)
    }

    /// Adds the schema of a type of the program.
    ///
    /// # Errors
    ///
    /// As for [`add`](Self::add); not for types that derive their implementation.
    pub fn add_type<T: Transportable + 'static>(&mut self) -> Result<u64, CatalogError> {
        let (schema, root) = Schema::of::<T>();
        self.add(&schema, root)
    }

    /// The descriptors of all schemas, in ascending order.
    pub fn descriptors(&self) -> impl Iterator<Item = u64> + '_ {
        self.known.keys().copied()
    }

    /// A schema, and its root.
    #[must_use]
    pub fn get(&self, descriptor: u64) -> Option<(&Schema, TypeIndex)> {
        let plan = self.known.get(&descriptor)?;
        Some((plan.schema(), plan.root))
    }

    /// The name of a schema's root.
    #[must_use]
    pub fn name(&self, descriptor: u64) -> Option<Rc<str>> {
        Some(self.known.get(&descriptor)?.name())
    }

    pub(super) fn plan(&self, descriptor: u64) -> Option<&Rc<Plan>> {
        self.known.get(&descriptor)
    }
}

/// Why a schema was not added.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum CatalogError {
    /// The bytes encode none.
    Encoding(SchemaError),
    /// It is that of no type.
    Unsound(Unsound),
}

impl CatalogError {
    /// The byte that is wrong, where there is one.
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
