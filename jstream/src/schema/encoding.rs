//! Encoding of schemas.
//!
//! ```text
//! schema   version: 1 byte; number of types; the types, the root first, then in breadth-first
//!          order; equal structures occur once
//! type     name, size, alignment, kind: 1 byte, then
//!            0 leaf       1 text
//!            2 struct     fields
//!            3 enum       size of the tag; list of (name, discriminant, fields)
//!            4 option     type
//!            5 array      type, length
//!            6 reference  type
//!            7 slice      type
//!            8 result     type of `Ok`, type of `Err`
//!            9 shared     type of the pointer
//!           10 cell       type of the shared pointer
//!           11 dynamic
//! fields   list of (name, offset, type)
//! list     number of elements; the elements
//! name     number of bytes; UTF-8
//! type, as part of another: its number
//! number   7 bits per byte, the lowest first, the highest bit set in all but the last byte; no
//!          more bytes than needed
//! discriminant   a number: 2n for n >= 0, -2n - 1 for n < 0
//! ```

use std::error::Error;
use std::fmt;

use super::graph::Graph;
use super::{Schema, TypeIndex, TypeInfo};

/// Version of the encoding.
const VERSION: u8 = 1;

impl Schema {
    /// Maximum length in bytes that [`from_bytes`](Self::from_bytes) accepts: 1 MiB. A field takes
    /// about ten bytes. The limit protects against peers that send huge schemas.
    pub const MAX_BYTES: usize = 1 << 20;

    /// Returns the canonical encoding of the types reachable from `root`. Two structures have equal
    /// encodings if and only if they are equal. The descriptor is the XXH3 hash of the encoding.
    #[must_use]
    pub fn to_bytes(&self, root: TypeIndex) -> Vec<u8> {
        let graph = Graph::of(self, root);
        let mut bytes = vec![VERSION];
        put_number(&mut bytes, graph.nodes.len() as u128);
        for node in &graph.nodes {
            let mut links = node.links.iter();
            node.info.put(&mut bytes, &mut |_, _| {
                links.next().map_or(0, |link| link.to as u64)
            });
        }
        bytes
    }

    /// Decodes a schema, and returns it with its root. The bytes need not be trusted: work and
    /// memory are linear in their number.
    ///
    /// # Errors
    ///
    /// [`SchemaError`] if the bytes are not a valid schema.
    pub fn from_bytes(bytes: &[u8]) -> Result<(Self, TypeIndex), SchemaError> {
        if bytes.len() > Self::MAX_BYTES {
            return Err(SchemaError::TooLong {
                len: bytes.len(),
                limit: Self::MAX_BYTES,
            });
        }
        Self::decode(bytes)
    }

    /// Like `from_bytes`, without a limit on the length.
    pub(crate) fn decode(bytes: &[u8]) -> Result<(Self, TypeIndex), SchemaError> {
        let mut from = Decoder {
            bytes,
            at: 0,
            types: 0,
        };
        match from.byte()? {
            VERSION => {}
            found => return Err(SchemaError::Version { found }),
        }
        from.types = match u32::try_from(from.number()?) {
            Ok(types) if types > 0 => types,
            _ => return Err(from.malformed("invalid number of types")),
        };
        let mut schema = Self::default();
        for _ in 0..from.types {
            schema.types.push(Some(TypeInfo::take(&mut from)?));
        }
        if from.at != bytes.len() {
            return Err(from.malformed("trailing bytes after the last type"));
        }
        Ok((schema, TypeIndex(0)))
    }
}

pub(super) fn put_number(bytes: &mut Vec<u8>, mut n: u128) {
    while n >= 0x80 {
        let [low, ..] = n.to_le_bytes();
        bytes.push(low | 0x80);
        n >>= 7;
    }
    let [low, ..] = n.to_le_bytes();
    bytes.push(low);
}

pub(super) fn put_name(bytes: &mut Vec<u8>, name: &str) {
    put_number(bytes, name.len() as u128);
    bytes.extend_from_slice(name.as_bytes());
}

