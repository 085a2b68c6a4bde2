//! One end of a connection with handlers.

mod lookup;
mod tasks;

use std::any::Any;
use std::fmt;
use std::io::{self, IoSlice};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Waker;
use std::time::Instant;

use jstream::Transportable;
use jstream::buffer::Filled;

pub use self::lookup::{Function, Handler};
pub use self::tasks::{Departure, Ready};
use super::bundle::Serving;
use super::error::{JoinError, RequestError, Returned};
use super::frame::Frame;
use super::handlers::Handlers;
use super::hello::exchange;
use super::ledger::Held;
use super::link::{Grant, Haste, Link, Message};
use super::settings::Settings;
use super::ticket::{ObjectTicket, Ticket};
use crate::device::deadline::Deadline;
use crate::endpoint::Endpoint;
use crate::error::SendError;
use crate::header::Header;

/// From so many bytes on, what is sent stays where it is until the connection has taken it.
const LARGE: u64 = 32 << 10;

/// Whether the other side is waited for where it has to be done with others first.
#[derive(Debug, Clone, Copy)]
enum Wait {
    No,
    /// What would wait is not sent, nor what would go before others.
    InTurn,
    /// Until then, and not for too long.
    Until(Option<Instant>),
}

/// One end of a connection over which requests are made and served, by both sides at once.
///
/// It is cheap to clone, and any number of threads and tasks use it at the same time. The connection ends when the
/// last clone, ticket and request is dropped and no [`Bundle`](super::Bundle) keeps it, or when somebody
/// [closes](Self::close) it.
///
/// Nothing is received by itself: whoever waits for an answer serves requests meanwhile. A side that waits for
/// nothing [serves](Self::serve), [polls](Self::poll), or has [a thread](Self::start) that does.
///
/// The messages of one sender begin to be handled in the order in which they were sent, where one thread serves.
///
/// Over sockets, small messages that are sent while a request is on its way gather, and go in one call of the system: when
/// their sender waits, when somebody looks for what has come, or after two milliseconds.
pub struct Peer {
    link: Arc<Link>,
}

impl Peer {
    /// Tells the other side of a connection the handlers of this one, and learns of its handlers. Both sides do so,
    /// before anything else is sent.
    ///
    /// # Errors
    ///
    /// [`JoinError`]; the connection has ended then.
    pub fn join(
        endpoint: Endpoint,
        handlers: &Handlers,
        settings: Settings,
    ) -> Result<Self, JoinError> {
        match exchange(&endpoint, handlers, &settings) {
            Ok(theirs) => Link::new(endpoint, handlers.clone(), theirs, settings).map(Self::of),
            Err(error) => {
                endpoint.close();
                Err(error)
            }
        }
    }

    pub(super) fn of(link: Arc<Link>) -> Self {
        link.handles.fetch_add(1, Ordering::Relaxed);
        Self { link }
    }

    pub(super) fn link(&self) -> &Arc<Link> {
        &self.link
    }

    /// The connection. Whoever sends or receives there has it ended by the other side.
    #[must_use]
    pub fn endpoint(&self) -> &Endpoint {
        self.link.endpoint()
    }

    /// The handlers of this side.
    #[must_use]
    pub fn handlers(&self) -> &Handlers {
        self.link.handlers()
    }

    /// Keeps something of the program's with the connection, for its handlers and whoever has the peer. False when
    /// there was something before.
    ///
    /// It is dropped with the last handle of the connection, so it should have none itself.
    pub fn attach<T: Any + Send + Sync>(&self, attached: Arc<T>) -> bool {
        self.link.attach(attached)
    }

    /// What was attached, if that is a `T`.
    #[must_use]
    pub fn attached<T: Any + Send + Sync>(&self) -> Option<&T> {
        self.link.attached()
    }

    /// Has `work` done once the connection has ended, by whoever finds that out: at once, if it has.
    pub fn on_end(&self, work: impl FnOnce() + Send + 'static) {
        self.link.on_end(Box::new(work));
    }

    /// Whether the other side has sent any request or message yet.
    #[must_use]
    pub fn has_served(&self) -> bool {
        self.link.has_served()
    }

    /// Requests something of a handler of the other side: returns when the request is on its way. Where the other
    /// side has to be done with others first, this one serves meanwhile, for
    /// [`Settings::credit_timeout`] at most.
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

    fn try_request_segments(
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
        let (asked, header) = match self.link.begin(handler.number, word, length) {
            Err(Held::NoCredit) => return Ok(self.queue_filled(handler, word, filled)),
            begun => begun.map_err(|held| self.held(held))?,
        };
        match self.link.send_filled(header, filled) {
            Ok(()) => Ok(Ticket::new(
                self.link.clone(),
                handler.number,
                asked,
                length,
            )),
            Err((error, _)) => {
                self.link
                    .ledger()
                    .unsend(asked.number, length, asked.credit);
                Err(error.into())
            }
        }
    }

