//! One end of a connection with handlers.

use std::any::Any;
use std::fmt;
use std::io::{self, IoSlice};
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use jstream::Transportable;
use jstream::buffer::Filled;

use super::bundle::Serving;
use super::error::{JoinError, LookupError, RequestError, Returned};
use super::frame::Frame;
use super::handlers::{Handlers, descriptors, types};
use super::hello::{Known, exchange};
use super::ledger::Held;
use super::link::Link;
use super::settings::Settings;
use super::ticket::{ObjectTicket, Ticket, Unsent};
use crate::device::deadline::Deadline;
use crate::endpoint::Endpoint;

/// From so many bytes on, what is sent stays where it is until the connection has taken it.
const LARGE: u64 = 32 << 10;

/// Whether the other side is waited for where it has to be done with others first.
#[derive(Debug, Clone, Copy)]
enum Wait {
    No,
    /// Until then, and not for too long.
    Until(Option<Instant>),
}

/// A handler of the other side of a connection, which has found it by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Handler {
    number: u16,
}

/// A function of the other side from a `T` to an `R`, which has been found by name.
pub struct Function<T, R> {
    handler: Handler,
    of: PhantomData<fn(&T) -> R>,
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

    /// The handler of the other side that has this name and takes bytes.
    ///
    /// # Errors
    ///
    /// [`LookupError`], which says what there is instead.
    pub fn handler(&self, name: &str) -> Result<Handler, LookupError> {
        let (number, known) = self.find(name)?;
        if (known.takes, known.gives) != (0, 0) {
            return Err(self.other_type(known, "bytes -> bytes".to_owned()));
        }
        Ok(Handler { number })
    }

    /// The function of the other side that has this name.
    ///
    /// # Errors
    ///
    /// [`LookupError`], which says what there is instead.
    pub fn function<T, R>(&self, name: &str) -> Result<Function<T, R>, LookupError>
    where
        T: Transportable + 'static,
        R: Transportable + 'static,
    {
        let (number, known) = self.find(name)?;
        if (known.takes, known.gives) != descriptors::<T, R>() {
            return Err(self.other_type(known, types::<T, R>()));
        }
        Ok(Function {
            handler: Handler { number },
            of: PhantomData,
        })
    }

    fn find(&self, name: &str) -> Result<(u16, &Known), LookupError> {
        let known = self.link.known();
        let place = known.iter().position(|known| known.name == name);
        let found = place.and_then(|place| Some((u16::try_from(place).ok()?, known.get(place)?)));
        found.ok_or_else(|| LookupError::Unknown {
            peer: self.endpoint().peer().clone(),
            name: name.to_owned(),
            known: listed(known),
        })
    }

