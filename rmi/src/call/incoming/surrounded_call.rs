//! Calls that layers surround, at their object.
//!
//! The layers run as a task of the call. When they let the call through at their first poll, it
//! starts in the same thread. Else the request is queued again, so that a plain method runs where
//! plain methods run. The arguments stay in the request, in their receive buffer, until then.
//!
//! INVARIANT: a call is begun or refused once, by the owner of [`CalleeState::Waiting`].
//!
//! Decision 129 has the reasons.

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Instant;

use jstream_active::{Began, Mark, Request};
use jstream_sync::callbacks;
use jstream_sync::panics::forget_panic;

use crate::frame::{Code, Metadata};
use crate::interface::BoxFuture;
use crate::session::{
    Alarm, CallEnd, CallFuture, CallInfo, CallLayers, CallParts, CallRequest, CallResponse, Clock,
    InnerCall, Session, StopSwitch, Waits, Watch, fail,
};
use crate::support::{CallError, Outcome, lock};

/// Begins a call whose request was waiting, or refuses it.
pub(super) type BeginCall = Box<dyn FnOnce(Request, Start) + Send>;

/// The decision of the layers.
pub(super) enum Start {
    /// The method runs, watched by this, until the switch ends it.
    Runs {
        metadata: Metadata,
        observer: Box<dyn Watch>,
        stop_switch: Arc<StopSwitch>,
    },
    /// The call fails with this code and text.
    Refused(Code, String),
}

/// A call whose layers have let it through. It is attached to its request, which is queued again.
pub(super) struct StartingCall {
    begin: BeginCall,
    metadata: Metadata,
    observer: Box<dyn Watch>,
    stop_switch: Arc<StopSwitch>,
    deadline: Option<Instant>,
    clock: Clock,
    /// Counts the call until it begins.
    waits: Option<Waits>,
}

impl StartingCall {
    pub(super) fn start(self, request: Request) {
        let Self {
            begin,
            metadata,
            observer,
            stop_switch,
            deadline,
            clock,
            waits,
        } = self;
        // The layers have ended their part, so nobody else looks at the deadline until the method
        // runs.
        let is_late = deadline.is_some_and(|deadline| deadline <= clock.now());
        if is_late || stop_switch.is_set() || request.mark().is_cancelled() {
            return begin(request, Start::Refused(Code::TooLate, String::new()));
        }
        drop(waits);
        begin(
            request,
            Start::Runs {
                metadata,
                observer,
                stop_switch,
            },
        );
    }
}

/// The call itself, within its layers.
struct InnerIncomingCall {
    method: &'static str,
    is_idempotent: bool,
    mark: Mark,
    deadline: Option<Instant>,
    clock: Clock,
    stop_switch: Arc<StopSwitch>,
    state: Mutex<InnerState>,
}

struct InnerState {
    call: CalleeState,
    /// True once the task of the layers was suspended.
    has_moved: bool,
}

enum CalleeState {
    /// The call has not begun.
    Waiting(Request, BeginCall),
    /// The method runs, or is about to.
    Running(Option<Waker>),
    /// The method has ended, with a result of this length or without one.
    Ended(Result<u64, Outcome>),
    /// The layers have ended.
    Over,
}

/// Runs the layers of a call, which let `begin` begin it.
pub(super) fn surround(
    request: Request,
    (parts, layers): (CallParts, CallLayers),
    begin: BeginCall,
) {
    let mark = request.mark();
    let Some(session) = mark.attached::<Session>() else {
        return request.nack();
    };
    let Some(home) = session.known_home() else {
        return fail(request, Code::UnknownObject, "");
    };
    let inner_call = Arc::new(InnerIncomingCall {
        method: parts.method,
        is_idempotent: parts.is_idempotent,
        mark: mark.clone(),
        deadline: parts.deadline,
        clock: session.terms.clock.clone(),
        stop_switch: Arc::default(),
        state: Mutex::new(InnerState {
            call: CalleeState::Waiting(request, begin),
            has_moved: false,
        }),
    });
    // The layers are not called before the first poll, which catches their panics.
    let inner = inner_call.clone();
    let future = Box::pin(async move { layers.run(parts, inner).await });
    let mut task = LayerTask {
        inner_call,
        future: Some(future),
        waits: None,
        alarm: None,
    };
    let task: BoxFuture<'static, ()> =
        Box::pin(async move { poll_fn(|context| task.poll(context)).await });
    if home.tasks().run(&mark, task) == Began::Moved {
        session.load().count_moved();
    }
}

