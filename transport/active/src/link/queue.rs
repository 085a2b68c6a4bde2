//! The queue of senders that wait for credit. Its entries are sent in order, by whichever thread
//! finds credit.
//!
//! A thread that waits for credit serves, and a handler that runs inside this wait may wait in
//! turn. Until that handler has ended, the outer thread can't send. So its entry steps aside:
//! others go before it, and use the credit granted to it if there is no other credit.
//!
//! Decision 011 has the reasons.

mod sends;
mod turns;

use std::collections::BTreeMap;
use std::sync::OnceLock;
use std::task::Waker;

use super::outgoing::{Grant, Message};
use crate::error::RequestError;
use jstream_sync::callbacks::{self, DeferringGuard};
use jstream_sync::publishing_lock::{Publish, PublishingGuard, PublishingLock, Word};

pub(crate) use self::turns::Turn;

/// The send queue of a connection.
pub(super) struct Queue {
    /// The summary is true if an entry may be sent, or is being sent.
    state: PublishingLock<SendQueueState>,
    /// Waker for new credit.
    waker: OnceLock<Waker>,
}

#[derive(Default)]
struct SendQueueState {
    next: u64,
    waiting: BTreeMap<u64, QueuePlace>,
    /// The entry that is being sent. There is one at a time.
    going: Option<Going>,
    /// Results that their owners have not collected.
    gone: BTreeMap<u64, Gone>,
    /// Wakers to call when the queue is empty.
    outside: Vec<Waker>,
}

struct QueuePlace {
    message: Message,
    waker: Option<Waker>,
    /// True if the entry's thread can't send now.
    has_yielded: bool,
}

impl QueuePlace {
    /// Drops the entry, whose waker may be the last handle of a task of the program.
    fn discard(self) {
        callbacks::discard(self.waker);
    }
}

struct Gone {
    outcome: Result<Grant, RequestError>,
    /// The message that the entry's thread can send now.
    unsent: Option<Message>,
    /// True if the entry's thread can't send now.
    has_yielded: bool,
}

struct Going {
    number: u64,
    waker: Option<Waker>,
    /// Set if the owner of the entry does not want the result.
    left: Option<Left>,
}

/// The way in which an owner abandons an entry that may be on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Left {
    /// The message is cancelled.
    Cancelled,
    /// The message is sent, and its result is ignored.
    Detached,
}

impl SendQueueState {
    /// Returns the flag that tells that the owner of a waiting or uncollected entry can't send now.
    fn has_yielded(&mut self, number: u64) -> Option<&mut bool> {
        match self.waiting.get_mut(&number) {
            Some(place) => Some(&mut place.has_yielded),
            None => Some(&mut self.gone.get_mut(&number)?.has_yielded),
        }
    }
}

impl Publish for SendQueueState {
    type Summary = Word<bool>;
    type Listeners = ();

    fn summary(&self) -> bool {
        self.going.is_some() || self.waiting.values().any(|place| !place.has_yielded)
    }

    /// Wakes the senders outside the queue when it is no longer used.
    fn notify(&mut self, _: &(), _: bool) {
        if !self.summary() {
            self.outside.drain(..).for_each(callbacks::wake);
        }
    }
}

impl Queue {
    /// Creates an empty queue.
    pub(super) fn new() -> Self {
        Self {
            state: PublishingLock::new(SendQueueState::default(), ()),
            waker: OnceLock::new(),
        }
    }

    /// Locks the state. Wakers are called after the lock is released.
    fn lock(&self) -> DeferringGuard<PublishingGuard<'_, SendQueueState>> {
        DeferringGuard::new(self.state.lock())
    }

    /// Returns true if an entry may be sent, or is being sent.
    fn is_used(&self) -> bool {
        self.state.summary().get_acquire()
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
