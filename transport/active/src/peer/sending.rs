//! Requests and messages of threads: if there is no credit, the thread serves until there is.

use std::io::IoSlice;
use std::time::Instant;

use jstream::Transportable;
use jstream::buffer::Filled;

use super::{Function, Handler, Peer};
use crate::error::RequestError;
use crate::frame::Frame;
use crate::ledger::{Haste, Held};
use crate::link::{BegunRequest, Grant, Link, Message};
use crate::ticket::{ObjectTicket, Ticket};
use jstream_base::Header;
use jstream_base::SendError;
use jstream_device::deadline::Deadline;

/// Length in bytes above which a payload is sent in place, without a copy.
const LARGE: u64 = 32 << 10;

/// Behaviour of a request if there is no credit.
#[derive(Debug, Clone, Copy)]
pub(super) enum Wait {
    No,
    /// Queue the request if there is no credit or others are queued before it.
    InTurn,
    /// Serve until there is credit, until that time, or for the credit timeout, whichever is first.
    Until(Option<Instant>),
}

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
        self.request_segments(handler, word, &[IoSlice::new(bytes)], None)
    }

    /// As [`request`](Self::request), with a payload in several segments, and an optional deadline
    /// for the wait for credit. A long payload is sent in place: then this returns when the
    /// connection has taken it, and serves meanwhile.
    ///
    /// # Errors
    ///
    /// [`RequestError`]. In that case nothing was sent, unless the connection broke.
    pub fn request_segments(
        &self,
        handler: Handler,
        word: u64,
        segments: &[IoSlice<'_>],
        until: Option<Instant>,
    ) -> Result<Ticket, RequestError> {
        self.request_by(handler, word, segments, Wait::Until(until))
    }

    /// As [`request`](Self::request), without waiting for credit.
    ///
    /// # Errors
    ///
    /// [`RequestError::NoCredit`] if there is no credit, or another [`RequestError`].
    pub fn try_request(
        &self,
        handler: Handler,
        word: u64,
        bytes: &[u8],
    ) -> Result<Ticket, RequestError> {
        self.try_request_segments(handler, word, &[IoSlice::new(bytes)])
    }

    pub(super) fn try_request_segments(
        &self,
        handler: Handler,
        word: u64,
        segments: &[IoSlice<'_>],
    ) -> Result<Ticket, RequestError> {
        self.request_by(handler, word, segments, Wait::No)
    }

    /// Sends a request whose payload is in a buffer of the pool. The handler may keep that buffer,
    /// and if the device can, it moves to the peer without a copy. Does not block: if there is no
    /// credit, the request is queued.
    ///
    /// # Errors
    ///
    /// [`RequestError`]. In that case nothing was sent.
    pub fn request_filled(
        &self,
        handler: Handler,
        word: u64,
        filled: Filled,
    ) -> Result<Ticket, RequestError> {
        self.link.check()?;
        if self.link.has_queue() {
            return Ok(self.queue_filled(handler, word, filled));
        }
        let length = filled.len() as u64;
        let begun = match self.link.begin(handler.number, word, length) {
            Err(Held::NoCredit) => return Ok(self.queue_filled(handler, word, filled)),
            begun => begun.map_err(|held| self.held(held))?,
        };
        let asked = begun.asked;
        match self.link.send_filled(begun.header, filled) {
            Ok(()) => Ok(Ticket::new(
                self.link.clone(),
                handler.number,
                asked,
                length,
            )),
            Err((error, _)) => {
                self.link.unsend(Some(asked.number), length, begun.credit);
                Err(error.into())
            }
        }
    }

    pub(super) fn request_by(
        &self,
        handler: Handler,
        word: u64,
        segments: &[IoSlice<'_>],
        wait: Wait,
    ) -> Result<Ticket, RequestError> {
        let link = &self.link;
        link.check()?;
        let length = total(segments);
        if wait.is_free(link) {
            if let Ok(begun) = link.begin(handler.number, word, length) {
                return self.put_request(handler, length, segments, wait, &begun);
            }
        }
        self.request_later(handler, word, (segments, length), wait)
    }

    /// Sends a request that has credit and a number.
    #[inline(always)]
    fn put_request(
        &self,
        handler: Handler,
        length: u64,
        segments: &[IoSlice<'_>],
        wait: Wait,
        begun: &BegunRequest,
    ) -> Result<Ticket, RequestError> {
        let (link, asked) = (&self.link, begun.asked);
        if let Err(error) = self.put(begun.header, length, segments, (wait, begun.haste)) {
            link.unsend(Some(asked.number), length, begun.credit);
            return Err(error.into());
        }
        Ok(Ticket::new(link.clone(), handler.number, asked, length))
    }

    /// Sends or queues a request for which there was no credit at the first attempt.
    #[cold]
    fn request_later(
        &self,
        handler: Handler,
        word: u64,
        (segments, length): (&[IoSlice<'_>], u64),
        wait: Wait,
    ) -> Result<Ticket, RequestError> {
        let link = &self.link;
        let mut begun = Err(Held::NoCredit);
        if wait.is_free(link) {
            begun = link.begin(handler.number, word, length);
            if matches!(begun, Err(Held::NoCredit)) && link.free_aside() {
                begun = link.begin(handler.number, word, length);
            }
        }
        let begun = match begun {
            Ok(begun) => begun,
            Err(Held::NoCredit) => match wait {
                Wait::No => return Err(RequestError::NoCredit),
                Wait::InTurn => return Ok(self.queue(handler, word, segments)),
                Wait::Until(until) => {
                    let grant = self.until_credit(until, handler, word, length, true)?;
                    let Some(asked) = grant.asked else {
                        unreachable!("it is a request");
                    };
                    BegunRequest {
                        asked,
                        header: grant.header,
                        credit: grant.credit,
                        haste: grant.haste,
                    }
                }
            },
            Err(held) => return Err(self.held(held)),
        };
        self.put_request(handler, length, segments, wait, &begun)
    }

    /// Sends a frame that has credit.
    #[inline(always)]
    fn put(
        &self,
        header: Header,
        length: u64,
        segments: &[IoSlice<'_>],
        (wait, haste): (Wait, Haste),
    ) -> Result<(), SendError> {
        if length > LARGE && !matches!(wait, Wait::No) {
            return self.link.send_large(header, segments);
        }
        self.link.send(header, segments, haste)
    }

    /// Serves until there is credit.
    #[cold]
    fn until_credit(
        &self,
        until: Option<Instant>,
        handler: Handler,
        word: u64,
        length: u64,
        asks: bool,
    ) -> Result<Grant, RequestError> {
        let after = self.link.settings.credit_timeout;
        let until = until.map_or(Deadline::NEVER, Deadline::at);
        let until = until.or_sooner(Deadline::after(after));
        let mut turn = self.link.enqueue(Message {
            handler: handler.number,
            word,
            length,
            asks,
            payload: None,
        });
        let _stays = turn.stay();
        let granted = self.link.wait(None, until, |_, waker| turn.come(waker));
        granted.unwrap_or_else(|| {
            Err(RequestError::TimedOut {
                peer: self.endpoint().peer().clone(),
                after,
            })
        })
    }

    #[cold]
    pub(super) fn held(&self, held: Held) -> RequestError {
        match held {
            Held::NoCredit => RequestError::NoCredit,
            Held::Ended => RequestError::Ended {
                peer: self.endpoint().peer().clone(),
            },
        }
    }

    /// Sends a one-way message. If it can't be delivered, it is [returned](Self::take_returned).
    /// Waits for credit as [`request`](Self::request) does.
    ///
    /// # Errors
    ///
    /// [`RequestError`]. In that case nothing was sent.
    pub fn send(&self, handler: Handler, word: u64, bytes: &[u8]) -> Result<(), RequestError> {
        self.send_segments(handler, word, &[IoSlice::new(bytes)], None)
    }

    /// As [`send`](Self::send), with a payload in several segments; see
    /// [`request_segments`](Self::request_segments).
    ///
    /// # Errors
    ///
    /// [`RequestError`]. In that case nothing was sent, unless the connection broke.
    pub fn send_segments(
        &self,
        handler: Handler,
        word: u64,
        segments: &[IoSlice<'_>],
        until: Option<Instant>,
    ) -> Result<(), RequestError> {
        self.send_by(handler, word, segments, Wait::Until(until))
    }

    /// As [`send`](Self::send), without waiting for credit.
    ///
    /// # Errors
    ///
    /// [`RequestError::NoCredit`] if there is no credit, or another [`RequestError`].
    pub fn try_send(&self, handler: Handler, word: u64, bytes: &[u8]) -> Result<(), RequestError> {
        self.try_send_segments(handler, word, &[IoSlice::new(bytes)])
    }

    /// As [`try_send`](Self::try_send), with a payload in several segments.
    ///
    /// # Errors
    ///
    /// As for [`try_send`](Self::try_send).
    pub fn try_send_segments(
        &self,
        handler: Handler,
        word: u64,
        segments: &[IoSlice<'_>],
    ) -> Result<(), RequestError> {
        self.send_by(handler, word, segments, Wait::No)
    }

    fn send_by(
        &self,
        handler: Handler,
        word: u64,
        segments: &[IoSlice<'_>],
        wait: Wait,
    ) -> Result<(), RequestError> {
        self.link.check()?;
        let length = total(segments);
        let charged = match wait.is_free(&self.link) {
            true => match self.link.charge(length) {
                Err(Held::NoCredit) if self.link.free_aside() => self.link.charge(length),
                charged => charged,
            },
            false => Err(Held::NoCredit),
        };
        let (credit, haste) = match charged {
            Err(Held::NoCredit) => {
                let Wait::Until(until) = wait else {
                    return Err(RequestError::NoCredit);
                };
                let grant = self.until_credit(until, handler, word, length, false)?;
                (grant.credit, grant.haste)
            }
            charged => charged.map_err(|held| self.held(held))?,
        };
        let frame = Frame::Send {
            handler: handler.number,
            word,
        };
        let sent = self.put(frame.with_credit(credit), length, segments, (wait, haste));
        if let Err(error) = sent {
            self.link.unsend(None, length, credit);
            return Err(error.into());
        }
        Ok(())
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
        let handler = function.handler;
        let shared = self.endpoint().shared();
        let sent = shared.with_writer(|writer| {
            writer.gather(object, |segments| {
                self.request_segments(handler, 0, segments, None)
            })
        });
        let ticket = sent.map_err(RequestError::Write)??;
        Ok(ObjectTicket::new(ticket))
    }
}

impl Wait {
    /// Returns true if the request need not wait behind queued messages.
    #[inline]
    fn is_free(self, link: &Link) -> bool {
        matches!(self, Self::No) || !link.has_queue()
    }
}

fn total(segments: &[IoSlice<'_>]) -> u64 {
    let lengths = segments.iter().map(|segment| segment.len() as u64);
    lengths.fold(0, u64::saturating_add)
}
