//! Messages about the end of a server, by the header word of active messages.

use jstream_base::{Header, frames};

frames! {
    /// A message about the end of a server.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) enum MovingMessage by First[0..32], reserved Zero {
        /// The sender will answer *move*.
        ATTEND = 1 => Attend,
        /// The sender accepts no more calls.
        MOVE = 2 => Move,
        /// The sender makes no more calls.
        MOVED = 3 => Moved,
    }
}

impl MovingMessage {
    /// Encodes the word.
    pub(crate) fn to_word(self) -> u64 {
        self.header().tag()
    }

    /// Decodes a word. Returns `None` if it is invalid.
    pub(crate) fn from_word(word: u64) -> Option<Self> {
        Self::decode(&Header::tagged(word))
    }
}
