//! One end of a connection with handlers.

mod departure;
mod lookup;
mod payload;
mod sending;

use std::any::Any;
use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Instant;

pub use self::departure::Departure;
pub use self::lookup::{Function, Handler};
pub use self::payload::{Backpressure, Payload};
use super::error::JoinError;
use super::handlers::Handlers;
use super::hello::{exchange, exchange_with};
use super::link::{Link, waiting};
use super::request::{Mark, Replier, Request};
use super::settings::Settings;
use super::thread_pool::Serving;
use jstream_device::deadline::Deadline;
use jstream_endpoint::Endpoint;
use jstream_endpoint::acceptor::Candidate;

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

/// State of a connection at the time of [`Peer::status`]. In a forked child, the counts of a
/// connection of the parent process are 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PeerStatus {
    /// Number of messages of the peer that this side has not completed.
    pub under_way: usize,
    /// Number of requests of this side whose answers were not taken yet.
    pub outstanding: usize,
    /// Number of sent bytes that this side still queues because the peer has not taken them. They
    /// usually belong to answers, as requests wait for credit before they are sent.
    pub backlog: u64,
    /// True if a sent message, or a part of one, waits in this process until the device takes it.
    /// Unlike `backlog`, it covers the rest of a message of which the device has taken a part.
    pub is_sending: bool,
    /// True if the peer has sent a request or a one-way message.
    pub has_served: bool,
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
            Ok(theirs) => {
                Link::new(endpoint, handlers.clone(), theirs, settings).map(Self::from_link)
            }
            Err(error) => {
                endpoint.close();
                Err(error)
            }
        }
    }

    /// As [`join`](Self::join), for a peer that an acceptor has accepted: exchanges handler tables
    /// in a task, and admits the peer.
    ///
    /// # Errors
    ///
    /// [`JoinError`]. The connection has ended in that case.
    #[doc(hidden)]
    pub async fn admit(
        candidate: Candidate,
        handlers: &Handlers,
        settings: Settings,
    ) -> Result<Self, JoinError> {
        let theirs = exchange_with(&candidate, handlers, &settings).await?;
        Link::new(candidate.admit(), handlers.clone(), theirs, settings).map(Self::from_link)
    }

    pub(super) fn from_link(link: Arc<Link>) -> Self {
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

    /// Receives and handles the available messages, up to a limit, without blocking. Returns their
    /// number.
    pub fn poll(&self) -> usize {
        self.link.poll()
    }

    /// Serves until the connection has ended, or until the given time.
    pub fn serve(&self, until: Option<Instant>) {
        let until = until.map_or(Deadline::NEVER, Deadline::at);
        waiting::wait(&self.link, None, until, |_, waker| {
            if let Some(waker) = waker {
                self.link.ledger().want(waker);
            }
            self.link.has_ended().then_some(())
        });
    }

    /// Starts a thread that serves the group that contains the connection now, until the handle is
    /// dropped.
    ///
    /// # Errors
    ///
    /// Any error of the system if it can't create a thread.
    pub fn start(&self) -> io::Result<Serving> {
        Serving::start(
            self.link.membership().group(),
            1,
            1,
            Box::new(|work| work()),
        )
    }

    /// Stops accepting requests: new ones are returned with
    /// [`Reason::Ending`](super::Reason::Ending). Running handlers continue.
    pub fn stop_serving(&self) {
        self.link.stop();
    }

    /// Returns the state of the connection.
    #[must_use]
    pub fn status(&self) -> PeerStatus {
        let link = &self.link;
        let has_served = link.has_served();
        // In a forked child, the lock of the ledger may be held forever.
        if link.is_elsewhere() {
            return PeerStatus {
                has_served,
                ..PeerStatus::default()
            };
        }
        let backlog = link.backlog();
        let ledger = link.ledger();
        PeerStatus {
            under_way: ledger.under_way(),
            outstanding: ledger.outstanding(),
            backlog,
            is_sending: link.is_sending(),
            has_served,
        }
    }

    /// Returns true if the connection is known to have ended.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.link.has_ended()
    }

    /// Returns true if this side should make no more requests over the connection: it has ended, or
    /// was [retired](crate::Attendant::retire).
    #[must_use]
    pub fn is_retired(&self) -> bool {
        self.link.is_retired()
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
        Peer::from_link(self.link().clone())
    }
}

impl Replier {
    /// Returns the peer that made the request.
    #[must_use]
    pub fn peer(&self) -> Peer {
        Peer::from_link(self.link().clone())
    }
}

impl Mark {
    /// Returns the peer that made the request.
    #[must_use]
    pub fn peer(&self) -> Peer {
        Peer::from_link(self.link().clone())
    }
}

impl fmt::Debug for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Peer").field(self.endpoint().peer()).finish()
    }
}