    fn request_by(
        &self,
        handler: Handler,
        word: u64,
        segments: &[IoSlice<'_>],
        wait: Wait,
    ) -> Result<Ticket, RequestError> {
        let link = &self.link;
        link.check()?;
        let length = total(segments);
        let begun = match wait.is_free(link) {
            true => link.begin(handler.number, word, length),
            false => Err(Held::NoCredit),
        };
        let (asked, header) = match begun {
            Err(Held::NoCredit) => {
                let grant = self.until_credit(wait, handler, word, length, true)?;
                match grant.asked {
                    Some(asked) => (asked, grant.header),
                    None => unreachable!("it is a request"),
                }
            }
            begun => begun.map_err(|held| self.held(held))?,
        };
        match self.put(header, length, segments, (wait, asked.haste)) {
            Ok(()) => Ok(Ticket::new(link.clone(), handler.number, asked, length)),
            Err(error) => {
                link.ledger().unsend(asked.number, length, asked.credit);
                Err(error.into())
            }
        }
    }

    /// Sends what has credit.
    #[inline]
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
        wait: Wait,
        handler: Handler,
        word: u64,
        length: u64,
        asks: bool,
    ) -> Result<Grant, RequestError> {
        let Wait::Until(until) = wait else {
            return Err(RequestError::NoCredit);
        };
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
        let granted = self.link.wait(None, until, |_, waker| turn.come(waker));
        granted.unwrap_or_else(|| {
            Err(RequestError::TimedOut {
                peer: self.endpoint().peer().clone(),
                after,
            })
        })
    }

    fn held(&self, held: Held) -> RequestError {
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
            true => {
                let mut ledger = self.link.ledger();
                let charged = ledger.charge(length);
                charged.map(|credit| (credit, ledger.haste()))
            }
            false => Err(Held::NoCredit),
        };
        let (credit, haste) = match charged {
            Err(Held::NoCredit) => {
                let grant = self.until_credit(wait, handler, word, length, false)?;
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
            self.link.ledger().uncharge(length, credit);
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

    /// Takes the messages that are here, some at most, without waiting. How many.
    pub fn poll(&self) -> usize {
        self.link.poll()
    }

    /// Looks at what has come, if nobody else receives, and serves nothing of it: that is for whoever serves next. So
    /// answers and credit are known also where nobody waits.
    pub fn look(&self) {
        self.link.bundle().look_aside();
    }

    /// Serves until the connection has ended.
    pub fn serve(&self) {
        self.link
            .wait(None, Deadline::NEVER, |_, waker| self.ended(waker));
    }

    /// As [`serve`](Self::serve), until then at most.
    pub fn serve_until(&self, until: Instant) {
        self.link
            .wait(None, Deadline::at(until), |_, waker| self.ended(waker));
    }

    fn ended(&self, waker: Option<&Waker>) -> Option<()> {
        if let Some(waker) = waker {
            self.link.ledger().want(waker);
        }
        self.link.has_ended().then_some(())
    }

    /// Starts a thread that serves the bundle that the connection is in now, until the handle is dropped.
    ///
    /// # Errors
    ///
    /// What the system says when it is out of threads.
    pub fn start(&self) -> io::Result<Serving> {
        Serving::start(self.link.bundle(), 1, 1, Box::new(|work| work()))
    }

    /// A message that came back though nobody waits for an answer to it, the oldest first.
    #[must_use]
    pub fn take_returned(&self) -> Option<Returned> {
        self.link.take_returned()
    }

    /// Takes no more requests: those that come go back as [`Reason::Ending`](super::Reason::Ending). Those that run go
    /// on.
    pub fn stop_serving(&self) {
        self.link.stop();
    }

    /// How many messages of the other side this one is not done with.
    #[must_use]
    pub fn under_way(&self) -> usize {
        self.link.ledger().under_way()
    }

    /// How many bytes of what was sent the other side has not taken yet, and this one keeps for it: answers, as a rule,
    /// as requests wait for room where they are made.
    #[must_use]
    pub fn backlog(&self) -> u64 {
        self.link.backlog()
    }

    /// Whether the connection has ended, as far as is known.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.link.has_ended()
    }

    /// Ends the connection: whoever waits for an answer gets an error, and handlers that wait are cancelled.
    pub fn close(&self) {
        self.link.hang_up();
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

impl Clone for Peer {
    fn clone(&self) -> Self {
        Self::of(self.link.clone())
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        if self.link.handles.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.link.purge();
        }
    }
}

impl fmt::Debug for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Peer").field(self.endpoint().peer()).finish()
    }
}
