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
//!
//! `record.rs` encodes the rules that can follow a schema.

use super::Schema;
use super::codec::{Decoder, SchemaError, VERSION, put_number};
use super::graph::Graph;
use super::kind::TypeInfo;
use super::link::TypeIndex;

impl Schema {
    /// Maximum length in bytes that [`from_bytes`](Self::from_bytes) accepts: 1 MiB. A field takes
    /// about ten bytes. The limit protects against peers that send huge schemas.
    pub const MAX_BYTES: usize = 1 << 20;

    /// Returns the canonical encoding of the types reachable from `root`. Two structures have equal
    /// encodings if and only if they are equal. The descriptor is the XXH3 hash of the encoding.
    #[must_use]
    pub fn to_bytes(&self, root: TypeIndex) -> Vec<u8> {
        Graph::new(self, root).to_bytes()
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
        let mut from = Decoder::new(bytes);
        let schema = Self::decode_types(&mut from)?;
        if from.at != bytes.len() {
            return Err(from.malformed("trailing bytes after the last type"));
        }
        Ok((schema, TypeIndex(0)))
    }

    /// Decodes a schema, which other bytes may follow.
    pub(super) fn decode_types(from: &mut Decoder<'_>) -> Result<Self, SchemaError> {
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
            schema.types.push(Some(TypeInfo::decode(from)?));
        }
        Ok(schema)
    }
}

impl Graph<'_> {
    /// Returns the encoding of the types.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![VERSION];
        put_number(&mut bytes, self.nodes.len() as u128);
        for node in &self.nodes {
            let mut links = node.links.iter();
            node.info.put(&mut bytes, &mut |_, _| {
                links.next().map_or(0, |link| link.to as u64)
            });
        }
        bytes
    }
}
