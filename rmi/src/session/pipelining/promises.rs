//! State of the pipelined calls of a connection.
//!
//! Decision 080 has the reasons.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Instant;

use jstream_active::{Request, Settings};

use crate::frame::{CallTrailer, PROMISE_NUMBERS};
use crate::session::clock::{Alarm, Clock};
use crate::session::pipelining::queues::{Bounds, Queues};
use crate::session::waiting::{CallCounts, IsHeld};
use crate::support::lock;

/// The pipelined calls of one connection at their server, and the numbers of the calls that this
/// side makes.
pub(crate) struct Promises {
    pub(super) queues: Mutex<Queues<Held>>,
    next: AtomicU32,
    /// True while a queue waits for room within the limit of waiting calls.
    pub(super) is_stuck: AtomicBool,
    /// Alarm for the next expiry of a held call.
    pub(super) timer: OnceLock<Option<Alarm>>,
    /// Time for which the alarm is set.
    pub(super) due: Mutex<Option<Instant>>,
    pub(super) clock: Clock,
    /// Counts of the calls of the connection.
    pub(crate) counts: Arc<CallCounts>,
}

/// A held call.
pub(super) struct Held {
    pub(super) request: Request,
    /// Entry among the waiting calls, if the call counts as one.
    pub(super) place: Option<IsHeld>,
}

impl Promises {
    /// Creates the state of a connection with these flow-control windows.
    pub(crate) fn new(settings: &Settings, clock: Clock, counts: Arc<CallCounts>) -> Self {
        // The calls on which held calls depend must find room in the window.
        let calls = usize::from(settings.window_messages) / 2;
        let bytes = settings.window_bytes / 2;
        Self {
            queues: Mutex::new(Queues::new(Bounds { calls, bytes })),
            next: AtomicU32::new(0),
            is_stuck: AtomicBool::new(false),
            timer: OnceLock::new(),
            due: Mutex::default(),
            clock,
            counts,
        }
    }

    /// Returns the counts of the calls of the connection.
    pub(crate) fn counts(&self) -> &CallCounts {
        &self.counts
    }

    /// Numbers a call to the other side, so that other calls may name it.
    /// `interface` is the id of the interface of the result at the other side.
    pub(crate) fn number_call(&self, interface: u64) -> CallTrailer {
        CallTrailer {
            // A number may be used again after 2^28 calls. The server then refuses it if the first
            // call with this number has not ended.
            number: self.next.fetch_add(1, Ordering::Relaxed) % PROMISE_NUMBERS,
            interface,
        }
    }

    /// Returns how many calls were numbered since this one.
    pub(crate) fn behind(&self, number: u32) -> u32 {
        let next = self.next.load(Ordering::Relaxed);
        next.wrapping_sub(number) % PROMISE_NUMBERS
    }

    /// Drops all held calls, because the connection has ended.
    pub(crate) fn end(&self) {
        // Dropped without the lock, because dropping a call drops its promise, which takes the
        // lock.
        let held = lock(&self.queues).end();
        drop(held);
    }
}
