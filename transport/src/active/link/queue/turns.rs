//! A place in the queue, as who waits has it.

use std::fmt;
use std::sync::Arc;
use std::task::Waker;

use super::{Gone, Grant, Left, SendQueueState};
use crate::active::error::RequestError;
use crate::active::link::{Link, lock_plainly};
use crate::active::turn::{self, Beneath};

/// A place in the queue; whoever drops it leaves, and what was not sent is not.
pub(in crate::active) struct Turn {
    pub(super) link: Arc<Link>,
    /// None when it is known what came of it.
    pub(super) number: Option<u64>,
    /// Who waits sends.
    pub(super) stays: bool,
}

impl Turn {
    /// The thread that waits is the caller, until this is dropped: where a handler inside of that waits, it steps aside.
    pub(in crate::active) fn stay(&self) -> Option<Beneath> {
        let number = self.number.filter(|_| self.stays)?;
        Some(turn::beneath(self.link.clone(), number))
    }

    /// What came of it, once; else `waker` is told.
    pub(in crate::active) fn come(
        &mut self,
        waker: Option<&Waker>,
    ) -> Option<Result<Grant, RequestError>> {
        let number = self.number?;
        if self.link.is_elsewhere() {
            return None;
        }
        if self.stays {
            self.link.come_back(number);
        }
        self.link.go_on();
        let mut state = lock_plainly(&self.link.queue.state);
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
        // The last handle of a task may have others drop what is here.
        drop(before);
        gone.map(|gone| gone.outcome)
    }

    /// Leaves the queue where it waits there still. True then; else what came of it is to be asked for.
    pub(in crate::active) fn withdraw(&mut self) -> bool {
        let Some(number) = self.number else {
            return false;
        };
        // Whoever had the lock when this process was forked has it for ever, and may send it.
        if self.link.is_elsewhere() {
            return false;
        }
        let mut state = lock_plainly(&self.link.queue.state);
        let Some(place) = state.waiting.remove(&number) else {
            return false;
        };
        self.number = None;
        let outside = self.link.queue.note(&mut state);
        drop(state);
        drop(place);
        outside.into_iter().for_each(Waker::wake);
        // Others may have waited behind it.
        self.link.go_on();
        true
    }

    /// Leaves the queue. What is on its way goes on, and nobody wants to know what comes of it.
    pub(in crate::active) fn detach(&mut self) {
        self.leave(Left::Detached);
    }

    fn leave(&mut self, left: Left) {
        let Some(number) = self.number.take() else {
            return;
        };
        if self.link.is_elsewhere() {
            return;
        }
        let mut state = lock_plainly(&self.link.queue.state);
        let place = state.waiting.remove(&number);
        let gone = state.gone.remove(&number);
        if let Some(going) = state.going.as_mut().filter(|of| of.number == number) {
            going.left = Some(left);
        }
        let outside = self.link.queue.note(&mut state);
        drop(state);
        outside.into_iter().for_each(Waker::wake);
        drop(place);
        if let Some(Gone {
            outcome: Ok(grant), ..
        }) = gone
        {
            grant.leave(&self.link, left);
        }
        // Others may have waited behind it.
        self.link.go_on();
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
