//! What is wrong with a type.

use std::error::Error;
use std::fmt;

use crate::read::{ReadError, short};

/// What became of damaged messages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tally {
    /// How many were refused.
    pub refused: usize,
    /// How many were accepted, because they are other valid objects, and used.
    pub accepted: usize,
}

impl Tally {
    /// Both together.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self {
            refused: self.refused.saturating_add(other.refused),
            accepted: self.accepted.saturating_add(other.accepted),
        }
    }
}

/// What went wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Wrong {
    /// It can't be written.
    WriteFailure(String),
    /// The two ways of writing give two messages.
    TwoWays {
        /// The first byte in which they differ.
        at: usize,
    },
    /// A sound message is refused.
    Refused(ReadError),
    /// What arrives is not what was sent.
    Unlike,
    /// What arrives is written as another message.
    Changed {
        /// The first byte in which they differ.
        at: usize,
    },
    /// What was accepted, written again, is refused.
    RefusedAgain(ReadError),
    /// What was accepted is written, received, and then written as another message.
    ChangedAgain {
        /// The first byte in which they differ.
        at: usize,
    },
    /// What arrives is another message once it is turned back where it lies, or is sent on as another
    /// object.
    ForwardedMessage {
        /// The first byte in which they differ.
        at: usize,
    },
    /// What arrives can't be turned back where it lies.
    Copied,
    /// The program panics.
    Panicked(String),
    /// A message that is too short or too long is accepted.
    Accepted,
    /// A limit below what the message needs does not refuse it, or not by its name.
    Limit {
        /// The limit.
        name: &'static str,
        /// Its value.
        limit: usize,
        /// Why the message was refused instead, if it was.
        error: Option<ReadError>,
    },
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::WriteFailure(why) => write!(f, "it is not written: {why}"),
            Self::TwoWays { at } => {
                write!(f, "Writer::gather and Writer::write differ at byte {at:#x}")
            }
            Self::Refused(error) => write!(f, "it is refused as it was written: {error}"),
            Self::Unlike => f.write_str("what arrives is not what was sent"),
            Self::Changed { at } => write!(
                f,
                "what arrives is written as another message, from byte {at:#x} on"
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
                "what arrives is forwarded as another message, from byte {at:#x} on"
            ),
            Self::Copied => f.write_str("what arrives is copied when it is forwarded"),
            Self::Panicked(text) => {
                write!(f, "a damaged message makes the program panic: {text}")
            }
            Self::Accepted => f.write_str("a message of another length is accepted"),
            Self::Limit { name, limit, error } => {
                write!(f, "with Limits::{name} at {limit}, ")?;
                match error {
                    Some(error) => write!(f, "the error does not name the limit: {error}"),
                    None => f.write_str("less than it needs, the message is accepted"),
                }
            }
        }
    }
}

/// Something is wrong with a type, and a message shows it.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// The type.
    pub of: String,
    /// What went wrong.
    pub wrong: Box<Wrong>,
    /// The message as it was written.
    pub sound: Vec<u8>,
    /// The message with which it went wrong.
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

/// How many bytes of a message are shown, and how many of what differs.
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

/// As it is displayed, so that a test that returns it shows what there is to know.
impl fmt::Debug for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Error for Finding {}
