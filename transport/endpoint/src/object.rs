//! Outcomes of operations with objects, as programs get them.

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use jstream::buffer::MessageBuffer;
use jstream::{ReadError, Reader, Received, Transportable, WriteError};
use jstream_derive::ErrorDebug;
use thiserror::Error;

use super::message::Message;
use super::receiving::{Arrived, Receipt};
use super::shared::{Patience, Shared};
use super::ticket::RecvOp;
use jstream_base::Address;
use jstream_base::Header;
use jstream_base::{RecvError, SendError};
use jstream_device::connection::Payload;

/// Error of sending an object.
#[derive(ErrorDebug, Error)]
pub enum SendObjectError {
    /// The object could not be written. Nothing was sent, and the connection can still be used.
    #[error("the object can't be written: {0}")]
    Write(WriteError),
    /// The message of the object was not sent.
    #[error(transparent)]
    Send(#[from] SendError),
}

/// Error of receiving an object.
#[derive(ErrorDebug, Error)]
pub enum RecvObjectError {
    /// No message was received.
    #[error(transparent)]
    Receive(#[from] RecvError),
    /// A message was received that is not an object of the requested type. The message is dropped,
    /// and its buffer was returned to the pool. The connection can still be used.
    #[error("{peer} sent a message that can't be read: {source}")]
    Read {
        /// The header that the sender set.
        header: Header,
        /// The peer.
        peer: Address,
        /// The reason why the message can't be read.
        r#source: Box<ReadError>,
    },
}

/// Error of sending on a received object, with what is left of the object.
#[derive(ErrorDebug)]
#[non_exhaustive]
pub struct UnsentObject<T: Transportable + 'static> {
    /// The reason.
    pub error: SendObjectError,
    /// The part of the object that is left.
    pub remains: Remains<T>,
}

/// Remains of an object that was to be sent on.
#[non_exhaustive]
pub enum Remains<T: Transportable + 'static> {
    /// The unchanged object.
    Object(Received<T>),
    /// The message to which the object was already converted.
    Message(MessageBuffer),
    /// The object is lost. Only with [`WriteError::Displaced`].
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

impl<T: Transportable + 'static> fmt::Display for UnsentObject<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl<T: Transportable + 'static> Error for UnsentObject<T> {}

/// Returns the object of a received message. An object that moved here and is a `T` is returned as
/// it is; otherwise its bytes are read.
pub fn object_of<T: Transportable + 'static>(
    mut arrived: Arrived,
    shared: &Shared,
) -> Result<(Header, Received<T>), RecvObjectError> {
    if let Payload::Object(object) = arrived.payload {
        match object.downcast::<T>() {
            Ok(received) => return Ok((arrived.header, received)),
            Err(object) => arrived.payload = Payload::Object(object),
        }
    }
    read(shared.convert_to_message(arrived)?, shared)
}

/// Reads the object from a message.
pub fn read<T: Transportable + 'static>(
    message: Message,
    shared: &Shared,
) -> Result<(Header, Received<T>), RecvObjectError> {
    let readers = &shared.codecs().readers;
    readers.with(|reader| read_with(reader, message, shared))
}

/// Returns a received message, which may be an object that moved here.
pub fn message_of(arrived: Arrived, shared: &Shared) -> Result<Message, RecvError> {
    shared.convert_to_message(arrived)
}

/// Like [`read`], with a reader that knows the version of the type that the peer has.
pub fn read_with<T: Transportable + 'static>(
    reader: &mut Reader,
    message: Message,
    shared: &Shared,
) -> Result<(Header, Received<T>), RecvObjectError> {
    match reader.read::<T>(message.payload) {
        Ok(received) => Ok((message.header, received)),
        Err(failure) => Err(RecvObjectError::Read {
            header: message.header,
            peer: shared.info().peer.clone(),
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

/// Handle of a posted receive of an object: a [`RecvTicket`](crate::RecvTicket) whose message is
/// read as a `T`.
#[must_use = "contains the outcome of the receive"]
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

    /// Blocks until the object arrives.
    ///
    /// # Errors
    ///
    /// [`RecvObjectError`].
    ///
    /// # Panics
    ///
    /// If the outcome was taken before.
    pub fn wait(mut self) -> Result<Received<T>, RecvObjectError> {
        match self.op.wait(Patience::Endless) {
            Some(receipt) => outcome_of(receipt, self.op.shared()),
            None => panic!("the outcome was taken before"),
        }
    }

    /// As [`wait`](Self::wait), but does not block for longer than `timeout`. Returns `None` if no
    /// message arrived in time, or if the outcome was taken before.
    pub fn wait_timeout(
        &mut self,
        timeout: Duration,
    ) -> Option<Result<Received<T>, RecvObjectError>> {
        let receipt = self.op.wait(Patience::For(timeout))?;
        Some(outcome_of(receipt, self.op.shared()))
    }

    /// Returns the outcome once, if it is known.
    pub fn try_take(&mut self) -> Option<Result<Received<T>, RecvObjectError>> {
        let receipt = self.op.wait(Patience::None)?;
        Some(outcome_of(receipt, self.op.shared()))
    }

    /// Cancels the receive with [`RecvError::Cancelled`]. If the object is already complete, it is
    /// returned.
    ///
    /// # Errors
    ///
    /// [`RecvObjectError`].
    ///
    /// # Panics
    ///
    /// If the outcome was taken before.
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