/// Cursor over an encoded schema.
pub(super) struct Decoder<'b> {
    bytes: &'b [u8],
    /// Number of bytes decoded so far.
    at: usize,
    /// Number of types in the schema.
    types: u32,
}

impl Decoder<'_> {
    pub(super) fn malformed(&self, what: &'static str) -> SchemaError {
        SchemaError::Malformed { what, at: self.at }
    }

    pub(super) fn byte(&mut self) -> Result<u8, SchemaError> {
        let Some(byte) = self.bytes.get(self.at) else {
            return Err(self.malformed("unexpected end"));
        };
        self.at = self.at.wrapping_add(1);
        Ok(*byte)
    }

    pub(super) fn number(&mut self) -> Result<u128, SchemaError> {
        let mut n = 0u128;
        for shift in (0..u128::BITS).step_by(7) {
            let byte = self.byte()?;
            let bits = u128::from(byte & 0x7f);
            let shifted = bits << shift;
            if shifted >> shift != bits || (byte == 0 && shift > 0) {
                break;
            }
            n |= shifted;
            if byte < 0x80 {
                return Ok(n);
            }
        }
        Err(self.malformed("invalid number"))
    }

    pub(super) fn size(&mut self) -> Result<usize, SchemaError> {
        let n = self.number()?;
        usize::try_from(n).map_err(|_| self.malformed("size of more than 64 bits"))
    }

    pub(super) fn index(&mut self) -> Result<TypeIndex, SchemaError> {
        match u32::try_from(self.number()?) {
            Ok(index) if index < self.types => Ok(TypeIndex(index)),
            _ => Err(self.malformed("type index out of range")),
        }
    }

    pub(super) fn name(&mut self) -> Result<String, SchemaError> {
        let len = self.size()?;
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let Some(name) = rest.get(..len) else {
            return Err(self.malformed("name that extends beyond the end"));
        };
        // Names appear in errors and logs, where control characters could do harm.
        let name = match std::str::from_utf8(name) {
            Ok(name) if !name.contains(char::is_control) => name.to_owned(),
            _ => return Err(self.malformed("name with invalid UTF-8 or control characters")),
        };
        self.at = self.at.wrapping_add(len);
        Ok(name)
    }

    /// Decodes a list with a length prefix. Memory grows with the decoded elements only, and each
    /// element takes at least one byte. A length beyond the end of the input is therefore an error.
    pub(super) fn list<E>(
        &mut self,
        mut element: impl FnMut(&mut Self) -> Result<E, SchemaError>,
    ) -> Result<Vec<E>, SchemaError> {
        let len = self.size()?;
        let mut list = Vec::new();
        for _ in 0..len {
            list.push(element(self)?);
        }
        Ok(list)
    }
}

/// An error of decoding or storing a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SchemaError {
    /// The schema is longer than [`Schema::MAX_BYTES`].
    TooLong {
        /// The length in bytes.
        len: usize,
        /// The limit.
        limit: usize,
    },
    /// The version of the encoding is not supported.
    Version {
        /// The first byte.
        found: u8,
    },
    /// The bytes are not a valid schema.
    Malformed {
        /// Description of the error.
        what: &'static str,
        /// Offset of the error in bytes.
        at: usize,
    },
    /// The schema cache of a reader is full.
    Full {
        /// Maximum number of schemas.
        schemas: usize,
        /// Maximum total size of the schemas in bytes.
        bytes: usize,
    },
}

impl fmt::Display for SchemaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong { len, limit } => {
                write!(
                    f,
                    "a schema of {len} bytes exceeds the limit of {limit} bytes"
                )
            }
            Self::Version { found } => write!(
                f,
                "a schema has version {found}, but only version {VERSION} is supported"
            ),
            Self::Malformed { what, at } => write!(f, "invalid schema: {what} at byte {at}"),
            Self::Full { schemas, bytes } => write!(
                f,
                "the schema cache is full: a reader holds at most {schemas} schemas of {bytes} bytes in total"
            ),
        }
    }
}

impl Error for SchemaError {}
