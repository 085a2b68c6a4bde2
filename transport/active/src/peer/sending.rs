//! Requests, one-way messages and calls.

use std::io::IoSlice;

use jstream::Transportable;
use jstream::buffer::MessageBuffer;

use super::departure::Departure;
use super::payload::{Backpressure, Payload};
use super::{Function, Handler, Peer};
use crate::error::RequestError;
use crate::frame::{Credit, Frame};
use crate::ledger::{Haste, Held};
use crate::link::{BegunRequest, Grant, Link, Message, Turn, waiting};
use crate::other_version::{snapshots_of, with_list};
use crate::ticket::{ObjectTicket, Ticket};
use jstream_base::Header;
use jstream_base::SendError;
use jstream_device::deadline::Deadline;

/// Length in bytes above which a payload is sent in place, without a copy.
const LARGE: u64 = 32 << 10;

impl Peer {
    /// Sends a request to a handler of the peer. Returns when the request is on its way. If there
    /// is no credit, serves until there is, for
    /// [`Settings::credit_timeout`](crate::Settings::credit_timeout) at most.
    ///
    /// # Errors
    ///
    /// [`RequestError`]. In that case nothing was sent.
    pub fn request(
        &self,
        handler: Handler,
        word: u64,
        bytes: &[u8],
    ) -> Result<Ticket, RequestError> {
        self.request_with(handler, word, bytes, Backpressure::Wait(None))
    }

