//! Messages about references, by the header word of active messages.

use jstream_base::{Header, frames};

frames! {
    /// A message about references.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) enum ReferenceMessage by First[0..32], reserved Zero {
        /// The sender still has its references.
        RENEW = 1 => Renew,
        /// The sender has dropped the references that the payload lists.
        CLEAN = 2 => Clean,
        /// A third party is going to claim an object by a key.
        OFFER = 3 => Offer,
    }
}

impl ReferenceMessage {
    /// Encodes the word.
    pub(crate) fn to_word(self) -> u64 {
        self.header().tag()
    }

    /// Decodes a word. Returns `None` if it is invalid.
    pub(crate) fn from_word(word: u64) -> Option<Self> {
        Self::decode(&Header::tagged(word))
    }
}