/// The layers of a call. If this is dropped, the call ends.
struct LayerTask {
    inner_call: Arc<InnerIncomingCall>,
    /// `None` once the layers have ended.
    future: Option<CallFuture>,
    /// Counts the call while it waits in its layers.
    waits: Option<Waits>,
    alarm: Option<Alarm>,
}

impl LayerTask {
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let Some(future) = &mut self.future else {
            return Poll::Ready(());
        };
        let polled = catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context)));
        let (code, reason) = match polled {
            Ok(Poll::Pending) => return self.poll_deadline(context),
            Ok(Poll::Ready(Ok(_))) => (
                Code::Denied,
                "a layer gave a result without calling the method".to_owned(),
            ),
            Ok(Poll::Ready(Err(error))) => match error {
                CallError::Denied { reason, .. } | CallError::Layer { reason, .. } => {
                    (Code::Denied, reason)
                }
                CallError::Deadline { .. } => (Code::TooLate, String::new()),
                error => (Code::Denied, error.to_string()),
            },
            Err(panic) => {
                // The panic hook has reported it.
                forget_panic(panic);
                (Code::Panicked, String::new())
            }
        };
        self.end(code, reason);
        Poll::Ready(())
    }

    /// Ends the call if its deadline has passed. A method that runs has its own alarm.
    fn poll_deadline(&mut self, context: &Context<'_>) -> Poll<()> {
        if self.inner_call.suspend() {
            self.waits = None;
        } else if self.waits.is_none() {
            let session = self.inner_call.mark.attached::<Session>();
            self.waits = session.map(Waits::new);
        }
        let Some(deadline) = self.inner_call.deadline else {
            return Poll::Pending;
        };
        if deadline <= self.inner_call.clock.now() {
            // Only a call that has not begun waits.
            if self.waits.is_none() {
                return Poll::Pending;
            }
            self.end(Code::TooLate, String::new());
            return Poll::Ready(());
        }
        // If no alarm is available, only the caller enforces the deadline.
        self.alarm = self
            .alarm
            .take()
            .or_else(|| Alarm::new(&self.inner_call.clock).ok());
        if let Some(alarm) = &self.alarm {
            alarm.set(deadline, context.waker());
        }
        Poll::Pending
    }

    /// Drops the layers. If the method has not begun, the call fails with this code and text. If it
    /// runs, it ends at its current `.await`.
    fn end(&mut self, code: Code, reason: String) {
        if let Some(future) = self.future.take() {
            self.inner_call.end(code, reason);
            callbacks::run(move || drop(future));
        }
    }
}

impl Drop for LayerTask {
    fn drop(&mut self) {
        self.end(Code::TooLate, String::new());
    }
}

impl InnerIncomingCall {
    /// Records that the task of the layers is suspended. Returns true if the method runs.
    fn suspend(&self) -> bool {
        let mut state = lock(&self.state);
        state.has_moved = true;
        matches!(state.call, CalleeState::Running(_))
    }

    fn end(&self, code: Code, reason: String) {
        let call = std::mem::replace(&mut lock(&self.state).call, CalleeState::Over);
        match call {
            CalleeState::Waiting(request, begin) => begin(request, Start::Refused(code, reason)),
            CalleeState::Running(_) => self.stop_switch.stop(),
            CalleeState::Ended(_) | CalleeState::Over => {}
        }
    }

    /// Records the end of the method.
    fn record_end(&self, result: Result<u64, Outcome>) {
        let mut state = lock(&self.state);
        if let CalleeState::Running(waker) = &mut state.call {
            if let Some(waker) = waker.take() {
                callbacks::wake(waker);
            }
            state.call = CalleeState::Ended(result);
        }
    }

    fn layer_error(&self, outcome: Outcome, reason: &str) -> CallError {
        CallError::Layer {
            method: self.method,
            reason: reason.to_owned(),
            outcome,
            idempotent: self.is_idempotent,
        }
    }
}

