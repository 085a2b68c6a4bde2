//! Why a message was not written.

use std::error::Error;
use std::fmt;
use std::io;

use crate::buffer::{PoolError, Spent};

/// What prevented a write.
#[derive(Debug)]
#[non_exhaustive]
pub enum WriteError {
    /// The message does not fit the jbuf, or what is left of it behind the messages of a stream.
    EndOfStream {
        /// What the jbuf holds, or what is left of it, in bytes.
        capacity: usize,
        /// What the message needs, in bytes, where the write came far enough to know.
        needed: Option<usize>,
    },
    /// The pool has no jbuf for the message.
    Pool(PoolError),
    /// The message exceeds the writer's limit.
    TooLong {
        /// The limit of each segment, in bytes.
        limit: usize,
        /// The field whose target there was no room for, after the name of the type that has it.
        field: Option<String>,
    },
    /// What the bytes were written to failed. Part of the message may have been written.
    Io(io::Error),
    /// A received object was being turned back into a message where it lay, and was found to hold what
    /// its type leaves out of messages: its sender had put it there by hand.
    Displaced,
    /// A value behind a pointer to a trait object has a type that no program could read: it is not
    /// registered as an implementation of the trait, or another one has its name and structure.
    Unregistered {
        /// The value's type.
        class: String,
        /// The trait.
        of: &'static str,
    },
    /// A value of a type of rkyv's was not serialized.
    Unarchived {
        /// The value's type.
        class: String,
        /// What its serialization says.
        why: String,
    },
}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::EndOfStream { capacity, needed } => {
                write!(
                    f,
                    "the message does not fit the {capacity} bytes that there are"
                )?;
                match needed {
                    Some(needed) => write!(f, ": it needs {needed}"),
                    None => Ok(()),
                }
            }
            Self::Pool(_) => f.write_str("no jbuf for the message"),
            Self::Io(_) => f.write_str("the message could not be written out"),
            Self::TooLong { limit, field } => {
                write!(
                    f,
                    "the message is larger than the writer's limit of {limit} bytes"
                )?;
                if let Some(field) = field {
                    write!(f, " at what `{field}` leads to")?;
                }
                f.write_str(
                    "; is an object reached in many ways, or in a circle? Then mark the pointers to it \
                     with `#[transportable(shared)]`, else raise the limit",
                )
            }
            Self::Displaced => f.write_str(
                "the object can't be forwarded: it came with what its type leaves out of messages",
            ),
            Self::Unregistered { class, of } => write!(
                f,
                "{class} is not registered as an implementation of {of}, or another type of its \
                 name and structure is: add `#[transportable(implements({of}))]`, or rename one"
            ),
            Self::Unarchived { class, why } => write!(f, "no archive of a {class}: {why}"),
        }
    }
}

impl Error for WriteError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Pool(error) => Some(error),
            Self::Io(error) => Some(error),
            Self::EndOfStream { .. }
            | Self::TooLong { .. }
            | Self::Displaced
            | Self::Unregistered { .. }
            | Self::Unarchived { .. } => None,
        }
    }
}

impl From<PoolError> for WriteError {
    fn from(error: PoolError) -> Self {
        Self::Pool(error)
    }
}

/// A message that was not written, and its jbuf.
#[derive(Debug)]
#[non_exhaustive]
pub struct Unwritten {
    /// What prevented it.
    pub error: WriteError,
    /// The jbuf.
    pub spent: Spent,
    /// Whether a form needs its message aligned to more than the jbuf is, which only a part of one is.
    pub(crate) misaligned: bool,
}

impl fmt::Display for Unwritten {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl Error for Unwritten {}
