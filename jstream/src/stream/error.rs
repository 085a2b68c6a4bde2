//! Why an object was not read from a stream.

use std::error::Error;
use std::fmt;

use crate::read::ReadError;

/// What prevented an object from being read from a stream. After each but [`Damaged`](Self::Damaged)
/// the stream stands where it stood.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum StreamError {
    /// No item is left.
    EndOfStream,
    /// The bytes at the cursor are no item. Where the next one would begin nobody can tell, so nothing
    /// more can be read: each further attempt gives this error again.
    Framing {
        /// Where, in bytes from the stream's start.
        offset: usize,
        /// What is wrong there.
        what: &'static str,
    },
    /// The stream is longer than [`Limits::bytes`](crate::Limits::bytes).
    TooLong {
        /// Its length in bytes.
        len: usize,
        /// The limit.
        limit: usize,
    },
    /// The next item is not of the type that was asked for, or is wrong in a way that shows before it
    /// is changed. It is still there, to be read as another type or skipped.
    Refused {
        /// Where it begins, in bytes from the stream's start.
        offset: usize,
        /// What is wrong, with places that count from there.
        error: ReadError,
    },
    /// The next item begins where the type's form would not be aligned. It is still there.
    Misaligned {
        /// Where it begins, in bytes from the stream's start.
        offset: usize,
        /// What the form is aligned to.
        align: usize,
    },
    /// The item turned out to be wrong while it was made native. The stream has passed it, and goes on
    /// with the one behind it.
    Damaged {
        /// Where it begins, in bytes from the stream's start.
        offset: usize,
        /// What is wrong, with places that count from there.
        error: ReadError,
    },
}

impl fmt::Display for StreamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::EndOfStream => f.write_str("the stream has no more items"),
            Self::Framing { offset, what } => {
                write!(f, "the stream is broken at offset {offset:#x}: {what}")
            }
            Self::TooLong { len, limit } => write!(
                f,
                "a stream of {len} bytes is longer than Limits::bytes allows ({limit})"
            ),
            Self::Refused { offset, .. } => {
                write!(
                    f,
                    "the item at offset {offset:#x} is not what was asked for"
                )
            }
            Self::Misaligned { offset, align } => write!(
                f,
                "the item at offset {offset:#x} is of a type aligned to {align} bytes, and begins at no \
                 multiple of 128"
            ),
            Self::Damaged { offset, .. } => {
                write!(f, "the item at offset {offset:#x} is damaged")
            }
        }
    }
}

impl Error for StreamError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Refused { error, .. } | Self::Damaged { error, .. } => Some(error),
            Self::EndOfStream
            | Self::Framing { .. }
            | Self::TooLong { .. }
            | Self::Misaligned { .. } => None,
        }
    }
}
