//! The trailer of a call that other calls may name.

use crate::frame::header::PROMISE_NUMBERS;

/// Length in bytes of the trailer after the arguments: the number of the call and the id of an
/// interface.
const LENGTH: usize = 12;

/// The trailer of a call that other calls may name.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CallTrailer {
    pub(crate) number: u32,
    pub(crate) interface: u64,
}

impl CallTrailer {
    /// Encodes the trailer.
    pub(crate) fn to_wire(self) -> [u8; LENGTH] {
        let mut bytes = [0; LENGTH];
        let (number, interface) = bytes.split_at_mut(4);
        number.copy_from_slice(&self.number.to_le_bytes());
        interface.copy_from_slice(&self.interface.to_le_bytes());
        bytes
    }

    /// Decodes the trailer of a payload. Returns it with the length of the arguments.
    pub(crate) fn of(payload: &[u8]) -> Option<(Self, usize)> {
        let length = payload.len().checked_sub(LENGTH)?;
        let (number, interface) = payload.get(length..)?.split_at_checked(4)?;
        let made = Self {
            number: u32::from_le_bytes(number.try_into().ok()?),
            interface: u64::from_le_bytes(interface.try_into().ok()?),
        };
        (made.number < PROMISE_NUMBERS).then_some((made, length))
    }
}
