//! Of sending and receiving.

use std::io;
use std::time::Duration;

use jstream::WriteError;
use jstream::buffer::{Filled, PoolError, Spent};
use thiserror::Error;

use crate::address::Address;

/// Why a message was not sent.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SendError {
    /// The message could not be taken at once. Nothing was sent.
    #[error("the message can't be taken at once; wait, or try again")]
    WouldBlock,
    /// The operation was cancelled before the device had taken anything.
    #[error("sending was cancelled")]
    Cancelled,
    /// The peer does not take messages that long. Nothing was sent; the connection can be used.
    #[error(
        "a payload of {length} bytes is too long for {peer}, which takes at most {max}; \
         split it or raise its Options::max_message"
    )]
    TooLarge {
        /// The payload's length in bytes.
        length: u64,
        /// The most that the peer takes.
        max: u64,
        /// The peer.
        peer: Address,
    },
    /// The peer's pool gave no jbuf. Nothing was sent; the connection can be used.
    #[error("{peer} has no room for a payload of {length} bytes: {source}")]
    NoBuffer {
        /// The payload's length in bytes.
        length: u64,
        /// The peer.
        peer: Address,
        /// What the pool said.
        source: PoolError,
    },
    /// The device took nothing for so long. Nothing was sent; the connection can be used.
    #[error("{peer} took nothing within {after:?}; it does not read")]
    TimedOut {
        /// How long we waited.
        after: Duration,
        /// The peer.
        peer: Address,
    },
    /// The device took a part of the message and then no more. The connection was ended.
    #[error("{peer} took {sent} of {total} bytes within {after:?}; the connection was ended")]
    Stalled {
        /// How many bytes it took, header included.
        sent: u64,
        /// How many bytes there were, header included.
        total: u64,
        /// How long we waited.
        after: Duration,
        /// The peer.
        peer: Address,
    },
    /// The connection has ended, at the peer or with an error before. Nothing was sent.
    #[error("the connection to {peer} has ended; connect again")]
    Closed {
        /// The peer.
        peer: Address,
    },
    /// The connection broke. Whether the peer has the message is unknown.
    #[error("the connection to {peer} was lost: {source}; connect again")]
    Lost {
        /// The peer.
        peer: Address,
        /// What the system said.
        source: io::Error,
    },
    /// The endpoint was closed in this program.
    #[error("the endpoint of {peer} was closed in this program")]
    ClosedLocally {
        /// The peer.
        peer: Address,
    },
    /// The connection belongs to the process that this one was forked from, which goes on with it. Nothing
    /// was sent.
    #[error(
        "the connection to {peer} belongs to the process that this one was forked from; \
         make one of your own"
    )]
    Forked {
        /// The peer.
        peer: Address,
    },
}

/// A jbuf that was not sent, and why.
#[derive(Debug, Error)]
#[error("{error}")]
#[non_exhaustive]
pub struct Unsent {
    /// Why.
    #[source]
    pub error: SendError,
    /// The jbuf, unchanged.
    pub filled: Filled,
}

impl From<Unsent> for SendError {
    fn from(unsent: Unsent) -> Self {
        unsent.error
    }
}

