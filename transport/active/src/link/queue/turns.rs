//! The owner's handle of an entry in the send queue.

use std::fmt;
use std::sync::Arc;
use std::task::Waker;

use super::{Gone, Left, SendQueueState};
use crate::blocking::{self, Beneath};
use crate::error::RequestError;
use crate::link::Link;
use crate::link::outgoing::Grant;
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
    /// Returns the handle of the entry `number`, whose owner sends the message itself if it
    /// `stays`.
    pub(super) fn new(link: &Arc<Link>, number: u64, stays: bool) -> Self {
        Self {
            link: link.clone(),
            number: Some(number),
            stays,
        }
    }

    /// Registers the calling thread as the one that waits, until the result is dropped: if a nested
    /// handler waits, the entry steps aside.
    pub(crate) fn stay(&self) -> Option<Beneath> {
        let number = self.number.filter(|_| self.stays)?;
        Some(blocking::beneath(self.link.clone(), number))
    }

    /// Collects the result, once. If there is none yet, registers `waker`.
    pub(crate) fn collect(&mut self, waker: Option<&Waker>) -> Option<Result<Grant, RequestError>> {
        let number = self.number?;
        if self.link.is_elsewhere() {
            return None;
        }
        // The owner is back in its own wait, so its nested handlers have ended.
        if self.stays {
            self.link.resume_turn(number);
        }
        // The entry may have credit now that no other thread has looked for.
        self.link.advance_queue();
        let mut state = self.link.queue.lock();
        let mut before = None;
        // Looked up and registered under one lock: a result cannot be recorded between the two.
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
        self.link.advance_queue();
        true
    }

    /// Removes the entry. A message on its way is sent, and its result is ignored.
    pub(crate) fn detach(&mut self) {
        self.abandon(Left::Detached);
    }

    fn abandon(&mut self, left: Left) {
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
            // The entry had credit, which others can use, or a number that the peer has to be told.
            grant.abandon(&self.link, left);
        }
        // Other entries may have waited behind this one.
        self.link.advance_queue();
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.abandon(Left::Cancelled);
    }
}

impl fmt::Debug for Turn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Turn").field(&self.number).finish()
    }
}
