//! Calls of objects of this program, without a connection.
//!
//! Arguments are written and read as for a peer, so that a method sees no difference. A plain
//! method runs on the calling thread. The future of an async method is polled by the waiting
//! caller, and dropped with the call.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};
use std::task::{Context as Task, Poll};
use std::time::Instant;

use jstream::MessageBuffer;

use crate::call::outgoing::failure::{failure, lost};
use crate::frame::Metadata;
use crate::interface::{BoxFuture, Method};
use crate::reference::Passing;
use crate::session::{Answer, Context, Incoming, LocalOutcome, LocalSlot, Node};
use crate::support::{CallError, block_on, lock};

/// A call that has started.
pub(crate) struct LocalRun {
    slot: Arc<LocalSlot>,
    /// Future of the method, until it has completed.
    rest: Option<BoxFuture<'static, ()>>,
    method: &'static Method,
}

/// Starts a method of an object.
pub(crate) fn begin(
    node: &Node,
    (index, method): (usize, &'static Method),
    payload: MessageBuffer,
    passing: Passing,
    (deadline, metadata): (Option<Instant>, Metadata),
) -> Result<LocalRun, CallError> {
    let callee = node.callee().ok_or(CallError::UnknownObject {
        method: method.name(),
    })?;
    let slot = Arc::new(LocalSlot {
        outcome: Mutex::new(LocalOutcome::Open),
        passing,
    });
    let call = Incoming {
        payload,
        answer: Answer::local(slot.clone()),
    };
    let context = Context {
        deadline,
        call: None,
        watched: None,
        metadata,
    };
    // A peer would get an error instead of a panic, and a local caller sees no difference.
    let begun = catch_unwind(AssertUnwindSafe(|| callee.local(index, call, context)));
    let rest = begun.unwrap_or_else(|_| {
        slot.put(LocalOutcome::Panicked);
        None
    });
    Ok(LocalRun { slot, rest, method })
}

impl LocalRun {
    /// Polls the call for its result.
    pub(crate) fn poll(&mut self, task: &mut Task<'_>) -> Poll<Result<MessageBuffer, CallError>> {
        if let Some(rest) = &mut self.rest {
            let polled = catch_unwind(AssertUnwindSafe(|| rest.as_mut().poll(task)));
            match polled {
                Ok(Poll::Pending) => return Poll::Pending,
                Ok(Poll::Ready(())) => {}
                Err(_) => self.slot.put(LocalOutcome::Panicked),
            }
            // The future is dropped before the outcome is read: its answer, if it was not used,
            // reports the reason in its drop.
            self.rest = None;
        }
        Poll::Ready(self.outcome())
    }

    pub(crate) fn wait(mut self) -> Result<MessageBuffer, CallError> {
        block_on(std::future::poll_fn(|task| self.poll(task)))
    }

    pub(crate) fn method(&self) -> &'static Method {
        self.method
    }

    /// Returns true if the method has completed.
    pub(crate) fn is_over(&self) -> bool {
        self.rest.is_none()
    }

    fn outcome(&self) -> Result<MessageBuffer, CallError> {
        let outcome = std::mem::replace(&mut *lock(&self.slot.outcome), LocalOutcome::Open);
        let method = self.method;
        match outcome {
            LocalOutcome::Result(filled) => Ok(filled),
            LocalOutcome::Refused(code, why) => {
                Err(failure(method, code.to_word(), why.as_bytes()))
            }
            LocalOutcome::Panicked => Err(CallError::Panicked {
                method: method.name(),
                reason: String::new(),
                idempotent: method.is_idempotent(),
            }),
            LocalOutcome::Open => Err(lost(method, "it gave no answer".to_owned())),
        }
    }
}
