//! The structure of types, and the checksum of it that every message carries.
//!
//! A [`Schema`] is a graph: each type is described once, and reaches others by index, so that
//! recursive types are finite. A type's *descriptor* is a 64-bit hash of the canonical encoding of
//! what its in-place form reaches ([`Schema::to_bytes`]). A message carries the descriptor of its
//! root, and a reader compares it with its own: one comparison of two integers per message.
//!
//! # What a descriptor covers
//!
//! Of the type and of all that it reaches: the kind, the name without its path, size and alignment;
//! names, order, types and offsets of fields; names, order, discriminants and fields of variants;
//! the size of tags; the lengths of arrays; whether something is optional, behind a reference, in a
//! slice, or inline. A change of any of these changes the descriptor.
//!
//! It covers neither paths nor crates, and it doesn't matter how many definitions there are:
//! equal structures have equal descriptors, in other modules, programs and compilations too. A type
//! that owns its parts has the descriptor of its form. What has no bytes and no fields has no
//! structure: the argument of a `PhantomData`, and a constant parameter that no field depends on,
//! are not covered.
//!
//! # What keeps its descriptor from one compiler to the next
//!
//! Types whose layout the language defines: primitive types, arrays, references, slices and text;
//! structs with `#[repr(C)]`; enums with `#[repr(u8)]` or another integer, and those without data.
//! How a tuple, a struct without `#[repr(C)]`, and an `Option` or `Result` of anything but a
//! reference, a `NonZero` number or a `bool` is laid out is up to the compiler, and may change with
//! it or its flags. Then the descriptor changes too, and messages are refused instead of misread.
//!
//! Safety never rests on descriptors: a message with a forged one, or with one that happens to be
//! that of another type, fails the structural check like any other, or is a valid object.
//!
//! # When descriptors differ
//!
//! A descriptor says that two structures differ, not where. A program that has both sides' schemas
//! does: [`Schema::difference`] names the first difference. A [`Reader`](crate::Reader) that is
//! taught the peer's ([`Reader::learn`](crate::Reader::learn)) puts it into its error.
//!
//! ```
//! use jstream::Transportable;
//! use jstream::schema::Schema;
//!
//! mod there {
//!     # use jstream::Transportable;
//!     #[derive(Transportable)]
//!     pub struct Leg {
//!         quantity: u64,
//!     }
//! }
//!
//! #[derive(Transportable)]
//! struct Leg {
//!     quantity: u32,
//! }
//!
//! let (ours, our_root) = Schema::of::<Leg>();
//! let (theirs, their_root) = Schema::of::<there::Leg>();
//! let difference = ours.difference(our_root, &theirs, their_root).unwrap();
//! assert_eq!(difference.to_string(), "Leg.quantity: u32 here, u64 there");
//! ```

mod classes;
mod difference;
mod encoding;
mod graph;
mod kind;
mod known;
mod show;
#[cfg(test)]
mod tests;

use std::any::TypeId;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::mem::{align_of, size_of};

pub use difference::Difference;
pub use encoding::SchemaError;
pub use kind::{FieldInfo, Kind, VariantInfo};
pub use known::Mismatch;
#[cfg(feature = "testing")]
pub(crate) use known::of_descriptor;
pub(crate) use known::{Descriptors, Learnt};

use crate::model::{InPlace, Transportable};

/// A type's place in a [`Schema`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TypeIndex(u32);

#[cfg(any(feature = "cli", feature = "testing"))]
impl TypeIndex {
    /// Its number, from 0 on.
    pub(crate) const fn place(self) -> usize {
        self.0 as usize
    }
}

/// The structure of a type and of all that it reaches.
#[derive(Debug, Clone, Default)]
pub struct Schema {
    /// `None` while the type is being described.
    types: Vec<Option<TypeInfo>>,
    index: HashMap<TypeId, TypeIndex>,
}

/// One type of a schema.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TypeInfo {
    /// Its name, without the path.
    pub name: String,
    /// Its size in bytes.
    pub size: usize,
    /// Its alignment in bytes.
    pub align: usize,
    /// What it is made of.
    pub kind: Kind,
}

/// Stands for a type that is still being described, or belongs to another schema.
static UNKNOWN: TypeInfo = TypeInfo {
    name: String::new(),
    size: 0,
    align: 1,
    kind: Kind::Leaf,
};

impl Schema {
    /// The schema of a type, and where its root stands in it.
    #[must_use]
    pub fn of<T: Transportable + 'static>() -> (Self, TypeIndex) {
        Self::of_form::<T::InPlace<'static>>()
    }

    pub(crate) fn of_form<F: InPlace>() -> (Self, TypeIndex) {
        let mut schema = Self::default();
        let root = F::describe(&mut schema);
        (schema, root)
    }

    /// Describes the sized type `T` unless that was done before.
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

    /// Describes a type of this key and layout unless that was done before.
    pub(crate) fn define_as(
        &mut self,
        key: TypeId,
        size: usize,
        align: usize,
        name: impl Into<String>,
        kind: impl FnOnce(&mut Self) -> Kind,
    ) -> TypeIndex {
        let Ok(next) = u32::try_from(self.types.len()) else {
            panic!("a type reaches more than 2^32 others");
        };
        let index = match self.index.entry(key) {
            Entry::Occupied(known) => return *known.get(),
            Entry::Vacant(new) => *new.insert(TypeIndex(next)),
        };
        self.types.push(None);
        let kind = kind(self);
        if let Some(place) = self.types.get_mut(index.0 as usize) {
            *place = Some(TypeInfo {
                name: name.into(),
                size,
                align,
                kind,
            });
        }
        index
    }

    /// Whether that type is `()`. Remote calls have a message without bytes for that.
    #[must_use]
    pub fn is_unit(&self, index: TypeIndex) -> bool {
        self.get(index)
            .is_some_and(|info| info.name == "()" && matches!(info.kind, Kind::Leaf))
    }

    /// A type of this schema.
    #[must_use]
    pub fn get(&self, index: TypeIndex) -> Option<&TypeInfo> {
        self.types.get(index.0 as usize)?.as_ref()
    }

    /// All types, each with its place; those that are still being described are missing.
    #[cfg(any(feature = "cli", feature = "testing"))]
    pub(crate) fn all(&self) -> impl Iterator<Item = (TypeIndex, Option<&TypeInfo>)> {
        let places = (0..u32::MAX).map(TypeIndex);
        places.zip(self.types.iter().map(Option::as_ref))
    }

    /// The checksum of what a walk from `root` reaches; what else the schema holds doesn't matter.
    #[must_use]
    pub fn descriptor(&self, root: TypeIndex) -> u64 {
        checksum(&self.to_bytes(root))
    }
}

impl PartialEq for Schema {
    /// The same types in the same order.
    fn eq(&self, other: &Self) -> bool {
        self.types == other.types
    }
}

impl Eq for Schema {}

/// The descriptor of a structure in its canonical encoding.
fn checksum(canonical: &[u8]) -> u64 {
    xxhash_rust::xxh3::xxh3_64(canonical)
}

/// The 64-bit checksum of a type's structure: see [`schema`](self).
#[must_use]
pub fn descriptor<T: Transportable + 'static>() -> u64 {
    Descriptors::default().of::<T::InPlace<'static>>()
}
