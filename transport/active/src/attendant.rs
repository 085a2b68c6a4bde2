//! Waiting for events other than answers.

use std::fmt;
use std::future::poll_fn;
use std::sync::{Arc, Weak};
use std::task::{Poll, Waker};
use std::time::Instant;

use super::error::{RequestError, Returned};
use super::ledger::Held;
use super::link::{Link, waiting};
use super::peer::Peer;
use super::ticket::Waiting;
use jstream_device::deadline::Deadline;

impl Peer {
    /// Returns a handle for code that waits for events other than answers, as layers above active
    /// messages do.
    #[must_use]
    pub fn attendant(&self) -> Attendant {
        Attendant {
            peer: self.clone(),
            waiting: Waiting::default(),
        }
    }

    /// Returns a weak handle of the connection.
    #[must_use]
    pub fn downgrade(&self) -> WeakPeer {
        WeakPeer {
            link: Arc::downgrade(self.link()),
        }
    }
}

/// Handle for waiting for events other than answers: credit, returned messages, and events of the
/// program. See [`Peer::attendant`].
#[derive(Debug)]
pub struct Attendant {
    peer: Peer,
    waiting: Waiting,
}

impl Attendant {
    /// Serves on behalf of a task, as a polled [`Ticket`](super::Ticket) does: handles the
    /// available messages. Returns true if the task should check its condition again; otherwise the
    /// task is woken when there are more messages.
    pub fn attend(&mut self, task: &Waker) -> bool {
        self.waiting.attend(self.peer.link(), task)
    }

    /// Serves until `attempt` returns a value, or until the deadline; then returns `None`. Before
    /// the thread sleeps, `attempt` gets the waker to call when a value may be available. Other
    /// threads can't receive while `attempt` runs, so it must return quickly.
    pub fn wait_until<R>(
        &self,
        until: Option<Instant>,
        mut attempt: impl FnMut(Option<&Waker>) -> Option<R>,
    ) -> Option<R> {
        let until = until.map_or(Deadline::NEVER, Deadline::at);
        let link = self.peer.link();
        waiting::wait(link, None, until, |_, waker| attempt(waker))
    }

    /// Wakes a task when there is credit again, or the connection has ended.
    pub fn wake_at_credit(&self, task: &Waker) {
        self.peer.link().ledger().want(task);
    }

    /// Waits, as a task, until there is credit for a request or message of `length` bytes. Serves
    /// meanwhile, as a polled [`Ticket`](super::Ticket) does. A message that is sent immediately
    /// afterwards does not wait, unless another thread or task uses the credit first.
    ///
    /// # Errors
    ///
    /// [`RequestError::Ended`], or [`RequestError::Forked`].
    pub async fn ready(mut self, length: usize) -> Result<(), RequestError> {
        poll_fn(|context| self.poll_ready(length as u64, context.waker())).await
    }

    fn poll_ready(&mut self, length: u64, task: &Waker) -> Poll<Result<(), RequestError>> {
        let link = self.peer.link();
        loop {
            link.check()?;
            // Registered before the check, so that credit that comes in between wakes the task.
            link.ledger().want(task);
            let has_credit = link.ledger().has_credit(length);
            match has_credit {
                Ok(()) if !link.is_first(task) => {}
                Err(Held::NoCredit) if link.reclaim_yielded() => continue,
                Err(Held::NoCredit) => {}
                credit => return Poll::Ready(credit.map_err(|held| self.peer.held(held))),
            }
            if !self.waiting.attend(link, task) {
                return Poll::Pending;
            }
        }
    }

    /// Receives the available messages, if no other thread is polling, but runs no handlers:
    /// requests are queued for the next thread that serves. So answers and credit are processed
    /// even if no thread waits. Returns true if requests or tasks wait for a thread that serves.
    pub fn poll_deferring(&self) -> bool {
        self.peer.link().membership().group().poll_deferring()
    }

    /// Takes the oldest returned message that no ticket waits for.
    #[must_use]
    pub fn take_returned(&self) -> Option<Returned> {
        self.peer.link().take_returned()
    }

    /// Records that this side should make no more requests, because the peer will refuse them.
    /// [`Peer::is_retired`] is true from now on. Requests that are made nevertheless are sent.
    pub fn retire(&self) {
        self.peer.link().retire();
    }

    /// Ends the requests of this side, if none of them is waiting for its answer: further ones fail
    /// as [`RequestError::Ended`]. One-way messages are still sent. Returns true if the requests
    /// have ended. So a message that is sent after this follows all requests.
    #[must_use]
    pub fn stop_requests(&self) -> bool {
        self.peer.link().stop_requests()
    }

    /// Announces that this side has answered all requests of the peer and runs no more, and
    /// [stops serving](Peer::stop_serving). Requests of the peer that are unanswered when the
    /// connection ends, and later ones, then fail with [`Reason::Ending`](super::Reason::Ending)
    /// instead of [`RequestError::Lost`](super::RequestError::Lost), so that the peer knows that
    /// they did not run.
    ///
    /// Must only be called when no request is [under way](super::PeerStatus::under_way) and no
    /// thread serves the connection. Otherwise the peer is told that a request did not run which
    /// did.
    pub fn announce_end(&self) {
        self.peer.link().announce_end();
    }
}

/// A handle that does not keep its connection.
#[derive(Clone)]
pub struct WeakPeer {
    link: Weak<Link>,
}

impl WeakPeer {
    /// Returns the connection if it still exists.
    #[must_use]
    pub fn upgrade(&self) -> Option<Peer> {
        self.link.upgrade().map(Peer::from_link)
    }
}

impl fmt::Debug for WeakPeer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WeakPeer").finish_non_exhaustive()
    }
}
