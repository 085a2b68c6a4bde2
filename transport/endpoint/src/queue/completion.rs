//! Completions of a queue.

use std::sync::Arc;

use jstream::buffer::EmptyBuffer;

use crate::endpoint::Endpoint;
use crate::message::Message;
use crate::outcome::{message_of, outcome_of};
use crate::receiving::Receipt;
use crate::sending::SendOutcome;
use crate::shared::Shared;
use crate::unmoved::{Unreceived, Unsent};

/// An operation that was posted to a [`CompletionQueue`](super::CompletionQueue) and has ended.
#[derive(Debug)]
#[non_exhaustive]
pub struct Completion {
    /// The value that the operation was posted with.
    pub user: u64,
    /// The outcome of the operation.
    pub outcome: Outcome,
}

/// Outcome of an operation.
#[derive(Debug)]
#[non_exhaustive]
pub enum Outcome {
    /// The device has taken the message. The buffer is returned, unless it moved to the peer.
    Sent(Result<Option<EmptyBuffer>, Unsent>),
    /// A message was received.
    Received(Result<Message, Unreceived>),
}

/// Raw outcome of an operation.
pub(super) enum RawOutcome {
    Sent(SendOutcome),
    Received(Receipt),
}

/// Raw completion of a queue.
pub enum Done {
    /// A send has completed, with the user value of its operation.
    Sent(u64, SendOutcome),
    /// A receive of this endpoint has completed.
    Received(u64, Receipt, Endpoint),
    /// A connection that was [armed](super::CompletionQueue::arm) may have a message, or has ended.
    Ready(Arc<Shared>),
    /// The waiters were called.
    Called,
}

impl Done {
    /// Converts to the completion that programs get. `None` for a call or a report; the queues of
    /// programs get neither.
    pub(super) fn into_completion(self) -> Option<Completion> {
        let (user, outcome) = match self {
            Self::Sent(user, sent) => (user, Outcome::Sent(outcome_of(sent))),
            Self::Received(user, receipt, endpoint) => {
                let message = message_of(receipt, endpoint.shared());
                (user, Outcome::Received(message))
            }
            Self::Ready(_) | Self::Called => return None,
        };
        Some(Completion { user, outcome })
    }
}
