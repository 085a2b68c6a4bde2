//! What is to be done once the lock of an inbox is released.

use std::any::Any;

use jstream::buffer::{Filled, Spent};

use super::letter::Sender;
use super::request::Outcome;
use super::wire::Frame;
use crate::device::connection::Payload;
use crate::endpoint::ops::OpId;
use crate::matching::Heading;

/// Things to be done, most of the time none or one, and three at most where nobody had to wait.
#[derive(Default)]
pub(super) struct Todo {
    first: Option<Task>,
    second: Option<Task>,
    third: Option<Task>,
    more: Vec<Task>,
}

pub(super) enum Task {
    /// Say this to a rank over its connection.
    Say {
        to: u32,
        frame: Frame,
    },
    /// Bring a message to a receive that has it already.
    Copy(Copy),
    /// Tell a sender that its message was matched.
    Finish(Sender),
    /// Drop it.
    Drop(#[allow(dead_code, reason = "is dropped")] Box<dyn Any + Send>),
    DropOutcome(#[allow(dead_code, reason = "is dropped")] Outcome),
    DropPayload(#[allow(dead_code, reason = "is dropped")] Payload),
}

/// A copy.
pub(super) struct Copy {
    pub(super) request: OpId,
    pub(super) heading: Heading,
    /// Dropped before the sender is told.
    pub(super) from: Filled,
    /// Nothing for a jbuf of the pool.
    pub(super) to: Option<Spent>,
    pub(super) sender: Option<Sender>,
}

/// What can be dropped later.
pub(super) trait Rubbish {
    fn into_task(self) -> Option<Task>;
}

impl Rubbish for Outcome {
    fn into_task(self) -> Option<Task> {
        (self.payload.is_some() || self.spent.is_some()).then(|| Task::DropOutcome(self))
    }
}

impl Rubbish for Payload {
    fn into_task(self) -> Option<Task> {
        Some(Task::DropPayload(self))
    }
}

impl Rubbish for super::letter::Letter {
    fn into_task(self) -> Option<Task> {
        Some(Task::Drop(Box::new(self)))
    }
}

impl Rubbish for std::collections::VecDeque<(Heading, super::letter::Letter)> {
    fn into_task(self) -> Option<Task> {
        (!self.is_empty()).then(|| Task::Drop(Box::new(self)))
    }
}

impl Todo {
    pub(super) fn push(&mut self, task: Task) {
        if self.first.is_none() {
            self.first = Some(task);
        } else if self.second.is_none() {
            self.second = Some(task);
        } else if self.third.is_none() {
            self.third = Some(task);
        } else {
            self.more.push(task);
        }
    }

    pub(super) fn drop_later(&mut self, what: impl Rubbish) {
        if let Some(task) = what.into_task() {
            self.push(task);
        }
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    /// All of them, in order.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = Task> + use<> {
        let more = std::mem::take(&mut self.more);
        let few = [self.first.take(), self.second.take(), self.third.take()];
        few.into_iter().flatten().chain(more)
    }
}
