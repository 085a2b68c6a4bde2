//! Schemas of the types of the program.

use std::mem::{align_of, size_of};

use super::link::TypeIndex;
use super::{Schema, TypeKey};
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

    /// Returns the key and the layout of the sized type `T`.
    #[doc(hidden)]
    #[must_use]
    pub fn key_of<T: InPlace>() -> TypeKey {
        TypeKey {
            id: typeid::of::<T>(),
            size: size_of::<T>(),
            align: align_of::<T>(),
        }
    }
}
