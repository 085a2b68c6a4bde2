//! Errors that the tests find.

use std::error::Error;
use std::fmt;

use crate::read::{ReadError, short};

/// Counts of damaged messages, by outcome.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tally {
    /// Number of messages that were refused.
    pub refused: usize,
    /// Number of messages that were accepted as other valid objects, and used.
    pub accepted: usize,
}

impl Tally {
    /// Returns the sum of both tallies.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self {
            refused: self.refused.saturating_add(other.refused),
            accepted: self.accepted.saturating_add(other.accepted),
        }
    }
}

/// The kind of error.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Wrong {
    /// Writing the value fails.
    WriteFailure(String),
    /// The two ways of writing produce different messages.
    TwoWays {
        /// Offset of the first byte that differs.
        at: usize,
    },
    /// The undamaged message is refused.
    Refused(ReadError),
    /// The received object differs from the one that was sent.
    Unlike,
    /// Writing the received object produces another message.
    Changed {
        /// Offset of the first byte that differs.
        at: usize,
    },
    /// A damaged message is accepted, but after writing its object again, the new message is
    /// refused.
    RefusedAgain(ReadError),
    /// A damaged message is accepted, but writing its object, receiving it, and writing it again
    /// produces two different messages.
    ChangedAgain {
        /// Offset of the first byte that differs.
        at: usize,
    },
    /// Forwarding the received object, by restoring its message in place, produces another message
    /// or object.
    ForwardedMessage {
        /// Offset of the first byte that differs.
        at: usize,
    },
    /// The received object cannot be forwarded in place.
    Copied,
    /// The program panics.
    Panicked(String),
    /// A message of the wrong length is accepted.
    Accepted,
    /// A limit lower than the message needs does not refuse it, or the error does not name the
    /// limit.
    Limit {
        /// Name of the limit.
        name: &'static str,
        /// Value of the limit.
        limit: usize,
        /// The error by which the message was refused, if it was.
        error: Option<ReadError>,
    },
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::WriteFailure(why) => write!(f, "writing fails: {why}"),
            Self::TwoWays { at } => {
                write!(f, "Writer::gather and Writer::write differ at byte {at:#x}")
            }
            Self::Refused(error) => write!(f, "the undamaged message is refused: {error}"),
            Self::Unlike => f.write_str("the received object differs from the one sent"),
            Self::Changed { at } => write!(
                f,
                "the received object is written as another message, from byte {at:#x} on"
            ),
            Self::RefusedAgain(error) => write!(
                f,
                "a damaged message is accepted, but its object can't be sent on: {error}"
            ),
            Self::ChangedAgain { at } => write!(
                f,
                "a damaged message is accepted, but its object changes when it is sent on, from \
                 byte {at:#x} on"
            ),
            Self::ForwardedMessage { at } => write!(
                f,
                "the received object is forwarded as another message, from byte {at:#x} on"
            ),
            Self::Copied => f.write_str("the received object is copied when it is forwarded"),
            Self::Panicked(text) => {
                write!(f, "a damaged message makes the program panic: {text}")
            }
            Self::Accepted => f.write_str("a message of another length is accepted"),
            Self::Limit { name, limit, error } => {
                write!(f, "with Limits::{name} at {limit}, ")?;
                match error {
                    Some(error) => write!(f, "the error does not name the limit: {error}"),
                    None => f.write_str("which is too low, the message is accepted"),
                }
            }
        }
    }
}

/// An error that a test found in a type, and the message that shows it.
#[derive(jstream_derive::ErrorDebug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// Name of the type.
    pub of: String,
    /// The kind of error.
    pub wrong: Box<Wrong>,
    /// The message as written.
    pub sound: Vec<u8>,
    /// The message that caused the error.
    pub message: Vec<u8>,
}

impl Finding {
    pub(super) fn new(of: &str, wrong: Wrong, sound: &[u8], message: &[u8]) -> Self {
        Self {
            of: short(of),
            wrong: Box::new(wrong),
            sound: sound.to_vec(),
            message: message.to_vec(),
        }
    }
}

/// Maximum number of bytes of a message that are shown, and of differences.
const SHOWN: usize = 4096;
const DIFFERING: usize = 32;

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.of, self.wrong)?;
        if self.sound != self.message {
            let (sound, message) = (self.sound.len(), self.message.len());
            write!(f, "\n  damage:")?;
            if sound != message {
                write!(f, " {message} bytes instead of {sound};")?;
            }
            let both = self.sound.iter().zip(&self.message).enumerate();
            let differing = both.filter(|(_, (was, is))| was != is);
            for (at, (was, is)) in differing.take(DIFFERING) {
                write!(f, " {at:#x}: {was:02x} became {is:02x};")?;
            }
        }
        write!(f, "\n  message: ")?;
        for byte in self.message.iter().take(SHOWN) {
            write!(f, "{byte:02x}")?;
        }
        if self.message.len() > SHOWN {
            f.write_str("…")?;
        }
        Ok(())
    }
}

impl Error for Finding {}
