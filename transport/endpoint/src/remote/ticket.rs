//! Handles of posted puts and gets.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

use jstream::buffer::MessageBuffer;

use super::asker::Answer;
use super::error::RemoteError;
use crate::ops::OpId;
use crate::receiving::Receiving;
use crate::shared::{Patience, Shared};

/// Interval at which a blocked caller checks whether the messages before its answer were received.
const BLOCKED: Duration = Duration::from_millis(1);

/// A put or a get, with the sole right to take its answer.
pub(super) struct RemoteRequest {
    shared: Arc<Shared>,
    state: TicketState,
}

enum TicketState {
    /// The operation was refused for this reason.
    Refused(Box<RemoteError>),
    Posted(OpId),
    Over,
}

impl RemoteRequest {
    pub(super) fn new(shared: Arc<Shared>, posted: Result<OpId, RemoteError>) -> Self {
        let state = match posted {
            Ok(id) => TicketState::Posted(id),
            Err(error) => TicketState::Refused(Box::new(error)),
        };
        Self { shared, state }
    }

    /// Waits for the answer. Returns it once, or `None` if it does not arrive in time.
    pub(super) fn wait(&mut self, patience: Patience) -> Option<Answer> {
        let answer = match &self.state {
            TicketState::Posted(id) => wait_answer(&self.shared, *id, patience)?,
            _ => self.refusal()?,
        };
        self.state = TicketState::Over;
        Some(answer)
    }

    /// Polls for the answer.
    ///
    /// # Panics
    ///
    /// If the answer was taken before.
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Answer> {
        let answer = match &self.state {
            TicketState::Posted(id) => poll_answer(&self.shared, *id, context.waker()),
            TicketState::Refused(_) => self.refusal(),
            TicketState::Over => panic!("polled after it was ready"),
        };
        match answer {
            Some(answer) => {
                self.state = TicketState::Over;
                Poll::Ready(answer)
            }
            None => Poll::Pending,
        }
    }

    fn refusal(&mut self) -> Option<Answer> {
        match std::mem::replace(&mut self.state, TicketState::Over) {
            TicketState::Refused(error) => Some(Err(*error)),
            _ => None,
        }
    }
}

impl Drop for RemoteRequest {
    fn drop(&mut self) {
        if let TicketState::Posted(id) = self.state {
            forget_answer(&self.shared, id);
        }
    }
}

/// Waits for an answer. Returns `None` if it does not arrive in time. If the caller is blocked for
/// too long, the operation is detached and fails.
pub(super) fn wait_answer(shared: &Shared, id: OpId, patience: Patience) -> Option<Answer> {
    let waited = wait_unless_blocked(shared, patience, |receiving| receiving.take_answer(id))?;
    Some(waited.unwrap_or_else(|blocked| {
        forget_answer(shared, id);
        Err(blocked)
    }))
}

/// Waits until `attempt` returns a value. If messages before the answer can't be kept, waits up to
/// the send timeout for other threads to receive them.
pub(super) fn wait_unless_blocked<R>(
    shared: &Shared,
    patience: Patience,
    mut attempt: impl FnMut(&mut Receiving) -> Option<R>,
) -> Option<Result<R, RemoteError>> {
    let deadline = patience.deadline();
    let mut blocked_since = None;
    loop {
        let found = shared.wait_receiving(
            shared.receiving(),
            || deadline,
            |receiving| match attempt(receiving) {
                Some(answer) => Some(Ok(answer)),
                None => {
                    let blocked = receiving.blocked_by();
                    if blocked.is_none() {
                        // There is room again, and the owner may take as long as it likes.
                        blocked_since = None;
                    }
                    blocked.map(Err)
                }
            },
        );
        let messages = match found? {
            Ok(answer) => return Some(Ok(answer)),
            Err(messages) => messages,
        };
        if deadline.has_passed() {
            return None;
        }
        // The time counts from the first lack of room. The owner itself may take as long as it
        // likes.
        let since = *blocked_since.get_or_insert_with(Instant::now);
        if since.elapsed() >= shared.info().send_timeout {
            let peer = shared.info().peer.clone();
            return Some(Err(RemoteError::Blocked { messages, peer }));
        }
        // Other threads must receive the messages in the way. None of them knows of this one, so it
        // looks again.
        thread::sleep(BLOCKED);
    }
}

/// Returns the answer if it has arrived, or registers `task` to be woken when it may have.
fn poll_answer(shared: &Shared, id: OpId, task: &Waker) -> Option<Answer> {
    shared.poll_receiving(task, |receiving| {
        let answer = receiving.take_answer(id);
        if answer.is_none() {
            receiving.notify_answer(id, task);
        }
        answer
    })
}

/// Detaches an operation from its owner.
fn forget_answer(shared: &Shared, id: OpId) {
    let answer = shared.receiving().forget_answer(id);
    // Dropped without the lock.
    drop(answer);
}

macro_rules! ticket {
    ($(#[$docs:meta])* $ticket:ident -> $output:ty, $of:expr) => {
        $(#[$docs])*
        #[must_use = "contains the outcome of the operation"]
        pub struct $ticket {
            pub(super) asked: RemoteRequest,
        }

        impl $ticket {
            /// Blocks until the answer arrives.
            ///
            /// # Errors
            ///
            /// [`RemoteError`].
            ///
            /// # Panics
            ///
            /// If the answer was taken before.
            pub fn wait(mut self) -> Result<$output, RemoteError> {
                match self.asked.wait(Patience::Endless) {
                    Some(answer) => answer.map($of),
                    None => panic!("the answer was taken before"),
                }
            }

            /// As [`wait`](Self::wait), but blocks for at most `timeout`. Returns `None` if the
            /// answer did not arrive in time, or was taken before.
            pub fn wait_timeout(&mut self, timeout: Duration) -> Option<Result<$output, RemoteError>> {
                let answer = self.asked.wait(Patience::For(timeout))?;
                Some(answer.map($of))
            }

            /// Returns the answer once, if it has arrived.
            pub fn try_take(&mut self) -> Option<Result<$output, RemoteError>> {
                Some(self.asked.wait(Patience::None)?.map($of))
            }
        }

        impl Future for $ticket {
            type Output = Result<$output, RemoteError>;

            fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
                self.asked.poll(context).map(|answer| answer.map($of))
            }
        }

        impl fmt::Debug for $ticket {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($ticket)).finish_non_exhaustive()
            }
        }
    };
}

ticket! {
    /// Handle of a posted put.
    ///
    /// Waiting for it, or polling it as a future, drives all operations of its endpoint. If the
    /// ticket is dropped, the put is still carried out.
    PutTicket -> (), |_| ()
}

ticket! {
    /// Handle of a posted get.
    ///
    /// The ticket works as a [`PutTicket`]. If the ticket is dropped, the pieces that were not
    /// requested yet are not requested.
    GetTicket -> MessageBuffer, got
}

fn got(filled: Option<MessageBuffer>) -> MessageBuffer {
    match filled {
        Some(filled) => filled,
        None => unreachable!("a get that succeeds has its data"),
    }
}
