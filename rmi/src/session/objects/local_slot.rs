//! Slots for the answers to calls of this program.

use std::any::Any;
use std::sync::{Arc, Mutex};

use jstream::MessageBuffer;

use crate::frame::Code;
use crate::support::lock;

/// Outcome of a call.
#[derive(Debug)]
pub(crate) enum LocalOutcome {
    Open,
    Result(MessageBuffer),
    Refused(Code, String),
    Panicked,
}

/// Slot for the answer to a call.
#[derive(Debug)]
pub(crate) struct LocalSlot {
    pub(crate) outcome: Mutex<LocalOutcome>,
    /// References among the arguments and the result of the call: a
    /// [`Passing`](crate::reference::Passing).
    pub(crate) passing: Arc<dyn Any + Send + Sync>,
}

impl LocalSlot {
    pub(crate) fn put(&self, outcome: LocalOutcome) {
        *lock(&self.outcome) = outcome;
    }

    pub(crate) fn reply(&self, result: MessageBuffer) {
        self.put(LocalOutcome::Result(result));
    }

    /// Stores a refusal, unless there is an outcome already.
    pub(crate) fn refuse(&self, code: Code, why: &str) {
        let mut outcome = lock(&self.outcome);
        // A method that has returned a result may drop its answer afterwards. That must not replace
        // the result.
        if let LocalOutcome::Open = *outcome {
            *outcome = LocalOutcome::Refused(code, why.to_owned());
        }
    }
}
