//! Handles of what was posted to a rank.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use jstream::buffer::{Filled, Spent};

use super::error::{Error, Unreceived, Unsent};
use super::local::Posted;
use super::names::Status;
use super::node::Node;
use super::request::Outcome;
use crate::device::connection::Payload;
use crate::device::deadline::Deadline;
use crate::endpoint::ops::OpId;
use crate::endpoint::spin::Spin;

/// A message that was received, in a jbuf.
#[derive(Debug)]
#[non_exhaustive]
pub struct RankMessage {
    /// Who sent it, and what it is.
    pub status: Status,
    /// The payload; nobody has believed its bytes yet.
    pub payload: Filled,
}

impl RankMessage {
    /// From nobody.
    pub(super) const NOTHING: Self = Self {
        status: Status::NULL,
        payload: Filled::nothing(),
    };

    pub(super) fn new(status: Status, payload: Filled) -> Self {
        let bytes = payload.len() as u64;
        let status = Status { bytes, ..status };
        Self { status, payload }
    }
}

/// A request that has not ended, or whose outcome nobody has taken.
pub(super) struct Pending {
    node: Arc<Node>,
    /// None once the outcome was taken.
    id: Option<OpId>,
}

impl Pending {
    pub(super) fn new(node: Arc<Node>, id: OpId) -> Self {
        Self { node, id: Some(id) }
    }

    pub(super) fn node(&self) -> &Arc<Node> {
        &self.node
    }

    /// Whether it has ended, or the outcome was taken.
    fn is_done(&self) -> bool {
        let Some(id) = self.id else {
            return true;
        };
        self.node.take_in_for(|state| {
            let request = state.requests.get(id);
            request.is_none_or(|request| request.outcome.is_some())
        })
    }

    /// The outcome, if it comes in time. Never again once it was given.
    pub(super) fn wait(&mut self, deadline: Deadline) -> Option<Outcome> {
        self.wait_spun(None, deadline)
    }

    /// As [`wait`](Self::wait), for one who may have `spun` already.
    pub(super) fn wait_spun(&mut self, spun: Option<Spin>, deadline: Deadline) -> Option<Outcome> {
        let id = self.id?;
        let outcome = self.node.wait_for(id, spun, deadline)?;
        self.id = None;
        Some(outcome)
    }

    /// The outcome, if it is known by now.
    pub(super) fn take(&mut self) -> Option<Outcome> {
        let id = self.id?;
        let outcome = self.node.take_in_for(|state| state.take_outcome(id))?;
        self.id = None;
        Some(outcome)
    }

    /// # Panics
    ///
    /// When the outcome was given already.
    pub(super) fn poll(&mut self, context: &mut Context<'_>) -> Poll<Outcome> {
        let Some(id) = self.id else {
            panic!("polled after it was ready")
        };
        let register = || {
            let mut state = self.node.inbox.lock();
            let outcome = state.take_outcome(id);
            if outcome.is_none() {
                state.set_task(id, context.waker());
                // What is in the queues is taken in with the connections.
                self.node.inbox.attention.withdraw();
            }
            outcome
        };
        let outcome = register().or_else(|| {
            self.node.drive_for_task(context.waker());
            register()
        });
        match outcome {
            Some(outcome) => {
                self.id = None;
                Poll::Ready(outcome)
            }
            None => Poll::Pending,
        }
    }

    /// Takes it back, if it has no message. False if it has one, or has ended.
    pub(super) fn cancel_receive(&self) -> bool {
        self.id.is_some_and(|id| {
            self.node
                .with(|state, todo| state.cancel(id, Error::Cancelled, todo))
        })
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        if let Some(id) = self.id.take() {
            self.node.forget(id);
        }
    }
}

/// A message that was posted to be sent.
///
/// Waiting for it carries on everything that its rank has posted. As a future it does the same when it is
/// polled. A message whose request is dropped is still sent, unless the rank ends before it is wanted, or before
/// there is room for it in the time of sending.
#[must_use = "says whether the message was sent"]
pub struct SendRequest {
    state: State<Result<Option<Spent>, Unsent>>,
}

/// A message that is to be received.
///
/// A request that is dropped is [cancelled](Self::cancel); a message that it has already is lost with it.
#[must_use = "gives the message"]
pub struct RecvRequest {
    state: State<Result<RankMessage, Unreceived>>,
}

enum State<R> {
    Pending(Pending),
    /// It has ended when it was posted.
    Ended(Option<R>),
}

/// What came of a message.
fn sent(outcome: Outcome) -> Result<Option<Spent>, Unsent> {
    match outcome.result {
        Ok(_) => Ok(outcome.spent),
        Err(error) => Err(Unsent {
            error,
            filled: outcome.payload.and_then(bytes),
        }),
    }
}

fn bytes(payload: Payload) -> Option<Filled> {
    match payload {
        Payload::Bytes(filled) => Some(filled),
        Payload::Object(_) => None,
    }
}

/// What came of a receive.
fn received(outcome: Outcome, node: &Node) -> Result<RankMessage, Unreceived> {
    let spent = outcome.spent;
    let failed = |error| Unreceived { error, spent: None };
    match outcome.result {
        Ok(status) => {
            let payload = match outcome.payload {
                Some(payload) => node.bytes_of(payload).map_err(failed)?,
                None => Filled::nothing(),
            };
            Ok(RankMessage::new(status, payload))
        }
        Err(error) => Err(Unreceived { error, spent }),
    }
}