/// Why no message was received.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RecvError {
    /// No message is here.
    #[error("no message is here yet")]
    Empty,
    /// The operation was cancelled before it had a message.
    #[error("receiving was cancelled")]
    Cancelled,
    /// The memory to receive into is too small for the next message, which waits.
    #[error("the next message has {length} bytes, but there is room for {capacity}")]
    TooSmall {
        /// The length of the message's payload, in bytes.
        length: u64,
        /// How many bytes fit.
        capacity: usize,
    },
    /// No message was complete in time. The connection can be used, and what came of the next message
    /// is kept.
    #[error("no message from {peer} within {after:?}")]
    TimedOut {
        /// How long the call allowed.
        after: Duration,
        /// The peer.
        peer: Address,
    },
    /// The next message is an object of this process, and its bytes were asked for but could not be
    /// written. It waits.
    #[error("the next message is a {type_name}, which could not be written: {source}")]
    Object {
        /// The type that it was sent as.
        type_name: &'static str,
        /// What prevented it.
        source: WriteError,
    },
    /// The pool gave no jbuf. The message waits: drop received ones and receive again.
    #[error("no room for a payload of {length} bytes from {peer}: {source}")]
    NoBuffer {
        /// How many bytes were needed.
        length: u64,
        /// The peer.
        peer: Address,
        /// What the pool said.
        source: PoolError,
    },
    /// The peer announced a payload that is not allowed. The connection was ended.
    #[error(
        "{peer} announced a payload of {length} bytes, at most {max} are allowed; \
         raise Options::max_message if it may"
    )]
    TooLarge {
        /// The length that it announced, in bytes.
        length: u64,
        /// The most that is allowed.
        max: u64,
        /// The peer.
        peer: Address,
    },
    /// The peer sent something that is no header. The connection was ended.
    #[error("{peer} sent a bad header: {source}")]
    Malformed {
        /// The peer.
        peer: Address,
        /// What is wrong with it.
        source: HeaderError,
    },
    /// The peer sent a part of a message and then too slowly. The connection was ended.
    #[error("{peer} sent {received} bytes of a message and not the rest within {after:?}")]
    Stalled {
        /// How many bytes came, header included.
        received: u64,
        /// How long we waited.
        after: Duration,
        /// The peer.
        peer: Address,
    },
    /// The peer sends no more, and everything that it sent was received.
    #[error("{peer} closed the connection")]
    Closed {
        /// The peer.
        peer: Address,
    },
    /// The connection broke, or ended inside a message.
    #[error(
        "the connection to {peer} was lost with {received} bytes of a message received: {source}"
    )]
    Lost {
        /// How many bytes of the unfinished message came, header included.
        received: u64,
        /// The peer.
        peer: Address,
        /// What the system said; `UnexpectedEof` when the peer ended inside a message.
        source: io::Error,
    },
    /// The endpoint was closed in this program.
    #[error("the endpoint of {peer} was closed in this program")]
    ClosedLocally {
        /// The peer.
        peer: Address,
    },
    /// The endpoint belongs to a [`Rank`](crate::rank::Rank), which alone receives from it.
    #[error("what {peer} sends is received by a rank of this program; receive from that")]
    Taken {
        /// The peer.
        peer: Address,
    },
    /// The connection belongs to the process that this one was forked from, which goes on with it.
    #[error(
        "the connection to {peer} belongs to the process that this one was forked from; \
         make one of your own"
    )]
    Forked {
        /// The peer.
        peer: Address,
    },
}

/// A posted receive that got no message, and why.
#[derive(Debug, Error)]
#[error("{error}")]
#[non_exhaustive]
pub struct Unreceived {
    /// Why.
    #[source]
    pub error: RecvError,
    /// The jbuf that was posted, if there was one and no part of a message stands in it.
    pub spent: Option<Spent>,
}

impl From<Unreceived> for RecvError {
    fn from(unreceived: Unreceived) -> Self {
        unreceived.error
    }
}

/// Why bytes are not a [`Header`](crate::Header).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum HeaderError {
    /// The reserved word has a meaning that this version does not know.
    #[error(
        "the header's reserved word is {value:#x}, which means nothing; is the peer a later version?"
    )]
    Reserved {
        /// Its value.
        value: u32,
    },
    /// The ring of the shared memory holds what no peer of this version writes.
    #[error("the shared memory's {what} is {value:#x}, which no peer of this version writes")]
    Ring {
        /// Which of its words.
        what: &'static str,
        /// Its value.
        value: u64,
    },
    /// It is a request of a put or a get, or the answer to one, that nobody of this version sends, or
    /// not now.
    #[error("a request or an answer of kind {op} makes no sense; is the peer a later version?")]
    Unexpected {
        /// What kind it is.
        op: u32,
    },
    /// It is a message between ranks that nobody of this version sends, or not now.
    #[error("a message of kind {kind:#x} makes no sense; is the peer a rank of a later version?")]
    Rank {
        /// Its kind.
        kind: u32,
    },
    /// It is a request beyond those that a peer may have without having received the answers.
    #[error("more than {max} requests wait for their answers to be received")]
    TooManyRequests {
        /// How many are allowed.
        max: usize,
    },
}
