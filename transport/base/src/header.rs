//! The header that precedes every message.

use zerocopy::byteorder::little_endian::{U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use crate::HeaderError;

/// The header of a message: metadata of the protocol layers above, and the length of the payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Header {
    /// The kind of the message. The layers above assign these numbers.
    pub kind: u32,
    /// Metadata that the layers above need before they read the payload.
    pub words: [u64; 3],
    /// Length of the payload in bytes, set by the sender.
    pub length: u64,
    /// The operation of the endpoint protocol: 0 for a message, otherwise an operation of
    /// [`remote`](jstream_endpoint::remote).
    op: u32,
}

/// The highest value of `op` that this version supports.
pub(crate) const LAST_OP: u32 = 5;

/// Wire format of the header: little-endian, without padding.
#[derive(FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
struct WireHeader {
    kind: U32,
    /// At most [`LAST_OP`]. This version rejects other values, so a later version can assign them.
    op: U32,
    words: [U64; 3],
    length: U64,
}

impl Header {
    /// Length of a header on the wire, in bytes.
    pub const WIRE_LENGTH: usize = size_of::<WireHeader>();

    /// Returns a header without a length, which the sender sets.
    #[inline]
    #[must_use]
    pub const fn new(kind: u32, words: [u64; 3]) -> Self {
        Self {
            kind,
            words,
            length: 0,
            op: 0,
        }
    }

    /// Returns a header of kind 0 whose first word is `tag`.
    #[inline]
    #[must_use]
    pub const fn tagged(tag: u64) -> Self {
        Self::new(0, [tag, 0, 0])
    }

    /// Returns the first word.
    #[inline]
    #[must_use]
    pub const fn tag(&self) -> u64 {
        let [tag, ..] = self.words;
        tag
    }

    /// Returns this header for a payload of `length` bytes.
    #[doc(hidden)]
    #[inline]
    #[must_use]
    pub const fn with_length(self, length: u64) -> Self {
        Self { length, ..self }
    }

    /// Returns the operation of the endpoints: 0 for a message, other values for puts and gets.
    #[doc(hidden)]
    #[inline]
    #[must_use]
    pub const fn op(&self) -> u32 {
        self.op
    }

    /// Returns this header for another operation of the endpoints.
    #[doc(hidden)]
    #[inline]
    #[must_use]
    pub const fn with_op(self, op: u32) -> Self {
        Self { op, ..self }
    }

    /// Encodes the header in its wire format.
    #[inline]
    #[must_use]
    pub fn to_bytes(&self) -> [u8; Self::WIRE_LENGTH] {
        let wire = WireHeader {
            kind: self.kind.into(),
            op: self.op.into(),
            words: self.words.map(U64::new),
            length: self.length.into(),
        };
        zerocopy::transmute!(wire)
    }

    /// Decodes a header from its wire format.
    ///
    /// # Errors
    ///
    /// [`HeaderError`] if the bytes are not a header of this version.
    #[inline]
    pub fn from_bytes(bytes: &[u8; Self::WIRE_LENGTH]) -> Result<Self, HeaderError> {
        let wire: &WireHeader = zerocopy::transmute_ref!(bytes);
        let op = wire.op.get();
        if op > LAST_OP {
            return Err(HeaderError::Reserved { value: op });
        }
        Ok(Self {
            kind: wire.kind.get(),
            words: wire.words.map(U64::get),
            length: wire.length.get(),
            op,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: Header = Header {
        kind: 0x0403_0201,
        words: [0x1817_1615_1413_1211, 2, u64::MAX],
        length: 0x2a,
        op: 0,
    };

    #[test]
    fn its_bytes_are_these() {
        let bytes = HEADER.to_bytes();
        assert_eq!(bytes.len(), 40);
        assert_eq!(bytes[..8], [1, 2, 3, 4, 0, 0, 0, 0]);
        assert_eq!(
            bytes[8..16],
            [0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18]
        );
        assert_eq!(bytes[16..24], [2, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(bytes[24..32], [0xff; 8]);
        assert_eq!(bytes[32..], [0x2a, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(Header::from_bytes(&bytes), Ok(HEADER));
    }

    #[test]
    fn the_reserved_word_is_checked() {
        let mut bytes = HEADER.to_bytes();
        bytes[5] = 1;
        assert_eq!(
            Header::from_bytes(&bytes),
            Err(HeaderError::Reserved { value: 0x100 })
        );
    }
}
