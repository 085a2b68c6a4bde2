//! Header words of calls.

use std::time::Duration;

use crate::frame::time::{self, Span};

/// Name of the handler of calls.
pub(crate) const CALLS: &str = "jstream.calls";

/// Name of the handler of the frames of streams.
pub(crate) const STREAMS: &str = "jstream.streams";

/// Name of the handler of messages about references.
pub(crate) const REFERENCES: &str = "jstream.references";

/// Object number of the service that returns kept results.
pub(crate) const RESULTS: u32 = u32::MAX.wrapping_sub(2);

/// The object number of every server's registry.
pub(crate) const REGISTRY: u32 = 0;

/// The object number of every server's reflection. It is never assigned to an object of a program.
pub(crate) const REFLECTION: u32 = u32::MAX.wrapping_sub(1);

/// Flag in the number of an object: other calls may name this call to call its result (pipelining).
/// Its own number is at the end of its payload.
pub(crate) const PROMISES: u32 = 1 << 31;

/// Flag in the number of an object: the object is the result of the call with this number.
pub(crate) const PROMISED: u32 = 1 << 30;

/// Limit at which the numbers of calls that other calls may name wrap around.
pub(crate) const PROMISE_NUMBERS: u32 = 1 << 29;

/// Returns true if the call's object is the result of another call.
pub(crate) fn names_a_call(word: u64) -> bool {
    let object = CallHeader::of(word).object;
    !is_of_every_server(object) && object & PROMISED != 0
}

/// Returns true for the fixed numbers of objects that every server has.
pub(crate) fn is_of_every_server(object: u32) -> bool {
    matches!(object, REFLECTION | RESULTS)
}

/// The header word of a call's request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CallHeader {
    pub(crate) object: u32,
    pub(crate) method: u16,
    /// Remaining time that the caller waits.
    pub(crate) time: Option<Duration>,
}

impl CallHeader {
    /// Returns the header of a request that fetches a result kept by the server.
    pub(crate) fn results() -> Self {
        Self {
            object: RESULTS,
            method: 0,
            time: None,
        }
    }

    pub(crate) fn to_wire(self) -> u64 {
        let time = self.time.map_or(0, time::to_wire);
        Self::joined(self.object, self.method, time)
    }

    /// Encodes a call whose caller waits for the whole of a limited time.
    pub(crate) fn spanning(object: u32, method: u16, span: &Span) -> u64 {
        Self::joined(object, method, span.wire())
    }

    fn joined(object: u32, method: u16, time: u16) -> u64 {
        u64::from(object) | Self::placed(method) | u64::from(time) << 48
    }

    /// Returns the bits of the method.
    #[inline]
    pub(crate) fn placed(method: u16) -> u64 {
        u64::from(method) << 32
    }

    /// Returns the encoded time that the caller waits: 0 means forever.
    #[inline]
    pub(crate) fn time_of(wire: u64) -> u64 {
        wire >> 48
    }

    /// Returns the number of the object and the index of the method.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "each part is what its bits are"
    )]
    #[inline]
    pub(crate) fn target(wire: u64) -> (u32, u16) {
        (wire as u32, (wire >> 32) as u16)
    }

    /// Replaces the object of an encoded call.
    pub(crate) fn aimed(wire: u64, object: u32) -> u64 {
        wire & !u64::from(u32::MAX) | u64::from(object)
    }

    pub(crate) fn of(wire: u64) -> Self {
        let (object, method) = Self::target(wire);
        Self {
            object,
            method,
            time: time::from_wire(Self::time_of(wire)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::code::Code;

    #[test]
    fn words_come_back() {
        for time in [None, Some(Duration::from_millis(2))] {
            for (object, method) in [(0, 0), (1, 2), (u32::MAX, u16::MAX)] {
                let word = CallHeader {
                    object,
                    method,
                    time,
                };
                assert_eq!(CallHeader::of(word.to_wire()), word);
            }
        }
        for code in Code::ALL {
            assert_eq!(Code::of(code as u64), Some(code));
        }
        for unknown in [0, 9, 14] {
            assert_eq!(Code::of(unknown), None);
        }
    }
}
