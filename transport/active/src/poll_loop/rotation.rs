//! Counters by which a poll loop takes turns between its connections and its other work.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

/// Interval, in turns, at which requests to be rerun are run although messages arrive continuously.
const RERUN_TURN: usize = 8;

/// Interval, in polls, at which the completion queue is polled although other connections always
/// have messages.
const QUEUE_TURN: usize = 16;

/// Interval, in polls, at which the clock is read to age incomplete messages.
const CLOCK_TURN: usize = 8;

/// Interval at which incomplete messages are aged while no thread sleeps.
const AGING_INTERVAL: Duration = Duration::from_millis(100);

/// Turns of a poll loop. Only the poller changes them.
#[derive(Default)]
pub(super) struct Rotation {
    /// Index of the member that is polled first, for fairness.
    first: AtomicUsize,
    /// Number of polls while work was deferred.
    deferred: AtomicUsize,
    /// Number of polls while a connection was armed.
    queue: AtomicUsize,
    /// Number of polls of more than one connection.
    many: AtomicUsize,
    /// Time of the last aging of incomplete messages, in nanoseconds of the coarse clock; 0 for
    /// never.
    aged: AtomicU64,
}

/// The deferred work that is due before the next message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DeferredTurn {
    Job,
    /// Requests of peers that have drained their receive sides.
    Drained,
    /// As `Drained`, and requests to be rerun.
    DrainedAndReruns,
}

impl Rotation {
    /// Returns the index of the member of `count` that is polled first.
    #[inline]
    pub(super) fn first(&self, count: usize) -> usize {
        let first = self.first.load(Ordering::Relaxed);
        // The number of members may have shrunk since.
        if first < count { first } else { 0 }
    }

    /// Records the index of a member that had a message.
    #[inline]
    pub(super) fn advance(&self, index: usize) {
        self.first.store(index.wrapping_add(1), Ordering::Relaxed);
    }

    /// Returns the deferred work that is due. A task that always wakes itself leaves every other
    /// turn to messages. Requests that waited for their peer to drain its receive side alternate
    /// with new messages.
    pub(super) fn deferred_turn(&self) -> DeferredTurn {
        let turns = self.deferred.fetch_add(1, Ordering::Relaxed);
        match turns % RERUN_TURN {
            1 => DeferredTurn::DrainedAndReruns,
            turn if turn % 2 == 0 => DeferredTurn::Job,
            _ => DeferredTurn::Drained,
        }
    }

    /// Returns true if the queue is polled before the connections.
    #[inline]
    pub(super) fn is_queue_turn(&self) -> bool {
        next(&self.queue) % QUEUE_TURN == 0
    }

    /// Returns true if the clock is read to age incomplete messages.
    #[inline]
    pub(super) fn is_clock_turn(&self) -> bool {
        next(&self.many) % CLOCK_TURN == 0
    }

    /// Returns the time by which incomplete messages have aged at `now`, in nanoseconds of the
    /// coarse clock, if the interval has passed.
    pub(super) fn age(&self, now: u64) -> Option<Duration> {
        let before = self.aged.load(Ordering::Relaxed);
        let elapsed = Duration::from_nanos(now.saturating_sub(before));
        if elapsed < AGING_INTERVAL {
            return None;
        }
        self.aged.store(now, Ordering::Relaxed);
        // The first call has no earlier time, so nothing has aged yet.
        (before != 0).then_some(elapsed)
    }
}

/// Returns the value of a counter, and increments it. No other thread increments it at the same
/// time.
#[inline]
fn next(counter: &AtomicUsize) -> usize {
    let count = counter.load(Ordering::Relaxed);
    counter.store(count.wrapping_add(1), Ordering::Relaxed);
    count
}
