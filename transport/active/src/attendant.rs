//! Waiting for events other than answers.

use std::fmt;
use std::sync::{Arc, Weak};
use std::task::Waker;
use std::time::Instant;

use super::link::Link;
use super::peer::Peer;
use super::ticket::Waiting;
use jstream_device::deadline::Deadline;

impl Peer {
    /// Serves until `attempt` returns a value, or until the deadline; then returns `None`. Before
    /// the thread sleeps, `attempt` gets the waker to call when a value may be available. Other
    /// threads can't receive while `attempt` runs, so it must return quickly.
    pub fn wait_until<R>(
        &self,
        until: Option<Instant>,
        mut attempt: impl FnMut(Option<&Waker>) -> Option<R>,
    ) -> Option<R> {
        let until = until.map_or(Deadline::NEVER, Deadline::at);
        self.link().wait(None, until, |_, waker| attempt(waker))
    }

    /// Wakes a task when there is credit again, or the connection has ended.
    pub fn wake_at_credit(&self, task: &Waker) {
        self.link().ledger().want(task);
    }

    /// Returns an object that serves on behalf of a task that waits for an event other than an
    /// answer.
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

/// Serves on behalf of a task, as a polled [`Ticket`](super::Ticket) does.
#[derive(Debug)]
pub struct Attendant {
    peer: Peer,
    waiting: Waiting,
}

impl Attendant {
    /// Handles the available messages. Returns true if the task should check its condition again;
    /// otherwise the task is woken when there are more messages.
    pub fn attend(&mut self, task: &Waker) -> bool {
        self.waiting.attend(self.peer.link(), task)
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
        self.link.upgrade().map(Peer::of)
    }
}

impl fmt::Debug for WeakPeer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WeakPeer").finish_non_exhaustive()
    }
}
