//! What the word of an active message says of a call.
//!
//! | message | word | payload |
//! |---|---|---|
//! | request, or one that nobody answers | object, method, and how long the caller waits | the arguments |
//! | reply | 0 | the result |
//! | reply | a [`Code`] | what went wrong, as text |
//!
//! The number of the object has 32 bits, above them the place of the method in its interface 16, and above these
//! the time 16, as [`time`](self::time) says. Both sides have agreed about the interface when the object was looked up.

mod time;

use std::time::Duration;

use crate::error::Outcome;

/// A call, in the word of its request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Word {
    pub(crate) object: u32,
    pub(crate) method: u16,
    /// How long the caller waits from now on.
    pub(crate) time: Option<Duration>,
}

impl Word {
    pub(crate) fn to_wire(self) -> u64 {
        let time = self.time.map_or(0, time::to_wire);
        u64::from(self.object) | u64::from(self.method) << 32 | u64::from(time) << 48
    }

    #[allow(
        clippy::cast_possible_truncation,
        reason = "each part is what its bits are"
    )]
    pub(crate) fn of(wire: u64) -> Self {
        Self {
            object: wire as u32,
            method: (wire >> 32) as u16,
            time: time::from_wire(wire >> 48),
        }
    }
}

/// What went wrong at the server.
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
    /// There are as many streams as may be.
    Streams = 7,
    /// Who makes the items of a stream has panicked.
    Panicked = 8,
    /// The caller has to read the answers that there are.
    Unread = 9,
    /// The server is about to end.
    Ending = 10,
    /// An interceptor does not let the call through.
    Denied = 11,
}

impl Code {
    const ALL: [Self; 11] = [
        Self::UnknownObject,
        Self::UnknownMethod,
        Self::Arguments,
        Self::Result,
        Self::TooLate,
        Self::Overdue,
        Self::Streams,
        Self::Panicked,
        Self::Unread,
        Self::Ending,
        Self::Denied,
    ];

    /// Whether the method of a call that this answers ran.
    pub(crate) fn outcome(self) -> Outcome {
        match self {
            Self::Result => Outcome::Ran,
            Self::Overdue | Self::Panicked => Outcome::MayHaveRun,
            Self::UnknownObject
            | Self::UnknownMethod
            | Self::Arguments
            | Self::TooLate
            | Self::Streams
            | Self::Unread
            | Self::Ending
            | Self::Denied => Outcome::DidNotRun,
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
        assert_eq!((Code::of(0), Code::of(12)), (None, None));
    }
}
