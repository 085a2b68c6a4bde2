//! Whether a rank looks by itself for messages of threads.
//!
//! While it has attention, a sender only puts a message into its [queue](super::queue): some thread of the rank
//! waits awake, or is going to ask for something and looks first. Who is going to sleep withdraws that, and
//! looks a last time:
//!
//! ```text
//! puts a message there     given := 0
//! ---- barrier ----        ---- barrier ----
//! still given?             takes in what is there
//! ```
//!
//! One of both sees the other. A sender that sees it withdrawn takes the message in itself, under the lock of the
//! inbox, and tells who sleeps. The word changes only with sleep, and so stays with who sends.

use std::task::Waker;

use super::inbox::Inbox;
use super::state::State;
use crate::device::inproc::barrier::Barriers;
use crate::device::inproc::sync::{AtomicU32, Line, Ordering};
use crate::endpoint::ops::OpId;

/// Given and withdrawn under the lock of an inbox.
pub(super) struct Attention {
    given: Line<AtomicU32>,
    barriers: Barriers,
}

impl Attention {
    /// Not given.
    pub(super) fn new() -> Self {
        Self {
            given: Line(AtomicU32::new(0)),
            barriers: Barriers::of_this_process(),
        }
    }

    #[inline]
    pub(super) fn is_given(&self) -> bool {
        self.given.0.load(Ordering::Relaxed) != 0
    }

    /// Whether who has put something into a queue may leave it there.
    #[inline]
    pub(super) fn is_still_given(&self) -> bool {
        self.barriers.pass();
        self.is_given()
    }

    pub(super) fn give(&self) {
        self.given.0.store(1, Ordering::Relaxed);
    }

    /// Whether it was given. Then the queues have to be looked at once more.
    pub(super) fn withdraw(&self) -> bool {
        if !self.is_given() {
            return false;
        }
        self.given.0.store(0, Ordering::Relaxed);
        self.barriers.make_all_pass();
        true
    }
}

impl Inbox {
    /// From now on threads may leave messages in their queues, unless somebody sleeps who has to be told of
    /// them. To be called by who looks at the queues, and did not sleep before something came.
    #[inline]
    pub(super) fn attend(&self, state: &State) {
        let is_told = state.sleepers > 0 || state.is_watched || state.tasks > 0;
        if !self.attention.is_given() && !is_told && !state.closed {
            self.attention.give();
        }
    }
}

impl State {
    /// Has `task` woken when a request ends.
    pub(super) fn set_task(&mut self, id: OpId, task: &Waker) {
        let Some(request) = self.requests.get_mut(id) else {
            return;
        };
        match &request.task {
            Some(known) if known.will_wake(task) => return,
            Some(_) => {}
            None => self.tasks = self.tasks.saturating_add(1),
        }
        request.task = Some(task.clone());
    }

    /// Nobody takes the outcome of a request.
    pub(super) fn forget(&mut self, id: OpId) {
        if let Some(request) = self.requests.get_mut(id) {
            request.forgotten = true;
            if request.task.take().is_some() {
                self.tasks = self.tasks.saturating_sub(1);
            }
        }
    }
}
