//! Outstanding calls of functions.

use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use jstream::{Received, Transportable};

use super::Ticket;
use super::reply::Outcome;
use crate::error::RequestError;
use jstream_device::deadline::Deadline;
use jstream_endpoint::object::read;
use jstream_endpoint::{Message, RecvObjectError};

/// An outstanding call of a function: a [`Ticket`] whose reply is read as an object.
#[must_use = "a call whose ticket is dropped is cancelled"]
pub struct ObjectTicket<R> {
    ticket: Ticket,
    /// True if the peer has another version of the types, so that the result brings its schemas
    /// along.
    is_other: bool,
    of: PhantomData<fn() -> R>,
}

impl<R: Transportable + 'static> ObjectTicket<R> {
    pub(crate) fn new(ticket: Ticket, is_other: bool) -> Self {
        Self {
            ticket,
            is_other,
            of: PhantomData,
        }
    }

    fn read(&self, outcome: Outcome) -> Result<Received<R>, RequestError> {
        let reply = outcome?;
        let link = &self.ticket.link;
        let shared = link.endpoint().shared();
        let read = match reply.word {
            list_bytes @ 1.. if self.is_other => {
                let of = (&**shared, &link.settings);
                link.other_versions().read(reply.payload, list_bytes, of)
            }
            // A peer of the same version has no schemas to send, and must not fill the reader. An
            // object that is followed by some is refused because of its length.
            _ => {
                let read = read::<R>(Message::of_payload(reply.payload), shared);
                read.map(|(_, object)| object)
            }
        };
        match read {
            Ok(object) => Ok(object),
            Err(RecvObjectError::Read { source, .. }) => Err(RequestError::Read(source)),
            Err(RecvObjectError::Receive(_)) => Err(self.ticket.lost()),
        }
    }

    /// Waits for the result, and serves meanwhile.
    ///
    /// # Errors
    ///
    /// [`RequestError`].
    ///
    /// # Panics
    ///
    /// If the result was taken before.
    pub fn wait(mut self) -> Result<Received<R>, RequestError> {
        match self.ticket.wait_until(Deadline::NEVER) {
            Some(outcome) => self.read(outcome),
            None => panic!("the result was taken before"),
        }
    }

    /// As [`wait`](Self::wait), for `timeout` at most. Returns `None` if the result has not come by
    /// then, or was taken before.
    pub fn wait_timeout(&mut self, timeout: Duration) -> Option<Result<Received<R>, RequestError>> {
        let outcome = self.ticket.wait_timeout(timeout)?;
        Some(self.read(outcome))
    }

    /// Handles the available messages, and takes the result if it has come. The result can be taken
    /// once.
    pub fn try_take(&mut self) -> Option<Result<Received<R>, RequestError>> {
        let outcome = self.ticket.try_take()?;
        Some(self.read(outcome))
    }

    /// As [`Ticket::cancel`].
    pub fn cancel(self) {
        self.ticket.cancel();
    }

    /// As [`Ticket::detach`].
    pub fn detach(self) {
        self.ticket.detach();
    }
}

impl<R: Transportable + 'static> Future for ObjectTicket<R> {
    type Output = Result<Received<R>, RequestError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let polled = Pin::new(&mut self.ticket).poll(context);
        polled.map(|outcome| self.read(outcome))
    }
}

impl<R> fmt::Debug for ObjectTicket<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ObjectTicket").finish_non_exhaustive()
    }
}
