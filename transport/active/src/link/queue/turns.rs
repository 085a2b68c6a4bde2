//! The owner's handle of an entry in the send queue.

use std::fmt;
use std::sync::Arc;
use std::task::Waker;

use super::{Gone, Left, QueuePlace, SendQueueState};
use crate::blocking::{self, Beneath};
use crate::error::RequestError;
use crate::link::Link;
use crate::link::outgoing::{Grant, Message};
use jstream_sync::callbacks;

/// Handle of an entry in the send queue. Dropping it removes the entry, and an unsent message is
/// not sent.
pub(crate) struct Turn {
    link: Arc<Link>,
    /// `None` after the result was collected.
    number: Option<u64>,
    /// True if the owner sends the message itself.
    stays: bool,
}

impl Turn {
    /// Registers the calling thread as the one that waits, until the result is dropped: if a nested
    /// handler waits, the entry steps aside.
    pub(crate) fn stay(&self) -> Option<Beneath> {
        let number = self.number.filter(|_| self.stays)?;
        Some(blocking::beneath(self.link.clone(), number))
    }

    /// Collects the result, once. If there is none yet, registers `waker`.
    pub(crate) fn come(&mut self, waker: Option<&Waker>) -> Option<Result<Grant, RequestError>> {
        let number = self.number?;
        if self.link.is_elsewhere() {
            return None;
        }
        if self.stays {
            self.link.come_back(number);
        }
        self.link.go_on();
        let mut state = self.link.queue.lock();
        let mut before = None;
        let gone = state.gone.remove(&number);
        if gone.is_some() {
            self.number = None;
        } else if let Some(waker) = waker {
            let SendQueueState { waiting, going, .. } = &mut *state;
            let waiting = waiting.get_mut(&number).map(|place| &mut place.waker);
            let going = going.as_mut().filter(|going| going.number == number);
            let known = waiting.or(going.map(|going| &mut going.waker));
            if let Some(known) = known {
                before = known.replace(waker.clone());
            }
        }
        drop(state);
        // Dropped without the lock: the last handle of a task may drop other entries of the queue.
        callbacks::discard(before);
        gone.map(|gone| gone.outcome)
    }

    /// Removes the entry if it is still waiting, and returns true. Otherwise the result must be
    /// collected.
    pub(crate) fn withdraw(&mut self) -> bool {
        let Some(number) = self.number else {
            return false;
        };
        // In a forked child, the lock may be held forever, and the parent process may send the
        // message.
        if self.link.is_elsewhere() {
            return false;
        }
        let mut state = self.link.queue.lock();
        let Some(place) = state.waiting.remove(&number) else {
            return false;
        };
        self.number = None;
        drop(state);
        place.discard();
        // Other entries may have waited behind this one.
        self.link.go_on();
        true
    }

    /// Removes the entry. A message on its way is sent, and its result is ignored.
    pub(crate) fn detach(&mut self) {
        self.leave(Left::Detached);
    }

    fn leave(&mut self, left: Left) {
        let Some(number) = self.number.take() else {
            return;
        };
        if self.link.is_elsewhere() {
            return;
        }
        let mut state = self.link.queue.lock();
        let place = state.waiting.remove(&number);
        let gone = state.gone.remove(&number);
        if let Some(going) = state.going.as_mut().filter(|of| of.number == number) {
            going.left = Some(left);
        }
        drop(state);
        if let Some(place) = place {
            place.discard();
        }
        if let Some(Gone {
            outcome: Ok(grant), ..
        }) = gone
        {
            grant.leave(&self.link, left);
        }
        // Other entries may have waited behind this one.
        self.link.go_on();
    }
}

impl Link {
    /// Queues a message. If there is credit, it is sent immediately.
    #[cold]
    pub(crate) fn enqueue(self: &Arc<Self>, message: Message) -> Turn {
        // Entries of outer stack frames can't go before the request of a nested handler.
        blocking::step_aside();
        let stays = message.payload.is_none();
        let place = QueuePlace {
            message,
            waker: None,
            is_aside: false,
        };
        let mut state = self.queue.lock();
        let number = state.next;
        state.next = number.wrapping_add(1);
        state.waiting.insert(number, place);
        drop(state);
        self.go_on();
        Turn {
            link: self.clone(),
            number: Some(number),
            stays,
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.leave(Left::Cancelled);
    }
}

impl fmt::Debug for Turn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Turn").field(&self.number).finish()
    }
}
