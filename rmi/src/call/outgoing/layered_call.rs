//! Calls that layers surround, at their caller.
//!
//! The thread that makes a call polls its layers once. If they are ready, the arguments are sent as
//! they are, without a copy. Else they are encoded, and sent when the layers are ready. That is
//! when a thread or a task waits for the call.
//!
//! INVARIANT: the arguments are in one place: with the thread that makes the call (`Borrowed`,
//! `Requested`), in the state (`Message`, `Carrying`), or with an attempt (`InUse`). The thread has
//! sent them in `Started` and `OneWay`: the state holds the call, or its result, until the attempt
//! for which it was sent takes it. In `Gone`, nobody has them. An attempt that was dropped before
//! the thread has sent its call never takes it, so then the number of the attempt is `None`.
//!
//! Decision 129 has the reasons.

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Instant;

use jstream::MessageBuffer;
use jstream_sync::callbacks;
use jstream_sync::panics::forget_panic;

use crate::call::outgoing::in_flight::Call;
use crate::call::outgoing::layered_poll::LayeredPoll;
use crate::call::outgoing::reply::UnreadResult;
use crate::call::outgoing::retry::RetryState;
use crate::call::outgoing::sent::{DropResult, Rest};
use crate::frame::Metadata;
use crate::interface::{Interface, Method};
use crate::reference::Object;
use crate::session::{
    CallFuture, CallLayers, CallParts, CallRequest, CallResponse, Clock, Connection, InnerCall,
    Line, PeerInfo, Side,
};
use crate::stream::Pumps;
use crate::support::{CallError, Outcome, lock};

/// Deadline and metadata of an attempt.
pub(super) type CallTerms = (Option<Instant>, Metadata);

/// A call within its layers.
pub(super) struct LayeredCall {
    inner_call: Arc<InnerOutgoingCall>,
    /// `None` once the call has ended.
    future: Option<CallFuture>,
    deadline: Option<Instant>,
}

/// The call itself, which its attempts share.
pub(super) struct InnerOutgoingCall {
    object: Object,
    /// The name of the interface, which is empty if it is not known.
    interface: &'static str,
    method: &'static Method,
    index: usize,
    /// Releases the references in the result.
    drop_result: Option<(DropResult, Connection)>,
    state: Mutex<InnerState>,
}

struct InnerState {
    arguments: Arguments,
    /// Number of attempts.
    attempts: u64,
    /// True if an attempt that has ended may have run.
    may_have_run: bool,
}

/// The arguments of a call, or what has become of them.
enum Arguments {
    /// The thread that makes the call has them.
    Borrowed,
    /// The thread is to send them for this attempt.
    Requested(AttemptRequest),
    /// The thread has sent them for the attempt with this number.
    Started(Option<u64>, Box<Call<()>>),
    /// The thread has sent a one-way call for this attempt, or has failed to.
    OneWay(Option<u64>, Result<(), CallError>),
    /// The encoded arguments, which can be sent more than once.
    Message(MessageBuffer),
    /// Encoded arguments with streams or references, which can be sent once.
    Carrying(Box<CarryingCall>),
    /// An attempt has them, and is under way.
    InUse,
    /// No arguments: they were not kept, or the call has taken them along.
    Gone,
}

/// An attempt that waits for the thread that makes the call.
struct AttemptRequest {
    number: u64,
    terms: CallTerms,
    waker: Waker,
}

/// A call with streams or references among its arguments, or as its result.
pub(super) struct CarryingCall {
    pub(super) interface: &'static Interface,
    pub(super) message: MessageBuffer,
    pub(super) rest: Option<Box<Rest>>,
    pub(super) pumps: Pumps,
}

impl LayeredCall {
    /// Creates a call whose layers were not polled. The method is named with its interface, which
    /// is empty if that is not known.
    pub(super) fn new(
        object: &Object,
        (interface, method): (&'static str, &'static Method),
        index: usize,
        (deadline, metadata): CallTerms,
        layers: &CallLayers,
        drop_result: Option<(DropResult, Connection)>,
    ) -> Self {
        let inner_call = Arc::new(InnerOutgoingCall {
            object: object.clone(),
            drop_result,
            interface,
            method,
            index,
            state: Mutex::new(InnerState {
                arguments: Arguments::Borrowed,
                attempts: 0,
                may_have_run: false,
            }),
        });
        let connection = object.connection();
        let parts = CallParts {
            side: Side::Caller,
            interface,
            method: method.name(),
            is_idempotent: method.is_idempotent(),
            deadline,
            peer: connection.map(|connection| PeerInfo::from_peer(connection.peer())),
            bytes: None,
            metadata,
        };
        // The layers are not called before the first poll, which catches their panics.
        let (layers, inner) = (layers.clone(), inner_call.clone());
        let future = Box::pin(async move { layers.run(parts, inner).await });
        Self {
            inner_call,
            future: Some(future),
            deadline,
        }
    }

