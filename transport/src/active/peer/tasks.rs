//! Asking without blocking, for tasks: where the other side has to be done with others first, its turn is awaited.

use std::fmt;
use std::future::Future;
use std::io::IoSlice;
use std::pin::Pin;
use std::task::{Context, Poll};

use jstream::Transportable;
use jstream::buffer::Filled;

use super::{Function, Handler, Peer};
use crate::active::error::RequestError;
use crate::active::frame::Frame;
use crate::active::ledger::Held;
use crate::active::ticket::{ObjectTicket, Ticket, Unsent, Waiting};

impl Peer {
    /// As [`request`](Self::request), for a task: where the other side has to be done with others first, the
    /// ticket sends the request when it is polled and there is room.
    ///
    /// # Errors
    ///
    /// [`RequestError`]; nothing was sent.
    pub fn request_async(
        &self,
        handler: Handler,
        word: u64,
        bytes: &[u8],
    ) -> Result<Ticket, RequestError> {
        self.request_segments_async(handler, word, &[IoSlice::new(bytes)])
    }

    /// As [`request_async`](Self::request_async), with bytes from several places.
    ///
    /// # Errors
    ///
    /// As for [`request_async`](Self::request_async).
    pub fn request_segments_async(
        &self,
        handler: Handler,
        word: u64,
        segments: &[IoSlice<'_>],
    ) -> Result<Ticket, RequestError> {
        match self.try_request_segments(handler, word, segments) {
            Err(RequestError::NoCredit) => {
                let filled = self.endpoint().shared().gather(segments);
                let unsent = Unsent::new(word, filled);
                Ok(Ticket::unsent(self.link.clone(), handler.number, unsent))
            }
            sent => sent,
        }
    }

    /// As [`call`](Self::call), for a task, as [`request_async`](Self::request_async) is.
    ///
    /// # Errors
    ///
    /// [`RequestError`]; nothing was sent.
    pub fn call_async<T, R>(
        &self,
        function: &Function<T, R>,
        object: &T,
    ) -> Result<ObjectTicket<R>, RequestError>
    where
        T: Transportable + 'static,
        R: Transportable + 'static,
    {
        let handler = function.handler;
        let shared = self.endpoint().shared();
        let sent = shared.with_writer(|writer| {
            writer.gather(object, |segments| {
                self.request_segments_async(handler, 0, segments)
            })
        });
        let ticket = sent.map_err(RequestError::Write)??;
        Ok(ObjectTicket::new(ticket))
    }

    /// As [`send`](Self::send), for a task: ready when the message is on its way. One that has to wait for its turn goes
    /// when this is polled, and not at all when it is dropped before.
    ///
    /// # Errors
    ///
    /// [`RequestError`]; nothing was sent.
    pub fn send_async(
        &self,
        handler: Handler,
        word: u64,
        bytes: &[u8],
    ) -> Result<Departure, RequestError> {
        let left = match self.try_send(handler, word, bytes) {
            Ok(()) => None,
            Err(RequestError::NoCredit) => {
                Some(self.endpoint().shared().gather(&[IoSlice::new(bytes)]))
            }
            Err(error) => return Err(error),
        };
        Ok(Departure {
            turn: self.ready(bytes.len()),
            handler,
            word,
            left,
        })
    }

    /// A future that is ready when the other side takes a request or message of `length` bytes, or the connection has
    /// ended: what is sent at once behind it does not wait, unless another thread or task takes the turn.
    pub fn ready(&self, length: usize) -> Ready {
        Ready {
            peer: self.clone(),
            length: length as u64,
            waiting: Waiting::default(),
        }
    }
}

/// The turn of a message; see [`Peer::ready`]. Whoever polls it serves, as with a [`Ticket`].
#[must_use = "a future does nothing unless it is polled"]
pub struct Ready {
    peer: Peer,
    length: u64,
    waiting: Waiting,
}

impl Ready {
    /// Does what needs room as soon as there is some.
    fn poll_turn<R>(
        &mut self,
        context: &mut Context<'_>,
        mut attempt: impl FnMut(&Peer) -> Result<R, Held>,
    ) -> Poll<Result<R, RequestError>> {
        let Self { peer, waiting, .. } = self;
        loop {
            peer.link.check()?;
            peer.link.ledger().want(context.waker());
            match attempt(peer) {
                Err(Held::NoCredit) => {}
                done => return Poll::Ready(done.map_err(|held| peer.held(held))),
            }
            if !waiting.attend(&peer.link, context.waker()) {
                return Poll::Pending;
            }
        }
    }
}

impl Future for Ready {
    type Output = Result<(), RequestError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let length = self.length;
        self.poll_turn(context, |peer| peer.link.ledger().has_credit(length))
    }
}

impl fmt::Debug for Ready {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ready").finish_non_exhaustive()
    }
}

/// A message that nobody answers, on its way to its turn; see [`Peer::send_async`].
#[must_use = "a message that has to wait for its turn is sent when this is polled"]
pub struct Departure {
    turn: Ready,
    handler: Handler,
    word: u64,
    /// What was not sent yet.
    left: Option<Filled>,
}

impl Future for Departure {
    type Output = Result<(), RequestError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        if this.left.is_none() {
            return Poll::Ready(Ok(()));
        }
        let length = this.turn.length;
        let charge = |peer: &Peer| peer.link.ledger().charge(length);
        let credit = match this.turn.poll_turn(context, charge) {
            Poll::Ready(credit) => credit?,
            Poll::Pending => return Poll::Pending,
        };
        let frame = Frame::Send {
            handler: this.handler.number,
            word: this.word,
        };
        let link = &this.turn.peer.link;
        let filled = this.left.take().unwrap_or_else(Filled::nothing);
        let sent = link.send_filled(frame.header(credit), filled);
        Poll::Ready(sent.map_err(|(error, _)| {
            link.ledger().uncharge(length, credit);
            error.into()
        }))
    }
}

impl fmt::Debug for Departure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Departure").finish_non_exhaustive()
    }
}
