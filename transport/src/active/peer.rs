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
use super::bundle::Serving;
use super::error::{JoinError, Returned};
use super::handlers::Handlers;
use super::hello::exchange;
use super::link::Link;
use super::settings::Settings;
use crate::device::deadline::Deadline;
use crate::endpoint::Endpoint;

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
#[derive(Clone)]
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

    /// How many requests of this side have no answer yet that was taken.
    #[must_use]
    pub fn outstanding(&self) -> usize {
        self.link.ledger().outstanding()
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

impl fmt::Debug for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Peer").field(self.endpoint().peer()).finish()
    }
}