    /// As [`request`](Self::request), with a payload in any form, and a choice of what happens if
    /// there is no credit. If the ticket of a queued request is dropped, the request is not sent.
    ///
    /// # Errors
    ///
    /// [`RequestError::NoCredit`] if there is no credit and the request is to
    /// [fail](Backpressure::Fail), or another [`RequestError`]. In that case nothing was sent,
    /// unless the connection broke.
    #[inline]
    pub fn request_with<'a>(
        &self,
        handler: Handler,
        word: u64,
        payload: impl Into<Payload<'a>>,
        backpressure: Backpressure,
    ) -> Result<Ticket, RequestError> {
        let (link, payload) = (&self.link, payload.into());
        link.check()?;
        let length = payload.length();
        let mut begun = Err(Held::NoCredit);
        // A message that may wait does not overtake those that wait already.
        if backpressure.is_free(link) {
            begun = link.begin(handler.number, word, length);
        }
        let begun = match begun {
            Ok(begun) => begun,
            Err(held) => match self.begin_later(handler, word, length, backpressure, held)? {
                Some(begun) => begun,
                None => return Ok(self.queue_request(handler, word, payload.into_buffer(self))),
            },
        };
        let asked = begun.asked;
        if let Err(error) = self.put(begun.header, length, payload, (backpressure, begun.haste)) {
            // The peer never sees the request, so neither credit nor an answer would come back.
            link.unsend(Some(asked.number), length, begun.credit);
            return Err(link.not_taken(handler.number, error));
        }
        Ok(Ticket::new(link.clone(), handler.number, asked, length))
    }

    /// Begins a request for which there was no credit at the first attempt. Returns `None` if it is
    /// to be queued.
    #[cold]
    fn begin_later(
        &self,
        handler: Handler,
        word: u64,
        length: u64,
        backpressure: Backpressure,
        mut held: Held,
    ) -> Result<Option<BegunRequest>, RequestError> {
        let link = &self.link;
        if matches!(held, Held::NoCredit) && backpressure.is_free(link) && link.reclaim_yielded() {
            match link.begin(handler.number, word, length) {
                Ok(begun) => return Ok(Some(begun)),
                Err(again) => held = again,
            }
        }
        let Held::NoCredit = held else {
            return Err(link.unsent(handler.number));
        };
        let grant = self.without_credit(handler, word, length, true, backpressure)?;
        Ok(grant.map(|grant| {
            let Some(asked) = grant.asked else {
                unreachable!("it is a request");
            };
            BegunRequest {
                asked,
                header: grant.header,
                credit: grant.credit,
                haste: grant.haste,
            }
        }))
    }

    /// Sends a frame that has credit.
    #[inline(always)]
    fn put(
        &self,
        header: Header,
        length: u64,
        payload: Payload<'_>,
        (backpressure, haste): (Backpressure, Haste),
    ) -> Result<(), SendError> {
        let link = &self.link;
        let one;
        let segments = match payload {
            Payload::Bytes(bytes) => {
                one = [IoSlice::new(bytes)];
                &one
            }
            Payload::Segments(segments) => segments,
            Payload::MessageBuffer(filled) => {
                let sent = link.send_buffer(header, filled);
                return sent.map_err(|(error, _)| error);
            }
        };
        // A caller that may block lends its memory. Otherwise the bytes are copied as far as the
        // device has no room.
        if length > LARGE && backpressure.may_block() {
            return link.send_large(header, segments);
        }
        link.send(header, segments, haste)
    }

    /// Waits for credit, fails, or returns `None` if the message is to be queued.
    #[cold]
    fn without_credit(
        &self,
        handler: Handler,
        word: u64,
        length: u64,
        asks: bool,
        backpressure: Backpressure,
    ) -> Result<Option<Grant>, RequestError> {
        let until = match backpressure {
            Backpressure::Wait(until) => until.map_or(Deadline::NEVER, Deadline::at),
            Backpressure::Fail => return Err(RequestError::NoCredit),
            Backpressure::Queue | Backpressure::QueueInPlace => return Ok(None),
        };
        let after = self.link.settings.credit_timeout;
        let until = until.or_sooner(Deadline::after(after));
        let mut phase = self.enqueue(handler, word, length, asks, None);
        // A handler that runs in this wait may need the credit before this thread can send.
        let _stays = phase.stay();
        let granted = waiting::wait(&self.link, None, until, |_, waker| phase.collect(waker));
        let granted = granted.unwrap_or_else(|| {
            Err(RequestError::TimedOut {
                peer: self.endpoint().peer().clone(),
                after,
            })
        });
        granted.map(Some)
    }

    /// Queues a message until there is credit for it. Without a payload, the owner of the entry
    /// sends the message.
    fn enqueue(
        &self,
        handler: Handler,
        word: u64,
        length: u64,
        asks: bool,
        payload: Option<MessageBuffer>,
    ) -> Turn {
        self.link.enqueue(Message {
            handler: handler.number,
            word,
            length,
            asks,
            payload,
        })
    }

    #[cold]
    fn queue_request(&self, handler: Handler, word: u64, payload: MessageBuffer) -> Ticket {
        let length = payload.len() as u64;
        let phase = self.enqueue(handler, word, length, true, Some(payload));
        Ticket::queued(self.link.clone(), handler.number, phase, length)
    }

    #[cold]
    fn queue_message(&self, handler: Handler, word: u64, payload: MessageBuffer) -> Departure {
        let length = payload.len() as u64;
        let phase = self.enqueue(handler, word, length, false, Some(payload));
        Departure::queued(self.clone(), phase)
    }

    #[cold]
    pub(crate) fn held(&self, held: Held) -> RequestError {
        match held {
            Held::NoCredit => RequestError::NoCredit,
            Held::Ended => RequestError::Ended {
                peer: self.endpoint().peer().clone(),
            },
        }
    }

    /// Sends a one-way message. If it can't be delivered, it is
    /// [returned](crate::Attendant::take_returned). Waits for credit as [`request`](Self::request)
    /// does.
    ///
    /// # Errors
    ///
    /// [`RequestError`]. In that case nothing was sent.
    pub fn send(&self, handler: Handler, word: u64, bytes: &[u8]) -> Result<(), RequestError> {
        let sent = self.send_with(handler, word, bytes, Backpressure::Wait(None));
        sent.map(drop)
    }

    /// As [`send`](Self::send), with a payload in any form, and a choice of what happens if there
    /// is no credit. A message that is not queued is on its way when this returns.
    ///
    /// # Errors
    ///
    /// As for [`request_with`](Self::request_with).
    #[inline]
    pub fn send_with<'a>(
        &self,
        handler: Handler,
        word: u64,
        payload: impl Into<Payload<'a>>,
        backpressure: Backpressure,
    ) -> Result<Departure, RequestError> {
        let payload = payload.into();
        let length = payload.length();
        let charged = self.charge(handler, word, length, backpressure)?;
        let Some((header, credit, haste)) = charged else {
            return Ok(self.queue_message(handler, word, payload.into_buffer(self)));
        };
        if let Err(error) = self.put(header, length, payload, (backpressure, haste)) {
            self.link.unsend(None, length, credit);
            return Err(error.into());
        }
        Ok(Departure::default())
    }

    /// Takes credit for a one-way message. Returns its header, the credit that it carries, and its
    /// urgency, or `None` if it is to be queued. Inlined, because the result would be copied
    /// otherwise.
    #[inline(always)]
    fn charge(
        &self,
        handler: Handler,
        word: u64,
        length: u64,
        backpressure: Backpressure,
    ) -> Result<Option<(Header, Credit, Haste)>, RequestError> {
        let link = &self.link;
        link.check()?;
        let charged = match backpressure.is_free(link) {
            true => match link.charge(length) {
                Err(Held::NoCredit) if link.reclaim_yielded() => link.charge(length),
                charged => charged,
            },
            false => Err(Held::NoCredit),
        };
        match charged {
            Ok((credit, haste)) => {
                let handler = handler.number;
                let header = Frame::Send { handler, word }.with_credit(credit);
                Ok(Some((header, credit, haste)))
            }
            Err(Held::NoCredit) => {
                let grant = self.without_credit(handler, word, length, false, backpressure)?;
                Ok(grant.map(|grant| (grant.header, grant.credit, grant.haste)))
            }
            Err(held) => Err(self.held(held)),
        }
    }

    /// Calls a function of the peer. Returns when the object is on its way. Waits for credit as
    /// [`request`](Self::request) does.
    ///
    /// # Errors
    ///
    /// [`RequestError`]. In that case nothing was sent.
    pub fn call<T, R>(
        &self,
        function: &Function<T, R>,
        object: &T,
    ) -> Result<ObjectTicket<R>, RequestError>
    where
        T: Transportable + 'static,
        R: Transportable + 'static,
    {
        self.call_with(function, object, Backpressure::Wait(None))
    }

    /// As [`call`](Self::call), with a choice of what happens if there is no credit; see
    /// [`request_with`](Self::request_with).
    ///
    /// # Errors
    ///
    /// As for [`request_with`](Self::request_with).
    pub fn call_with<T, R>(
        &self,
        function: &Function<T, R>,
        object: &T,
        backpressure: Backpressure,
    ) -> Result<ObjectTicket<R>, RequestError>
    where
        T: Transportable + 'static,
        R: Transportable + 'static,
    {
        let handler = function.handler;
        let shared = self.endpoint().shared();
        let snapshots = match function.is_other {
            true => snapshots_of::<T>(),
            false => None,
        };
        let sent = shared.with_writer(|writer| {
            let list = snapshots.map(|snapshots| snapshots.describe(object, writer));
            let list = list.transpose()?;
            writer.gather(object, |segments| match &list {
                None => self.request_with(handler, 0, segments, backpressure),
                Some(list) => {
                    let max_bytes = shared.info().limits.max_send;
                    let (segments, word) = with_list(segments, list, max_bytes);
                    self.request_with(handler, word, &*segments, backpressure)
                }
            })
        });
        let ticket = sent.map_err(RequestError::Write)??;
        Ok(ObjectTicket::new(ticket, function.is_other))
    }
}

impl Backpressure {
    /// Returns true if the message need not wait behind queued messages.
    #[inline]
    fn is_free(self, link: &Link) -> bool {
        matches!(self, Self::Fail) || !link.has_queue()
    }

    /// Returns true if the caller may block until the connection has taken a long payload.
    #[inline]
    fn may_block(self) -> bool {
        matches!(self, Self::Wait(_) | Self::QueueInPlace)
    }
}
