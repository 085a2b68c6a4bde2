//! Asking and telling by threads: where the other side has to be done with others first, they serve meanwhile.

use std::io::IoSlice;
use std::time::Instant;

use jstream::Transportable;
use jstream::buffer::Filled;

use super::{Function, Handler, Peer};
use crate::active::error::RequestError;
use crate::active::frame::Frame;
use crate::active::ledger::Held;
use crate::active::link::{Begun, Grant, Haste, Link, Message};
use crate::active::ticket::{ObjectTicket, Ticket};
use crate::device::deadline::Deadline;
use crate::error::SendError;
use crate::header::Header;

/// From so many bytes on, what is sent stays where it is until the connection has taken it.
const LARGE: u64 = 32 << 10;

/// Whether the other side is waited for where it has to be done with others first.
#[derive(Debug, Clone, Copy)]
pub(super) enum Wait {
    No,
    /// A request that would wait, or go before others, is sent at its turn.
    InTurn,
    /// Until then, and not for too long.
    Until(Option<Instant>),
}

impl Peer {
    /// Requests something of a handler of the other side: returns when the request is on its way. Where the other
    /// side has to be done with others first, this one serves meanwhile, for
    /// [`Settings::credit_timeout`](crate::active::Settings::credit_timeout) at most.
    ///
    /// # Errors
    ///
    /// [`RequestError`]; nothing was sent.
    pub fn request(
        &self,
        handler: Handler,
        word: u64,
        bytes: &[u8],
    ) -> Result<Ticket, RequestError> {
        self.request_segments(handler, word, &[IoSlice::new(bytes)], None)
    }

    /// As [`request`](Self::request), with bytes from several places, for which the other side is waited for until then
    /// at most. Many bytes are sent from where they are: then this returns when the connection has taken them, and
    /// serves meanwhile.
    ///
    /// # Errors
    ///
    /// [`RequestError`]; nothing was sent, unless the connection broke.
    pub fn request_segments(
        &self,
        handler: Handler,
        word: u64,
        segments: &[IoSlice<'_>],
        until: Option<Instant>,
    ) -> Result<Ticket, RequestError> {
        self.request_by(handler, word, segments, Wait::Until(until))
    }

    /// As [`request`](Self::request), without waiting.
    ///
    /// # Errors
    ///
    /// [`RequestError::NoCredit`] where that would wait, or another [`RequestError`].
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

    /// Requests something with a payload that stands in a jbuf, which moves where jbufs do, and which the handler may
    /// keep. Does not wait: where the other side has to be done with others first, the request goes at its turn.
    ///
    /// # Errors
    ///
    /// [`RequestError`]; nothing was sent.
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

    /// Sends a request that was begun.
    #[inline(always)]
    fn put_request(
        &self,
        handler: Handler,
        length: u64,
        segments: &[IoSlice<'_>],
        wait: Wait,
        begun: &Begun,
    ) -> Result<Ticket, RequestError> {
        let (link, asked) = (&self.link, begun.asked);
        if let Err(error) = self.put(begun.header, length, segments, (wait, begun.haste)) {
            link.unsend(Some(asked.number), length, begun.credit);
            return Err(error.into());
        }
        Ok(Ticket::new(link.clone(), handler.number, asked, length))
    }

    /// Requests something that could not go at once.
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
                    Begun {
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

    /// Sends what has credit.
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

    /// Sends a message that nobody answers. One that can't be delivered [comes back](Self::take_returned).
    /// Waits as [`request`](Self::request) does.
    ///
    /// # Errors
    ///
    /// [`RequestError`]; nothing was sent.
    pub fn send(&self, handler: Handler, word: u64, bytes: &[u8]) -> Result<(), RequestError> {
        self.send_segments(handler, word, &[IoSlice::new(bytes)], None)
    }

    /// As [`send`](Self::send), with bytes from several places, as
    /// [`request_segments`](Self::request_segments) sends them.
    ///
    /// # Errors
    ///
    /// [`RequestError`]; nothing was sent, unless the connection broke.
    pub fn send_segments(
        &self,
        handler: Handler,
        word: u64,
        segments: &[IoSlice<'_>],
        until: Option<Instant>,
    ) -> Result<(), RequestError> {
        self.send_by(handler, word, segments, Wait::Until(until))
    }

    /// As [`send`](Self::send), without waiting.
    ///
    /// # Errors
    ///
    /// [`RequestError::NoCredit`] where that would wait, or another [`RequestError`].
    pub fn try_send(&self, handler: Handler, word: u64, bytes: &[u8]) -> Result<(), RequestError> {
        self.try_send_segments(handler, word, &[IoSlice::new(bytes)])
    }

    /// As [`try_send`](Self::try_send), with bytes from several places.
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
        let sent = self.put(frame.header(credit), length, segments, (wait, haste));
        if let Err(error) = sent {
            self.link.unsend(None, length, credit);
            return Err(error.into());
        }
        Ok(())
    }

    /// Calls a function of the other side: returns when the object is on its way. Waits as
    /// [`request`](Self::request) does.
    ///
    /// # Errors
    ///
    /// [`RequestError`]; nothing was sent.
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
    /// Whether nobody goes before.
    #[inline]
    fn is_free(self, link: &Link) -> bool {
        matches!(self, Self::No) || !link.has_queue()
    }
}

fn total(segments: &[IoSlice<'_>]) -> u64 {
    let lengths = segments.iter().map(|segment| segment.len() as u64);
    lengths.fold(0, u64::saturating_add)
}
