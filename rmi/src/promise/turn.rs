//! What calls have of it that others name their results, or that they name those of others.

use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use jstream_transport::active::{Request, is_given_back};

use super::{Held, Made, NOT_GIVEN, Promises, fail_all};
use crate::frame::Code;
use crate::reference::Between;
use crate::sync::lock;

/// A call whose result others name. They fail when it is dropped, and wait on where it goes back and may come again.
pub(crate) struct Promise {
    pub(super) promises: Arc<Promises>,
    pub(super) made: Made,
    pub(super) is_open: bool,
}

impl Promise {
    /// The call has given an object of this side: those that name it begin, one behind the other.
    pub(crate) fn keep(mut self, object: u32, to: &Between) {
        let Between::Peers(to) = to else { return };
        let node = to.references().object(object);
        if node.is_none_or(|node| node.interface().id() != self.made.interface) {
            return;
        }
        self.is_open = false;
        let number = self.made.number;
        let first = lock(&self.promises.queues).gave(number, object);
        if let Some(first) = first {
            self.promises.aimed(first, number, object).run_again();
        }
    }

    /// Whether calls wait for it.
    pub(crate) fn is_named(&self) -> bool {
        lock(&self.promises.queues).is_named(self.made.number)
    }

    /// The call goes back, and may come again.
    pub(crate) fn forget(mut self) {
        self.go_back();
    }

    /// The call has given nothing: those that name it.
    pub(super) fn give_none(&mut self) -> Vec<Held> {
        self.is_open = false;
        lock(&self.promises.queues).gave_none(self.made.number)
    }

    fn go_back(&mut self) {
        self.is_open = false;
        let mut queues = lock(&self.promises.queues);
        queues.went_back(self.made.number, self.promises.clock.now());
        let due = queues.due_of(self.made.number);
        drop(queues);
        self.promises.set_timer(due);
    }
}

impl Drop for Promise {
    fn drop(&mut self) {
        if !self.is_open {
            return;
        }
        if is_given_back() {
            return self.go_back();
        }
        fail_all(self.give_none(), Code::NotGiven, NOT_GIVEN);
    }
}

/// The turn of one of the calls that name another one, to begin. The next one has it when this is dropped.
pub(crate) struct Turn {
    pub(super) promises: Arc<Promises>,
    pub(super) number: u32,
    pub(crate) object: u32,
    pub(super) is_open: bool,
}

impl Turn {
    /// The next call, to be handled now.
    pub(crate) fn next(mut self) -> Option<Request> {
        self.pass()
    }

    /// The call begins when there is a place for it, and the next one behind it. It comes back where the connection has
    /// ended.
    pub(crate) fn stand(mut self, request: Request, deadline: Option<Instant>) -> Option<Request> {
        self.is_open = false;
        self.promises.stand(self.number, request, deadline)
    }

    fn pass(&mut self) -> Option<Request> {
        if !std::mem::take(&mut self.is_open) {
            return None;
        }
        let next = lock(&self.promises.queues).next(self.number);
        if next.is_none() {
            // What this row did not need is there for another one.
            self.promises.go_on();
        }
        Some(self.promises.aimed(next?, self.number, self.object))
    }
}

/// Where its thread goes on with something else, or waits.
impl Drop for Turn {
    fn drop(&mut self) {
        if let Some(next) = self.pass() {
            next.run_again();
        }
    }
}

impl fmt::Debug for Promise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Promise").field(&self.made).finish()
    }
}
