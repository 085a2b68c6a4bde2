//! What can go wrong with a channel, by operation.

use std::fmt;
use std::io;
use std::time::Duration;

use jstream::{ReadError, Received, RestoreError, Transportable, WriteError};
use thiserror::Error;

use crate::address::Address;
use crate::error::{AddressError, ConnectError, ListenError};

/// Why a side of a channel was not opened.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The address is none.
    #[error(transparent)]
    Address(#[from] AddressError),
    /// This side listens, and can't.
    #[error(
        "{source}; a channel has one side that listens: the receiver, or with `fan_out` the sender"
    )]
    Listen {
        /// Why.
        #[from]
        source: ListenError,
    },
    /// This side joins, and can't.
    #[error("{source}; does the {other} have the channel open?")]
    Connect {
        /// Who is joined.
        other: &'static str,
        /// Why.
        source: ConnectError,
    },
    /// The other side's objects are of another type.
    #[error(
        "the channel at {address} is of `{theirs}` there, of `{ours}` here: {difference}; \
         build both from one definition"
    )]
    Type {
        /// Where the channel is.
        address: Address,
        /// The type here.
        ours: String,
        /// The type there.
        theirs: String,
        /// The first difference of the two.
        difference: String,
    },
    /// The other side does the same as this one.
    #[error(
        "who listens at {address} is a {role}, too; say `fan_out` on both sides of a channel with one \
         sender and many receivers, and on neither of others"
    )]
    Role {
        /// Where the channel is.
        address: Address,
        /// What both are.
        role: &'static str,
    },
    /// Who listens there has as many peers as it takes.
    #[error("the channel at {address} has all the peers that it takes")]
    Full {
        /// Where the channel is.
        address: Address,
    },
    /// Somebody listens there, but not for a channel of this version.
    #[error("who listens at {address} does not answer as a channel does: {reason}")]
    NoChannel {
        /// Where it is.
        address: Address,
        /// What it did instead.
        reason: String,
    },
    /// The system is out of something.
    #[error("the channel can't be opened: {source}")]
    System {
        /// What it said.
        #[from]
        source: io::Error,
    },
}

/// Why an object was not sent.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SendError {
    /// It can't be written. Nothing was sent; the channel can be used.
    #[error("the object can't be written: {0}")]
    Write(#[source] WriteError),
    /// There is no room now. Nothing was sent; the channel can be used.
    #[error("the channel is full; wait, or try again")]
    Full,
    /// There was no room, or nobody who receives, for so long. Nothing was sent; the channel can be used.
    #[error("nobody at {address} took the object within {after:?}")]
    TimedOut {
        /// How long we waited.
        after: Duration,
        /// Where the channel is.
        address: Address,
    },
    /// All who received have said goodbye. Nothing was sent.
    #[error("nobody receives at {address} any more")]
    Closed {
        /// Where the channel is.
        address: Address,
    },
    /// A receiver was lost: killed, cut off, or ended for what it did. Whether it has this object is unknown,
    /// and so is which of those before it has received. With other receivers the channel can be used.
    #[error(
        "the receiver at {peer} was lost, and with it what it had not received: {source}; \
         send again what must not be missing"
    )]
    Lost {
        /// Which one.
        peer: Address,
        /// What is known of it.
        source: crate::SendError,
    },
    /// The object was not sent for another reason, as when it is too long for the receiver. The channel can be
    /// used.
    #[error(transparent)]
    Send(crate::SendError),
}

/// A received object that was not sent on, and why.
#[non_exhaustive]
pub struct Unsent<T: Transportable + 'static> {
    /// Why.
    pub error: SendError,
    /// The object, unless it has become bytes already or may have gone.
    pub received: Option<Received<T>>,
}

impl<T: Transportable + 'static> fmt::Debug for Unsent<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Unsent")
            .field("error", &self.error)
            .finish_non_exhaustive()
    }
}

impl<T: Transportable + 'static> fmt::Display for Unsent<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl<T: Transportable + 'static> std::error::Error for Unsent<T> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        std::error::Error::source(&self.error)
    }
}

/// An object that was given away and not sent, and why.
#[non_exhaustive]
pub struct Refused<T> {
    /// Why.
    pub error: SendError,
    /// The object, unless it has become bytes already.
    pub object: Option<T>,
}

impl<T> fmt::Debug for Refused<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Refused")
            .field("error", &self.error)
            .finish_non_exhaustive()
    }
}

impl<T> fmt::Display for Refused<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl<T> std::error::Error for Refused<T> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        std::error::Error::source(&self.error)
    }
}

/// Why no object was received.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RecvError {
    /// None is here.
    #[error("no object is here yet")]
    Empty,
    /// None came in time.
    #[error("no object came to {address} within {after:?}")]
    TimedOut {
        /// How long the call allowed.
        after: Duration,
        /// Where the channel is.
        address: Address,
    },
    /// All senders have said goodbye, and all that they have sent was received.
    #[error("nobody sends to {address} any more, and everything was received")]
    Closed {
        /// Where the channel is.
        address: Address,
    },
    /// A sender was lost: killed, cut off, or ended for what it sent. What had come of it was received before;
    /// what was on its way is missing. Said once; the channel goes on with the others.
    #[error("the sender at {peer} was lost, its last objects may be missing: {source}")]
    Lost {
        /// Which one.
        peer: Address,
        /// What is known of it.
        source: crate::RecvError,
    },
    /// A sender sent what is no object of this type. It is gone; the channel goes on.
    #[error("{peer} sent what can't be read: {source}")]
    Read {
        /// Which one.
        peer: Address,
        /// What is wrong with it.
        source: Box<ReadError>,
    },
    /// An object that moved here from another thread can't be written to a jbuf. It is gone; the channel goes on.
    #[error(
        "an object from {peer} can't be written to a jbuf: {source}; receive it as it is, by `recv_owned`"
    )]
    Write {
        /// Which one.
        peer: Address,
        /// Why.
        source: WriteError,
    },
    /// An object that was received can't be made again as an owner. It is gone; the channel goes on.
    #[error(
        "an object from {peer} can't be made again: {source}; receive it in its jbuf, by `recv`"
    )]
    Restore {
        /// Which one.
        peer: Address,
        /// Why.
        source: RestoreError,
    },
    /// An object waits for room. Drop received ones, and receive again.
    #[error(transparent)]
    NoRoom(crate::RecvError),
    /// The system is out of what waking a task takes.
    #[error("can't wait: {source}")]
    System {
        /// What it said.
        source: io::Error,
    },
}
