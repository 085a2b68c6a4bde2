//! Work to be done after the lock of an inbox is released.
//!
//! Decision 070 has the reasons.

use std::any::Any;

use jstream::buffer::{EmptyBuffer, MessageBuffer};

use super::error::Error;
use super::inbox::Inbox;
use super::layout::runs::{Runs, copy_lent};
use super::names::Status;
use super::outcome::RequestOutcome;
use super::transfer::letter::{Letter, Sender};
use super::wire::Frame;
use jstream_device::connection::Payload;
use jstream_endpoint::ops::OpId;
use jstream_matching::Heading;

/// A list of tasks. It usually has at most one task, and at most three unless messages were waiting
/// for room.
#[derive(Default)]
pub(super) struct DeferredWork {
    first: Option<DeferredTask>,
    second: Option<DeferredTask>,
    third: Option<DeferredTask>,
    more: Vec<DeferredTask>,
}

pub(super) enum DeferredTask {
    /// Sends a frame to a rank over its connection.
    SendFrame {
        to: u32,
        frame: Frame,
    },
    /// Copies a message to the receive that has it.
    Copy(Copy),
    /// Notifies a sender that its message was matched.
    Finish(Sender),
    /// Drops the value.
    Drop(#[allow(dead_code, reason = "is dropped")] Box<dyn Any + Send>),
    DropOutcome(#[allow(dead_code, reason = "is dropped")] RequestOutcome),
    DropPayload(#[allow(dead_code, reason = "is dropped")] Payload),
}

/// A message that is not received, because its communicator was revoked, or because the receiver
/// would have to allocate too much. Dropping it ends the request of its sender with the error, and
/// returns the message.
pub(super) struct Refusal(Option<(Sender, Option<Payload>, Error)>);

impl Refusal {
    /// Creates a refusal. Borrowed memory must have been dropped before.
    pub(super) fn new(sender: Sender, payload: Option<Payload>, error: Error) -> Self {
        Self(Some((sender, payload, error)))
    }
}

impl Drop for Refusal {
    fn drop(&mut self) {
        if let Some((sender, payload, error)) = self.0.take() {
            sender.fail(payload, error);
        }
    }
}

/// A copy of a message to its destination.
pub(super) struct Copy {
    pub(super) request: OpId,
    pub(super) heading: Heading,
    /// The source, which is dropped before the sender is notified.
    pub(super) from: MessageBuffer,
    /// The parts of the source that the message consists of, unless it is all of it.
    pub(super) gather: Option<Box<Runs>>,
    /// The destination; `None` for a jbuf of the pool.
    pub(super) to: Option<EmptyBuffer>,
    /// The parts of the destination that the message is copied to, unless it is the front.
    pub(super) scatter: Option<Box<Runs>>,
    pub(super) sender: Option<Sender>,
}

/// Values that can be dropped later.
pub(super) trait DropQueue {
    fn into_task(self) -> Option<DeferredTask>;
}

impl DropQueue for RequestOutcome {
    fn into_task(self) -> Option<DeferredTask> {
        (self.payload.is_some() || self.empty.is_some()).then(|| DeferredTask::DropOutcome(self))
    }
}

impl DropQueue for Payload {
    fn into_task(self) -> Option<DeferredTask> {
        Some(DeferredTask::DropPayload(self))
    }
}

impl DropQueue for Refusal {
    fn into_task(self) -> Option<DeferredTask> {
        Some(DeferredTask::Drop(Box::new(self)))
    }
}

impl DropQueue for Letter {
    fn into_task(self) -> Option<DeferredTask> {
        Some(DeferredTask::Drop(Box::new(self)))
    }
}

impl DropQueue for std::collections::VecDeque<(Heading, Letter)> {
    fn into_task(self) -> Option<DeferredTask> {
        (!self.is_empty()).then(|| DeferredTask::Drop(Box::new(self)))
    }
}

impl DeferredWork {
    pub(super) fn push(&mut self, task: DeferredTask) {
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

    pub(super) fn drop_later(&mut self, what: impl DropQueue) {
        if let Some(task) = what.into_task() {
            self.push(task);
        }
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    /// Removes and returns all tasks, in order.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = DeferredTask> + use<> {
        let more = std::mem::take(&mut self.more);
        let few = [self.first.take(), self.second.take(), self.third.take()];
        few.into_iter().flatten().chain(more)
    }
}

impl Inbox {
    /// Does recorded work. `with_line` handles tasks that need a connection.
    pub(super) fn carry_out(
        &self,
        mut deferred: DeferredWork,
        mut with_line: impl FnMut(DeferredTask),
    ) {
        while !deferred.is_empty() {
            for task in deferred.drain() {
                match task {
                    DeferredTask::Copy(copy) => self.copy(copy),
                    DeferredTask::Finish(sender) => sender.finish(),
                    DeferredTask::SendFrame { .. } => with_line(task),
                    DeferredTask::Drop(_)
                    | DeferredTask::DropOutcome(_)
                    | DeferredTask::DropPayload(_) => {}
                }
            }
        }
    }

    /// Leaves a frame to the next thread that drives the connections, in a place where no other
    /// connection may be used. Only a notice that a rank has failed leads to such frames: it may
    /// end a receive of a third rank, whose message is dropped and returns its credit.
    #[cold]
    pub(super) fn defer_frame(&self, task: DeferredTask) {
        if let DeferredTask::SendFrame { to, frame } = task {
            self.lock().defer_frame(to, frame);
        }
    }

    fn copy(&self, copy: Copy) {
        let Copy {
            request,
            heading,
            from,
            gather,
            to,
            scatter,
            sender,
        } = copy;
        let status = Status::from_heading(&heading);
        let to = match to {
            Some(to) => Ok(to),
            // The memory of a sender with a layout may be longer than the message.
            None => self.pool().take(status.len::<u8>()),
        };
        let outcome = match to {
            Ok(to) if gather.is_none() && scatter.is_none() => {
                RequestOutcome::copied(status, to, from.as_bytes())
            }
            Ok(to) => {
                let (gather, scatter) = (gather.as_deref(), scatter.as_deref());
                let length = status.len::<u8>();
                match copy_lent(from.as_bytes(), gather, to, scatter, length, self.pool()) {
                    Ok(filled) => RequestOutcome::received(status, Payload::Bytes(filled)),
                    Err(empty) => RequestOutcome {
                        result: Ok(status),
                        payload: None,
                        empty: Some(empty),
                    },
                }
            }
            Err(source) => RequestOutcome::failed(Error::NoBuffer {
                length: heading.length,
                source,
            }),
        };
        // The source is released before its sender is told, because the sender may reuse the memory
        // at once.
        drop(from);
        self.complete(request, outcome);
        if let Some(sender) = sender {
            sender.finish();
        }
    }

    /// Ends a request.
    pub(super) fn complete(&self, request: OpId, outcome: RequestOutcome) {
        let mut deferred = DeferredWork::default();
        self.lock().complete(request, outcome, &mut deferred);
    }
}

#[cfg(test)]
mod tests {
    use super::super::options::Options;
    use super::*;

    #[test]
    fn frames_of_a_foreign_thread_wait_for_a_thread_of_the_rank() {
        let inbox = Inbox::new(0, 3, &Options::default());
        inbox.add_line(2);
        let frame = || Frame::Credit {
            messages: 3,
            bytes: 40,
        };
        let before = inbox.lock().summary().epoch();
        assert!(!inbox.flags().has_pending());
        inbox.work(1, |_, deferred| {
            deferred.push(DeferredTask::SendFrame {
                to: 2,
                frame: frame(),
            });
        });
        assert!(inbox.flags().has_pending());
        let mut state = inbox.lock();
        assert_ne!(state.summary().epoch(), before, "nobody was notified");
        let kept = state.peers.take_deferred();
        drop(state);
        assert!(matches!(
            kept[..],
            [(
                2,
                Frame::Credit {
                    messages: 3,
                    bytes: 40
                }
            )]
        ));
        assert!(!inbox.flags().has_pending());
    }
}