macro_rules! request {
    ($request:ident: $result:ty, $convert:expr) => {
        impl $request {
            /// Waits until it has ended.
            ///
            /// # Errors
            ///
            /// Says why it came to nothing, and gives back the jbuf.
            ///
            /// # Panics
            ///
            /// When the outcome was taken before.
            pub fn wait(mut self) -> $result {
                match self.outcome(Deadline::NEVER) {
                    Some(result) => result,
                    None => panic!("the outcome was taken before"),
                }
            }

            /// As [`wait`](Self::wait), for so long at most: `None` when it has not ended then, or the
            /// outcome was taken before.
            pub fn wait_timeout(&mut self, timeout: Duration) -> Option<$result> {
                self.outcome(Deadline::after(timeout))
            }

            /// The outcome, if it is known. It is given once.
            pub fn test(&mut self) -> Option<$result> {
                self.outcome(Deadline::after(Duration::ZERO))
            }

            fn outcome(&mut self, deadline: Deadline) -> Option<$result> {
                match &mut self.state {
                    State::Pending(pending) => {
                        let outcome = pending.wait(deadline)?;
                        Some($convert(outcome, pending.node()))
                    }
                    State::Ended(result) => result.take(),
                }
            }
        }

        impl Future for $request {
            type Output = $result;

            fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
                match &mut self.state {
                    State::Pending(pending) => pending
                        .poll(context)
                        .map(|outcome| $convert(outcome, pending.node())),
                    State::Ended(result) => match result.take() {
                        Some(result) => Poll::Ready(result),
                        None => panic!("polled after it was ready"),
                    },
                }
            }
        }

        impl Request for $request {
            type Output = $result;
        }

        impl Waitable for $request {
            fn pending(&self) -> Option<&Arc<Node>> {
                match &self.state {
                    State::Pending(pending) => pending.id.map(|_| pending.node()),
                    State::Ended(_) => None,
                }
            }

            fn is_done(&self) -> bool {
                match &self.state {
                    State::Pending(pending) => pending.is_done(),
                    State::Ended(_) => true,
                }
            }

            fn take(&mut self) -> Option<<Self as Request>::Output> {
                match &mut self.state {
                    State::Pending(pending) => {
                        let outcome = pending.take()?;
                        Some($convert(outcome, pending.node()))
                    }
                    State::Ended(result) => result.take(),
                }
            }
        }

        impl fmt::Debug for $request {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($request)).finish_non_exhaustive()
            }
        }
    };
}

/// A request that can be waited for together with others: see [`wait_any`](super::wait_any).
#[allow(private_bounds, reason = "nobody else implements it")]
pub trait Request: Waitable {
    /// What comes of it.
    type Output;
}

/// What is asked of a request among others.
pub(super) trait Waitable {
    /// Its rank and number, if its outcome is still to be taken.
    fn pending(&self) -> Option<&Arc<Node>>;

    /// Whether it has ended, or its outcome was taken.
    fn is_done(&self) -> bool;

    /// The outcome, if it is known by now and nobody has taken it.
    fn take(&mut self) -> Option<<Self as Request>::Output>
    where
        Self: Request;
}

request!(SendRequest: Result<Option<Spent>, Unsent>, |outcome, _: &Arc<Node>| sent(outcome));
request!(RecvRequest: Result<RankMessage, Unreceived>, |outcome, node: &Arc<Node>| received(
    outcome, node
));

impl SendRequest {
    pub(super) fn new(node: Arc<Node>, posted: Posted) -> Self {
        let state = match posted {
            Posted::Done => State::Ended(Some(Ok(None))),
            Posted::Gone(spent) => State::Ended(Some(Ok(Some(spent)))),
            Posted::Pending(id) => State::Pending(Pending::new(node, id)),
            Posted::Refused(error, payload) => State::Ended(Some(Err(Unsent {
                error,
                filled: payload.and_then(bytes),
            }))),
        };
        Self { state }
    }
}

impl SendRequest {
    /// Takes the message back, if it was announced, is to be confirmed, waits for room, or had none with a rank of
    /// this process, and no receive has it: [`Error::Cancelled`] then has the jbuf, if that was not sent. Waits for
    /// the answer of the other rank. Any other message has its own outcome, which is waited for.
    ///
    /// # Errors
    ///
    /// [`Unsent`].
    ///
    /// # Panics
    ///
    /// When the outcome was taken before.
    pub fn cancel(self) -> Result<Option<Spent>, Unsent> {
        if let State::Pending(Pending { node, id: Some(id) }) = &self.state {
            node.cancel_send(*id);
        }
        self.wait()
    }
}

impl RecvRequest {
    pub(super) fn new(node: Arc<Node>, id: Option<OpId>) -> Self {
        let state = match id {
            Some(id) => State::Pending(Pending::new(node, id)),
            None => State::Ended(Some(Ok(RankMessage::NOTHING))),
        };
        Self { state }
    }

    /// Gives up: [`Error::Cancelled`] has the jbuf that was posted. A message that it has already is waited
    /// for, and given.
    ///
    /// # Errors
    ///
    /// [`Unreceived`] in any other case.
    ///
    /// # Panics
    ///
    /// When the outcome was taken before.
    pub fn cancel(self) -> Result<RankMessage, Unreceived> {
        if let State::Pending(pending) = &self.state {
            pending.cancel_receive();
        }
        self.wait()
    }
}
