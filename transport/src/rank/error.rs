//! Why something between ranks came to nothing.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use jstream::buffer::{Filled, PoolError, Spent};
use jstream::{ReadError, WriteError};
use thiserror::Error;

use crate::error::SendError;

/// Why an operation of a [`Rank`](super::Rank) came to nothing.
///
/// None of them concerns other operations, but [`PeerGone`](Self::PeerGone) and
/// [`NobodyLeft`](Self::NobodyLeft), which stay.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// The message that the receive got is longer than its memory. The message is gone, nothing of it was
    /// written, and the next one is received as usual.
    #[error(
        "the message of rank {rank} with tag {tag:#x} has {length} bytes, but there is room for \
         {capacity}; probe for its length first, or receive into a jbuf"
    )]
    Truncated {
        /// The message's length in bytes.
        length: u64,
        /// How many bytes fit.
        capacity: u64,
        /// Who sent it.
        rank: u32,
        /// Its tag.
        tag: u64,
    },
    /// The message that the receive got has elements of another type. The message is gone, nothing of it
    /// was written, and the next one is received as usual.
    #[error(
        "the message of rank {rank} with tag {tag:#x} has elements of {sent}, but {expected} was \
         expected; both sides have to name the same type"
    )]
    WrongElements {
        /// What the receive expected.
        expected: ElementName,
        /// What was sent.
        sent: ElementName,
        /// Who sent it.
        rank: u32,
        /// Its tag.
        tag: u64,
    },
    /// The other rank has ended, or the connection to it was lost.
    #[error("rank {rank} is gone: {why}")]
    PeerGone {
        /// The rank.
        rank: u32,
        /// How it went.
        why: Arc<str>,
    },
    /// A receive from any source, when all other ranks are gone.
    #[error("all other ranks are gone, and no message of theirs waits")]
    NobodyLeft,
    /// The operation was cancelled.
    #[error("the operation was cancelled")]
    Cancelled,
    /// Nothing came in time. The operation was taken back.
    #[error("no message came within {after:?}")]
    TimedOut {
        /// How long the call allowed.
        after: Duration,
    },
    /// The group has no such member, or this rank is not connected to it.
    #[error("there is no rank {rank} that this rank, of {size}, is connected to")]
    NoRank {
        /// The number.
        rank: u32,
        /// How many ranks there are.
        size: u32,
    },
    /// The other rank does not take messages that long. Nothing was sent.
    #[error(
        "a message of {length} bytes is too long for rank {rank}, which takes at most {max}; split \
         it or raise its Options::max_message"
    )]
    TooLong {
        /// The message's length in bytes.
        length: u64,
        /// The most that it takes.
        max: u64,
        /// The other rank.
        rank: u32,
    },
    /// The pool gave no jbuf for the message, which is gone.
    #[error("no room for a message of {length} bytes: {source}")]
    NoBuffer {
        /// How many bytes were needed.
        length: u64,
        /// What the pool said.
        source: PoolError,
    },
    /// The message was not sent; the other rank is there.
    #[error("the message for rank {rank} was not sent: {source}")]
    NotSent {
        /// The other rank.
        rank: u32,
        /// Why.
        source: Box<SendError>,
    },
    /// The object can't be written. Nothing was sent.
    #[error("the object can't be written: {0}")]
    Write(#[source] WriteError),
    /// The message is no object of the type that was asked for. It is gone.
    #[error("the message of rank {rank} with tag {tag:#x} can't be read: {source}")]
    Read {
        /// Who sent it.
        rank: u32,
        /// Its tag.
        tag: u64,
        /// What is wrong with it.
        source: Box<ReadError>,
    },
}

/// The type of a message's elements, for people.
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

    /// Whether it may stand for what was sent. Who has no type agrees with all.
    #[inline]
    pub(super) fn agrees(&self, sent: Option<u64>) -> bool {
        self.descriptor == 0 || sent.is_none_or(|sent| sent == 0 || sent == self.descriptor)
    }

    /// The number that stands for it on the wire.
    #[must_use]
    pub const fn descriptor(&self) -> u64 {
        self.descriptor
    }

    /// The name, where this program knows it.
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

/// A message that was not sent, and why.
#[derive(Debug, Error)]
#[error("{error}")]
#[non_exhaustive]
pub struct Unsent {
    /// Why.
    #[source]
    pub error: Error,
    /// The jbuf, unchanged, if it has not gone.
    pub filled: Option<Filled>,
}

impl From<Unsent> for Error {
    fn from(unsent: Unsent) -> Self {
        unsent.error
    }
}

/// A receive that got no message, and why.
#[derive(Debug, Error)]
#[error("{error}")]
#[non_exhaustive]
pub struct Unreceived {
    /// Why.
    #[source]
    pub error: Error,
    /// The jbuf that was to be received into, if there was one and it is still here.
    pub spent: Option<Spent>,
}

impl From<Unreceived> for Error {
    fn from(unreceived: Unreceived) -> Self {
        unreceived.error
    }
}
