//! Calls of objects of this program, without a connection.
//!
//! Arguments are written and read as for a peer, so that a method sees no difference. A plain
//! method runs on the calling thread. The future of an async method is polled by the waiting
//! caller, and dropped with the call.

use std::any::Any;
use std::io::IoSlice;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};
use std::task::{Context as Task, Poll};
use std::time::Instant;

use jstream::{Filled, Spent};

use crate::context::Context;
use crate::error::CallError;
use crate::exports::Node;
use crate::frame::Code;
use crate::interface::{BoxFuture, Method};
use crate::reference::Passing;
use crate::server::{Answer, Incoming};
use crate::sync::lock;
use crate::wait::block_on;

/// Outcome of a call.
#[derive(Debug)]
pub(crate) enum LocalOutcome {
    Open,
    Result(Filled),
    Refused(Code, String),
    Panicked,
}

/// Slot for the answer to a call.
#[derive(Debug)]
pub(crate) struct LocalSlot {
    outcome: Mutex<LocalOutcome>,
    /// References among the arguments and the result of the call: a
    /// [`Passing`](crate::reference::Passing).
    pub(crate) passing: Arc<dyn Any + Send + Sync>,
}

impl LocalSlot {
    fn put(&self, outcome: LocalOutcome) {
        *lock(&self.outcome) = outcome;
    }

    pub(crate) fn reply(&self, segments: &[IoSlice<'_>]) {
        self.put(LocalOutcome::Result(copied(segments)));
    }

    /// Stores a refusal, unless there is an outcome already.
    pub(crate) fn refuse(&self, code: Code, why: &str) {
        let mut outcome = lock(&self.outcome);
        if let LocalOutcome::Open = *outcome {
            *outcome = LocalOutcome::Refused(code, why.to_owned());
        }
    }
}

/// A call that has started.
pub(crate) struct LocalRun {
    slot: Arc<LocalSlot>,
    /// Future of the method, until it has completed.
    rest: Option<BoxFuture<'static, ()>>,
    method: &'static Method,
}

/// Copies segments into a message on the heap.
pub(crate) fn copied(segments: &[IoSlice<'_>]) -> Filled {
    let bytes: Vec<u8> = segments
        .iter()
        .flat_map(|part| part.iter().copied())
        .collect();
    match Spent::heap(bytes.len()).copy_from(&bytes) {
        Ok(filled) => filled,
        Err(_) => unreachable!("the buffer has room for all bytes"),
    }
}

/// Starts a method of an object.
pub(crate) fn begin(
    node: &Node,
    (index, method): (usize, &'static Method),
    payload: Filled,
    passing: Passing,
    deadline: Option<Instant>,
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
        answer: Answer::here(slot.clone()),
    };
    let context = Context {
        deadline,
        call: None,
        watched: None,
    };
    let begun = catch_unwind(AssertUnwindSafe(|| callee.here(index, call, context)));
    let rest = begun.unwrap_or_else(|_| {
        slot.put(LocalOutcome::Panicked);
        None
    });
    Ok(LocalRun { slot, rest, method })
}

impl LocalRun {
    /// Polls the call for its result.
    pub(crate) fn poll(&mut self, task: &mut Task<'_>) -> Poll<Result<Filled, CallError>> {
        if let Some(rest) = &mut self.rest {
            let polled = catch_unwind(AssertUnwindSafe(|| rest.as_mut().poll(task)));
            match polled {
                Ok(Poll::Pending) => return Poll::Pending,
                Ok(Poll::Ready(())) => {}
                Err(_) => self.slot.put(LocalOutcome::Panicked),
            }
            self.rest = None;
        }
        Poll::Ready(self.outcome())
    }

    pub(crate) fn wait(mut self) -> Result<Filled, CallError> {
        block_on(std::future::poll_fn(|task| self.poll(task)))
    }

    pub(crate) fn method(&self) -> &'static Method {
        self.method
    }

    /// Returns true if the method has completed.
    pub(crate) fn is_over(&self) -> bool {
        self.rest.is_none()
    }

    fn outcome(&self) -> Result<Filled, CallError> {
        let outcome = std::mem::replace(&mut *lock(&self.slot.outcome), LocalOutcome::Open);
        let method = self.method;
        match outcome {
            LocalOutcome::Result(filled) => Ok(filled),
            LocalOutcome::Refused(code, why) => {
                Err(crate::call::failure(method, code as u64, why.as_bytes()))
            }
            LocalOutcome::Panicked => Err(CallError::Panicked {
                method: method.name(),
                idempotent: method.is_idempotent(),
            }),
            LocalOutcome::Open => Err(crate::call::lost(method, "it gave no answer".to_owned())),
        }
    }
}
