//! Kinds of types.
//!
//! Everything specific to a kind is in the `match`es of this file: its encoding and the types it
//! refers to ([`Kind::put`]), decoding ([`Kind::decode`]), its name ([`Kind::noun`]) and its
//! spelling ([`Kind::express`]). The rest of `schema` works on the graph that `put` reports.

use std::borrow::Cow;
use std::fmt::{self, Write};

use super::codec::{Decoder, SchemaError, put_name, put_number};
use super::link::{Step, TypeIndex};

/// One type of a schema.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TypeInfo {
    /// Name without the path.
    pub name: String,
    /// Size in bytes.
    pub size: usize,
    /// Alignment in bytes.
    pub align: usize,
    /// Kind and components.
    pub kind: Kind,
}

/// Placeholder for a type that is still being described, or belongs to another schema.
pub(super) static UNKNOWN: TypeInfo = TypeInfo {
    name: String::new(),
    size: 0,
    align: 1,
    kind: Kind::Leaf,
};

/// The kind and components of a type.
///
/// No variant is called `Option` or `Result`: in error messages, the compiler prints full paths for
/// types that share their name with any public item, even in errors about the program's code.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// A primitive value such as a number, `bool` or `char`; the name identifies it.
    Leaf,
    /// A string behind a pointer.
    Text,
    /// A struct or tuple.
    Struct(Vec<FieldInfo>),
    /// An enum.
    Enum {
        /// Size of the tag in bytes.
        tag: usize,
        /// The variants.
        variants: Vec<VariantInfo>,
    },
    /// An `Option` of a type.
    Optional(TypeIndex),
    /// A `Result` of two types.
    Outcome(TypeIndex, TypeIndex),
    /// An array: element type and length.
    Array(TypeIndex, usize),
    /// A pointer to a value of a type.
    Reference(TypeIndex),
    /// A pointer to a slice with elements of this type.
    Slice(TypeIndex),
    /// A pointer of this type to a target that other pointers may share.
    Shared(TypeIndex),
    /// An optional shared pointer of this type in a `Cell`, which can form cycles.
    Changeable(TypeIndex),
    /// A trait object: a value of any type that is registered for the trait. The name identifies
    /// the trait.
    Dynamic,
}

/// A field of a struct, tuple or variant.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FieldInfo {
    /// Name, or index for tuple fields.
    pub name: Cow<'static, str>,
    /// Offset in bytes.
    pub offset: usize,
    /// Type of the field.
    pub of: TypeIndex,
}

impl FieldInfo {
    /// Creates a field with this name and type at `offset`.
    #[must_use]
    pub fn new(name: impl Into<Cow<'static, str>>, offset: usize, of: TypeIndex) -> Self {
        Self {
            name: name.into(),
            offset,
            of,
        }
    }
}

/// A variant of an enum.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct VariantInfo {
    /// Name of the variant.
    pub name: Cow<'static, str>,
    /// Value of the tag.
    pub discriminant: i128,
    /// Fields of the variant.
    pub fields: Vec<FieldInfo>,
}

impl VariantInfo {
    /// Creates a variant with this name, tag and fields.
    #[must_use]
    pub fn new(
        name: impl Into<Cow<'static, str>>,
        discriminant: i128,
        fields: Vec<FieldInfo>,
    ) -> Self {
        Self {
            name: name.into(),
            discriminant,
            fields,
        }
    }
}

/// Callback that returns the number by which a referenced type is encoded.
pub(super) type Numbering<'n, 'k> = dyn FnMut(Step<'k>, TypeIndex) -> u64 + 'n;

impl TypeInfo {
    /// Encodes the type.
    pub(super) fn put<'k>(&'k self, bytes: &mut Vec<u8>, number: &mut Numbering<'_, 'k>) {
        put_name(bytes, &self.name);
        put_number(bytes, self.size as u128);
        put_number(bytes, self.align as u128);
        self.kind.put(bytes, number);
    }

    /// Decodes a type.
    pub(super) fn decode(from: &mut Decoder<'_>) -> Result<Self, SchemaError> {
        Ok(Self {
            name: from.name()?,
            size: from.size()?,
            align: from.size()?,
            kind: Kind::decode(from)?,
        })
    }
}

