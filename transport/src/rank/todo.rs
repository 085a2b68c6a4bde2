//! What is to be done once the lock of an inbox is released.

use std::any::Any;

use jstream::buffer::{Filled, Spent};

use super::letter::Sender;
use super::request::Outcome;
use super::wire::Frame;
use crate::device::connection::Payload;
use crate::endpoint::ops::OpId;
use crate::matching::Heading;

/// Things to be done, most of the time none or one.
#[derive(Default)]
pub(super) struct Todo {
    first: Option<Task>,
    more: Vec<Task>,
}

pub(super) enum Task {
    /// Say this to a rank over its connection.
    Say {
        to: u32,
        frame: Frame,
    },
    /// The connection of a rank may be read again.
    Resume {
        rank: u32,
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

type Stalled = Option<(Heading, super::letter::Letter)>;

impl Rubbish
    for (
        Stalled,
        std::collections::VecDeque<(Heading, super::letter::Letter)>,
    )
{
    fn into_task(self) -> Option<Task> {
        (self.0.is_some() || !self.1.is_empty()).then(|| Task::Drop(Box::new(self)))
    }
}

impl Todo {
    pub(super) fn push(&mut self, task: Task) {
        if self.first.is_none() && self.more.is_empty() {
            self.first = Some(task);
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
        self.first.is_none() && self.more.is_empty()
    }

    /// All of them, in order.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = Task> + use<> {
        let more = std::mem::take(&mut self.more);
        self.first.take().into_iter().chain(more)
    }
}
