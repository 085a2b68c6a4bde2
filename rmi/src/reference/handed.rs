//! The wire form of a reference, and the reason why a form is refused.
//!
//! Decision 077 has the reasons.

use jstream::Transportable;

use crate::session::TOO_MANY;

/// The reason why received data is not a reference of the expected type.
#[derive(Debug)]
pub struct Unfit(pub(crate) String);

impl Unfit {
    pub(super) fn unknown() -> Self {
        Self("the reference names an unknown object".to_owned())
    }

    pub(super) fn many() -> Self {
        Self(TOO_MANY.to_owned())
    }
}

/// The wire form of a reference.
#[derive(Transportable, Debug)]
#[transportable(no_to_owned)]
pub enum Handed {
    /// An object of the receiver, by the number that the receiver gave.
    Yours {
        /// The object's number.
        number: u32,
        /// Number by which the receiver confirms receipt, if the sender cannot know it otherwise;
        /// else 0.
        kept: u64,
    },
    /// An object of the sender.
    Mine {
        /// The object's number.
        number: u32,
        /// The lease in milliseconds.
        lease: u32,
        /// The id of its interface.
        interface: u64,
    },
    /// An object of a third party, which keeps it to be claimed.
    Elsewhere {
        /// The key of the claim.
        key: [u64; 2],
        /// The owner's address.
        address: String,
    },
    /// An object of the receiver that a call in flight will return.
    Promised {
        /// Index of the call's number behind the arguments.
        index: u32,
    },
}

impl Handed {
    /// Returns the placeholder for a reference that can't be passed. The message is not sent.
    pub(super) fn nothing() -> Self {
        Self::Yours { number: 0, kept: 0 }
    }
}
