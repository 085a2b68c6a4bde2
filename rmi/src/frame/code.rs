//! Error codes of replies.

use crate::support::Outcome;

/// Error code of a reply. The value 9 is not used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Code {
    UnknownObject = 1,
    UnknownMethod = 2,
    Arguments = 3,
    Result = 4,
    /// The deadline passed before the method started.
    TooLate = 5,
    /// The deadline passed while the method was suspended, which ended it.
    Overdue = 6,
    /// The limit for streams, or for calls that wait for the result of another call, is reached.
    Streams = 7,
    /// The producer of the items of a stream has panicked.
    Panicked = 8,
    /// The server is shutting down.
    Ending = 10,
    /// An interceptor has denied the call.
    Denied = 11,
    /// The call that should have returned the object returned none.
    NotGiven = 12,
    /// The result is large: the client fetches it by the number in the payload.
    Kept = 13,
}

impl Code {
    pub(super) const ALL: [Self; 12] = [
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

    /// Returns whether the method ran, for a call that this code answers.
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
