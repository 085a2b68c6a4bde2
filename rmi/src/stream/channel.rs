//! The queue between the senders of a stream and its source.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, Weak};
use std::task::{Poll, Waker};

use crate::session::Tasks;
use crate::stream::pump::Drive;
use crate::support::lock;

/// State that a stream and its senders share.
pub(super) struct Channel<T> {
    pub(super) state: Mutex<SenderState<T>>,
    /// Tasks that wait for room.
    pub(super) free: Tasks,
    /// Tasks that wait for items.
    pub(super) filled: Tasks,
}

pub(super) struct SenderState<T> {
    pub(super) items: VecDeque<T>,
    pub(super) capacity: usize,
    pub(super) senders: usize,
    pub(super) has_failed: bool,
    pub(super) is_unwanted: bool,
    /// The pump that sends the items to a peer.
    pub(super) pump: Option<Weak<dyn Drive>>,
}

/// Outcome of putting an item into the buffer.
pub(super) enum Put<T> {
    Done,
    Full(T),
    Unwanted(T),
}

impl<T> Channel<T> {
    /// Takes items. If there are none, `task` is woken when there are.
    pub(super) fn poll_take(&self, into: &mut Vec<T>, most: usize, task: &Waker) -> Poll<Made> {
        let mut state = lock(&self.state);
        let count = most.min(state.items.len());
        into.extend(state.items.drain(..count));
        // Items that were sent before a panic are still delivered. The failure is the end behind
        // them.
        let ended = state.items.is_empty() && (state.senders == 0 || state.has_failed);
        let made = match (ended, state.has_failed) {
            (true, true) => Made::Failed,
            (true, false) => Made::Last,
            (false, _) if count > 0 => Made::Some,
            (false, _) => {
                // Under the lock of the items, so that a sender which puts one next finds the task.
                self.filled.register(task);
                return Poll::Pending;
            }
        };
        drop(state);
        if count > 0 {
            // All senders, since each has its own item, and room for several may have become free.
            self.free.wake_all();
        }
        Poll::Ready(made)
    }

    /// Attaches the pump. From now on, senders drive it.
    pub(super) fn attach(&self, pump: Weak<dyn Drive>) {
        // Before the wake-up, so that the senders which it wakes find the pump.
        lock(&self.state).pump = Some(pump);
        // Waiting senders can drive the pump now.
        self.free.wake_all();
    }

    /// Refuses further items, because the stream was dropped.
    pub(super) fn refuse(&self) {
        let mut state = lock(&self.state);
        state.is_unwanted = true;
        // Dropped without the lock: destructors of items may use another sender of this stream.
        let items = std::mem::take(&mut state.items);
        drop(state);
        self.free.wake_all();
        drop(items);
    }

    pub(super) fn put(&self, item: T) -> Put<T> {
        let mut state = lock(&self.state);
        if state.is_unwanted {
            return Put::Unwanted(item);
        }
        if state.items.len() >= state.capacity {
            return Put::Full(item);
        }
        state.items.push_back(item);
        let is_driven = state.pump.is_some();
        drop(state);
        // With a pump, no task waits for items: the sender itself drives the pump next.
        if !is_driven {
            self.filled.wake_all();
        }
        Put::Done
    }

    pub(super) fn pump(&self) -> Option<Arc<dyn Drive>> {
        lock(&self.state).pump.as_ref()?.upgrade()
    }

    /// Drives the pump, if there is one. If the stream is taken in this program, there is none.
    pub(super) fn drive(&self, task: Option<&Waker>) {
        if let Some(pump) = self.pump() {
            // The end of the stream is noticed by the next item, which is unwanted.
            let _ = pump.drive(task);
        }
    }
}

/// State of a source after a poll.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Made {
    /// At least one item was made.
    Some,
    /// Items may have been made; no more follow.
    Last,
    /// No item was made, and none follows: a sender has panicked.
    Failed,
}