    /// Polls the layers in the thread that makes the call. Returns the terms if the arguments are
    /// to be sent now.
    ///
    /// # Errors
    ///
    /// The error of a layer.
    pub(super) fn begin(&mut self) -> Result<Option<CallTerms>, CallError> {
        match self.poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(Err(error)) => Err(error),
            Poll::Ready(Ok(_)) => Err(self
                .inner_call
                .layer_error("the result came before the call")),
            Poll::Pending => Ok(self.inner_call.requested_terms()),
        }
    }

    /// Continues with a call that was sent by the thread that makes it.
    pub(super) fn start(&self, call: Call<()>) {
        self.inner_call
            .put(|number| Arguments::Started(number, Box::new(call)));
    }

    /// Continues with encoded arguments.
    pub(super) fn keep(&self, message: MessageBuffer) {
        self.inner_call.put(|_| Arguments::Message(message));
    }

    /// Continues with encoded arguments that have streams or references.
    pub(super) fn keep_carrying(&self, call: CarryingCall) {
        self.inner_call.put(|_| Arguments::Carrying(Box::new(call)));
    }

    /// Ends a one-way call, which was sent or has failed. Its layers are polled once more.
    pub(super) fn end_one_way(mut self, sent: Result<(), CallError>) -> Result<(), CallError> {
        let failure = sent.as_ref().err().map(ToString::to_string);
        self.inner_call
            .put(|number| Arguments::OneWay(number, sent));
        match self.poll_response(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(Err(error)) => Err(error),
            // A layer that waits behind the call is dropped. It may have the error itself.
            Poll::Pending => match failure {
                Some(reason) => Err(self.inner_call.layer_error(&reason)),
                None => Ok(()),
            },
            Poll::Ready(Ok(_)) => Ok(()),
        }
    }

    /// Returns the error of a one-way call whose layers were not ready at once.
    pub(super) fn not_ready(&self) -> CallError {
        self.inner_call.layer_error(
            "it was not ready at once, and a one-way call does not wait: let the method return a \
             result, or let the interceptor keep what it fetches",
        )
    }

    /// Polls the layers until they end.
    fn poll_response(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Result<CallResponse, CallError>> {
        let Some(future) = &mut self.future else {
            panic!("the call has already returned its result");
        };
        let polled = catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context)));
        let result = match polled {
            Ok(Poll::Ready(result)) => result,
            Ok(Poll::Pending) => {
                let clock = self.inner_call.object.clock();
                if self.deadline.is_none_or(|deadline| clock.now() < deadline) {
                    return Poll::Pending;
                }
                self.end();
                return Poll::Ready(Err(CallError::Deadline {
                    method: self.inner_call.method.name(),
                    outcome: self.inner_call.outcome(),
                    idempotent: self.inner_call.method.is_idempotent(),
                }));
            }
            Err(panic) => {
                forget_panic(panic);
                self.end();
                return Poll::Ready(Err(self.inner_call.layer_error("it panicked")));
            }
        };
        self.end();
        Poll::Ready(result.map_err(|error| self.inner_call.error_of_all(error)))
    }

    /// Drops the layers, which ends an attempt that is under way.
    fn end(&mut self) {
        if let Some(future) = self.future.take() {
            callbacks::run(move || drop(future));
        }
    }
}

impl LayeredPoll for LayeredCall {
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Result<UnreadResult, CallError>> {
        self.poll_response(context).map(|response| {
            let result = response?.into_result::<LayeredResult>(self.inner_call.address());
            match result {
                Some(result) => Ok(result.into_unread()),
                None => Err(self
                    .inner_call
                    .layer_error("it returned the result of another call")),
            }
        })
    }

    fn line(&self) -> Option<Arc<dyn Line>> {
        let connection: Connection = self.inner_call.object.connection()?.clone();
        Some(Arc::new(connection))
    }

    fn deadline(&self) -> Option<(Instant, Clock)> {
        Some((self.deadline?, self.inner_call.object.clock().clone()))
    }
}

