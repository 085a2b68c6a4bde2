//! Slots for the answers to calls of this program.

use std::any::Any;
use std::io::IoSlice;
use std::sync::{Arc, Mutex};

use jstream::{Filled, Spent};

use crate::frame::Code;
use crate::support::lock;

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
    pub(crate) outcome: Mutex<LocalOutcome>,
    /// References among the arguments and the result of the call: a
    /// [`Passing`](crate::reference::Passing).
    pub(crate) passing: Arc<dyn Any + Send + Sync>,
}

impl LocalSlot {
    pub(crate) fn put(&self, outcome: LocalOutcome) {
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
