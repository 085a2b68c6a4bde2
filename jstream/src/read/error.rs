//! Why a message was not read.

use std::error::Error;
use std::fmt;

use crate::buffer::Spent;
use crate::schema::Mismatch;

/// A part of the message with its own order of targets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Segment {
    /// The root and targets that hold pointers or text.
    Objects,
    /// Targets that hold neither.
    Bulk,
    /// The bytes of strings.
    Text,
}

impl fmt::Display for Segment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Objects => "objects",
            Self::Bulk => "bulk",
            Self::Text => "text",
        })
    }
}

/// What is wrong with a message. In the alternate form (`{:#}`) a mismatch of descriptors shows both
/// structures, where they are known.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReadError {
    /// Shorter than a header.
    Short {
        /// The message's length in bytes.
        len: usize,
    },
    /// Does not begin as a message of this version does.
    Magic {
        /// Its first four bytes.
        found: [u8; 4],
    },
    /// Longer than [`Limits::bytes`](super::Limits::bytes).
    TooLong {
        /// The message's length in bytes.
        len: usize,
        /// The limit.
        limit: usize,
    },
    /// The lengths in the header don't add up to the message's.
    Lengths {
        /// The message's length in bytes.
        len: usize,
    },
    /// Written as another type, or by a program in which the type has another layout.
    Descriptor {
        /// The type that was to be read.
        expected_type: String,
        /// Its descriptor.
        expected: u64,
        /// The message's descriptor.
        found: u64,
        /// Both structures, if this process knows the message's: see
        /// [`Reader::learn`](super::Reader::learn).
        mismatch: Option<Box<Mismatch>>,
    },
    /// The text segment is not UTF-8.
    NotUtf8 {
        /// Where, in bytes from the message's start.
        offset: usize,
    },
    /// A value is not what its type allows.
    Value {
        /// The fields that lead to it from the root.
        path: String,
        /// What is wrong with it.
        what: String,
        /// Where it stands, in bytes from the message's start.
        offset: usize,
    },
    /// A segment holds more than what the root reaches.
    Unused {
        /// Which one.
        segment: Segment,
        /// How many bytes are left over.
        bytes: usize,
    },
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Short { len } => {
                write!(f, "{len} bytes are no message: a header alone has 40")
            }
            Self::Magic { found } => write!(
                f,
                "the bytes are no message of this version: they begin with {found:02x?}"
            ),
            Self::TooLong { len, limit } => write!(
                f,
                "a message of {len} bytes is longer than Limits::bytes allows ({limit})"
            ),
            Self::Lengths { len } => write!(
                f,
                "the lengths in the header don't fit the message's {len} bytes"
            ),
            Self::Descriptor {
                expected_type,
                expected,
                found,
                mismatch,
            } => {
                write!(
                    f,
                    "the message is not a {expected_type} as this program knows it: its descriptor \
                     is {found:#018x}, not {expected:#018x}; build both sides from the same \
                     definition"
                )?;
                match mismatch {
                    Some(mismatch) if f.alternate() => write!(f, "; {mismatch:#}"),
                    Some(mismatch) => write!(f, "; {mismatch}"),
                    None => Ok(()),
                }
            }
            Self::NotUtf8 { offset } => {
                write!(f, "the text is not UTF-8 (at offset {offset:#x})")
            }
            Self::Value { path, what, offset } => {
                write!(f, "{path}: {what} (at offset {offset:#x})")
            }
            Self::Unused { segment, bytes } => write!(
                f,
                "{bytes} bytes of the {segment} segment belong to no object"
            ),
        }
    }
}

impl Error for ReadError {}

/// A message that was not read, and its jbuf.
#[derive(Debug)]
#[non_exhaustive]
pub struct ReadFailure {
    /// What is wrong.
    pub error: ReadError,
    /// The jbuf: its bytes mean nothing any more, it can be used again.
    pub spent: Spent,
}

impl fmt::Display for ReadFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl Error for ReadFailure {}
