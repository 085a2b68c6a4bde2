//! Handles of posted requests.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use jstream::buffer::{EmptyBuffer, MessageBuffer};
use jstream::{Received, Transportable};

use super::communicator::Members;
use super::error::{Error, Unreceived, Unsent};
use super::local::PostOutcome;
use super::names::Status;
use super::node::Node;
use super::outcome::RequestOutcome;
use jstream_device::connection::Payload;
use jstream_device::deadline::Deadline;
use jstream_endpoint::ops::OpId;
use jstream_endpoint::spin::Spin;

/// A received message in a jbuf. Its elements are viewed in place.
///
/// ```
/// use jstream_transport::rank;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let ranks = rank::threads(2, &rank::Options::default());
/// let receive = ranks[0].buffers().irecv(1, 7);
/// ranks[1].send(0, 7, &[1.5, 2.5])?;
/// let message = receive.wait()?;
/// assert_eq!(message.payload.view::<f64>()?, [1.5, 2.5]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct RankMessage {
    /// The source, tag and length of the message.
    pub status: Status,
    /// The payload, whose bytes have not been checked.
    pub payload: MessageBuffer,
}

impl RankMessage {
    /// The message received from [`Source::Null`](super::Source::Null).
    pub(super) const NOTHING: Self = Self {
        status: Status::NULL,
        payload: MessageBuffer::nothing(),
    };

    pub(super) fn new(status: Status, payload: MessageBuffer) -> Self {
        let bytes = payload.len() as u64;
        let status = Status { bytes, ..status };
        Self { status, payload }
    }
}

/// A request that has not ended, or whose outcome was not taken.
pub(super) struct Pending {
    node: Arc<Node>,
    members: Members,
    /// The request, or `None` once the outcome was taken.
    id: Option<OpId>,
}

impl Pending {
    /// Creates the handle of a request whose outcome has the ranks' numbers among `members`.
    pub(super) fn new(node: Arc<Node>, members: Members, id: OpId) -> Self {
        Self {
            node,
            members,
            id: Some(id),
        }
    }

    pub(super) fn node(&self) -> &Arc<Node> {
        &self.node
    }

    /// Returns true if the request has ended or its outcome was taken.
    fn is_done(&self) -> bool {
        let Some(id) = self.id else {
            return true;
        };
        self.node.take_in_for(|state| state.requests.has_ended(id))
    }

    /// Waits for the outcome. Returns `None` if the deadline passes, or if the outcome was taken
    /// before.
    pub(super) fn wait(&mut self, deadline: Deadline) -> Option<RequestOutcome> {
        self.wait_spun(None, deadline)
    }

    /// Like [`wait`](Self::wait), continuing with the spin budget that the caller has left in
    /// `spun`.
    pub(super) fn wait_spun(
        &mut self,
        spun: Option<Spin>,
        deadline: Deadline,
    ) -> Option<RequestOutcome> {
        let id = self.id?;
        let mut outcome = self.node.wait_for(id, spun, deadline);
        if let Some(outcome) = &mut outcome {
            self.id = None;
            self.members.convert(outcome);
        }
        outcome
    }

    /// Takes the outcome, if the request has ended.
    pub(super) fn take(&mut self) -> Option<RequestOutcome> {
        let id = self.id?;
        let mut outcome = self
            .node
            .take_in_for(|state| state.requests.take_outcome(id));
        if let Some(outcome) = &mut outcome {
            self.id = None;
            self.members.convert(outcome);
        }
        outcome
    }

    /// Polls for the outcome.
    ///
    /// # Panics
    ///
    /// Panics if the outcome was taken before.
    pub(super) fn poll(&mut self, context: &mut Context<'_>) -> Poll<RequestOutcome> {
        let Some(id) = self.id else {
            panic!("polled after it was ready")
        };
        let register = || {
            // Cloned and dropped without the lock, because both may run code of the program.
            let task = context.waker().clone();
            let mut state = self.node.inbox.lock();
            let outcome = state.requests.take_outcome(id);
            let unused = if outcome.is_none() {
                let replaced = state.requests.set_task(id, task);
                // The queues are drained by `drive_for_task` below.
                self.node.inbox.attention.withdraw();
                replaced
            } else {
                Some(task)
            };
            drop(state);
            drop(unused);
            outcome
        };
        // Registered before the connections are driven, and looked up again afterwards: a message
        // that comes in between either wakes the task or is found.
        let outcome = register().or_else(|| {
            self.node.drive_for_task(context.waker());
            register()
        });
        match outcome {
            Some(mut outcome) => {
                self.id = None;
                self.members.convert(&mut outcome);
                Poll::Ready(outcome)
            }
            None => Poll::Pending,
        }
    }

