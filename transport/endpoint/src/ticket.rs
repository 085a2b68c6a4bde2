//! Handles of posted operations.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use jstream::buffer::EmptyBuffer;

use super::message::Message;
use super::ops::OpId;
use super::outcome::{message_of, outcome_of};
use super::receiving::Receipt;
use super::sending::SendOutcome;
use super::shared::{Patience, Shared};

use crate::{Unreceived, Unsent};

/// A posted send. Only this handle gets its outcome.
pub(crate) struct SendOp {
    shared: Arc<Shared>,
    /// `None` once the outcome was taken.
    id: Option<OpId>,
}

/// A posted receive. Only this handle gets its outcome.
pub(crate) struct RecvOp {
    shared: Arc<Shared>,
    id: Option<OpId>,
}

macro_rules! operation {
    ($op:ident: $outcome:ident, $wait:ident, $poll:ident, $forget:ident) => {
        impl $op {
            pub(crate) fn new(shared: Arc<Shared>, id: OpId) -> Self {
                Self {
                    shared,
                    id: Some(id),
                }
            }

            /// Blocks until the operation has ended, and returns the outcome. Returns `None` if it
            /// does not end in time, or if the outcome was returned before.
            pub(crate) fn wait(&mut self, patience: Patience) -> Option<$outcome> {
                let outcome = self.shared.$wait(self.id?, patience)?;
                self.id = None;
                Some(outcome)
            }

            /// Polls for the outcome.
            ///
            /// # Panics
            ///
            /// If the outcome was returned before.
            pub(crate) fn poll(&mut self, context: &mut Context<'_>) -> Poll<$outcome> {
                let Some(id) = self.id else {
                    panic!("polled after it was ready")
                };
                match self.shared.$poll(id, context.waker()) {
                    Some(outcome) => {
                        self.id = None;
                        Poll::Ready(outcome)
                    }
                    None => Poll::Pending,
                }
            }
        }

        impl Drop for $op {
            fn drop(&mut self) {
                if let Some(id) = self.id.take() {
                    self.shared.$forget(id);
                }
            }
        }
    };
}

operation!(SendOp: SendOutcome, wait_sent, poll_sent, forget_send);
operation!(RecvOp: Receipt, wait_received, poll_received, forget_receive);

impl SendOp {
    /// Cancels the operation if the device has taken nothing. Returns false if the device has taken
    /// a part.
    pub(crate) fn cancel(&self) -> bool {
        self.id.is_none_or(|id| self.shared.cancel_send(id))
    }
}

impl RecvOp {
    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// Cancels the operation if it has no message.
    pub(crate) fn cancel(&self) {
        if let Some(id) = self.id {
            self.shared.cancel_receive(id);
        }
    }
}

/// Handle of a posted send. The outcome contains the buffer, unless that moved to the receiver, or
/// the device keeps it while the system reads from it.
///
/// Waiting for the ticket drives everything that was posted before it. Polling it as a future does
/// the same, and the task is woken by the thread of the process that finds that the send can make
/// progress. If a ticket is dropped, its message is still sent by a background thread.
#[must_use = "contains the outcome of the send"]
pub struct SendTicket {
    op: SendOp,
}

impl SendTicket {
    pub(super) fn new(op: SendOp) -> Self {
        Self { op }
    }

    /// Blocks until the device has taken the message.
    ///
    /// # Errors
    ///
    /// [`Unsent`] contains the error and the buffer.
    ///
    /// # Panics
    ///
    /// If the outcome was taken before.
    pub fn wait(mut self) -> Result<Option<EmptyBuffer>, Unsent> {
        match self.op.wait(Patience::Endless) {
            Some(sent) => outcome_of(sent),
            None => panic!("the outcome was taken before"),
        }
    }

    /// As [`wait`](Self::wait), but does not block for longer than `timeout`. Returns `None` if the
    /// outcome is not known in time, or was taken before.
    pub fn wait_timeout(
        &mut self,
        timeout: Duration,
    ) -> Option<Result<Option<EmptyBuffer>, Unsent>> {
        self.op.wait(Patience::For(timeout)).map(outcome_of)
    }

    /// Returns the outcome once, if it is known.
    pub fn try_take(&mut self) -> Option<Result<Option<EmptyBuffer>, Unsent>> {
        self.op.wait(Patience::None).map(outcome_of)
    }

    /// Cancels the send if the device has taken nothing of the message.
    /// [`SendError::Cancelled`](jstream_base::SendError::Cancelled) then comes with the buffer. A
    /// send that has already succeeded or failed returns its own outcome.
    ///
    /// # Errors
    ///
    /// The ticket, if the device has begun the message, which then has to be completed.
    pub fn cancel(mut self) -> Result<Result<Option<EmptyBuffer>, Unsent>, Self> {
        if !self.op.cancel() {
            return Err(self);
        }
        match self.op.wait(Patience::None) {
            Some(sent) => Ok(outcome_of(sent)),
            None => Err(self),
        }
    }
}

impl Future for SendTicket {
    type Output = Result<Option<EmptyBuffer>, Unsent>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.op.poll(context).map(outcome_of)
    }
}

/// Handle of a posted receive.
///
/// As for a [`SendTicket`], waiting and polling drive everything that was posted before. If a
/// ticket is dropped, its message is received by the next receive, so no message is lost.
#[must_use = "contains the outcome of the receive"]
pub struct RecvTicket {
    op: RecvOp,
}

impl RecvTicket {
    pub(super) fn new(op: RecvOp) -> Self {
        Self { op }
    }

    /// Blocks until the message arrives.
    ///
    /// # Errors
    ///
    /// [`Unreceived`] contains the error and the buffer.
    ///
    /// # Panics
    ///
    /// If the outcome was taken before.
    pub fn wait(mut self) -> Result<Message, Unreceived> {
        match self.op.wait(Patience::Endless) {
            Some(receipt) => message_of(receipt, self.op.shared()),
            None => panic!("the outcome was taken before"),
        }
    }

    /// As [`wait`](Self::wait), but does not block for longer than `timeout`. Returns `None` if no
    /// message arrived in time, or if the outcome was taken before.
    pub fn wait_timeout(&mut self, timeout: Duration) -> Option<Result<Message, Unreceived>> {
        let receipt = self.op.wait(Patience::For(timeout))?;
        Some(message_of(receipt, self.op.shared()))
    }

    /// Returns the outcome once, if it is known.
    pub fn try_take(&mut self) -> Option<Result<Message, Unreceived>> {
        let receipt = self.op.wait(Patience::None)?;
        Some(message_of(receipt, self.op.shared()))
    }

    /// Cancels the receive. [`RecvError::Cancelled`](jstream_base::RecvError::Cancelled) comes with
    /// the buffer, unless the buffer holds a part of a message, which is then received next. A
    /// message that is already complete is returned.
    ///
    /// # Errors
    ///
    /// [`Unreceived`] in all other cases.
    ///
    /// # Panics
    ///
    /// If the outcome was taken before.
    pub fn cancel(self) -> Result<Message, Unreceived> {
        self.op.cancel();
        self.wait()
    }
}

impl Future for RecvTicket {
    type Output = Result<Message, Unreceived>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let polled = self.op.poll(context);
        polled.map(|receipt| message_of(receipt, self.op.shared()))
    }
}

impl fmt::Debug for SendTicket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SendTicket").finish_non_exhaustive()
    }
}

impl fmt::Debug for RecvTicket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecvTicket").finish_non_exhaustive()
    }
}
