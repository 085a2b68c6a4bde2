//! One collective operation of one rank: its label, its messages and its errors.
//!
//! Decision 089 has the reasons.

use std::time::Duration;

use jstream::buffer::{EmptyBuffer, MessageBuffer};
use jstream_collective::{Algorithm, Collective};
use jstream_device::deadline::Deadline;
use jstream_matching::Pattern;

use crate::communicator::COLLECTIVE;
use crate::element::{Element, descriptor};
use crate::error::{ElementName, Error};
use crate::failures::{FAILED, TOLD};
use crate::member::Rank;
use crate::names::Destination;
use crate::requests::SendRequest;
use crate::transfer::offers::SendMode;
use crate::wire::Label;

/// Stands for a count that differs between ranks.
pub(super) const UNEQUAL: usize = usize::MAX;

/// Stands for the root of an operation that has none.
pub(super) const NO_ROOT: u32 = u32::MAX;

/// A collective operation that a rank takes part in.
#[derive(Clone, Copy)]
pub(super) struct Call {
    pub(super) collective: Collective,
    /// Number of the operation in its communicator.
    tag: u64,
    /// Number that stands for the element type and the arguments.
    descriptor: u64,
    name: &'static str,
}

/// The arguments that all ranks have to agree on.
#[derive(Clone, Copy)]
pub(super) struct Agreed {
    pub(super) algorithm: Algorithm,
    pub(super) root: u32,
    /// Number of elements, if it is the same at all ranks.
    pub(super) count: usize,
}

impl Call {
    pub(super) fn new<E: Element>(rank: &Rank, collective: Collective, agreed: Agreed) -> Self {
        let arguments = [
            collective as u64,
            agreed.algorithm as u64,
            u64::from(agreed.root),
            agreed.count as u64,
        ];
        // Members that call different operations, or with different arguments, get an error by the
        // descriptor instead of wrong data.
        let descriptor = arguments.into_iter().fold(descriptor::<E>(), mix);
        // The highest bit is 0, unlike in the descriptor of a failure. The lowest bit is 1, because
        // 0 is the descriptor of untyped bytes, which agrees with any.
        Self::described::<E>(rank, collective, descriptor >> 1 | 1)
    }

    /// Returns the next call of the communicator, with the descriptor of an earlier one.
    #[inline]
    pub(super) fn described<E: Element>(
        rank: &Rank,
        collective: Collective,
        descriptor: u64,
    ) -> Self {
        Self {
            collective,
            tag: rank.communicator().next_collective(),
            descriptor,
            name: std::any::type_name::<E>(),
        }
    }

    /// Returns the number that stands for the element type and the arguments.
    pub(super) fn descriptor(&self) -> u64 {
        self.descriptor
    }

    /// Returns the label of a message with elements.
    pub(super) fn label(&self, rank: &Rank) -> Label {
        Label {
            context: rank.context() | COLLECTIVE,
            tag: self.tag,
            descriptor: self.descriptor,
        }
    }

    /// Returns the label of a message that says that the member `failed` has failed.
    pub(super) fn failure_label(&self, rank: &Rank, failed: usize) -> Label {
        Label {
            descriptor: FAILED | failed as u64,
            ..self.label(rank)
        }
    }

    /// Returns the pattern of the messages of the member `from`.
    pub(super) fn pattern(&self, rank: &Rank, from: usize) -> Pattern {
        let label = self.label(rank);
        Pattern::any(label.context)
            .sent_by(in_node(rank, from))
            .tagged(label.tag)
    }

    /// Returns this call of an operation whose operands have to keep their order. Ranks disagree if
    /// the order matters to some of them only, because it selects other schedules.
    pub(super) fn in_order(self) -> Self {
        Self {
            descriptor: mix(self.descriptor, 1) >> 1 | 1,
            ..self
        }
    }

    /// Returns this call of an operation on objects, which moves no elements.
    pub(super) fn of_objects(self) -> Self {
        Self {
            descriptor: mix(self.descriptor, 2) >> 1 | 1,
            ..self
        }
    }

