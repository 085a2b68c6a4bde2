//! Errors of channels, by operation.

use std::fmt;
use std::io;
use std::time::Duration;

use jstream::{ReadError, Received, RestoreError, Transportable, WriteError};
use jstream_derive::ErrorDebug;
use thiserror::Error;

use jstream_base::Address;
use jstream_base::{AddressError, ConnectError, ListenError};

/// Error of opening a side of a channel.
#[derive(ErrorDebug, Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The address is invalid.
    #[error(transparent)]
    Address(#[from] AddressError),
    /// This side has to listen, but listening failed.
    #[error(
        "{source}; a channel has one side that listens: the receiver, or with `fan_out` the sender"
    )]
    Listen {
        /// The reason.
        r#source: ListenError,
    },
    /// This side has to join the other, but connecting failed.
    #[error("{source}; check that the {other} has opened the channel")]
    Connect {
        /// The role of the side that listens.
        other: &'static str,
        /// The reason.
        r#source: ConnectError,
    },
    /// The other side has a type whose objects can't be converted.
    #[error(
        "the type of the channel at {address} is `{theirs}` there and `{ours}` here: \
         {difference}; build both sides from the same definition, or from versions that can be \
         converted"
    )]
    Type {
        /// The address of the channel.
        address: Address,
        /// The type of this side.
        ours: String,
        /// The type of the other side.
        theirs: String,
        /// The first difference between the two types.
        difference: String,
    },
    /// The other side has the same role.
    #[error(
        "the listener at {address} is also a {role}; call `fan_out` on both sides of a channel \
         with one sender and many receivers, otherwise on neither"
    )]
    Role {
        /// The address of the channel.
        address: Address,
        /// The role of both sides.
        role: &'static str,
    },
    /// The listening side has the maximum number of peers.
    #[error("the channel at {address} already has its maximum number of peers")]
    Full {
        /// The address of the channel.
        address: Address,
    },
    /// The listener at the address does not speak this version of the channel protocol.
    #[error("the listener at {address} does not speak the channel protocol: {reason}")]
    NoChannel {
        /// The address.
        address: Address,
        /// A description of the unexpected response.
        reason: String,
    },
    /// A system call failed, for example because the system is out of threads or descriptors.
    #[error("cannot open the channel: {source}")]
    System {
        /// The error of the system.
        r#source: io::Error,
    },
}

impl From<ListenError> for OpenError {
    fn from(source: ListenError) -> Self {
        Self::Listen { source }
    }
}

impl From<io::Error> for OpenError {
    fn from(source: io::Error) -> Self {
        Self::System { source }
    }
}

/// Error of sending an object.
#[derive(ErrorDebug, Error)]
#[non_exhaustive]
pub enum SendError {
    /// The object can't be written. Nothing was sent, and the channel can still be used.
    #[error("the object can't be written: {0}")]
    Write(WriteError),
    /// There is no room at the moment. Nothing was sent, and the channel can still be used.
    #[error("the channel is full; try again later")]
    Full,
    /// There was no room, or no receiver, within the timeout. Nothing was sent, and the channel can
    /// still be used.
    #[error("no receiver at {address} took the object within {after:?}")]
    TimedOut {
        /// The timeout.
        after: Duration,
        /// The address of the channel.
        address: Address,
    },
    /// All receivers have closed. Nothing was sent.
    #[error("all receivers at {address} have closed")]
    Closed {
        /// The address of the channel.
        address: Address,
    },
    /// A receiver was lost: it crashed, its connection broke, or it was disconnected for a protocol
    /// violation. It is unknown whether it received this object and the objects sent before. If
    /// there are other receivers, the channel can still be used.
    #[error(
        "the receiver at {peer} was lost, objects that it had not received are lost: {source}; \
         send them again if they must arrive"
    )]
    Lost {
        /// The address of the receiver.
        peer: Address,
        /// The cause.
        r#source: jstream_base::SendError,
    },
    /// The object was not sent for another reason, for example because it exceeds the receiver's
    /// limit. The channel can still be used.
    #[error(transparent)]
    Send(jstream_base::SendError),
}

/// A received object that was not forwarded, with the reason.
#[derive(ErrorDebug)]
#[non_exhaustive]
pub struct Unsent<T: Transportable + 'static> {
    /// The reason.
    pub error: SendError,
    /// The object, unless it was already converted to bytes or may have been sent.
    #[error_debug(skip)]
    pub received: Option<Received<T>>,
}

impl<T: Transportable + 'static> fmt::Display for Unsent<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl<T: Transportable + 'static> std::error::Error for Unsent<T> {}

/// An owned object that was not sent, with the reason.
#[derive(ErrorDebug)]
#[non_exhaustive]
pub struct Refused<T> {
    /// The reason.
    pub error: SendError,
    /// The object, unless it was already converted to bytes.
    #[error_debug(skip)]
    pub object: Option<T>,
}

impl<T> fmt::Display for Refused<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl<T> std::error::Error for Refused<T> {}

/// Error of receiving an object.
#[derive(ErrorDebug, Error)]
#[non_exhaustive]
pub enum RecvError {
    /// No object has arrived.
    #[error("no object has arrived yet")]
    Empty,
    /// No object arrived within the timeout.
    #[error("no object arrived at {address} within {after:?}")]
    TimedOut {
        /// The timeout.
        after: Duration,
        /// The address of the channel.
        address: Address,
    },
    /// All senders have closed, and everything that they sent was received.
    #[error("all senders to {address} have closed, and everything was received")]
    Closed {
        /// The address of the channel.
        address: Address,
    },
    /// A sender was lost: it crashed, its connection broke, or it was disconnected for what it
    /// sent. Objects that had arrived were received before this error; objects in transit are
    /// missing. The error is reported once, and the channel continues with the other senders.
    #[error("the sender at {peer} was lost, its last objects may be missing: {source}")]
    Lost {
        /// The address of the sender.
        peer: Address,
        /// The cause.
        r#source: jstream_base::RecvError,
    },
    /// A sender sent a message that is not an object of this type. The message is dropped, and the
    /// channel continues.
    #[error("{peer} sent a message that can't be read: {source}")]
    Read {
        /// The address of the sender.
        peer: Address,
        /// The reason why the message can't be read.
        r#source: Box<ReadError>,
    },
    /// An object that moved here from another thread can't be written to a buffer. The object is
    /// dropped, and the channel continues.
    #[error(
        "an object from {peer} can't be written to a buffer: {source}; receive it by `recv_owned`"
    )]
    Write {
        /// The address of the sender.
        peer: Address,
        /// The reason.
        r#source: WriteError,
    },
    /// A received object can't be converted to an owned one. The object is dropped, and the channel
    /// continues.
    #[error(
        "an object from {peer} can't be converted to an owned one: {source}; receive it by `recv`"
    )]
    Restore {
        /// The address of the sender.
        peer: Address,
        /// The reason.
        r#source: RestoreError,
    },
    /// The pool has no room for an object that waits. Drop received objects, and receive again.
    #[error(transparent)]
    NoRoom(jstream_base::RecvError),
    /// The system has no thread or descriptor left for waking a task.
    #[error("cannot wait for an object: {source}")]
    System {
        /// The error of the system.
        r#source: io::Error,
    },
}
