//! Errors of reading from a stream.

use std::error::Error;
use std::fmt;

use crate::read::ReadError;

/// An error of reading from a stream. After every error except [`Damaged`](Self::Damaged), the
/// position of the stream is unchanged.
#[derive(jstream_derive::ErrorDebug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum StreamError {
    /// The stream has no further items.
    EndOfStream,
    /// The bytes at the cursor are not a valid item. Since the start of the next item is unknown,
    /// every further read returns this error.
    Framing {
        /// Position, in bytes from the start of the stream.
        offset: usize,
        /// Description of the error.
        details: &'static str,
    },
    /// The stream is longer than [`Limits::bytes`](crate::Limits::bytes).
    TooLong {
        /// Length of the stream in bytes.
        len: usize,
        /// The limit.
        limit: usize,
    },
    /// The next item is not of the requested type, or is invalid in a way that is detected before
    /// it is modified. It can still be read as another type or skipped.
    Refused {
        /// Start of the item, in bytes from the start of the stream.
        offset: usize,
        /// The error; its offsets are relative to the start of the item.
        error: ReadError,
    },
    /// The start of the next item is not aligned as the type's form requires. The item can still be
    /// skipped.
    Misaligned {
        /// Start of the item, in bytes from the start of the stream.
        offset: usize,
        /// Alignment of the form in bytes.
        align: usize,
    },
    /// The item was found to be invalid while it was made native. The stream has advanced beyond
    /// it.
    Damaged {
        /// Start of the item, in bytes from the start of the stream.
        offset: usize,
        /// The error; its offsets are relative to the start of the item.
        error: ReadError,
    },
}

impl fmt::Display for StreamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::EndOfStream => f.write_str("the stream has no more items"),
            Self::Framing { offset, details } => {
                write!(
                    f,
                    "invalid framing at offset {offset:#x} of the stream: {details}"
                )
            }
            Self::TooLong { len, limit } => write!(
                f,
                "a stream of {len} bytes exceeds the limit of {limit} bytes (Limits::bytes)"
            ),
            Self::Refused { offset, error } => {
                write!(
                    f,
                    "the item at offset {offset:#x} can't be read as the requested type: {error}"
                )
            }
            Self::Misaligned { offset, align } => write!(
                f,
                "the item at offset {offset:#x} is of a type aligned to {align} bytes, but is not at a \
                 multiple of 128"
            ),
            Self::Damaged { offset, error } => {
                write!(f, "the item at offset {offset:#x} is damaged: {error}")
            }
        }
    }
}

impl Error for StreamError {}
