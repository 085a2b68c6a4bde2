//! Schemas as bytes.
//!
//! ```text
//! schema   version: 1 byte; number of types; the types, the root first, then in the order in
//!          which a walk first in, first out meets them; equal structures stand once
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
//! number   7 bits a byte, the lowest first, the highest bit set in all but the last byte; no
//!          more bytes than needed
//! discriminant   a number: 2n for n from 0 on, -2n - 1 below
//! ```

use std::error::Error;
use std::fmt;

use super::graph::Graph;
use super::{Schema, TypeIndex, TypeInfo};

/// The version of the encoding.
const VERSION: u8 = 1;

impl Schema {
    /// How many bytes [`from_bytes`](Self::from_bytes) accepts: 1 MiB. A schema has some ten bytes
    /// for each field; the limit answers the threat of peers that send schemas without end.
    pub const MAX_BYTES: usize = 1 << 20;

    /// The canonical encoding of what a walk from `root` reaches. Equal structures have equal
    /// encodings, different ones different encodings; the descriptor is its XXH3 hash.
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

    /// The schema that these bytes encode, and its root. They may come from anywhere: work and memory
    /// are bounded by their number.
    ///
    /// # Errors
    ///
    /// A [`SchemaError`] says what is wrong with them.
    pub fn from_bytes(bytes: &[u8]) -> Result<(Self, TypeIndex), SchemaError> {
        if bytes.len() > Self::MAX_BYTES {
            return Err(SchemaError::TooLong {
                len: bytes.len(),
                limit: Self::MAX_BYTES,
            });
        }
        Self::decode(bytes)
    }

    /// As `from_bytes`, for bytes of any length.
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
            _ => return Err(from.malformed("no number of types")),
        };
        let mut schema = Self::default();
        for _ in 0..from.types {
            schema.types.push(Some(TypeInfo::take(&mut from)?));
        }
        if from.at != bytes.len() {
            return Err(from.malformed("more bytes than types"));
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

/// Bytes that are being decoded.
pub(super) struct Decoder<'b> {
    bytes: &'b [u8],
    /// How many of them are behind.
    at: usize,
    /// How many types there are.
    types: u32,
}

impl Decoder<'_> {
    pub(super) fn malformed(&self, what: &'static str) -> SchemaError {
        SchemaError::Malformed { what, at: self.at }
    }

    pub(super) fn byte(&mut self) -> Result<u8, SchemaError> {
        let Some(byte) = self.bytes.get(self.at) else {
            return Err(self.malformed("the end, too early"));
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
        Err(self.malformed("no number"))
    }

    pub(super) fn size(&mut self) -> Result<usize, SchemaError> {
        let n = self.number()?;
        usize::try_from(n).map_err(|_| self.malformed("a size of more than 64 bits"))
    }

    pub(super) fn index(&mut self) -> Result<TypeIndex, SchemaError> {
        match u32::try_from(self.number()?) {
            Ok(index) if index < self.types => Ok(TypeIndex(index)),
            _ => Err(self.malformed("a type that is not there")),
        }
    }

    pub(super) fn name(&mut self) -> Result<String, SchemaError> {
        let len = self.size()?;
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let Some(name) = rest.get(..len) else {
            return Err(self.malformed("a name that is longer than the rest"));
        };
        // Names get into errors and logs, where control characters could do harm.
        let name = match std::str::from_utf8(name) {
            Ok(name) if !name.contains(char::is_control) => name.to_owned(),
            _ => return Err(self.malformed("a name that is not text")),
        };
        self.at = self.at.wrapping_add(len);
        Ok(name)
    }

    /// As many elements as a number says. An element takes a byte at least, so that a number larger
    /// than the rest ends with an error and without memory.
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

/// Why a schema was not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SchemaError {
    /// Longer than [`Schema::MAX_BYTES`].
    TooLong {
        /// The length in bytes.
        len: usize,
        /// The limit.
        limit: usize,
    },
    /// Not of this version of the encoding.
    Version {
        /// The first byte.
        found: u8,
    },
    /// The bytes are no schema.
    Malformed {
        /// What stands where something else should.
        what: &'static str,
        /// Where, in bytes from the start.
        at: usize,
    },
    /// A reader has no room for another schema.
    Full {
        /// How many schemas it takes.
        schemas: usize,
        /// How many bytes they may have in all.
        bytes: usize,
    },
}

impl fmt::Display for SchemaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong { len, limit } => {
                write!(
                    f,
                    "a schema of {len} bytes is longer than the limit ({limit})"
                )
            }
            Self::Version { found } => write!(
                f,
                "a schema of version {found}, where {VERSION} is understood"
            ),
            Self::Malformed { what, at } => write!(f, "no schema: {what}, at byte {at}"),
            Self::Full { schemas, bytes } => write!(
                f,
                "no room for another schema: a reader takes {schemas}, of {bytes} bytes in all"
            ),
        }
    }
}

impl Error for SchemaError {}
