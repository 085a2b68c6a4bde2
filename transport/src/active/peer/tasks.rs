//! Asking without blocking, for tasks: where the other side has to be done with others first, its turn is awaited.

use std::fmt;
use std::future::Future;
use std::io::IoSlice;
use std::pin::Pin;
use std::task::{Context, Poll};

use jstream::Transportable;
use jstream::buffer::Filled;

use super::sending::Wait;
use super::{Function, Handler, Peer};
use crate::active::error::RequestError;
use crate::active::ledger::Held;
use crate::active::link::{Message, Turn};
use crate::active::ticket::{ObjectTicket, Ticket, Waiting};

impl Peer {
    /// As [`request`](Self::request), for a task: where the other side has to be done with others first, the
    /// request goes at its turn, and not at all when its ticket is dropped before.
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
        if self.link.has_queue() {
            self.link.check()?;
            return Ok(self.queue(handler, word, segments));
        }
        match self.try_request_segments(handler, word, segments) {
            Err(RequestError::NoCredit) => Ok(self.queue(handler, word, segments)),
            sent => sent,
        }
    }

    /// As [`request_segments`](Self::request_segments), for who may be a task or a thread: where the other side has to
    /// be done with others first, the bytes are copied, and the request goes at its turn. Many bytes that need not wait
    /// are sent from where they are, as there.
    ///
    /// # Errors
    ///
    /// [`RequestError`]; nothing was sent, unless the connection broke.
    #[inline]
    pub fn request_in_turn(
        &self,
        handler: Handler,
        word: u64,
        segments: &[IoSlice<'_>],
    ) -> Result<Ticket, RequestError> {
        self.request_by(handler, word, segments, Wait::InTurn)
    }

    /// A request that waits for its turn.
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

    /// As [`send`](Self::send), for a task: ready when the message is on its way. One that has to wait for its turn
    /// does not go when this is dropped before.
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

/// A message that nobody answers, on its way to its turn; see [`Peer::send_async`].
#[must_use = "a message that waits for its turn when this is dropped is not sent"]
pub struct Departure {
    peer: Peer,
    /// None when it is on its way.
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