    /// Cancels the receive if it has no message. Returns false if it has one, or has ended.
    pub(super) fn cancel_receive(&self) -> bool {
        self.id.is_some_and(|id| {
            self.node
                .with(|state, deferred| state.cancel_receive(id, Error::Cancelled, deferred))
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

/// A posted send.
///
/// Waiting for it drives everything that its rank has posted, and so does polling it as a future.
/// If the request is dropped, the message is still sent, unless the rank ends before the peer has
/// requested the payload of an announced message, or there is no room for the message within the
/// send timeout.
#[must_use = "the request reports whether the message was sent"]
pub struct SendRequest {
    state: RequestsState<Result<Option<EmptyBuffer>, Unsent>>,
}

/// A posted receive.
///
/// Dropping the request [cancels](Self::cancel) it. If it has a message already, that message is
/// lost.
#[must_use = "dropping the request cancels the receive"]
pub struct RecvRequest {
    state: RequestsState<Result<RankMessage, Unreceived>>,
}

/// A posted receive of an object.
///
/// Dropping the request [cancels](Self::cancel) it. If it has a message already, that message is
/// lost.
#[must_use = "dropping the request cancels the receive"]
pub struct RecvObjectRequest<T: Transportable + 'static> {
    state: RequestsState<Result<(Received<T>, Status), Error>>,
}

enum RequestsState<R> {
    Pending(Pending),
    /// A request that had ended when it was posted.
    Ended(Option<R>),
}

/// Converts the outcome of a send.
fn sent(outcome: RequestOutcome) -> Result<Option<EmptyBuffer>, Unsent> {
    match outcome.result {
        Ok(_) => Ok(outcome.empty),
        Err(error) => Err(Unsent {
            error,
            filled: outcome.payload.and_then(bytes),
        }),
    }
}

fn bytes(payload: Payload) -> Option<MessageBuffer> {
    match payload {
        Payload::Bytes(filled) => Some(filled),
        Payload::Object(_) => None,
    }
}

/// Converts the outcome of a receive.
fn received(outcome: RequestOutcome, node: &Node) -> Result<RankMessage, Unreceived> {
    let empty = outcome.empty;
    let failed = |error| Unreceived {
        error,
        buffer: None,
    };
    match outcome.result {
        Ok(status) => {
            let payload = match outcome.payload {
                Some(payload) => node.bytes_of(payload).map_err(failed)?,
                None => MessageBuffer::nothing(),
            };
            Ok(RankMessage::new(status, payload))
        }
        Err(error) => Err(Unreceived {
            error,
            buffer: empty,
        }),
    }
}

/// Converts the outcome of a receive of an object.
fn received_object<T: Transportable + 'static>(
    outcome: RequestOutcome,
    node: &Node,
) -> Result<(Received<T>, Status), Error> {
    let status = outcome.result?;
    let nothing = || Payload::Bytes(MessageBuffer::nothing());
    node.object_of(status, outcome.payload.unwrap_or_else(nothing))
}

macro_rules! request {
    ($request:ty $(, [$($generics:tt)*])?: $result:ty, $convert:expr) => {
        impl$(<$($generics)*>)? $request {
            /// Blocks until the request has ended.
            ///
            /// # Errors
            ///
            /// Returns the cause, and gives back the jbuf if the request had one.
            ///
            /// # Panics
            ///
            /// Panics if the outcome was taken before.
            pub fn wait(mut self) -> $result {
                match self.outcome(Deadline::NEVER) {
                    Some(result) => result,
                    None => panic!("the outcome was taken before"),
                }
            }

            /// Like [`wait`](Self::wait), for at most `timeout`. Returns `None` if the request has
            /// not ended by then, or if the outcome was taken before.
            pub fn wait_timeout(&mut self, timeout: Duration) -> Option<$result> {
                self.outcome(Deadline::after(timeout))
            }

            /// Takes the outcome, if the request has ended. The outcome can be taken once.
            pub fn test(&mut self) -> Option<$result> {
                self.outcome(Deadline::after(Duration::ZERO))
            }

            fn outcome(&mut self, deadline: Deadline) -> Option<$result> {
                match &mut self.state {
                    RequestsState::Pending(pending) => {
                        let outcome = pending.wait(deadline)?;
                        Some($convert(outcome, pending.node()))
                    }
                    RequestsState::Ended(result) => result.take(),
                }
            }
        }

        impl$(<$($generics)*>)? Future for $request {
            type Output = $result;

            fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
                match &mut self.state {
                    RequestsState::Pending(pending) => pending
                        .poll(context)
                        .map(|outcome| $convert(outcome, pending.node())),
                    RequestsState::Ended(result) => match result.take() {
                        Some(result) => Poll::Ready(result),
                        None => panic!("polled after it was ready"),
                    },
                }
            }
        }

        impl$(<$($generics)*>)? Request for $request {
            type Output = $result;
        }

        impl$(<$($generics)*>)? Waitable for $request {
            fn pending(&self) -> Option<&Arc<Node>> {
                match &self.state {
                    RequestsState::Pending(pending) => pending.id.map(|_| pending.node()),
                    RequestsState::Ended(_) => None,
                }
            }

            fn is_done(&self) -> bool {
                match &self.state {
                    RequestsState::Pending(pending) => pending.is_done(),
                    RequestsState::Ended(_) => true,
                }
            }

            fn take(&mut self) -> Option<<Self as Request>::Output> {
                match &mut self.state {
                    RequestsState::Pending(pending) => {
                        let outcome = pending.take()?;
                        Some($convert(outcome, pending.node()))
                    }
                    RequestsState::Ended(result) => result.take(),
                }
            }
        }

        impl$(<$($generics)*>)? fmt::Debug for $request {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($request)).finish_non_exhaustive()
            }
        }
    };
}

