//! Errors of writing a message.

use std::error::Error;
use std::fmt;
use std::io;

use crate::buffer::{EmptyBuffer, PoolError};

/// The reason why a message was not written.
#[derive(jstream_derive::ErrorDebug)]
#[non_exhaustive]
pub enum WriteError {
    /// The message does not fit into the buffer, or into the rest of it after the previous messages
    /// of a stream.
    EndOfStream {
        /// The capacity of the buffer, or of the rest of it, in bytes.
        capacity: usize,
        /// The length of the message in bytes, if it is known.
        /// [`Writer::write`](crate::Writer::write) determines it for messages of up to 64 KiB; for
        /// others, [`Writer::message_len`](crate::Writer::message_len) does.
        needed: Option<usize>,
    },
    /// The pool has no buffer for the message.
    Pool(PoolError),
    /// The message exceeds the writer's limit of bytes.
    TooLong {
        /// The limit, [`Limits::bytes`](crate::Limits::bytes).
        limit: usize,
        /// The field whose target exceeded the limit, after the name of the type that contains it.
        field: Option<String>,
    },
    /// The message exceeds another limit of the writer. Readers have the same limits.
    Limit {
        /// The name of the limit, a field of [`Limits`](crate::Limits).
        name: &'static str,
        /// The value at which the limit was found to be exceeded. The message may have more.
        value: usize,
        /// The limit.
        limit: usize,
    },
    /// The destination failed. Part of the message may have been written.
    Io(io::Error),
    /// A received object was being restored in place, and was found to hold data that its type
    /// excludes from messages. The sender had added this data by hand.
    Displaced,
    /// A value behind a pointer to a trait object has a type that no reader can resolve: it is not
    /// registered as an implementation of the trait, or another registered type has the same name
    /// and structure.
    Unregistered {
        /// The value's type.
        class: String,
        /// The trait.
        of: &'static str,
    },
    /// A value of an rkyv type could not be serialized.
    Unarchived {
        /// The value's type.
        class: String,
        /// The error of its serialization.
        reason: String,
    },
}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::EndOfStream { capacity, needed } => {
                match needed {
                    Some(needed) => write!(
                        f,
                        "the message of {needed} bytes does not fit into the {capacity} available \
                         bytes: take a larger buffer"
                    )?,
                    None => write!(
                        f,
                        "the message does not fit into the {capacity} available bytes: take a \
                         buffer of at least `Writer::message_len` bytes"
                    )?,
                }
                f.write_str(", or use `Writer::write_to` or `to_vec`, which take the right size")
            }
            Self::Pool(error) => write!(f, "the message can't be written: {error}"),
            Self::Io(error) => {
                write!(f, "writing the message to its destination failed: {error}")
            }
            Self::TooLong { limit, field } => {
                write!(
                    f,
                    "the message is larger than the writer's limit of {limit} bytes (Limits::bytes)"
                )?;
                if let Some(field) = field {
                    write!(f, " at the target of `{field}`")?;
                }
                f.write_str(
                    "; if an object is reached on many paths or in a cycle, mark the pointers to it \
                     with `#[transportable(shared)]`, otherwise raise the limit",
                )
            }
            Self::Limit { name, value, limit } => {
                let unit = match *name {
                    "depth" => "pointers on one path",
                    "zero_sized" => "elements without size beyond its bytes",
                    "pending" => "runs of values of one type at the same time",
                    _ => "shared objects, or further pointers to them",
                };
                write!(
                    f,
                    "the message has {value} {unit}, but the limit is {limit} (Limits::{name}); "
                )?;
                if *name == "depth" {
                    f.write_str(
                        "if the path leads in a cycle, mark its pointers with \
                         `#[transportable(shared)]`, otherwise ",
                    )?;
                }
                f.write_str("raise the limit with `Writer::with_limits`, and at the reader")
            }
            Self::Displaced => f.write_str(
                "the object can't be forwarded: it holds data that its type excludes from messages",
            ),
            Self::Unregistered { class, of } => write!(
                f,
                "{class} is not registered as an implementation of {of}, or another type of its \
                 name and structure is: add `#[transportable(implements({of}))]`, or rename one"
            ),
            Self::Unarchived { class, reason } => {
                write!(f, "serializing a {class} failed: {reason}")
            }
        }
    }
}

impl Error for WriteError {}

impl From<PoolError> for WriteError {
    fn from(error: PoolError) -> Self {
        Self::Pool(error)
    }
}

/// A message that could not be written, with its buffer.
#[derive(jstream_derive::ErrorDebug)]
#[non_exhaustive]
pub struct WriteFailure {
    /// The reason.
    pub error: WriteError,
    /// The buffer.
    pub buffer: EmptyBuffer,
}

impl fmt::Display for WriteFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl Error for WriteFailure {}

/// The reason why a message could not be written into a buffer.
#[derive(Debug)]
pub(crate) struct WriteIntoError {
    pub(crate) error: WriteError,
    /// True if a form needs a larger alignment than the buffer has. Only a part of a buffer is
    /// aligned to less.
    pub(crate) misaligned: bool,
}

/// The error for objects that do not fit into the buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Full;