    /// Tells the member `to` that the member `failed` has failed, by a message that takes the place
    /// of another. It has the text of the error, if there is one. The message owns its memory, so
    /// that nobody has to wait for it: it is also sent if the request is dropped. If it fails, the
    /// other rank is gone.
    ///
    /// Returns `None` if the member has no connection by the deadline.
    pub(super) fn send_failure(
        &self,
        rank: &Rank,
        (to, failed): (usize, usize),
        reason: Option<&str>,
        deadline: Deadline,
    ) -> Option<SendRequest> {
        if !rank.node().reach(in_node(rank, to), || deadline) {
            return None;
        }
        let to = Destination::Rank(u32::try_from(to).unwrap_or(u32::MAX));
        let label = self.failure_label(rank, failed);
        let text = reason.unwrap_or_default();
        // From the heap, because a full pool may be the reason of the failure.
        let copied = EmptyBuffer::heap(text.len()).copy_from(text.as_bytes());
        let text = copied.unwrap_or_else(|_| MessageBuffer::nothing());
        Some(rank.post_send(to, label, text, SendMode::Standard))
    }

    /// Tells the other members that the member `lost` is lost, as far as they are connected to this
    /// rank. They may wait for that member without knowing it.
    #[cold]
    pub(super) fn tell_others(&self, rank: &Rank, lost: u32) {
        let label = Label {
            descriptor: TOLD | u64::from(lost),
            ..self.label(rank)
        };
        let others = (0..rank.size()).filter(|other| ![rank.rank(), lost].contains(other));
        for other in others {
            // A notice only spares the timeout, so no connection is made for it.
            if rank.node().is_linked(rank.members().in_node(other)) {
                let nothing = MessageBuffer::nothing();
                let to = Destination::Rank(other);
                drop(rank.post_send(to, label, nothing, SendMode::Standard));
            }
        }
    }

    /// Drops the messages of the operation, which has failed at this rank, those that still arrive
    /// included.
    pub(super) fn bury(&self, rank: &Rank) {
        let Label { context, tag, .. } = self.label(rank);
        rank.node()
            .with(|state, deferred| state.end_operation(context, tag, deferred));
    }

    /// Returns the elements that a receive expects.
    pub(super) fn expected(&self) -> ElementName {
        ElementName {
            descriptor: self.descriptor,
            name: Some(self.name),
        }
    }

    /// Returns the error of the operation for that of one of its messages.
    #[cold]
    pub(super) fn error(&self, error: Error) -> Error {
        let collective = self.collective;
        match error {
            Error::WrongElements { sent, .. } if sent.descriptor >= TOLD => {
                let rank = u32::try_from(sent.descriptor & !FAILED).unwrap_or(u32::MAX);
                let reason = None;
                Error::FailedAt {
                    collective,
                    rank,
                    reason,
                }
            }
            Error::FailedAt { rank, reason, .. } => Error::FailedAt {
                collective,
                rank,
                reason,
            },
            // A rank withdraws a message of an operation only if it has failed there.
            Error::Withdrawn { rank, .. } => {
                let reason = None;
                Error::FailedAt {
                    collective,
                    rank,
                    reason,
                }
            }
            Error::WrongElements { rank, .. } | Error::Truncated { rank, .. } => {
                Error::Disagreement { collective, rank }
            }
            error => Error::Collective {
                collective,
                source: Box::new(error),
            },
        }
    }
}

/// Waits until messages that tell of a failure were sent, at most until the deadline.
pub(super) fn wait_for_notices(notices: Vec<SendRequest>, deadline: Deadline) {
    for mut notice in notices {
        let _ = notice.wait_timeout(deadline.left().unwrap_or(Duration::MAX));
    }
}

/// Returns the number in the node of a member.
pub(super) fn in_node(rank: &Rank, member: usize) -> u32 {
    let member = u32::try_from(member).unwrap_or(u32::MAX);
    rank.members().in_node(member)
}

fn mix(hash: u64, word: u64) -> u64 {
    let mixed = (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^ mixed >> 32
}
