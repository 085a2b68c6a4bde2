//! What programs are given of an operation with an object.

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use jstream::buffer::Filled;
use jstream::{ReadError, Received, Transportable, WriteError};
use thiserror::Error;

use super::message::{Message, bytes_of};
use super::receiving::{Arrived, Receipt};
use super::shared::{Patience, Shared};
use super::ticket::RecvOp;
use crate::address::Address;
use crate::device::connection::Payload;
use crate::error::{RecvError, SendError};
use crate::header::Header;

/// Why an object was not sent.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SendObjectError {
    /// It could not be written. Nothing was sent; the connection can be used.
    #[error("the object can't be written: {0}")]
    Write(#[source] WriteError),
    /// Its message was not sent.
    #[error(transparent)]
    Send(#[from] SendError),
}

/// Why no object was received.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RecvObjectError {
    /// No message was received.
    #[error(transparent)]
    Receive(#[from] RecvError),
    /// A message was received that is no object of the type that was asked for. It is gone, and its
    /// jbuf is home; the connection can be used.
    #[error("{peer} sent a message that can't be read: {source}")]
    Read {
        /// What the sender said about the message.
        header: Header,
        /// The peer.
        peer: Address,
        /// What is wrong with it.
        source: Box<ReadError>,
    },
}

/// A received object that was not sent on, and why.
#[non_exhaustive]
pub struct UnsentObject<T: Transportable + 'static> {
    /// Why.
    pub error: SendObjectError,
    /// What is left of the object.
    pub remains: Remains<T>,
}

/// What is left of an object that was to be sent on.
#[non_exhaustive]
pub enum Remains<T: Transportable + 'static> {
    /// The object, as it was.
    Object(Received<T>),
    /// Its message, where it had become that already.
    Message(Filled),
    /// Nothing: with [`WriteError::Displaced`] alone.
    Nothing,
}

impl<T: Transportable + 'static> fmt::Debug for Remains<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Object(_) => "Object(..)",
            Self::Message(_) => "Message(..)",
            Self::Nothing => "Nothing",
        })
    }
}

impl<T: Transportable + 'static> fmt::Debug for UnsentObject<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UnsentObject")
            .field("error", &self.error)
            .field("remains", &self.remains)
            .finish()
    }
}

impl<T: Transportable + 'static> fmt::Display for UnsentObject<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl<T: Transportable + 'static> Error for UnsentObject<T> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.error.source()
    }
}

/// The object that arrived: it itself, if it moved and is a `T`, else what its bytes are.
pub(crate) fn object_of<T: Transportable + 'static>(
    mut arrived: Arrived,
    shared: &Shared,
) -> Result<(Header, Received<T>), RecvObjectError> {
    if let Payload::Object(object) = arrived.payload {
        match object.downcast::<T>() {
            Ok(received) => return Ok((arrived.header, received)),
            Err(object) => arrived.payload = Payload::Object(object),
        }
    }
    read(bytes_of(arrived, shared)?, shared)
}

/// The object that a message is.
pub(crate) fn read<T: Transportable + 'static>(
    message: Message,
    shared: &Shared,
) -> Result<(Header, Received<T>), RecvObjectError> {
    let read = shared
        .tools
        .with_reader(|reader| reader.read::<T>(message.payload));
    match read {
        Ok(received) => Ok((message.header, received)),
        Err(failure) => Err(RecvObjectError::Read {
            header: message.header,
            peer: shared.facts().peer.clone(),
            source: Box::new(failure.error),
        }),
    }
}

fn outcome_of<T: Transportable + 'static>(
    receipt: Receipt,
    shared: &Shared,
) -> Result<Received<T>, RecvObjectError> {
    match receipt {
        Ok(arrived) => object_of(arrived, shared).map(|(_, received)| received),
        Err(missed) => Err(missed.error.into()),
    }
}

/// What becomes of a posted receive of an object: a [`RecvTicket`](crate::RecvTicket) whose message is
/// read.
#[must_use = "gives the object"]
pub struct ObjectTicket<T> {
    op: RecvOp,
    of: PhantomData<fn() -> T>,
}

impl<T: Transportable + 'static> ObjectTicket<T> {
    pub(super) fn new(op: RecvOp) -> Self {
        Self {
            op,
            of: PhantomData,
        }
    }

    /// Waits for the object.
    ///
    /// # Errors
    ///
    /// [`RecvObjectError`].
    ///
    /// # Panics
    ///
    /// When the outcome was taken before.
    pub fn wait(mut self) -> Result<Received<T>, RecvObjectError> {
        match self.op.wait(Patience::Endless) {
            Some(receipt) => outcome_of(receipt, self.op.shared()),
            None => panic!("the outcome was taken before"),
        }
    }

    /// As [`wait`](Self::wait), for so long at most: `None` when there is no message then, or the
    /// outcome was taken before.
    pub fn wait_timeout(
        &mut self,
        timeout: Duration,
    ) -> Option<Result<Received<T>, RecvObjectError>> {
        let receipt = self.op.wait(Patience::For(timeout))?;
        Some(outcome_of(receipt, self.op.shared()))
    }

    /// The outcome, if it is known. It is given once.
    pub fn try_take(&mut self) -> Option<Result<Received<T>, RecvObjectError>> {
        let receipt = self.op.wait(Patience::None)?;
        Some(outcome_of(receipt, self.op.shared()))
    }

    /// Gives up, with [`RecvError::Cancelled`]; but an object that is complete is given.
    ///
    /// # Errors
    ///
    /// [`RecvObjectError`].
    ///
    /// # Panics
    ///
    /// When the outcome was taken before.
    pub fn cancel(self) -> Result<Received<T>, RecvObjectError> {
        self.op.cancel();
        self.wait()
    }
}

impl<T: Transportable + 'static> Future for ObjectTicket<T> {
    type Output = Result<Received<T>, RecvObjectError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let polled = self.op.poll(context);
        polled.map(|receipt| outcome_of(receipt, self.op.shared()))
    }
}

impl<T> fmt::Debug for ObjectTicket<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ObjectTicket").finish_non_exhaustive()
    }
}
