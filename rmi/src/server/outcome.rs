//! What is told to the caller when a method has ended.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use jstream_transport::SendError;

use super::Failed;
use super::incoming::written;
use super::link::Link;
use crate::frame::{Code, Frame};

/// The connection is of no use any more.
#[derive(Debug)]
pub(super) struct Ended;

/// How a call ended.
#[derive(Debug)]
pub(super) enum Outcome {
    /// As its skeleton says. The result was sent by it.
    Of(Result<(), Failed>),
    Refused(Code),
    /// Refused with a reason.
    Explained(Code, String),
}

impl Outcome {
    /// What is told where the method panicked too late for its result.
    pub(super) fn or_panicked(self) -> Self {
        match self {
            // The caller has its answer.
            Self::Of(Ok(())) => self,
            _ => Self::Refused(Code::Panicked),
        }
    }
}

/// Tells the caller, unless it was told or does not wait. Whatever goes wrong ends the call; what makes
/// the connection useless ends that.
pub(super) fn settle(link: &Link, number: Option<u64>, outcome: Outcome) -> Result<(), Ended> {
    let (code, reason) = match outcome {
        Outcome::Of(Ok(())) => return Ok(()),
        Outcome::Of(Err(Failed::UnknownMethod)) => (Code::UnknownMethod, String::new()),
        Outcome::Of(Err(Failed::Arguments(error))) => (Code::Arguments, error.to_string()),
        Outcome::Of(Err(Failed::Result(error))) => (Code::Result, error.to_string()),
        Outcome::Of(Err(Failed::Send(
            error @ (SendError::TooLarge { .. } | SendError::NoBuffer { .. }),
        ))) => (Code::Result, error.to_string()),
        Outcome::Of(Err(Failed::Send(_))) => return Err(Ended),
        Outcome::Of(Err(Failed::Streams)) => (Code::Busy, String::new()),
        Outcome::Of(Err(Failed::Panicked)) => (Code::Panicked, String::new()),
        Outcome::Of(Err(Failed::Stream(reason))) => (Code::Result, reason.to_owned()),
        Outcome::Refused(code) => (code, String::new()),
        Outcome::Explained(code, reason) => (code, reason),
    };
    number.map_or(Ok(()), |number| refuse(link, number, code, &reason))
}

/// The longest reason that is told to a peer, in bytes.
const LONGEST_REASON: usize = 1024;

/// Sends an error instead of a result.
fn refuse(link: &Link, number: u64, code: Code, reason: &str) -> Result<(), Ended> {
    let mut end = reason.len().min(LONGEST_REASON);
    while !reason.is_char_boundary(end) {
        end = end.saturating_sub(1);
    }
    let reason = reason.get(..end).unwrap_or_default();
    let header = Frame::Error { number, code }.header();
    let send = |reason: &str| {
        written(&reason, |segments| {
            link.endpoint.send_message(header, segments)
        })
    };
    match send(reason) {
        Ok(Ok(())) => Ok(()),
        // A peer that takes next to nothing may have the code alone.
        Ok(Err(SendError::TooLarge { .. })) if !reason.is_empty() => match send("") {
            Ok(Ok(())) => Ok(()),
            _ => Err(Ended),
        },
        Ok(Err(_)) | Err(_) => Err(Ended),
    }
}

/// What the program's code returns, or `None` when it panics.
///
/// The object itself decides what a panic leaves behind: it is shared, so it guards its state with
/// locks, which are poisoned. Writers and readers begin anew with each message.
pub(super) fn unless_it_panics<R>(work: impl FnOnce() -> R) -> Option<R> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(result) => Some(result),
        Err(panic) => {
            forget_panic(panic);
            None
        }
    }
}

/// Drops what a method panicked with, which may panic in turn.
fn forget_panic(mut panic: Box<dyn Any + Send>) {
    const PATIENCE: usize = 8;
    for _ in 0..PATIENCE {
        match catch_unwind(AssertUnwindSafe(|| drop(panic))) {
            Ok(()) => return,
            Err(again) => panic = again,
        }
    }
    // Whoever panics out of `Drop` without end keeps its memory.
    std::mem::forget(panic);
}
