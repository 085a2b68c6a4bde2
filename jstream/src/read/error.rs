//! Errors of reading a message.

use std::error::Error;
use std::fmt;

use crate::buffer::EmptyBuffer;
#[cfg(feature = "evolve")]
use crate::evolve::{Compatibility, Effect};
use crate::schema::Mismatch;

/// A segment of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Segment {
    /// The root, and the targets that hold pointers or text.
    Objects,
    /// The targets that hold neither pointers nor text.
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

/// The reason why a message was not read. In the alternate form (`{:#}`), a descriptor mismatch
/// shows both structures if they are known.
#[derive(jstream_derive::ErrorDebug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReadError {
    /// The message is shorter than a header.
    Short {
        /// The message's length in bytes.
        len: usize,
    },
    /// The message does not begin with the magic number of this version of the format.
    Magic {
        /// The first four bytes of the message.
        found: [u8; 4],
    },
    /// The message is longer than [`Limits::bytes`](super::Limits::bytes).
    TooLong {
        /// The message's length in bytes.
        len: usize,
        /// The limit in bytes.
        limit: usize,
    },
    /// The lengths in the header don't add up to the length of the message.
    Lengths {
        /// The message's length in bytes.
        len: usize,
    },
    /// The message was written as another type, or by a program in which the type has another
    /// layout.
    Descriptor {
        /// The type to be read.
        expected_type: String,
        /// The descriptor of that type.
        expected: u64,
        /// The message's descriptor.
        found: u64,
        /// Both structures, if this process knows the structure of the message's type: see
        /// [`Reader::learn`](super::Reader::learn).
        mismatch: Option<Box<Mismatch>>,
    },
    /// The message is of another version of the type, from which no message can be converted.
    #[cfg(feature = "evolve")]
    Incompatible {
        /// The type to be read.
        expected_type: String,
        /// The message's descriptor.
        found: u64,
        /// The differences of the two versions.
        compatibility: Box<Compatibility>,
    },
    /// The message is of another version of the type, and can't be converted.
    #[cfg(feature = "evolve")]
    Conversion {
        /// The path of fields from the root to the value, in this program's version. `[]` is an
        /// element. Empty if the error belongs to no field.
        path: String,
        /// The error.
        details: String,
        /// The offset of the value in bytes, from the start of the message.
        offset: usize,
    },
    /// The text segment is not UTF-8.
    NotUtf8 {
        /// The offset of the first invalid byte, from the start of the message.
        offset: usize,
    },
    /// A value is invalid for its type.
    Value {
        /// The path of fields from the root to the value.
        path: String,
        /// The error.
        details: String,
        /// The offset of the value in bytes, from the start of the message.
        offset: usize,
    },
    /// A segment holds bytes that no object reachable from the root uses.
    Unused {
        /// The segment.
        segment: Segment,
        /// Number of unused bytes.
        bytes: usize,
    },
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Short { len } => {
                write!(
                    f,
                    "a message of {len} bytes is shorter than its 40-byte header"
                )
            }
            Self::Magic { found } => write!(
                f,
                "not a message of this format version: the bytes begin with {found:02x?}"
            ),
            Self::TooLong { len, limit } => write!(
                f,
                "a message of {len} bytes is longer than Limits::bytes allows ({limit})"
            ),
            Self::Lengths { len } => write!(
                f,
                "the lengths in the header don't add up to the message's {len} bytes"
            ),
            Self::Descriptor {
                expected_type,
                expected,
                found,
                mismatch,
            } => {
                write!(
                    f,
                    "the message does not hold the type {expected_type} of this program: its \
                     descriptor is {found:#018x}, not {expected:#018x}; a reader that has learnt \
                     the schema of another version (Reader::learn) converts its messages"
                )?;
                match mismatch {
                    Some(mismatch) if f.alternate() => write!(f, "; {mismatch:#}"),
                    Some(mismatch) => write!(f, "; {mismatch}"),
                    None => Ok(()),
                }
            }
            #[cfg(feature = "evolve")]
            Self::Incompatible {
                expected_type,
                compatibility,
                ..
            } => {
                write!(
                    f,
                    "the message is of another version of {expected_type}, and can't be converted"
                )?;
                let refused = compatibility
                    .findings()
                    .iter()
                    .filter(|finding| finding.effect == Effect::Refused);
                for (index, finding) in refused.enumerate() {
                    let start = if index == 0 { ": " } else { "; " };
                    write!(f, "{start}{}: {}", finding.path, finding.details)?;
                }
                Ok(())
            }
            #[cfg(feature = "evolve")]
            Self::Conversion {
                path,
                details,
                offset,
            } => {
                f.write_str("a message of another version can't be converted: ")?;
                if !path.is_empty() {
                    write!(f, "{path}: ")?;
                }
                write!(f, "{details} (at offset {offset:#x})")
            }
            Self::NotUtf8 { offset } => {
                write!(f, "the text is not UTF-8 (at offset {offset:#x})")
            }
            Self::Value {
                path,
                details,
                offset,
            } => {
                write!(f, "{path}: {details} (at offset {offset:#x})")
            }
            Self::Unused { segment, bytes } => write!(
                f,
                "{bytes} bytes of the {segment} segment belong to no object"
            ),
        }
    }
}

impl Error for ReadError {}

/// A message that could not be read, with its buffer.
#[derive(jstream_derive::ErrorDebug)]
#[non_exhaustive]
pub struct ReadFailure {
    /// The reason.
    pub error: ReadError,
    /// The buffer, which can be reused. The content of its bytes is unspecified.
    pub buffer: EmptyBuffer,
}

impl fmt::Display for ReadFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl Error for ReadFailure {}
