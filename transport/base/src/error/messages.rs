//! Errors of sending and receiving.

use std::io;
use std::time::Duration;

use jstream::WriteError;
use jstream::buffer::PoolError;
use jstream_derive::ErrorDebug;
use thiserror::Error;

use crate::Address;

/// The reason why a message was not sent.
#[derive(ErrorDebug, Error)]
#[non_exhaustive]
pub enum SendError {
    /// The message can't be sent without blocking. Nothing was sent.
    #[error("the message can't be sent without blocking; wait or try again")]
    WouldBlock,
    /// The operation was cancelled before the device had accepted any bytes.
    #[error("sending was cancelled")]
    Cancelled,
    /// The payload is longer than the peer accepts. Nothing was sent; the connection can be used.
    #[error(
        "a payload of {length} bytes exceeds the limit of {max} bytes of {peer}; \
         split it or raise the Options::max_message of the peer"
    )]
    TooLarge {
        /// The length of the payload in bytes.
        length: u64,
        /// The longest payload that the peer accepts, in bytes.
        max: u64,
        /// The peer.
        peer: Address,
    },
    /// The peer's pool has no free buffer. Nothing was sent; the connection can be used.
    #[error("{peer} has no buffer for a payload of {length} bytes: {source}")]
    NoBuffer {
        /// The length of the payload in bytes.
        length: u64,
        /// The peer.
        peer: Address,
        /// The error from the pool.
        r#source: PoolError,
    },
    /// The device accepted no bytes until the time limit. Nothing was sent; the connection can be
    /// used.
    #[error("{peer} accepted no data within {after:?}; it is not receiving")]
    TimedOut {
        /// The time that the call waited.
        after: Duration,
        /// The peer.
        peer: Address,
    },
    /// The device accepted a part of the message and then no more. The connection was closed.
    #[error("{peer} accepted {sent} of {total} bytes within {after:?}; the connection was closed")]
    Stalled {
        /// Number of bytes that the device accepted, header included.
        sent: u64,
        /// The length of the message in bytes, header included.
        total: u64,
        /// The time that the call waited.
        after: Duration,
        /// The peer.
        peer: Address,
    },
    /// The connection ended earlier, because the peer closed it or after an error. Nothing was
    /// sent.
    #[error("the connection to {peer} has ended; connect again")]
    Closed {
        /// The peer.
        peer: Address,
    },
    /// The connection failed. It is unknown if the peer has received the message.
    #[error("the connection to {peer} was lost: {source}; connect again")]
    Lost {
        /// The peer.
        peer: Address,
        /// The error from the operating system.
        r#source: io::Error,
    },
    /// The endpoint was closed by this program.
    #[error("the endpoint of {peer} was closed in this program")]
    ClosedLocally {
        /// The peer.
        peer: Address,
    },
    /// The connection belongs to the parent process from which this process was forked. The parent
    /// continues to use it. Nothing was sent.
    #[error(
        "the connection to {peer} belongs to the process that this one was forked from; \
         open a new connection in this process"
    )]
    Forked {
        /// The peer.
        peer: Address,
    },
}

