//! Calls of objects of this program, without a connection.
//!
//! The arguments are written and read as for a peer, so that a method sees the same. A plain method runs in the thread that
//! calls; the future of any other is polled by who waits for the call, and dropped with it.

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

/// What comes of a call.
#[derive(Debug)]
pub(crate) enum Outcome {
    Open,
    Result(Filled),
    Refused(Code, String),
    Panicked,
}

/// Where the answer to a call is put.
#[derive(Debug)]
pub(crate) struct Slot {
    outcome: Mutex<Outcome>,
    /// The references of its arguments and its result.
    pub(crate) passing: Passing,
}

impl Slot {
    fn put(&self, outcome: Outcome) {
        *lock(&self.outcome) = outcome;
    }

    pub(crate) fn reply(&self, segments: &[IoSlice<'_>]) {
        self.put(Outcome::Result(copied(segments)));
    }

    /// There is no result, unless there is one.
    pub(crate) fn refuse(&self, code: Code, why: &str) {
        let mut outcome = lock(&self.outcome);
        if let Outcome::Open = *outcome {
            *outcome = Outcome::Refused(code, why.to_owned());
        }
    }
}

/// A call that has begun.
pub(crate) struct Running {
    slot: Arc<Slot>,
    /// What is left of it.
    rest: Option<BoxFuture<'static, ()>>,
    method: &'static Method,
}

/// A message of its own.
pub(crate) fn copied(segments: &[IoSlice<'_>]) -> Filled {
    let bytes: Vec<u8> = segments
        .iter()
        .flat_map(|part| part.iter().copied())
        .collect();
    match Spent::heap(bytes.len()).copy_from(&bytes) {
        Ok(filled) => filled,
        Err(_) => unreachable!("it has room for so many bytes"),
    }
}

/// Calls a method of an object.
pub(crate) fn begin(
    node: &Node,
    (index, method): (usize, &'static Method),
    payload: Filled,
    passing: Passing,
    deadline: Option<Instant>,
) -> Result<Running, CallError> {
    let callee = node.callee().ok_or(CallError::UnknownObject {
        method: method.name(),
    })?;
    let slot = Arc::new(Slot {
        outcome: Mutex::new(Outcome::Open),
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
        slot.put(Outcome::Panicked);
        None
    });
    Ok(Running { slot, rest, method })
}

impl Running {
    /// Whether it is over.
    pub(crate) fn poll(&mut self, task: &mut Task<'_>) -> Poll<Result<Filled, CallError>> {
        if let Some(rest) = &mut self.rest {
            let polled = catch_unwind(AssertUnwindSafe(|| rest.as_mut().poll(task)));
            match polled {
                Ok(Poll::Pending) => return Poll::Pending,
                Ok(Poll::Ready(())) => {}
                Err(_) => self.slot.put(Outcome::Panicked),
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

    /// Whether its method has not to be waited for.
    pub(crate) fn is_over(&self) -> bool {
        self.rest.is_none()
    }

    fn outcome(&self) -> Result<Filled, CallError> {
        let outcome = std::mem::replace(&mut *lock(&self.slot.outcome), Outcome::Open);
        let method = self.method;
        match outcome {
            Outcome::Result(filled) => Ok(filled),
            Outcome::Refused(code, why) => {
                Err(crate::call::failure(method, code as u64, why.as_bytes()))
            }
            Outcome::Panicked => Err(CallError::Panicked {
                method: method.name(),
                idempotent: method.is_idempotent(),
            }),
            Outcome::Open => Err(crate::call::lost(method, "it has no answer".to_owned())),
        }
    }
}
