//! What the word of an active message says of a call.
//!
//! | message | word | payload |
//! |---|---|---|
//! | request, or one that nobody answers | object, method, and how long the caller waits | the arguments |
//! | reply | 0 | the result |
//! | reply | a [`Code`] | what went wrong, as text; of a result that is kept, its number |
//!
//! Where the arguments or the result are a `()`, the payload has no bytes; a message of one is taken as well.
//!
//! The number of the object has 32 bits, above them the place of the method in its interface 16, and above these
//! the time 16, as [`time`](self::time) says. Both sides have agreed about the interface when the object was looked up.

mod time;

use std::time::Duration;

pub(crate) use self::time::{Deadline, Span, begin};
use crate::error::Outcome;
use crate::reflection::REFLECTION;
use crate::session::RESULTS;

/// In the number of an object: its result is called by others that name the call, by what stands at the end of its
/// payload.
pub(crate) const PROMISES: u32 = 1 << 31;

/// In the number of an object: it is what the call with the rest of the number will give.
pub(crate) const PROMISED: u32 = 1 << 30;

/// The numbers of calls that others name begin anew after so many.
pub(crate) const PROMISE_NUMBERS: u32 = 1 << 29;

/// Whether the word of a call names another one.
pub(crate) fn names_a_call(word: u64) -> bool {
    let object = Word::of(word).object;
    !is_of_every_server(object) && object & PROMISED != 0
}

/// Whether it is the number of something that every server has, and no object of a program.
pub(crate) fn is_of_every_server(object: u32) -> bool {
    matches!(object, REFLECTION | RESULTS)
}

/// A call, in the word of its request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Word {
    pub(crate) object: u32,
    pub(crate) method: u16,
    /// How long the caller waits from now on.
    pub(crate) time: Option<Duration>,
}

impl Word {
    /// That which asks for a result that is kept.
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

    /// That of a call whose caller waits for the whole of a time that ends.
    pub(crate) fn spanning(object: u32, method: u16, span: &Span) -> u64 {
        Self::joined(object, method, span.wire())
    }

    fn joined(object: u32, method: u16, time: u16) -> u64 {
        u64::from(object) | Self::placed(method) | u64::from(time) << 48
    }

    /// What stands in it of the method.
    #[inline]
    pub(crate) fn placed(method: u16) -> u64 {
        u64::from(method) << 32
    }

    /// How long its caller waits, as it travels: 0 for ever.
    #[inline]
    pub(crate) fn time_of(wire: u64) -> u64 {
        wire >> 48
    }

    /// The number of the object, and the place of the method.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "each part is what its bits are"
    )]
    #[inline]
    pub(crate) fn target(wire: u64) -> (u32, u16) {
        (wire as u32, (wire >> 32) as u16)
    }

    /// The same call of another object.
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

/// What went wrong at the server. 9 is no code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Code {
    UnknownObject = 1,
    UnknownMethod = 2,
    Arguments = 3,
    Result = 4,
    /// The caller's time was over before the method began.
    TooLate = 5,
    /// It was over while the method waited, which ended it.
    Overdue = 6,
    /// There are as many streams, or as many calls that wait for another one's object, as may be.
    Streams = 7,
    /// Who makes the items of a stream has panicked.
    Panicked = 8,
    /// The server is about to end.
    Ending = 10,
    /// An interceptor does not let the call through.
    Denied = 11,
    /// The call that would give its object gave none.
    NotGiven = 12,
    /// The result is large, and fetched by the number that stands here.
    Kept = 13,
}

impl Code {
    const ALL: [Self; 12] = [
        Self::UnknownObject,
        Self::UnknownMethod,
        Self::Arguments,
        Self::Result,
        Self::TooLate,
        Self::Overdue,
        Self::Streams,
        Self::Panicked,
        Self::Ending,
        Self::Denied,
        Self::NotGiven,
        Self::Kept,
    ];

    /// Whether the method of a call that this answers ran.
    pub(crate) fn outcome(self) -> Outcome {
        match self {
            Self::Result | Self::Kept => Outcome::Ran,
            Self::Overdue | Self::Panicked => Outcome::MayHaveRun,
            Self::UnknownObject
            | Self::UnknownMethod
            | Self::Arguments
            | Self::TooLate
            | Self::Streams
            | Self::Ending
            | Self::Denied
            | Self::NotGiven => Outcome::DidNotRun,
        }
    }

    pub(crate) fn of(word: u64) -> Option<Self> {
        Self::ALL.into_iter().find(|code| *code as u64 == word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_come_back() {
        for time in [None, Some(Duration::from_millis(2))] {
            for (object, method) in [(0, 0), (1, 2), (u32::MAX, u16::MAX)] {
                let word = Word {
                    object,
                    method,
                    time,
                };
                assert_eq!(Word::of(word.to_wire()), word);
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
