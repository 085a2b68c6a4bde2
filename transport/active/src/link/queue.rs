//! The queue of senders that wait for credit. Its entries are sent in order, by whichever thread
//! finds credit.
//!
//! A thread that waits for credit serves, and a handler that runs inside this wait may wait in
//! turn. Until that handler has ended, the outer thread can't send. So its entry steps aside:
//! others go before it, and use the credit granted to it if there is no other credit.

mod sends;
mod turns;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock};
use std::task::Waker;

use super::outgoing::{Grant, Message};
use crate::error::RequestError;
use jstream_sync::callbacks;

pub(crate) use self::turns::Turn;

/// The send queue of a connection.
#[derive(Default)]
pub(super) struct Queue {
    /// True if an entry may be sent, or is being sent; changes under the lock.
    is_used: AtomicBool,
    state: Mutex<SendQueueState>,
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
    is_aside: bool,
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
    is_aside: bool,
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
    fn is_aside(&mut self, number: u64) -> Option<&mut bool> {
        match self.waiting.get_mut(&number) {
            Some(place) => Some(&mut place.is_aside),
            None => Some(&mut self.gone.get_mut(&number)?.is_aside),
        }
    }
}

impl Queue {
    /// Updates `is_used`. Returns the wakers to call.
    fn note(&self, state: &mut SendQueueState) -> Vec<Waker> {
        let may_go = state.waiting.values().any(|place| !place.is_aside);
        let is_used = may_go || state.going.is_some();
        self.is_used.store(is_used, Ordering::Release);
        if is_used {
            return Vec::new();
        }
        std::mem::take(&mut state.outside)
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
