//! Schemas of the types of the program.

use std::mem::{align_of, size_of};

use super::Schema;
use super::kind::Kind;
use super::link::TypeIndex;
use crate::model::{InPlace, Transportable};

/// Function that adds a type to a schema: [`InPlace::describe`].
pub(crate) type Describe = fn(&mut Schema) -> TypeIndex;

impl Schema {
    /// Returns the schema of a type, and its root.
    #[must_use]
    pub fn of<T: Transportable + 'static>() -> (Self, TypeIndex) {
        Self::of_form::<T::InPlace<'static>>()
    }

    pub(crate) fn of_form<F: InPlace>() -> (Self, TypeIndex) {
        Self::described(F::describe)
    }

    /// Returns the schema that a function adds to an empty one, and its root.
    pub(crate) fn described(describe: Describe) -> (Self, TypeIndex) {
        let mut schema = Self::default();
        let root = describe(&mut schema);
        (schema, root)
    }

    /// Describes the sized type `T`, unless the schema has it already.
    #[doc(hidden)]
    pub fn define<T: InPlace>(
        &mut self,
        name: impl Into<String>,
        kind: impl FnOnce(&mut Self) -> Kind,
    ) -> TypeIndex {
        self.define_as(
            typeid::of::<T>(),
            size_of::<T>(),
            align_of::<T>(),
            name,
            kind,
        )
    }
}
