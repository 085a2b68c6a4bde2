//! Errors of operations between ranks.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use jstream::buffer::{Filled, PoolError, Spent};
use jstream::{ReadError, WriteError};
use thiserror::Error;

use jstream_base::SendError;

/// Error of an operation of a [`Rank`](super::Rank).
///
/// An error does not affect other operations. [`PeerGone`](Self::PeerGone) and
/// [`NobodyLeft`](Self::NobodyLeft) are permanent.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// The matched message is longer than the memory of the receive. The message is dropped,
    /// nothing is written to the memory, and the next message is received as usual.
    #[error(
        "the message of rank {rank} with tag {tag:#x} has {length} bytes, but the receive has room \
         for {capacity}; probe for its length first, or receive into a jbuf"
    )]
    Truncated {
        /// The length of the message in bytes.
        length: u64,
        /// The number of bytes that fit.
        capacity: u64,
        /// The rank of the sender.
        rank: u32,
        /// The tag of the message.
        tag: u64,
    },
    /// The matched message has elements of another type. The message is dropped, nothing is written
    /// to the memory, and the next message is received as usual.
    #[error(
        "the message of rank {rank} with tag {tag:#x} has elements of {sent}, but the receive \
         expects {expected}; both sides have to name the same type"
    )]
    WrongElements {
        /// The element type of the receive.
        expected: ElementName,
        /// The element type of the message.
        sent: ElementName,
        /// The rank of the sender.
        rank: u32,
        /// The tag of the message.
        tag: u64,
    },
    /// The other rank has ended, or the connection to it was lost.
    #[error("rank {rank} is gone: {why}")]
    PeerGone {
        /// The number of the rank.
        rank: u32,
        /// The reason.
        why: Arc<str>,
    },
    /// A receive from any source failed because all other ranks are gone.
    #[error("all other ranks are gone, and none of their messages is left")]
    NobodyLeft,
    /// The operation was cancelled.
    #[error("the operation was cancelled")]
    Cancelled,
    /// No message arrived in time. The operation was cancelled.
    #[error("no message arrived within {after:?}")]
    TimedOut {
        /// The timeout of the call.
        after: Duration,
    },
    /// The group has no rank of this number, or this rank is not connected to it.
    #[error("this rank is not connected to a rank {rank} (size of the group: {size})")]
    NoRank {
        /// The number.
        rank: u32,
        /// The number of ranks in the group.
        size: u32,
    },
    /// The message is longer than the other rank accepts. Nothing was sent.
    #[error(
        "a message of {length} bytes is too long for rank {rank}, which takes at most {max}; split \
         it or raise its Options::max_message"
    )]
    TooLong {
        /// The length of the message in bytes.
        length: u64,
        /// The maximum length in bytes that the other rank accepts.
        max: u64,
        /// The number of the other rank.
        rank: u32,
    },
    /// The pool has no jbuf for the message, which is dropped.
    #[error("no room for a message of {length} bytes: {source}")]
    NoBuffer {
        /// The number of bytes needed.
        length: u64,
        /// The error of the pool.
        source: PoolError,
    },
    /// The message was not sent, although the other rank is still connected.
    #[error("the message for rank {rank} was not sent: {source}")]
    NotSent {
        /// The number of the other rank.
        rank: u32,
        /// The cause.
        source: Box<SendError>,
    },
    /// The object can't be written. Nothing was sent.
    #[error("the object can't be written: {0}")]
    Write(#[source] WriteError),
    /// The message is not a valid object of the requested type. The message is dropped.
    #[error("the message of rank {rank} with tag {tag:#x} can't be read: {source}")]
    Read {
        /// The rank of the sender.
        rank: u32,
        /// The tag of the message.
        tag: u64,
        /// The cause.
        source: Box<ReadError>,
    },
}

/// The element type of a message, for display.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ElementName {
    pub(super) descriptor: u64,
    pub(super) name: Option<&'static str>,
}

impl ElementName {
    /// Untyped bytes.
    pub(super) const BYTES: Self = Self {
        descriptor: 0,
        name: Some("u8"),
    };

    /// Returns true if a message of the sent type may be received as this type. Untyped bytes agree
    /// with every type.
    #[inline]
    pub(super) fn agrees(&self, sent: Option<u64>) -> bool {
        self.descriptor == 0 || sent.is_none_or(|sent| sent == 0 || sent == self.descriptor)
    }

    /// Returns the number that identifies the type on the wire.
    #[must_use]
    pub const fn descriptor(&self) -> u64 {
        self.descriptor
    }

    /// Returns the name of the type, if this program knows it.
    #[must_use]
    pub const fn name(&self) -> Option<&'static str> {
        self.name
    }
}

impl fmt::Display for ElementName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name {
            Some(name) => f.write_str(name),
            None => write!(f, "a type with the descriptor {:#x}", self.descriptor),
        }
    }
}

/// Error of a send, with the jbuf if it was not sent.
#[derive(Debug, Error)]
#[error("{error}")]
#[non_exhaustive]
pub struct Unsent {
    /// The cause.
    #[source]
    pub error: Error,
    /// The jbuf, unchanged, if it was not sent.
    pub filled: Option<Filled>,
}

impl From<Unsent> for Error {
    fn from(unsent: Unsent) -> Self {
        unsent.error
    }
}

/// Error of a receive, with the jbuf that was posted for it.
#[derive(Debug, Error)]
#[error("{error}")]
#[non_exhaustive]
pub struct Unreceived {
    /// The cause.
    #[source]
    pub error: Error,
    /// The jbuf that was posted, if there was one and it is unused.
    pub spent: Option<Spent>,
}

impl From<Unreceived> for Error {
    fn from(unreceived: Unreceived) -> Self {
        unreceived.error
    }
}
