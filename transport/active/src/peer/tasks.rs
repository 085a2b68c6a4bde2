//! Requests and messages of tasks, without blocking: if there is no credit, they are queued.

use std::fmt;
use std::future::Future;
use std::io::IoSlice;
use std::pin::Pin;
use std::task::{Context, Poll};

use jstream::Transportable;
use jstream::buffer::Filled;

use super::sending::Wait;
use super::{Function, Handler, Peer};
use crate::error::RequestError;
use crate::ledger::Held;
use crate::link::{Message, Turn};
use crate::ticket::{ObjectTicket, Ticket, Waiting};

impl Peer {
    /// As [`request`](Self::request), but for tasks: if there is no credit, the request is queued
    /// and sent in its turn. If its ticket is dropped before that, it is not sent.
    ///
    /// # Errors
    ///
    /// [`RequestError`]. In that case nothing was sent.
    pub fn request_async(
        &self,
        handler: Handler,
        word: u64,
        bytes: &[u8],
    ) -> Result<Ticket, RequestError> {
        self.request_segments_async(handler, word, &[IoSlice::new(bytes)])
    }

    /// As [`request_async`](Self::request_async), with a payload in several segments.
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
        if self.link.has_queue() {
            self.link.check()?;
            return Ok(self.queue(handler, word, segments));
        }
        match self.try_request_segments(handler, word, segments) {
            Err(RequestError::NoCredit) => Ok(self.queue(handler, word, segments)),
            sent => sent,
        }
    }

    /// As [`request_segments`](Self::request_segments), for callers that may be tasks or threads:
    /// if there is no credit, the bytes are copied, and the request is sent in its turn. A long
    /// payload that need not wait is sent in place.
    ///
    /// # Errors
    ///
    /// [`RequestError`]. In that case nothing was sent, unless the connection broke.
    #[inline]
    pub fn request_in_turn(
        &self,
        handler: Handler,
        word: u64,
        segments: &[IoSlice<'_>],
    ) -> Result<Ticket, RequestError> {
        self.request_by(handler, word, segments, Wait::InTurn)
    }

    /// Queues a request until there is credit for it.
    #[cold]
    pub(super) fn queue(&self, handler: Handler, word: u64, segments: &[IoSlice<'_>]) -> Ticket {
        let payload = self.endpoint().shared().gather(segments);
        self.queue_filled(handler, word, payload)
    }

    pub(super) fn queue_filled(&self, handler: Handler, word: u64, payload: Filled) -> Ticket {
        let length = payload.len() as u64;
        let turn = self.link.enqueue(Message {
            handler: handler.number,
            word,
            length,
            asks: true,
            payload: Some(payload),
        });
        Ticket::queued(self.link.clone(), handler.number, turn, length)
    }

    /// As [`call`](Self::call), but for tasks; see [`request_async`](Self::request_async).
    ///
    /// # Errors
    ///
    /// [`RequestError`]. In that case nothing was sent.
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

    /// As [`send`](Self::send), but for tasks: the future is ready when the message is on its way.
    /// If it is dropped while the message is queued, the message is not sent.
    ///
    /// # Errors
    ///
    /// [`RequestError`]. In that case nothing was sent.
    pub fn send_async(
        &self,
        handler: Handler,
        word: u64,
        bytes: &[u8],
    ) -> Result<Departure, RequestError> {
        let is_free = !self.link.has_queue();
        match is_free.then(|| self.try_send(handler, word, bytes)) {
            Some(Err(RequestError::NoCredit)) | None => {}
            Some(sent) => {
                sent?;
                return Ok(Departure {
                    peer: self.clone(),
                    turn: None,
                    waiting: Waiting::default(),
                });
            }
        }
        self.link.check()?;
        let payload = self.endpoint().shared().gather(&[IoSlice::new(bytes)]);
        let turn = self.link.enqueue(Message {
            handler: handler.number,
            word,
            length: payload.len() as u64,
            asks: false,
            payload: Some(payload),
        });
        Ok(Departure {
            peer: self.clone(),
            turn: Some(turn),
            waiting: Waiting::default(),
        })
    }

    /// Returns a future that is ready when there is credit for a request or message of `length`
    /// bytes, or when the connection has ended. A message that is sent immediately afterwards does
    /// not wait, unless another thread or task uses the credit first.
    pub fn ready(&self, length: usize) -> Ready {
        Ready {
            peer: self.clone(),
            length: length as u64,
            waiting: Waiting::default(),
        }
    }
}

/// Future that waits for credit; see [`Peer::ready`]. Polling it serves requests, as with a
/// [`Ticket`].
#[must_use = "a future does nothing unless it is polled"]
pub struct Ready {
    peer: Peer,
    length: u64,
    waiting: Waiting,
}

impl Future for Ready {
    type Output = Result<(), RequestError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Self {
            peer,
            length,
            waiting,
        } = &mut *self;
        loop {
            peer.link.check()?;
            peer.link.ledger().want(context.waker());
            let has_credit = peer.link.ledger().has_credit(*length);
            match has_credit {
                Ok(()) if !peer.link.is_first(context.waker()) => {}
                Err(Held::NoCredit) if peer.link.free_aside() => continue,
                Err(Held::NoCredit) => {}
                credit => return Poll::Ready(credit.map_err(|held| peer.held(held))),
            }
            if !waiting.attend(&peer.link, context.waker()) {
                return Poll::Pending;
            }
        }
    }
}

impl fmt::Debug for Ready {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ready").finish_non_exhaustive()
    }
}

/// A one-way message that is sent or waits for credit; see [`Peer::send_async`].
#[must_use = "a message that waits for its turn when this is dropped is not sent"]
pub struct Departure {
    peer: Peer,
    /// `None` if the message is on its way.
    turn: Option<Turn>,
    waiting: Waiting,
}

impl Future for Departure {
    type Output = Result<(), RequestError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Self {
            peer,
            turn,
            waiting,
        } = &mut *self;
        let Some(waits) = turn else {
            return Poll::Ready(Ok(()));
        };
        loop {
            peer.link.check()?;
            if let Some(gone) = waits.come(Some(context.waker())) {
                *turn = None;
                waiting.leave();
                return Poll::Ready(gone.map(drop));
            }
            if !waiting.attend(&peer.link, context.waker()) {
                return Poll::Pending;
            }
        }
    }
}

impl fmt::Debug for Departure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Departure").finish_non_exhaustive()
    }
}