impl Drop for LayeredCall {
    fn drop(&mut self) {
        self.end();
    }
}

impl InnerOutgoingCall {
    fn address(&self) -> *const () {
        std::ptr::from_ref(self).cast()
    }

    fn layer_error(&self, reason: &str) -> CallError {
        CallError::Layer {
            method: self.method.name(),
            reason: reason.to_owned(),
            outcome: self.outcome(),
            idempotent: self.method.is_idempotent(),
        }
    }

    /// Returns the error of the call, of which this is its last attempt's: the method may have run
    /// if any attempt may have.
    fn error_of_all(&self, error: CallError) -> CallError {
        if error.outcome() != Outcome::DidNotRun || self.outcome() == Outcome::DidNotRun {
            return error;
        }
        self.layer_error(&error.to_string())
    }

    fn requested_terms(&self) -> Option<CallTerms> {
        match &lock(&self.state).arguments {
            Arguments::Requested(request) => Some(request.terms.clone()),
            _ => None,
        }
    }

    /// Replaces arguments that the thread which makes the call has, and wakes the attempt that
    /// waits for them.
    fn put(&self, arguments: impl FnOnce(Option<u64>) -> Arguments) {
        let mut state = lock(&self.state);
        let before = std::mem::replace(&mut state.arguments, Arguments::Gone);
        let number = match before {
            Arguments::Requested(request) => {
                callbacks::wake(request.waker);
                Some(request.number)
            }
            _ => None,
        };
        state.arguments = arguments(number);
    }

    /// Polls for the call of an attempt, which is sent now or was sent.
    fn poll_start(
        &self,
        number: u64,
        terms: &CallTerms,
        context: &Context<'_>,
    ) -> Poll<Result<Option<Call<()>>, CallError>> {
        // The waker is cloned without the lock, because that may run code of the program.
        let waker = context.waker().clone();
        let mut state = lock(&self.state);
        let has_run = state.may_have_run && !self.method.is_idempotent();
        let begun = match std::mem::replace(&mut state.arguments, Arguments::InUse) {
            Arguments::Borrowed => {
                state.arguments = Arguments::Requested(AttemptRequest {
                    number,
                    terms: terms.clone(),
                    waker,
                });
                return Poll::Pending;
            }
            Arguments::Requested(mut request) if request.number == number => {
                callbacks::discard([std::mem::replace(&mut request.waker, waker)]);
                state.arguments = Arguments::Requested(request);
                return Poll::Pending;
            }
            Arguments::Started(own, call) if own == Some(number) => {
                return Poll::Ready(Ok(Some(*call)));
            }
            Arguments::OneWay(own, sent) if own == Some(number) => {
                state.may_have_run |= may_have_run(&sent);
                state.arguments = Arguments::Gone;
                return Poll::Ready(sent.map(|()| None));
            }
            Arguments::Message(message) if !has_run => Ok(message),
            Arguments::Carrying(carrying) => Err(carrying),
            other => {
                let reason = match &other {
                    Arguments::Message(_) => {
                        "it made the call again, whose first attempt may have run and is not \
                         declared idempotent"
                    }
                    Arguments::Gone => {
                        "it made the call again, whose arguments were not kept \
                         (Interceptors::keeping_arguments)"
                    }
                    _ => "it made the call again, whose first attempt has not ended",
                };
                state.arguments = other;
                drop(state);
                return Poll::Ready(Err(self.layer_error(reason)));
            }
        };
        drop(state);
        Poll::Ready(Ok(Some(match begun {
            Ok(message) => {
                let named = (self.interface, self.method, self.index);
                let object = self.object.clone();
                let retries = object.retries;
                Call::retrying(RetryState::new(
                    object,
                    named,
                    message,
                    terms.clone(),
                    retries,
                ))
            }
            Err(carrying) => self.object.send_kept(*carrying, self.index, terms.clone()),
        })))
    }

    /// Records the end of an attempt, with its arguments if they can be sent again.
    fn end_attempt(&self, outcome: Outcome, message: Option<MessageBuffer>) {
        let mut state = lock(&self.state);
        state.may_have_run |= outcome != Outcome::DidNotRun;
        state.arguments = message.map_or(Arguments::Gone, Arguments::Message);
    }

