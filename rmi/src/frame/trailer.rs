//! The trailers behind the arguments: the numbers of the calls that a call names, and its own.
//!
//! Decisions 085 and 087 have the reasons.

use crate::frame::header::{PASSES_PROMISED, PROMISE_NUMBERS, PROMISES};

/// Length in bytes of the trailer after the arguments: the number of the call and the id of an
/// interface.
const LENGTH: usize = 12;

/// Maximum number of calls whose results one call may pass as arguments.
pub(crate) const MOST_PROMISED: usize = 16;

/// Length in bytes of the number of a call, and of the count of such numbers.
const NUMBER: usize = 4;

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
    pub(crate) fn decode(payload: &[u8]) -> Option<(Self, usize)> {
        let length = payload.len().checked_sub(LENGTH)?;
        let (number, interface) = payload.get(length..)?.split_at_checked(4)?;
        let made = Self {
            number: u32::from_le_bytes(number.try_into().ok()?),
            interface: u64::from_le_bytes(interface.try_into().ok()?),
        };
        // A larger number would set flags when another call names it.
        (made.number < PROMISE_NUMBERS).then_some((made, length))
    }
}

/// Appends the numbers of the calls whose results are among the arguments, and their count.
pub(crate) fn promised_to_wire(calls: &[u32], payload: &mut Vec<u8>) {
    payload.extend(calls.iter().flat_map(|number| number.to_le_bytes()));
    let count = u32::try_from(calls.len()).unwrap_or(u32::MAX);
    payload.extend(count.to_le_bytes());
}

/// Decodes the numbers of the calls whose results are among the arguments. Returns them with the
/// length of the arguments, or `None` if there are none, too many, or invalid ones.
fn promised_at_end(payload: &[u8]) -> Option<(Vec<u32>, usize)> {
    let (rest, count) = payload.split_last_chunk::<NUMBER>()?;
    let count = usize::try_from(u32::from_le_bytes(*count)).ok()?;
    // Checked before the numbers are read, so that a count of the peer allocates nothing.
    if count == 0 || count > MOST_PROMISED {
        return None;
    }
    let length = rest.len().checked_sub(count.checked_mul(NUMBER)?)?;
    let numbers = rest.get(length..)?.chunks_exact(NUMBER).map(|number| {
        let number = u32::from_le_bytes(number.try_into().ok()?);
        (number < PROMISE_NUMBERS).then_some(number)
    });
    Some((numbers.collect::<Option<_>>()?, length))
}

/// The trailers of a call, decoded.
pub(crate) struct Trailers {
    /// Number of the call, if other calls may name it. `None` if the number is invalid.
    pub(crate) made: Option<CallTrailer>,
    /// Numbers of the calls whose results are among the arguments.
    pub(crate) promised: Vec<u32>,
    /// Length in bytes of the arguments.
    pub(crate) length: usize,
    /// The reason why these numbers are invalid, if they are.
    pub(crate) wrong: Option<&'static str>,
}

impl Trailers {
    /// Decodes the trailers of a call whose object's number has these flags. The payload ends
    /// before the metadata.
    pub(crate) fn decode(flags: u32, payload: &[u8]) -> Self {
        let mut all = Self {
            made: None,
            promised: Vec::new(),
            length: payload.len(),
            wrong: None,
        };
        // In the reverse order of the encoder, because each trailer is found from the end.
        if flags & PROMISES != 0 {
            let Some((made, length)) = CallTrailer::decode(payload) else {
                return all;
            };
            (all.made, all.length) = (Some(made), length);
        }
        if flags & PASSES_PROMISED != 0 {
            match promised_at_end(payload.get(..all.length).unwrap_or_default()) {
                Some((promised, length)) => (all.promised, all.length) = (promised, length),
                None => {
                    all.wrong =
                        Some("the numbers of the calls whose results are arguments are invalid");
                }
            }
        }
        all
    }
}

#[cfg(test)]
#[allow(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::indexing_slicing,
    reason = "test code"
)]
mod tests {
    use super::*;

    #[test]
    fn numbers_round_trip() {
        for count in 1..=MOST_PROMISED as u32 {
            let calls: Vec<u32> = (0..count)
                .map(|place| PROMISE_NUMBERS - 1 - place)
                .collect();
            let mut payload = vec![9; 5];
            promised_to_wire(&calls, &mut payload);
            assert_eq!(promised_at_end(&payload), Some((calls, 5)));
            assert_eq!(promised_at_end(&payload[6..]), None);
        }
        let of = |calls: &[u32]| {
            let mut payload = Vec::new();
            promised_to_wire(calls, &mut payload);
            promised_at_end(&payload)
        };
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[0; MOST_PROMISED + 1]), None);
        assert_eq!(of(&[0, PROMISE_NUMBERS]), None);
        assert_eq!(promised_at_end(&[]), None);
        assert_eq!(promised_at_end(&u32::MAX.to_le_bytes()), None);
    }
}