impl Kind {
    /// Encodes the kind: a byte that identifies it, then its components, with lists after their
    /// lengths. Calls `number` for each type that it refers to.
    pub(super) fn put<'k>(&'k self, bytes: &mut Vec<u8>, number: &mut Numbering<'_, 'k>) {
        let mut of = |bytes: &mut Vec<u8>, step, of: &TypeIndex| {
            put_number(bytes, u128::from(number(step, *of)));
        };
        match self {
            Self::Leaf => bytes.push(0),
            Self::Text => bytes.push(1),
            Self::Struct(fields) => {
                bytes.push(2);
                put_number(bytes, fields.len() as u128);
                for field in fields {
                    put_name(bytes, &field.name);
                    put_number(bytes, field.offset as u128);
                    of(bytes, Step::Field(&field.name), &field.of);
                }
            }
            Self::Enum { tag, variants } => {
                bytes.push(3);
                put_number(bytes, *tag as u128);
                put_number(bytes, variants.len() as u128);
                for variant in variants {
                    put_name(bytes, &variant.name);
                    put_number(bytes, zigzag(variant.discriminant));
                    put_number(bytes, variant.fields.len() as u128);
                    for field in &variant.fields {
                        put_name(bytes, &field.name);
                        put_number(bytes, field.offset as u128);
                        of(bytes, Step::Variant(&variant.name, &field.name), &field.of);
                    }
                }
            }
            Self::Optional(payload) => {
                bytes.push(4);
                of(bytes, Step::Payload, payload);
            }
            Self::Array(element, len) => {
                bytes.push(5);
                of(bytes, Step::Element, element);
                put_number(bytes, *len as u128);
            }
            Self::Reference(target) => {
                bytes.push(6);
                of(bytes, Step::Target, target);
            }
            Self::Slice(element) => {
                bytes.push(7);
                of(bytes, Step::Targets, element);
            }
            Self::Outcome(ok, err) => {
                bytes.push(8);
                of(bytes, Step::Case("Ok"), ok);
                of(bytes, Step::Case("Err"), err);
            }
            Self::Shared(pointer) => {
                bytes.push(9);
                of(bytes, Step::Payload, pointer);
            }
            Self::Changeable(pointer) => {
                bytes.push(10);
                of(bytes, Step::Payload, pointer);
            }
            Self::Dynamic => bytes.push(11),
        }
    }

    /// Decodes the result of `put`.
    fn decode(from: &mut Decoder<'_>) -> Result<Self, SchemaError> {
        Ok(match from.byte()? {
            0 => Self::Leaf,
            1 => Self::Text,
            2 => Self::Struct(fields(from)?),
            3 => Self::Enum {
                tag: from.size()?,
                variants: from.list(|from| {
                    let (name, tag) = (from.name()?, from.number()?);
                    Ok(VariantInfo::new(name, unzigzag(tag), fields(from)?))
                })?,
            },
            4 => Self::Optional(from.index()?),
            5 => Self::Array(from.index()?, from.size()?),
            6 => Self::Reference(from.index()?),
            7 => Self::Slice(from.index()?),
            8 => Self::Outcome(from.index()?, from.index()?),
            9 => Self::Shared(from.index()?),
            10 => Self::Changeable(from.index()?),
            11 => Self::Dynamic,
            _ => return Err(from.malformed("unknown kind of type")),
        })
    }

    /// Returns the English name of the kind.
    pub(crate) fn noun(&self) -> &'static str {
        match self {
            Self::Leaf => "plain value",
            Self::Text => "text",
            Self::Struct(_) => "struct",
            Self::Enum { .. } => "enum",
            Self::Optional(_) => "option",
            Self::Outcome(..) => "result",
            Self::Array(..) => "array",
            Self::Reference(_) => "reference",
            Self::Slice(_) => "slice",
            Self::Shared(_) => "shared pointer",
            Self::Changeable(_) => "cell",
            Self::Dynamic => "trait object",
        }
    }

    /// Writes the type in Rust syntax, with names for definitions. Calls `of` to write each type
    /// that it refers to, in order; `is_text` says that the only one is text. Every level writes
    /// something before it recurses, so that the limit of `to` also limits the recursion.
    pub(super) fn express(
        &self,
        name: &str,
        is_text: bool,
        of: &mut dyn FnMut(&mut dyn Write) -> fmt::Result,
        to: &mut dyn Write,
    ) -> fmt::Result {
        match self {
            Self::Struct(fields) if name == TUPLE => {
                to.write_char('(')?;
                for (i, _) in fields.iter().enumerate() {
                    if i > 0 {
                        to.write_str(", ")?;
                    }
                    of(to)?;
                }
                to.write_str(if fields.len() == 1 { ",)" } else { ")" })
            }
            Self::Leaf | Self::Struct(_) | Self::Enum { .. } | Self::Dynamic if name.is_empty() => {
                to.write_char('?')
            }
            Self::Leaf | Self::Struct(_) | Self::Enum { .. } | Self::Dynamic => to.write_str(name),
            Self::Text => to.write_str("str"),
            Self::Optional(_) => {
                to.write_str("Option<")?;
                of(to)?;
                to.write_char('>')
            }
            Self::Outcome(..) => {
                to.write_str("Result<")?;
                of(to)?;
                to.write_str(", ")?;
                of(to)?;
                to.write_char('>')
            }
            Self::Array(_, len) => {
                to.write_char('[')?;
                of(to)?;
                write!(to, "; {len}]")
            }
            Self::Shared(_) | Self::Changeable(_) => {
                to.write_str(if matches!(self, Self::Shared(_)) {
                    "Shared<"
                } else {
                    "Cell<"
                })?;
                of(to)?;
                to.write_char('>')
            }
            Self::Reference(_) => {
                to.write_char('&')?;
                of(to)
            }
            Self::Slice(_) if is_text => {
                to.write_char('&')?;
                of(to)
            }
            Self::Slice(_) => {
                to.write_str("&[")?;
                of(to)?;
                to.write_char(']')
            }
        }
    }

    /// Returns the fields; for an enum, those of all variants in order.
    pub(super) fn fields(&self) -> impl Iterator<Item = &FieldInfo> {
        let (fields, variants) = match self {
            Self::Struct(fields) => (fields.as_slice(), [].as_slice()),
            Self::Enum { variants, .. } => ([].as_slice(), variants.as_slice()),
            _ => ([].as_slice(), [].as_slice()),
        };
        let of_variants = variants.iter().flat_map(|variant| &variant.fields);
        fields.iter().chain(of_variants)
    }
}

/// Name of all tuple types.
pub(super) const TUPLE: &str = "()";

fn fields(from: &mut Decoder<'_>) -> Result<Vec<FieldInfo>, SchemaError> {
    from.list(|from| {
        let (name, offset) = (from.name()?, from.size()?);
        Ok(FieldInfo::new(name, offset, from.index()?))
    })
}

/// Maps small signed numbers to small unsigned ones: 0, -1, 1, -2 to 0, 1, 2, 3.
const fn zigzag(n: i128) -> u128 {
    ((n << 1) ^ (n >> 127)) as u128
}

const fn unzigzag(n: u128) -> i128 {
    (n >> 1) as i128 ^ 0i128.wrapping_sub((n & 1) as i128)
}

const _: () = assert!(
    zigzag(-2) == 3
        && unzigzag(3) == -2
        && unzigzag(zigzag(i128::MIN)) == i128::MIN
        && unzigzag(zigzag(i128::MAX)) == i128::MAX
);