/// A request that can be waited for together with others: see [`wait_any`](super::wait_any).
#[allow(private_bounds, reason = "the trait is sealed")]
pub trait Request: Waitable {
    /// The outcome.
    type Output;
}

/// Operations for waiting on several requests.
pub(super) trait Waitable {
    /// Returns the rank of the request, if its outcome was not taken.
    fn pending(&self) -> Option<&Arc<Node>>;

    /// Returns true if the request has ended or its outcome was taken.
    fn is_done(&self) -> bool;

    /// Takes the outcome, if the request has ended and its outcome was not taken before.
    fn take(&mut self) -> Option<<Self as Request>::Output>
    where
        Self: Request;
}

request!(SendRequest: Result<Option<EmptyBuffer>, Unsent>, |outcome, _: &Arc<Node>| sent(outcome));
request!(RecvRequest: Result<RankMessage, Unreceived>, |outcome, node: &Arc<Node>| received(
    outcome, node
));
request!(RecvObjectRequest<T>, [T: Transportable + 'static]: Result<(Received<T>, Status), Error>,
    |outcome, node: &Arc<Node>| received_object(outcome, node));

impl SendRequest {
    pub(super) fn new(node: Arc<Node>, members: Members, posted: PostOutcome) -> Self {
        let state = match posted {
            PostOutcome::Done => RequestsState::Ended(Some(Ok(None))),
            PostOutcome::Gone(empty) => RequestsState::Ended(Some(Ok(Some(empty)))),
            PostOutcome::Pending(id) => RequestsState::Pending(Pending::new(node, members, id)),
            PostOutcome::Refused(error, payload) => RequestsState::Ended(Some(Err(Unsent {
                error: members.error(error),
                filled: payload.and_then(bytes),
            }))),
        };
        Self { state }
    }
}

impl SendRequest {
    /// Cancels the send and waits for its outcome.
    ///
    /// The message can be cancelled while no receive has it, if it was announced, has to be
    /// confirmed, waits for room, or found no room at a rank of this process. In these cases
    /// [`Error::Cancelled`] contains the jbuf, if it was not sent. For a message over a connection,
    /// this waits for the answer of the other rank. Any other message is sent, and its regular
    /// outcome is returned.
    ///
    /// # Errors
    ///
    /// [`Unsent`].
    ///
    /// # Panics
    ///
    /// Panics if the outcome was taken before.
    pub fn cancel(self) -> Result<Option<EmptyBuffer>, Unsent> {
        self.withdraw();
        self.wait()
    }

    /// Returns the request, unless it is known to have ended.
    pub(super) fn id(&self) -> Option<OpId> {
        match &self.state {
            RequestsState::Pending(pending) => pending.id,
            RequestsState::Ended(_) => None,
        }
    }

    /// Begins to cancel the send, without waiting for the answer of the other rank.
    pub(super) fn withdraw(&self) {
        if let RequestsState::Pending(Pending {
            node, id: Some(id), ..
        }) = &self.state
        {
            node.cancel_send(*id);
        }
    }
}

impl<T: Transportable + 'static> RecvObjectRequest<T> {
    pub(super) fn new(node: Arc<Node>, members: Members, id: Option<OpId>) -> Self {
        let state = match id {
            Some(id) => RequestsState::Pending(Pending::new(node, members, id)),
            None => RequestsState::Ended(Some(Err(Error::null_source("object")))),
        };
        Self { state }
    }

    /// Cancels the receive: [`Error::Cancelled`]. If the receive has a message already, this waits
    /// for that message and returns its object.
    ///
    /// # Errors
    ///
    /// [`Error`] of the receive in any other case.
    ///
    /// # Panics
    ///
    /// Panics if the outcome was taken before.
    pub fn cancel(self) -> Result<(Received<T>, Status), Error> {
        if let RequestsState::Pending(pending) = &self.state {
            pending.cancel_receive();
        }
        self.wait()
    }
}

impl RecvRequest {
    pub(super) fn new(node: Arc<Node>, members: Members, id: Option<OpId>) -> Self {
        let state = match id {
            Some(id) => RequestsState::Pending(Pending::new(node, members, id)),
            None => RequestsState::Ended(Some(Ok(RankMessage::NOTHING))),
        };
        Self { state }
    }

    /// Cancels the receive: [`Error::Cancelled`] contains the jbuf that was posted. If the receive
    /// has a message already, this waits for that message and returns it.
    ///
    /// # Errors
    ///
    /// [`Unreceived`] in any other case.
    ///
    /// # Panics
    ///
    /// Panics if the outcome was taken before.
    pub fn cancel(self) -> Result<RankMessage, Unreceived> {
        if let RequestsState::Pending(pending) = &self.state {
            pending.cancel_receive();
        }
        self.wait()
    }
}