    fn other_type(&self, known: &Known, ours: String) -> LookupError {
        LookupError::Type {
            peer: self.endpoint().peer().clone(),
            name: known.name.clone(),
            ours,
            theirs: known.types.escape_debug().to_string(),
        }
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
        self.request_by(handler, word, &[IoSlice::new(bytes)], Wait::No)
    }

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
        match self.try_request(handler, word, bytes) {
            Err(RequestError::NoCredit) => {
                let shared = self.endpoint().shared();
                let filled = shared.gather(&[IoSlice::new(bytes)]);
                let unsent = Unsent::new(word, filled);
                Ok(Ticket::unsent(self.link.clone(), handler.number, unsent))
            }
            sent => sent,
        }
    }

    /// Requests something with a payload that stands in a jbuf, which moves where jbufs do, and which the handler may
    /// keep. Does not wait: where the other side has to be done with others first, the ticket sends the
    /// request when somebody waits for it.
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
        let number = handler.number;
        let mut unsent = Some(Unsent::new(word, filled));
        match Ticket::begin(&self.link, number, &mut unsent) {
            Ok(sent) => Ok(sent),
            Err(RequestError::NoCredit) => match unsent {
                Some(unsent) => Ok(Ticket::unsent(self.link.clone(), number, unsent)),
                None => Err(RequestError::NoCredit),
            },
            Err(error) => Err(error),
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
        let length = total(segments);
        let begin = || link.begin(handler.number, word, length);
        let (number, header) = match begin() {
            Err(Held::NoCredit) => self.until_credit(wait, begin)?,
            begun => begun.map_err(|held| self.held(held))?,
        };
        let sent = if length > LARGE && matches!(wait, Wait::Until(_)) {
            link.send_large(header, segments)
        } else {
            link.send(header, segments)
        };
        match sent {
            Ok(()) => Ok(Ticket::new(link.clone(), handler.number, number)),
            Err(error) => {
                link.ledger().unsend(number, length);
                Err(error.into())
            }
        }
    }

    /// Serves until there is credit.
    #[cold]
    fn until_credit<R>(
        &self,
        wait: Wait,
        begin: impl Fn() -> Result<R, Held>,
    ) -> Result<R, RequestError> {
        let Wait::Until(until) = wait else {
            return Err(RequestError::NoCredit);
        };
        let after = self.link.settings.credit_timeout;
        let until = until.map_or(Deadline::NEVER, Deadline::at);
        let begun = self.link.wait(
            until.or_sooner(Deadline::after(after)),
            |waker| match begin() {
                Err(Held::NoCredit) => {
                    if let Some(waker) = waker {
                        self.link.ledger().want(waker);
                        // There may be credit since the look.
                        return match begin() {
                            Err(Held::NoCredit) => None,
                            begun => Some(begun),
                        };
                    }
                    None
                }
                begun => Some(begun),
            },
        );
        match begun {
            Some(begun) => begun.map_err(|held| self.held(held)),
            None => Err(RequestError::TimedOut {
                peer: self.endpoint().peer().clone(),
                after,
            }),
        }
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
        let length = total(segments);
        let begin = || self.link.ledger().charge(length);
        let credit = match begin() {
            Err(Held::NoCredit) => self.until_credit(wait, begin)?,
            begun => begun.map_err(|held| self.held(held))?,
        };
        let frame = Frame::Send {
            handler: handler.number,
            word,
        };
        let header = frame.header(credit);
        let sent = if length > LARGE && matches!(wait, Wait::Until(_)) {
            self.link.send_large(header, segments)
        } else {
            self.link.send(header, segments)
        };
        if let Err(error) = sent {
            self.link.ledger().uncharge(length);
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
        self.link.bundle().poll()
    }

    /// Serves until the connection has ended.
    pub fn serve(&self) {
        self.link.wait(Deadline::NEVER, |waker| {
            if let Some(waker) = waker {
                self.link.ledger().want(waker);
            }
            self.link.has_ended().then_some(())
        });
    }

    /// Starts a thread that serves the bundle that the connection is in now, until the handle is dropped.
    ///
    /// # Errors
    ///
    /// What the system says when it is out of threads.
    pub fn start(&self) -> io::Result<Serving> {
        Serving::start(self.link.bundle(), 1, 1)
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

fn total(segments: &[IoSlice<'_>]) -> u64 {
    let lengths = segments.iter().map(|segment| segment.len() as u64);
    lengths.fold(0, u64::saturating_add)
}

/// The first names of a table, for people; a peer's may be anything.
fn listed(known: &[Known]) -> String {
    const MOST: usize = 16;
    if known.is_empty() {
        return "none".to_owned();
    }
    let names = known.iter().take(MOST);
    let names: Vec<_> = names.map(|known| format!("{:?}", known.name)).collect();
    let more = known.len().saturating_sub(MOST);
    if more == 0 {
        names.join(", ")
    } else {
        format!("{}, and {more} more", names.join(", "))
    }
}

impl Clone for Peer {
    fn clone(&self) -> Self {
        Self::of(self.link.clone())
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        if self.link.handles.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.link.bundle().purge(self.link.id);
        }
    }
}

impl fmt::Debug for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Peer").field(self.endpoint().peer()).finish()
    }
}

impl<T, R> Clone for Function<T, R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, R> Copy for Function<T, R> {}

impl<T, R> fmt::Debug for Function<T, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Function")
            .field(&self.handler.number)
            .finish()
    }
}