    /// Records the end of an attempt that has not begun. Returns the call if it was sent.
    fn forget_attempt(&self, number: u64) -> Option<Box<Call<()>>> {
        let mut state = lock(&self.state);
        match std::mem::replace(&mut state.arguments, Arguments::Gone) {
            Arguments::Requested(request) if request.number == number => {
                callbacks::discard([request.waker]);
                state.arguments = Arguments::Borrowed;
                None
            }
            Arguments::Started(own, call) if own == Some(number) => {
                state.may_have_run = true;
                Some(call)
            }
            other => {
                state.arguments = other;
                None
            }
        }
    }
}

impl InnerCall for InnerOutgoingCall {
    fn run(self: Arc<Self>, request: CallRequest) -> CallFuture {
        Box::pin(async move {
            let mut attempt = Attempt::new(self.clone(), request.terms());
            drop(request);
            poll_fn(|context| attempt.poll(context)).await
        })
    }

    fn outcome(&self) -> Outcome {
        let state = lock(&self.state);
        let was_sent = match &state.arguments {
            Arguments::InUse | Arguments::Started(..) => true,
            Arguments::OneWay(_, sent) => may_have_run(sent),
            _ => false,
        };
        match state.may_have_run || was_sent {
            true => Outcome::MayHaveRun,
            false => Outcome::DidNotRun,
        }
    }
}

/// Returns true if a method may have run whose one-way call was sent with this result.
fn may_have_run(sent: &Result<(), CallError>) -> bool {
    sent.as_ref()
        .map_or_else(CallError::outcome, |()| Outcome::MayHaveRun)
        != Outcome::DidNotRun
}

/// An attempt of the call. If it is dropped, its call is cancelled.
struct Attempt {
    inner_call: Arc<InnerOutgoingCall>,
    number: u64,
    terms: CallTerms,
    call: Option<Call<()>>,
    has_ended: bool,
}

impl Attempt {
    fn new(inner_call: Arc<InnerOutgoingCall>, terms: CallTerms) -> Self {
        let number = {
            let mut state = lock(&inner_call.state);
            state.attempts = state.attempts.saturating_add(1);
            state.attempts
        };
        Self {
            inner_call,
            number,
            terms,
            call: None,
            has_ended: false,
        }
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Result<CallResponse, CallError>> {
        if self.call.is_none() {
            match self
                .inner_call
                .poll_start(self.number, &self.terms, context)
            {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Ok(Some(call))) => self.call = Some(call),
                Poll::Ready(Ok(None)) => {
                    self.has_ended = true;
                    return Poll::Ready(Ok(CallResponse::new(self.inner_call.clone(), 0, None)));
                }
                Poll::Ready(Err(error)) => {
                    self.has_ended = true;
                    return Poll::Ready(Err(error));
                }
            }
        }
        let Some(call) = &mut self.call else {
            return Poll::Pending;
        };
        let Poll::Ready(result) = call.poll_unread(context) else {
            return Poll::Pending;
        };
        self.has_ended = true;
        Poll::Ready(match result {
            Ok(unread) => {
                self.inner_call.end_attempt(Outcome::Ran, None);
                let bytes = unread.len();
                let result = LayeredResult {
                    unread: Some(unread),
                    drop_result: self.inner_call.drop_result.clone(),
                };
                let result = Some(Box::new(result) as Box<_>);
                Ok(CallResponse::new(self.inner_call.clone(), bytes, result))
            }
            Err(error) => {
                let message = call.take_arguments();
                self.inner_call.end_attempt(error.outcome(), message);
                Err(error)
            }
        })
    }
}

impl Drop for Attempt {
    fn drop(&mut self) {
        if self.has_ended {
            return;
        }
        match &mut self.call {
            Some(call) => {
                let message = call.take_arguments();
                self.inner_call.end_attempt(Outcome::MayHaveRun, message);
            }
            None => drop(self.inner_call.forget_attempt(self.number)),
        }
    }
}

/// A result that the layers have not returned yet.
struct LayeredResult {
    unread: Option<UnreadResult>,
    /// Releases the references in the result, if the layers drop it.
    drop_result: Option<(DropResult, Connection)>,
}

impl LayeredResult {
    fn into_unread(mut self) -> UnreadResult {
        match self.unread.take() {
            Some(unread) => unread,
            None => unreachable!("the result is taken once"),
        }
    }
}

impl Drop for LayeredResult {
    fn drop(&mut self) {
        if let (Some(unread), Some((drop_result, connection))) =
            (self.unread.take(), self.drop_result.take())
        {
            drop_result(&connection, unread.into_message());
        }
    }
}
