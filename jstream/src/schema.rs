//! The structure of types, and the checksum of it that every message carries.
//!
//! A [`Schema`] is a graph: each type is described once, and reaches others by index, so that
//! recursive types are finite. Its canonical encoding, with types numbered in the order in which
//! a walk from the root meets them, is hashed to the 64-bit descriptor. Safety never rests on
//! it: a message with a forged descriptor fails the structural check like any other.

use std::any::TypeId;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::mem::{align_of, size_of};

use crate::model::{InPlace, Transportable};

/// A type's place in a [`Schema`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TypeIndex(u32);

/// The structure of a type and of all that it reaches.
#[derive(Debug, Default)]
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

/// What a type is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// A number, `bool`, `char` or the like; the name says which.
    Leaf,
    /// Text behind a pointer.
    Text,
    /// A struct or tuple.
    Struct(Vec<FieldInfo>),
    /// An enum.
    Enum {
        /// The size of its tag in bytes.
        tag: usize,
        /// Its variants.
        variants: Vec<VariantInfo>,
    },
    /// An `Option` of a type.
    Option(TypeIndex),
    /// A `Result` of two types.
    Result(TypeIndex, TypeIndex),
    /// So many values of a type, side by side.
    Array(TypeIndex, usize),
    /// A pointer to a value of a type.
    Reference(TypeIndex),
    /// A pointer to any number of values of a type, side by side.
    Slice(TypeIndex),
    /// A pointer of this type, to a target that other pointers may lead to too.
    Shared(TypeIndex),
    /// The same or none, in a `Cell`, so that it may lead in a circle.
    Cell(TypeIndex),
    /// A value of any type that is registered for the trait that the name tells.
    Dynamic,
}

/// A field of a struct, tuple or variant.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FieldInfo {
    /// Its name, or its number.
    pub name: &'static str,
    /// Where it stands in bytes.
    pub offset: usize,
    /// Its type.
    pub of: TypeIndex,
}

impl FieldInfo {
    /// A field of this name and type at `offset`.
    #[must_use]
    pub fn new(name: &'static str, offset: usize, of: TypeIndex) -> Self {
        Self { name, offset, of }
    }
}

/// A variant of an enum.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct VariantInfo {
    /// Its name.
    pub name: &'static str,
    /// The value of its tag.
    pub discriminant: i128,
    /// Its fields.
    pub fields: Vec<FieldInfo>,
}

impl VariantInfo {
    /// A variant of this name, tag and fields.
    #[must_use]
    pub fn new(name: &'static str, discriminant: i128, fields: Vec<FieldInfo>) -> Self {
        Self {
            name,
            discriminant,
            fields,
        }
    }
}

impl Schema {
    /// The schema of a type, and where its root stands in it.
    #[must_use]
    pub fn of<T: Transportable + 'static>() -> (Self, TypeIndex) {
        let mut schema = Self::default();
        let root = <T::InPlace<'static> as InPlace>::describe(&mut schema);
        (schema, root)
    }

    /// Describes the sized type `T` unless that was done before.
    pub fn define<T: InPlace>(
        &mut self,
        name: impl Into<String>,
        kind: impl FnOnce(&mut Self) -> Kind,
    ) -> TypeIndex {
        self.define_as(
            TypeId::of::<T::Key>(),
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

    /// A type of this schema.
    #[must_use]
    pub fn get(&self, index: TypeIndex) -> Option<&TypeInfo> {
        self.types.get(index.0 as usize)?.as_ref()
    }

    /// The checksum of the whole, walked from `root` on.
    #[must_use]
    pub fn descriptor(&self, root: TypeIndex) -> u64 {
        let mut bytes = Vec::new();
        put(&mut bytes, u64::from(root.0));
        for index in 0..self.types.len() {
            let Some(info) = self.types.get(index).and_then(Option::as_ref) else {
                continue;
            };
            put_name(&mut bytes, &info.name);
            put(&mut bytes, info.size as u64);
            put(&mut bytes, info.align as u64);
            put_kind(&mut bytes, &info.kind);
        }
        xxhash_rust::xxh3::xxh3_64(&bytes)
    }
}

fn put(bytes: &mut Vec<u8>, n: u64) {
    bytes.extend_from_slice(&n.to_le_bytes());
}

fn put_name(bytes: &mut Vec<u8>, name: &str) {
    put(bytes, name.len() as u64);
    bytes.extend_from_slice(name.as_bytes());
}

fn put_fields(bytes: &mut Vec<u8>, fields: &[FieldInfo]) {
    put(bytes, fields.len() as u64);
    for field in fields {
        put_name(bytes, field.name);
        put(bytes, field.offset as u64);
        put(bytes, u64::from(field.of.0));
    }
}

fn put_kind(bytes: &mut Vec<u8>, kind: &Kind) {
    match kind {
        Kind::Leaf => put(bytes, 0),
        Kind::Text => put(bytes, 1),
        Kind::Struct(fields) => {
            put(bytes, 2);
            put_fields(bytes, fields);
        }
        Kind::Enum { tag, variants } => {
            put(bytes, 3);
            put(bytes, *tag as u64);
            put(bytes, variants.len() as u64);
            for variant in variants {
                put_name(bytes, variant.name);
                bytes.extend_from_slice(&variant.discriminant.to_le_bytes());
                put_fields(bytes, &variant.fields);
            }
        }
        Kind::Option(of) => {
            put(bytes, 4);
            put(bytes, u64::from(of.0));
        }
        Kind::Result(ok, err) => {
            put(bytes, 8);
            put(bytes, u64::from(ok.0));
            put(bytes, u64::from(err.0));
        }
        Kind::Array(of, len) => {
            put(bytes, 5);
            put(bytes, u64::from(of.0));
            put(bytes, *len as u64);
        }
        Kind::Reference(of) => {
            put(bytes, 6);
            put(bytes, u64::from(of.0));
        }
        Kind::Slice(of) => {
            put(bytes, 7);
            put(bytes, u64::from(of.0));
        }
        Kind::Shared(of) => {
            put(bytes, 9);
            put(bytes, u64::from(of.0));
        }
        Kind::Cell(of) => {
            put(bytes, 10);
            put(bytes, u64::from(of.0));
        }
        Kind::Dynamic => put(bytes, 11),
    }
}

/// The 64-bit checksum of a type's structure: kind, names, sizes, alignments, field offsets and
/// discriminants of the type and of all that it reaches.
#[must_use]
pub fn descriptor<T: Transportable + 'static>() -> u64 {
    let (schema, root) = Schema::of::<T>();
    schema.descriptor(root)
}

/// Descriptors worked out before, by type.
#[derive(Debug, Default)]
pub(crate) struct Descriptors {
    /// The one asked for last: most readers and writers meet one type over and over.
    last: Option<(TypeId, u64)>,
    known: HashMap<TypeId, u64>,
}

impl Descriptors {
    #[inline]
    pub(crate) fn of<F: InPlace>(&mut self) -> u64 {
        let key = TypeId::of::<F::Key>();
        match self.last {
            Some((last, descriptor)) if last == key => descriptor,
            _ => self.look_up::<F>(key),
        }
    }

    fn look_up<F: InPlace>(&mut self, key: TypeId) -> u64 {
        let descriptor = *self.known.entry(key).or_insert_with(|| {
            let mut schema = Schema::default();
            let root = F::describe(&mut schema);
            schema.descriptor(root)
        });
        self.last = Some((key, descriptor));
        descriptor
    }
}
