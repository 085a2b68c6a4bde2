//! Structures of types, and their hashes, which every message carries.
//!
//! A [`Schema`] is a graph: each type is described once, and refers to others by index, so that
//! recursive types are finite. The *descriptor* of a type is a 64-bit hash of the canonical
//! encoding of the types reachable from its in-place form ([`Schema::to_bytes`]). A message carries
//! the descriptor of its root. A reader compares it with its own, which costs one comparison of two
//! integers per message.
//!
//! # Coverage of a descriptor
//!
//! For the type and all types reachable from it, a descriptor covers: the kind, the name without
//! its path, size and alignment; names, order, types and offsets of fields; names, order,
//! discriminants and fields of variants; the size of tags; the lengths of arrays; whether a part is
//! optional, behind a reference, in a slice, or inline. A change of any of these changes the
//! descriptor.
//!
//! A descriptor does not cover paths or crates, or how many definitions of a structure there are.
//! Equal structures have equal descriptors, also in other modules, programs and compilations. A
//! type that owns its parts has the descriptor of its form. Parameters that affect neither bytes
//! nor fields are not covered: the argument of a `PhantomData`, and a constant parameter that no
//! field depends on.
//!
//! # Stability across compilers
//!
//! A descriptor is stable if the language defines the layout of all types: primitive types, arrays,
//! references, slices and text; structs with `#[repr(C)]`; enums with `#[repr(u8)]` or another
//! integer, and those without data. The layout of the following types is up to the compiler, and
//! may change with its version or flags: tuples, structs without `#[repr(C)]`, and `Option` or
//! `Result` of anything but a reference, a `NonZero` number or a `bool`. If it changes, the
//! descriptor changes too, and messages are converted or rejected instead of misread.
//!
//! Memory safety never depends on descriptors. A message with a forged descriptor, or one that
//! collides with that of another type, either fails the structural validation or is a valid object.
//!
//! # Mismatches
//!
//! A descriptor shows that two structures differ, but not where. [`Schema::difference`] finds the
//! first difference of two schemas. A [`Reader`](crate::Reader) that has learnt the peer's schema
//! ([`Reader::learn`](crate::Reader::learn)) converts its messages if the two are compatible.
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
mod codec;
mod describe;
mod embed;
mod graph;
mod kind;
mod known;
mod link;
mod reachable_classes;
mod record;
mod rules;
mod show;
#[cfg(test)]
mod tests;

use std::any::TypeId;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

pub use codec::SchemaError;
pub(crate) use describe::Describe;

pub use kind::{FieldInfo, Kind, TypeInfo, VariantInfo};
#[cfg(feature = "testing")]
pub(crate) use known::of_descriptor;
pub(crate) use known::{Descriptors, Learnt};
pub use known::{Mismatch, descriptor};
pub use link::TypeIndex;
#[cfg(feature = "evolve")]
pub(crate) use reachable_classes::reachable_classes;
pub use reachable_classes::snapshots;
pub use record::SnapshotError;
pub use rules::{DefaultValue, FieldRules, OlderName, TypeRules, VariantRules};
pub use show::Difference;

use self::codec::checksum;

/// The structure of a type and of all types reachable from it.
#[derive(Debug, Clone, Default)]
pub struct Schema {
    /// The types; `None` while a type is being described.
    types: Vec<Option<TypeInfo>>,
    index: HashMap<TypeId, TypeIndex>,
    /// The rules of the types that have any.
    rules: HashMap<TypeIndex, TypeRules>,
    /// Functions that return the classes of the program's own traits.
    class_lists: HashMap<TypeIndex, ClassList>,
}

/// The number of a class, and a function that returns its schema.
pub(crate) type ListedClass = (u64, fn() -> (Schema, TypeIndex));

/// Function that returns the classes of a trait.
pub(crate) type ClassList = fn() -> Vec<ListedClass>;

/// The identity of a type in a schema, and its layout in bytes.
#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub struct TypeKey {
    pub(crate) id: TypeId,
    pub(crate) size: usize,
    pub(crate) align: usize,
}

impl Schema {
    /// Describes a type, unless the schema has it already.
    ///
    /// Not generic: the compiler limits how often a chain of types instantiates one function, and
    /// each type on the way calls this one.
    #[doc(hidden)]
    pub fn define(
        &mut self,
        of: TypeKey,
        name: &str,
        kind: &mut dyn FnMut(&mut Self) -> Kind,
    ) -> TypeIndex {
        match self.reserve_index(of.id) {
            Ok(index) => {
                let kind = kind(self);
                self.complete(index, name.to_owned(), (of.size, of.align), kind);
                index
            }
            Err(known) => known,
        }
    }

    /// Reserves the index of a type. The error is the index of a type that the schema has already.
    fn reserve_index(&mut self, key: TypeId) -> Result<TypeIndex, TypeIndex> {
        let Ok(next) = u32::try_from(self.types.len()) else {
            panic!("a schema has more than 2^32 types");
        };
        match self.index.entry(key) {
            Entry::Occupied(known) => Err(*known.get()),
            Entry::Vacant(new) => {
                self.types.push(None);
                Ok(*new.insert(TypeIndex(next)))
            }
        }
    }

