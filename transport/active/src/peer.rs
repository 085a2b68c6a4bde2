//! One end of a connection with handlers.

mod lookup;
mod sending;
mod tasks;

use std::any::Any;
use std::fmt;
use std::io;
use std::sync::Arc;
use std::task::Waker;
use std::time::Instant;

pub use self::lookup::{Function, Handler};
pub use self::tasks::{Departure, Ready};
use super::error::{JoinError, Returned};
use super::handlers::Handlers;
use super::hello::exchange;
use super::link::Link;
use super::request::{Mark, Replier, Request};
use super::settings::Settings;
use super::thread_pool::Serving;
use jstream_device::deadline::Deadline;
use jstream_endpoint::Endpoint;

/// One end of a connection over which both sides send and serve requests at the same time.
///
/// A peer is cheap to clone, and any number of threads and tasks can use it at the same time. The
/// connection ends when the last clone, ticket and request is dropped and no
/// [`PollGroup`](super::PollGroup) keeps it, or when a caller [closes](Self::close) it.
///
/// No background thread receives: a thread that waits for an answer serves requests meanwhile. A
/// side that waits for no answer has to [serve](Self::serve), [poll](Self::poll), or [start a
/// thread](Self::start).
///
/// If one thread serves, the handlers of one sender's messages begin in the order in which the
/// messages were sent.
///
/// Over sockets, small messages that are sent while a request is outstanding are coalesced into one
/// system call. They are sent when their sender waits, when a thread polls the connection, or after
/// two milliseconds.
#[derive(Clone)]
pub struct Peer {
    link: Arc<Link>,
}

impl Peer {
    /// Exchanges handler tables with the peer. Both sides must call this before they send anything
    /// else.
    ///
    /// # Errors
    ///
    /// [`JoinError`]. The connection has ended in that case.
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
        Self { link }
    }

    pub(super) fn link(&self) -> &Arc<Link> {
        &self.link
    }

    /// Returns the connection. If the program sends or receives on it directly, the peer ends the
    /// connection.
    #[must_use]
    pub fn endpoint(&self) -> &Endpoint {
        self.link.endpoint()
    }

    /// Returns the handlers of this side.
    #[must_use]
    pub fn handlers(&self) -> &Handlers {
        self.link.handlers()
    }

    /// Attaches a value of the program to the connection, for its handlers and for all users of the
    /// peer. Returns false if a value was attached before.
    ///
    /// The value is dropped with the last handle of the connection, so it should not contain such a
    /// handle.
    pub fn attach<T: Any + Send + Sync>(&self, attached: Arc<T>) -> bool {
        self.link.attach(attached)
    }

    /// Returns the attached value if its type is `T`.
    #[must_use]
    pub fn attached<T: Any + Send + Sync>(&self) -> Option<&T> {
        self.link.attached()
    }

    /// Runs `work` when the connection has ended, on the thread that detects the end. If the
    /// connection has ended already, runs it immediately.
    pub fn on_end(&self, work: impl FnOnce() + Send + 'static) {
        self.link.on_end(Box::new(work));
    }

    /// Returns true if the peer has sent a request or a one-way message.
    #[must_use]
    pub fn has_served(&self) -> bool {
        self.link.has_served()
    }

    /// Receives and handles the available messages, up to a limit, without blocking. Returns their
    /// number.
    pub fn poll(&self) -> usize {
        self.link.poll()
    }

    /// Receives the available messages, if no other thread is polling, but runs no handlers:
    /// requests are queued for the next thread that serves. So answers and credit are processed
    /// even if no thread waits.
    pub fn look(&self) {
        self.link.group().look_aside();
    }

    /// Serves until the connection has ended.
    pub fn serve(&self) {
        self.link
            .wait(None, Deadline::NEVER, |_, waker| self.ended(waker));
    }

    /// As [`serve`](Self::serve), but returns at `until` at the latest.
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

    /// Starts a thread that serves the group that contains the connection now, until the handle is
    /// dropped.
    ///
    /// # Errors
    ///
    /// Any error of the system if it can't create a thread.
    pub fn start(&self) -> io::Result<Serving> {
        Serving::start(self.link.group(), 1, 1, Box::new(|work| work()))
    }

    /// Takes the oldest returned message that no ticket waits for.
    #[must_use]
    pub fn take_returned(&self) -> Option<Returned> {
        self.link.take_returned()
    }

    /// Stops accepting requests: new ones are returned with
    /// [`Reason::Ending`](super::Reason::Ending). Running handlers continue.
    pub fn stop_serving(&self) {
        self.link.stop();
    }

    /// Returns the number of messages of the peer that this side has not completed.
    #[must_use]
    pub fn under_way(&self) -> usize {
        self.link.ledger().under_way()
    }

    /// Returns the number of requests of this side whose answers were not taken yet.
    #[must_use]
    pub fn outstanding(&self) -> usize {
        self.link.ledger().outstanding()
    }

    /// Returns the number of sent bytes that this side still queues because the peer has not taken
    /// them. They usually belong to answers, as requests wait for credit before they are sent.
    #[must_use]
    pub fn backlog(&self) -> u64 {
        self.link.backlog()
    }

    /// Returns true if the connection is known to have ended.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.link.has_ended()
    }

    /// Ends the connection: waiting callers get an error, and suspended handlers are cancelled.
    pub fn close(&self) {
        self.link.hang_up();
    }
}

impl Request {
    /// Returns the sender, for messages besides the answer.
    #[must_use]
    pub fn peer(&self) -> Peer {
        Peer::of(self.link().clone())
    }
}

impl Replier {
    /// Returns the peer that made the request.
    #[must_use]
    pub fn peer(&self) -> Peer {
        Peer::of(self.link().clone())
    }
}

impl Mark {
    /// Returns the peer that made the request.
    #[must_use]
    pub fn peer(&self) -> Peer {
        Peer::of(self.link().clone())
    }
}

impl fmt::Debug for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Peer").field(self.endpoint().peer()).finish()
    }
}
