//! Waiting for something that no ticket stands for.

use std::fmt;
use std::sync::{Arc, Weak};
use std::task::Waker;
use std::time::Instant;

use super::link::Link;
use super::peer::Peer;
use super::ticket::Waiting;
use crate::device::deadline::Deadline;

impl Peer {
    /// Serves until `attempt` answers, or until then; nothing is the answer then. `attempt` is given who is to be woken
    /// when it may have one, where it is going to be waited for. It runs while others can't receive: it only looks.
    pub fn wait_until<R>(
        &self,
        until: Option<Instant>,
        mut attempt: impl FnMut(Option<&Waker>) -> Option<R>,
    ) -> Option<R> {
        let until = until.map_or(Deadline::NEVER, Deadline::at);
        self.link().wait(None, until, |_, waker| attempt(waker))
    }

    /// Has a task woken when there is credit again, or the connection has ended.
    pub fn wake_at_credit(&self, task: &Waker) {
        self.link().ledger().want(task);
    }

    /// Somebody who serves for a task, which waits for what is no answer.
    #[must_use]
    pub fn attendant(&self) -> Attendant {
        Attendant {
            peer: self.clone(),
            waiting: Waiting::default(),
        }
    }

    /// The connection, without keeping it.
    #[must_use]
    pub fn downgrade(&self) -> WeakPeer {
        WeakPeer {
            link: Arc::downgrade(self.link()),
        }
    }
}

/// Serves for a task, as a [`Ticket`](super::Ticket) does that is polled.
#[derive(Debug)]
pub struct Attendant {
    peer: Peer,
    waiting: Waiting,
}

impl Attendant {
    /// Takes what is here. True when something may have come that the task looks for; otherwise the task is woken when
    /// there is more.
    pub fn attend(&mut self, task: &Waker) -> bool {
        self.waiting.attend(self.peer.link(), task)
    }
}

/// A connection, as long as somebody else has it.
#[derive(Clone)]
pub struct WeakPeer {
    link: Weak<Link>,
}

impl WeakPeer {
    /// The connection, if it is there.
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
