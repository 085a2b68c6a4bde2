//! The hello that each side of a connection sends.

use jstream_base::HandshakeError;
use jstream_base::Options;

pub(crate) const MAGIC: [u8; 8] = *b"jstream\0";
const VERSION: u32 = 2;
/// Byte order mark, written in the sender's own byte order. A different byte order reads it as
/// 0x0201.
const BYTE_ORDER: u16 = 0x0102;
#[expect(clippy::cast_possible_truncation, reason = "no pointer has 256 bits")]
const POINTER_WIDTH: u8 = usize::BITS as u8;

/// Properties of a side, sent before the first message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Hello {
    /// The longest payload that the side accepts, in bytes.
    pub(crate) max_message: u64,
}

impl Hello {
    /// Length on the wire, in bytes.
    pub(crate) const WIRE_LENGTH: usize = 32;

    /// Returns the hello of this side.
    pub(crate) fn from_options(options: &Options) -> Self {
        Self {
            max_message: options.max_message,
        }
    }

    /// Encodes the hello: the magic number, the version, the byte order mark, the width of pointers
    /// in bits, a reserved byte, the longest payload, and a reserved word. All are little-endian
    /// except for the byte order mark.
    pub(crate) fn to_bytes(self) -> [u8; Self::WIRE_LENGTH] {
        let [order, order_too] = BYTE_ORDER.to_ne_bytes();
        let [a, b, c, d] = VERSION.to_le_bytes();
        let properties = [a, b, c, d, order, order_too, POINTER_WIDTH, 0];
        let length = self.max_message.to_le_bytes();
        zerocopy::transmute!([MAGIC, properties, length, [0; 8]])
    }

    /// Parses and validates the peer's hello.
    pub(crate) fn from_bytes(bytes: &[u8; Self::WIRE_LENGTH]) -> Result<Self, HandshakeError> {
        let [magic, properties, max_message, reserved_too]: [[u8; 8]; 4] =
            zerocopy::transmute!(*bytes);
        let [a, b, c, d, order, order_too, pointer_width, reserved] = properties;
        let version = u32::from_le_bytes([a, b, c, d]);
        let reserved_too = u64::from_le_bytes(reserved_too);
        if magic != MAGIC {
            return Err(HandshakeError::Magic {
                ours: MAGIC,
                theirs: magic,
            });
        }
        if version != VERSION {
            return Err(HandshakeError::Version {
                ours: VERSION,
                theirs: version,
            });
        }
        let byte_order = u16::from_ne_bytes([order, order_too]);
        if byte_order != BYTE_ORDER {
            return Err(HandshakeError::ByteOrder {
                ours: BYTE_ORDER,
                theirs: byte_order,
            });
        }
        if pointer_width != POINTER_WIDTH {
            return Err(HandshakeError::PointerWidth {
                ours: POINTER_WIDTH,
                theirs: pointer_width,
            });
        }
        if reserved != 0 || reserved_too != 0 {
            return Err(HandshakeError::Reserved {
                theirs: reserved_too | u64::from(reserved),
            });
        }
        Ok(Self {
            max_message: u64::from_le_bytes(max_message),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HELLO: Hello = Hello { max_message: 258 };

    fn refused(at: usize, value: u8) -> HandshakeError {
        let mut bytes = HELLO.to_bytes();
        bytes[at] = value;
        Hello::from_bytes(&bytes).unwrap_err()
    }

    #[test]
    #[cfg(all(target_endian = "little", target_pointer_width = "64"))]
    fn its_bytes_are_these() {
        let bytes = HELLO.to_bytes();
        assert_eq!(bytes[..8], *b"jstream\0");
        assert_eq!(bytes[8..16], [2, 0, 0, 0, 2, 1, 64, 0]);
        assert_eq!(
            bytes[16..],
            [2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
        );
        assert_eq!(Hello::from_bytes(&bytes).unwrap(), HELLO);
    }

    #[test]
    fn every_mismatch_has_its_error() {
        use HandshakeError as E;
        assert!(matches!(refused(0, b'J'), E::Magic { theirs, .. } if theirs == *b"Jstream\0"));
        assert!(matches!(refused(8, 9), E::Version { theirs: 9, ours: 2 }));
        assert!(matches!(
            refused(14, 31),
            E::PointerWidth { theirs: 31, .. }
        ));
        assert!(matches!(refused(15, 5), E::Reserved { theirs: 5 }));
        assert!(matches!(refused(24, 6), E::Reserved { theirs: 6 }));
        let mut swapped = HELLO.to_bytes();
        swapped[12..14].reverse();
        assert!(matches!(
            Hello::from_bytes(&swapped),
            Err(E::ByteOrder {
                ours: 0x0102,
                theirs: 0x0201
            })
        ));
    }
}