/// The reason why no message was received.
#[derive(ErrorDebug, Error)]
#[non_exhaustive]
pub enum RecvError {
    /// No message has arrived.
    #[error("no message has arrived yet")]
    Empty,
    /// The operation was cancelled before it received a message.
    #[error("receiving was cancelled")]
    Cancelled,
    /// The caller's memory is too small for the next message. The message stays queued.
    #[error("the next message has {length} bytes, but the buffer has {capacity}")]
    TooSmall {
        /// The length of the payload in bytes.
        length: u64,
        /// The size of the caller's memory in bytes.
        capacity: usize,
    },
    /// No message was complete within the time limit. The connection can be used, and the received
    /// part of the next message is kept.
    #[error("no message from {peer} within {after:?}")]
    TimedOut {
        /// The time limit of the call.
        after: Duration,
        /// The peer.
        peer: Address,
    },
    /// The next message is an object of this process. The caller asked for its bytes, but writing
    /// them failed. The message stays queued.
    #[error("the next message is a {type_name}, which could not be written as bytes: {source}")]
    Object {
        /// The type of the object as it was sent.
        type_name: &'static str,
        /// The error of writing the object.
        r#source: WriteError,
    },
    /// The pool has no free buffer. The message stays queued: drop received messages, then receive
    /// again.
    #[error("no buffer for a payload of {length} bytes from {peer}: {source}")]
    NoBuffer {
        /// The length of the payload in bytes.
        length: u64,
        /// The peer.
        peer: Address,
        /// The error from the pool.
        r#source: PoolError,
    },
    /// The peer announced a payload that is longer than the limit. The connection was closed.
    #[error(
        "{peer} announced a payload of {length} bytes, which exceeds the limit of {max} bytes; \
         raise Options::max_message to allow it"
    )]
    TooLarge {
        /// The announced length in bytes.
        length: u64,
        /// The limit in bytes.
        max: u64,
        /// The peer.
        peer: Address,
    },
    /// The peer sent an invalid header. The connection was closed.
    #[error("{peer} sent an invalid header: {source}")]
    Malformed {
        /// The peer.
        peer: Address,
        /// The error of the header.
        r#source: HeaderError,
    },
    /// The peer sent a part of a message, but not the rest within the time limit. The connection
    /// was closed.
    #[error("{peer} sent {received} bytes of a message, but not the rest within {after:?}")]
    Stalled {
        /// Number of bytes received, header included.
        received: u64,
        /// The time limit.
        after: Duration,
        /// The peer.
        peer: Address,
    },
    /// The peer closed its sending direction, and all of its messages were received.
    #[error("{peer} closed the connection")]
    Closed {
        /// The peer.
        peer: Address,
    },
    /// The connection failed, or the peer closed it inside a message.
    #[error(
        "the connection to {peer} was lost with {received} bytes of a message received: {source}"
    )]
    Lost {
        /// Number of bytes received of the incomplete message, header included.
        received: u64,
        /// The peer.
        peer: Address,
        /// The error from the operating system; `UnexpectedEof` if the peer closed the connection
        /// inside a message.
        r#source: io::Error,
    },
    /// The endpoint was closed by this program.
    #[error("the endpoint of {peer} was closed in this program")]
    ClosedLocally {
        /// The peer.
        peer: Address,
    },
    /// The endpoint belongs to a `Rank`, which receives all of its messages.
    #[error("messages of {peer} are received by a rank of this program; receive from the rank")]
    Taken {
        /// The peer.
        peer: Address,
    },
    /// The connection belongs to the parent process from which this process was forked. The parent
    /// continues to use it.
    #[error(
        "the connection to {peer} belongs to the process that this one was forked from; \
         open a new connection in this process"
    )]
    Forked {
        /// The peer.
        peer: Address,
    },
}

/// The reason why bytes are not a valid [`Header`](crate::Header).
#[derive(ErrorDebug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum HeaderError {
    /// The reserved word is set, which has no meaning in this version.
    #[error(
        "the header's reserved word is {value:#x}, which is unknown; is the peer a later version?"
    )]
    Reserved {
        /// The value of the reserved word.
        value: u32,
    },
    /// A word of the shared-memory ring has an invalid value.
    #[error("the shared memory's {part} has the invalid value {value:#x}")]
    Ring {
        /// The name of the word.
        part: &'static str,
        /// The value of the word.
        value: u64,
    },
    /// The message is a put or get request, or a reply to one, that this version does not know or
    /// that the protocol does not allow at this point.
    #[error("unexpected request or reply of kind {op}; is the peer a later version?")]
    Unexpected {
        /// The kind of the request or reply.
        op: u32,
    },
    /// The message is a message between ranks that this version does not know or that the protocol
    /// does not allow at this point.
    #[error("unexpected message of kind {kind:#x}; is the peer a rank of a later version?")]
    Rank {
        /// The kind of the message.
        kind: u32,
    },
    /// The peer has more requests without received replies than the limit allows.
    #[error("the peer has more than {max} requests without received replies")]
    TooManyRequests {
        /// The limit.
        max: usize,
    },
}