    /// Adds a type whose index is reserved. Its layout is a size and an alignment in bytes.
    fn complete(
        &mut self,
        index: TypeIndex,
        name: String,
        (size, align): (usize, usize),
        kind: Kind,
    ) {
        if let Some(place) = self.types.get_mut(index.0 as usize) {
            *place = Some(TypeInfo {
                name,
                size,
                align,
                kind,
            });
        }
    }

    /// Returns true if the type is `()`. Remote calls use an empty message for it.
    #[must_use]
    pub fn is_unit(&self, index: TypeIndex) -> bool {
        self.get(index)
            .is_some_and(|info| info.name == "()" && matches!(info.kind, Kind::Leaf))
    }

    /// Returns a type of this schema.
    #[must_use]
    pub fn get(&self, index: TypeIndex) -> Option<&TypeInfo> {
        self.types.get(index.0 as usize)?.as_ref()
    }

    /// Sets the function that returns the classes of a trait.
    pub(crate) fn set_class_list(&mut self, index: TypeIndex, list: ClassList) {
        self.class_lists.insert(index, list);
    }

    /// Returns the function that returns the classes of a trait of this program.
    #[cfg(feature = "evolve")]
    pub(crate) fn class_list(&self, index: TypeIndex) -> Option<ClassList> {
        self.class_lists.get(&index).copied()
    }

    /// Returns true if the types of this schema have trait objects, whose classes have schemas of
    /// their own.
    #[must_use]
    pub fn has_trait_objects(&self) -> bool {
        let mut types = self.types.iter().flatten();
        types.any(|info| info.kind == Kind::Dynamic)
    }

    /// Returns all types with their indices. Types that are still being described are `None`.
    #[cfg(any(feature = "cli", feature = "testing"))]
    pub(crate) fn all(&self) -> impl Iterator<Item = (TypeIndex, Option<&TypeInfo>)> {
        let places = (0..u32::MAX).map(TypeIndex);
        places.zip(self.types.iter().map(Option::as_ref))
    }

    /// Sets the rules of a type of this schema.
    pub fn set_rules(&mut self, index: TypeIndex, rules: TypeRules) {
        if rules == TypeRules::default() {
            self.rules.remove(&index);
        } else {
            self.rules.insert(index, rules);
        }
    }

    /// Returns the rules of a type of this schema, if it has any.
    #[must_use]
    pub fn rules(&self, index: TypeIndex) -> Option<&TypeRules> {
        self.rules.get(&index)
    }

    /// Returns the schema with other names for the fields of a struct or tuple, or `None` if there
    /// are not as many. A `()` becomes a struct without fields. As the names are part of what a
    /// descriptor hashes, messages keep that of the schema before. Meant for tuples whose fields
    /// have names elsewhere, such as the arguments of a method.
    ///
    /// ```
    /// use jstream::schema::{Kind, Schema};
    ///
    /// let (schema, root) = Schema::of::<(u32, bool)>();
    /// let named = schema.with_field_names(root, &["count", "all"]).unwrap();
    /// let Kind::Struct(fields) = &named.get(root).unwrap().kind else { panic!() };
    /// assert_eq!(fields[1].name, "all");
    /// ```
    #[must_use]
    pub fn with_field_names(mut self, of: TypeIndex, names: &[impl AsRef<str>]) -> Option<Self> {
        let is_unit = self.is_unit(of);
        let info = self.types.get_mut(of.0 as usize)?.as_mut()?;
        if is_unit {
            info.kind = Kind::Struct(Vec::new());
        }
        let Kind::Struct(fields) = &mut info.kind else {
            return None;
        };
        if fields.len() != names.len() {
            return None;
        }
        for (field, name) in fields.iter_mut().zip(names) {
            field.name = name.as_ref().to_owned().into();
        }
        Some(self)
    }

    /// Returns the hash of the types reachable from `root`; other types of the schema do not affect
    /// it.
    #[must_use]
    pub fn descriptor(&self, root: TypeIndex) -> u64 {
        checksum(&self.to_bytes(root))
    }
}

#[cfg(feature = "evolve")]
impl Schema {
    /// Returns true if a field of any type must be understood.
    pub(crate) fn has_obligations(&self) -> bool {
        self.rules.values().any(TypeRules::has_obligation)
    }

    /// Returns a schema of these types.
    #[cfg(test)]
    pub(crate) fn of_types(types: Vec<TypeInfo>) -> Self {
        Self {
            types: types.into_iter().map(Some).collect(),
            ..Self::default()
        }
    }

    /// Returns the number of types.
    pub(crate) fn len(&self) -> usize {
        self.types.len()
    }

    /// Returns the length of the encoding of all types in bytes.
    pub(crate) fn encoded_len(&self) -> usize {
        let mut bytes = Vec::new();
        let lengths = self.types.iter().flatten().map(|info| {
            bytes.clear();
            info.put(&mut bytes, &mut |_, of| u64::from(of.0));
            bytes.len()
        });
        lengths.sum()
    }

    /// Calls `visit` for each type that a type refers to.
    pub(crate) fn for_each_part(&self, of: TypeIndex, visit: &mut dyn FnMut(TypeIndex)) {
        if let Some(info) = self.get(of) {
            // Nothing is encoded but the types.
            info.kind.put(&mut Vec::new(), &mut |_, part| {
                visit(part);
                0
            });
        }
    }
}

impl PartialEq for Schema {
    /// Compares the types, in order.
    fn eq(&self, other: &Self) -> bool {
        self.types == other.types
    }
}

impl Eq for Schema {}