impl InnerCall for InnerIncomingCall {
    fn run(self: Arc<Self>, request: CallRequest) -> CallFuture {
        Box::pin(async move {
            let (_, metadata) = request.terms();
            drop(request);
            let mut run = MethodRun {
                inner_call: self.clone(),
                metadata: Some(metadata),
                has_ended: false,
            };
            poll_fn(|context| run.poll(context)).await
        })
    }

    fn outcome(&self) -> Outcome {
        match &lock(&self.state).call {
            CalleeState::Waiting(..) => Outcome::DidNotRun,
            CalleeState::Ended(Err(outcome)) => *outcome,
            CalleeState::Ended(Ok(_)) => Outcome::Ran,
            CalleeState::Running(_) | CalleeState::Over => Outcome::MayHaveRun,
        }
    }
}

/// The run of the method. If it is dropped, the method ends at its current `.await`.
struct MethodRun {
    inner_call: Arc<InnerIncomingCall>,
    /// `None` once the method has begun.
    metadata: Option<Metadata>,
    has_ended: bool,
}

impl MethodRun {
    fn poll(&mut self, context: &Context<'_>) -> Poll<Result<CallResponse, CallError>> {
        if let Some(metadata) = self.metadata.take() {
            if let Err(error) = self.begin(metadata) {
                self.has_ended = true;
                return Poll::Ready(Err(error));
            }
        }
        // The waker is cloned without the lock, because that may run code of the program.
        let own = context.waker().clone();
        let mut state = lock(&self.inner_call.state);
        let result = match &mut state.call {
            CalleeState::Running(waker) => {
                callbacks::discard(waker.replace(own));
                return Poll::Pending;
            }
            CalleeState::Ended(result) => *result,
            CalleeState::Waiting(..) | CalleeState::Over => Err(Outcome::MayHaveRun),
        };
        drop(state);
        self.has_ended = true;
        Poll::Ready(match result {
            Ok(bytes) => Ok(CallResponse::new(self.inner_call.clone(), bytes, None)),
            Err(outcome) => Err(self
                .inner_call
                .layer_error(outcome, "the method has returned no result")),
        })
    }

    /// Begins the method.
    fn begin(&self, metadata: Metadata) -> Result<(), CallError> {
        let inner_call = &self.inner_call;
        let mut state = lock(&inner_call.state);
        let running = CalleeState::Running(None);
        let (mut request, begin) = match std::mem::replace(&mut state.call, running) {
            CalleeState::Waiting(request, begin) => (request, begin),
            other => {
                state.call = other;
                drop(state);
                let reason = "it called the method again, which runs once for each call";
                return Err(inner_call.layer_error(inner_call.outcome(), reason));
            }
        };
        let has_moved = state.has_moved;
        drop(state);
        let observer = Box::new(EndWatch(inner_call.clone()));
        let stop_switch = inner_call.stop_switch.clone();
        if has_moved {
            let waits = inner_call.mark.attached::<Session>().map(Waits::new);
            request.keep(Box::new(StartingCall {
                begin,
                metadata,
                observer,
                stop_switch,
                deadline: inner_call.deadline,
                clock: inner_call.clock.clone(),
                waits,
            }));
            request.run_again();
            return Ok(());
        }
        let start = Start::Runs {
            metadata,
            observer,
            stop_switch,
        };
        // A method that panics has informed its caller.
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| begin(request, start))) {
            forget_panic(panic);
        }
        Ok(())
    }
}

impl Drop for MethodRun {
    fn drop(&mut self) {
        if self.metadata.is_none() && !self.has_ended {
            self.inner_call.stop_switch.stop();
        }
    }
}

/// Observer of the end of the method. If it is dropped before, the method has not begun.
struct EndWatch(Arc<InnerIncomingCall>);

impl Watch for EndWatch {
    fn after(&self, _: &CallInfo, end: &CallEnd) {
        self.0.record_end(end.result.map(|()| end.bytes));
    }
}

impl Drop for EndWatch {
    fn drop(&mut self) {
        self.0.record_end(Err(Outcome::DidNotRun));
    }
}
