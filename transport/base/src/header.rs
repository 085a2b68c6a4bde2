//! The header that precedes every message.

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

impl Header {
    /// Length of a header on the wire, in bytes.
    pub const WIRE_LENGTH: usize = 40;

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

    /// Encodes the header in its wire format: little-endian, the kind and the operation in 32 bits
    /// each, then the words and the length.
    #[inline]
    #[must_use]
    pub fn to_bytes(&self) -> [u8; Self::WIRE_LENGTH] {
        let [a, b, c] = self.words;
        let first = u64::from(self.kind) | u64::from(self.op) << 32;
        let wire = [first, a, b, c, self.length].map(u64::to_le_bytes);
        zerocopy::transmute!(wire)
    }

    /// Decodes a header from its wire format.
    ///
    /// # Errors
    ///
    /// [`HeaderError`] if the bytes are not a header of this version.
    #[inline]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the first word is two fields of 32 bits"
    )]
    pub fn from_bytes(bytes: &[u8; Self::WIRE_LENGTH]) -> Result<Self, HeaderError> {
        let wire: [[u8; 8]; 5] = zerocopy::transmute!(*bytes);
        let [first, a, b, c, length] = wire.map(u64::from_le_bytes);
        let (kind, op) = (first as u32, (first >> 32) as u32);
        if op > LAST_OP {
            return Err(HeaderError::Reserved { value: op });
        }
        Ok(Self {
            kind,
            words: [a, b, c],
            length,
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
