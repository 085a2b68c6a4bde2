//! Error codes of replies.

use jstream_base::{Header, frames};

use crate::support::Outcome;

frames! {
    /// Error code of a reply, which is its word. The number 9 is not used.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) enum Code by First[0..32], reserved Zero {
        UNKNOWN_OBJECT = 1 => UnknownObject,
        UNKNOWN_METHOD = 2 => UnknownMethod,
        ARGUMENTS = 3 => Arguments,
        RESULT = 4 => Result,
        /// The deadline passed before the method started.
        TOO_LATE = 5 => TooLate,
        /// The deadline passed while the method was suspended, which ended it.
        OVERDUE = 6 => Overdue,
        /// The limit for streams, or for calls that wait for that of another call, is reached.
        STREAMS = 7 => Streams,
        /// The producer of the items of a stream has panicked.
        PANICKED = 8 => Panicked,
        /// The server is shutting down.
        ENDING = 10 => Ending,
        /// An interceptor has denied the call.
        DENIED = 11 => Denied,
        /// The call that should have returned the object returned none.
        NOT_GIVEN = 12 => NotGiven,
        /// The result is large: the client fetches it by the number in the payload.
        KEPT = 13 => Kept,
    }
}

/// Bit of a reply's word beside its code: the callee has received the references among the
/// arguments, although the method did not run.
const READ: u64 = 1 << 32;

impl Code {
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

    /// Encodes the code in the word of a reply.
    pub(crate) fn to_word(self) -> u64 {
        self.header().tag()
    }

    /// Encodes the code in the word of a reply to a call whose references were received.
    pub(crate) fn to_word_of_received(self) -> u64 {
        self.to_word() | READ
    }

    /// Decodes the word of a reply. Returns `None` if it is not a code.
    pub(crate) fn from_word(word: u64) -> Option<Self> {
        // The bit is a statement of its own beside the code.
        Self::decode(&Header::tagged(word & !READ))
    }

    /// Returns true if the answer with this word implies that the callee has received the
    /// references among the arguments.
    pub(crate) fn implies_arrival(word: u64) -> bool {
        let has_run = |code: Self| code.outcome() != Outcome::DidNotRun;
        // A word of another version is neither 0 nor a code. It implies nothing, so the references
        // stay with the caller.
        word == 0 || word & READ != 0 || Self::from_word(word).is_some_and(has_run)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_round_trip() {
        for frame in Code::LAYOUT {
            let code = Code::from_word(frame.number.into()).unwrap();
            assert_eq!(code.to_word(), u64::from(frame.number));
        }
        assert_eq!(Code::from_word(3 | READ), Some(Code::Arguments));
        for unknown in [0, READ, 9, 14, READ | 14, 1 << 33 | 1] {
            assert_eq!(Code::from_word(unknown), None);
        }
    }
}
