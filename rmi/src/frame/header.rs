//! Header words of calls.
//!
//! Decision 085 has the reasons.

use std::time::Duration;

use jstream_base::frame::FieldGroup;
use jstream_base::frames;

use crate::frame::time::{self, Span};

/// Name of the handler of calls.
pub(crate) const CALLS: &str = "jstream.calls";

/// Name of the handler of the frames of streams.
pub(crate) const STREAMS: &str = "jstream.streams";

/// Name of the handler of messages about references.
pub(crate) const REFERENCES: &str = "jstream.references";

/// Name of the handler of messages about the end of a server. A peer need not have it.
pub(crate) const MOVING: &str = "jstream.moving";

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

/// Flag in the number of an object: results of other calls are among the arguments. The numbers of
/// these calls are behind the arguments.
pub(crate) const PASSES_PROMISED: u32 = 1 << 29;

/// Limit at which the numbers of objects wrap around.
pub(crate) const OBJECT_NUMBERS: u32 = PASSES_PROMISED;

/// Limit at which the numbers of calls that other calls may name wrap around. With it, no number
/// with flags is one of the fixed numbers of objects that every server has.
pub(crate) const PROMISE_NUMBERS: u32 = 1 << 28;

/// Flag in the header word of a call: the payload ends with metadata.
pub(crate) const HAS_METADATA: u64 = 1 << 47;

/// Maximum number of methods of an interface.
pub(crate) const MOST_METHODS: usize = 1 << 15;

frames! {
    /// The header word of a call's request.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub(crate) struct CallHeader {
        pub(crate) object: u32 = First[0..32],
        pub(crate) method: u16 = First[32..47],
        /// 1 if the payload ends with metadata.
        pub(crate) has_metadata: u8 = First[47..48],
        /// Remaining time that the caller waits, as encoded by [`time`].
        pub(crate) time: u16 = First[48..64],
    }
}

/// Returns true if the call's object is the result of another call.
pub(crate) fn names_a_call(word: u64) -> bool {
    let object = CallHeader::from_word(word).object;
    // The fixed numbers have all flags set, which mean nothing in them.
    !is_of_every_server(object) && object & PROMISED != 0
}

/// Returns true for the fixed numbers of objects that every server has.
pub(crate) fn is_of_every_server(object: u32) -> bool {
    matches!(object, REFLECTION | RESULTS)
}

impl CallHeader {
    /// Returns the header of a request that fetches a result kept by the server.
    pub(crate) fn results() -> Self {
        Self {
            object: RESULTS,
            ..Self::default()
        }
    }

    /// Returns the header of a call whose caller waits for `time`, or forever.
    pub(crate) fn within(object: u32, method: u16, time: Option<Duration>) -> Self {
        Self {
            object,
            method,
            has_metadata: 0,
            time: time.map_or(0, time::to_wire),
        }
    }

    /// Returns the header of a call whose caller waits for the whole of a limited time.
    #[inline]
    pub(crate) fn spanning(object: u32, method: u16, span: &Span) -> Self {
        Self {
            object,
            method,
            has_metadata: 0,
            time: span.wire(),
        }
    }

    /// Returns the header with another object.
    pub(crate) fn aimed(self, object: u32) -> Self {
        Self { object, ..self }
    }

    /// Returns the header of a call that other calls may name.
    pub(crate) fn promising(self) -> Self {
        self.aimed(self.object | PROMISES)
    }

    /// Returns the header of a call with results of other calls among its arguments.
    pub(crate) fn passing_promised(self) -> Self {
        self.aimed(self.object | PASSES_PROMISED)
    }

    /// Returns the time that the caller waits, unless it waits forever.
    pub(crate) fn duration(self) -> Option<Duration> {
        time::from_wire(self.time)
    }

    /// Encodes the header.
    #[inline]
    pub(crate) fn to_word(self) -> u64 {
        let mut slots = [0; 4];
        self.put(&mut slots);
        let [word, ..] = slots;
        word
    }

    /// Decodes a header.
    #[inline]
    pub(crate) fn from_word(word: u64) -> Self {
        // Each word is a header.
        Self::get(&[word, 0, 0, 0]).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_round_trip() {
        for time in [None, Some(Duration::from_millis(2))] {
            for (object, method) in [(0, 0), (1, 2), (u32::MAX, u16::MAX >> 1)] {
                let header = CallHeader::within(object, method, time);
                assert_eq!(CallHeader::from_word(header.to_word()), header);
                assert_eq!(header.duration(), time);
            }
        }
        let header = CallHeader {
            object: 0x0403_0201,
            method: 0x0605,
            has_metadata: 0,
            time: 0x0807,
        };
        assert_eq!(header.to_word(), 0x0807_0605_0403_0201);
        let with_metadata = CallHeader {
            has_metadata: 1,
            ..header
        };
        assert_eq!(with_metadata.to_word(), header.to_word() | HAS_METADATA);
        assert_eq!(
            CallHeader::from_word(with_metadata.to_word()),
            with_metadata
        );
    }
}
