//! The hello that each side of a connection sends.

use zerocopy::byteorder::little_endian::{U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

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

/// Wire format of [`Hello`]: little-endian except for the byte order mark.
#[derive(FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
struct WireHello {
    magic: [u8; 8],
    version: U32,
    byte_order: [u8; 2],
    pointer_width: u8,
    reserved: u8,
    max_message: U64,
    reserved_too: U64,
}

impl Hello {
    /// Length on the wire, in bytes.
    pub(crate) const WIRE_LENGTH: usize = size_of::<WireHello>();

    /// Returns the hello of this side.
    pub(crate) fn of(options: &Options) -> Self {
        Self {
            max_message: options.max_message,
        }
    }

    pub(crate) fn to_bytes(self) -> [u8; Self::WIRE_LENGTH] {
        let wire = WireHello {
            magic: MAGIC,
            version: VERSION.into(),
            byte_order: BYTE_ORDER.to_ne_bytes(),
            pointer_width: POINTER_WIDTH,
            reserved: 0,
            max_message: self.max_message.into(),
            reserved_too: U64::ZERO,
        };
        zerocopy::transmute!(wire)
    }

    /// Parses and validates the peer's hello.
    pub(crate) fn from_bytes(bytes: &[u8; Self::WIRE_LENGTH]) -> Result<Self, HandshakeError> {
        let wire: &WireHello = zerocopy::transmute_ref!(bytes);
        if wire.magic != MAGIC {
            return Err(HandshakeError::Magic {
                ours: MAGIC,
                theirs: wire.magic,
            });
        }
        if wire.version.get() != VERSION {
            return Err(HandshakeError::Version {
                ours: VERSION,
                theirs: wire.version.get(),
            });
        }
        let byte_order = u16::from_ne_bytes(wire.byte_order);
        if byte_order != BYTE_ORDER {
            return Err(HandshakeError::ByteOrder {
                ours: BYTE_ORDER,
                theirs: byte_order,
            });
        }
        if wire.pointer_width != POINTER_WIDTH {
            return Err(HandshakeError::PointerWidth {
                ours: POINTER_WIDTH,
                theirs: wire.pointer_width,
            });
        }
        if wire.reserved != 0 || wire.reserved_too != U64::ZERO {
            return Err(HandshakeError::Reserved {
                theirs: wire.reserved_too.get() | u64::from(wire.reserved),
            });
        }
        Ok(Self {
            max_message: wire.max_message.get(),
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
