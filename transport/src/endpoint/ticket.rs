//! Handles of what was posted.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use jstream::buffer::Spent;

use super::message::{Message, message_of, outcome_of};
use super::ops::OpId;
use super::receiving::Receipt;
use super::sending::Sent;
use super::shared::{Patience, Shared};
use crate::error::{Unreceived, Unsent};

/// A posted operation of one direction, whose outcome nobody else gets.
pub(crate) struct SendOp {
    shared: Arc<Shared>,
    /// None once the outcome was taken.
    id: Option<OpId>,
}

/// As [`SendOp`], for a message that is to come.
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

            /// The outcome, if it comes in time. Never again once it was given.
            pub(crate) fn wait(&mut self, patience: Patience) -> Option<$outcome> {
                let outcome = self.shared.$wait(self.id?, patience)?;
                self.id = None;
                Some(outcome)
            }

            /// # Panics
            ///
            /// When the outcome was given already.
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

operation!(SendOp: Sent, wait_sent, poll_sent, forget_send);
operation!(RecvOp: Receipt, wait_received, poll_received, forget_receive);

impl SendOp {
    /// Ends the operation, if the device has taken nothing. False when it has.
    pub(crate) fn cancel(&self) -> bool {
        self.id.is_none_or(|id| self.shared.cancel_send(id))
    }
}

impl RecvOp {
    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// Ends the operation, if it has no message.
    pub(crate) fn cancel(&self) {
        if let Some(id) = self.id {
            self.shared.cancel_receive(id);
        }
    }
}

/// What becomes of a posted send: the jbuf, unless it has moved to the receiver, or the device keeps it for
/// as long as the system reads from it.
///
/// Waiting for it carries on everything that was posted before it. As a future it does the same when
/// it is polled, and is woken by whichever thread of the process learns that it can go on. A message
/// whose ticket is dropped is still sent: a thread of the process sees to it.
#[must_use = "says whether the message was sent"]
pub struct SendTicket {
    op: SendOp,
}

impl SendTicket {
    pub(super) fn new(op: SendOp) -> Self {
        Self { op }
    }

    /// Waits until the device has taken the message.
    ///
    /// # Errors
    ///
    /// [`Unsent`] gives the jbuf back, and says why.
    ///
    /// # Panics
    ///
    /// When the outcome was taken before.
    pub fn wait(mut self) -> Result<Option<Spent>, Unsent> {
        match self.op.wait(Patience::Endless) {
            Some(sent) => outcome_of(sent),
            None => panic!("the outcome was taken before"),
        }
    }

    /// As [`wait`](Self::wait), for so long at most: `None` when the outcome is not known then, or
    /// was taken before.
    pub fn wait_timeout(&mut self, timeout: Duration) -> Option<Result<Option<Spent>, Unsent>> {
        self.op.wait(Patience::For(timeout)).map(outcome_of)
    }

    /// The outcome, if it is known. It is given once.
    pub fn try_take(&mut self) -> Option<Result<Option<Spent>, Unsent>> {
        self.op.wait(Patience::None).map(outcome_of)
    }

    /// Takes the message back, if the device has taken nothing of it:
    /// [`SendError::Cancelled`](crate::SendError::Cancelled) then has the jbuf. What was sent, or has
    /// failed, has its own outcome.
    ///
    /// # Errors
    ///
    /// Itself, when the device has begun: the message has to go on.
    pub fn cancel(mut self) -> Result<Result<Option<Spent>, Unsent>, Self> {
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
    type Output = Result<Option<Spent>, Unsent>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.op.poll(context).map(outcome_of)
    }
}

/// What becomes of a posted receive.
///
/// As for a [`SendTicket`], waiting and polling carry on everything posted before. When a ticket is
/// dropped, its message is received next: none is lost.
#[must_use = "gives the message"]
pub struct RecvTicket {
    op: RecvOp,
}

impl RecvTicket {
    pub(super) fn new(op: RecvOp) -> Self {
        Self { op }
    }

    /// Waits for the message.
    ///
    /// # Errors
    ///
    /// [`Unreceived`] gives the jbuf back, and says why.
    ///
    /// # Panics
    ///
    /// When the outcome was taken before.
    pub fn wait(mut self) -> Result<Message, Unreceived> {
        match self.op.wait(Patience::Endless) {
            Some(receipt) => message_of(receipt, self.op.shared()),
            None => panic!("the outcome was taken before"),
        }
    }

    /// As [`wait`](Self::wait), for so long at most: `None` when there is no message then, or the
    /// outcome was taken before.
    pub fn wait_timeout(&mut self, timeout: Duration) -> Option<Result<Message, Unreceived>> {
        let receipt = self.op.wait(Patience::For(timeout))?;
        Some(message_of(receipt, self.op.shared()))
    }

    /// The outcome, if it is known. It is given once.
    pub fn try_take(&mut self) -> Option<Result<Message, Unreceived>> {
        let receipt = self.op.wait(Patience::None)?;
        Some(message_of(receipt, self.op.shared()))
    }

    /// Gives up: [`RecvError::Cancelled`](crate::RecvError::Cancelled) has the jbuf, unless a part of
    /// a message stands in it, which is then received next. A message that is complete is given.
    ///
    /// # Errors
    ///
    /// [`Unreceived`] in any other case.
    ///
    /// # Panics
    ///
    /// When the outcome was taken before.
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
