//! Batching of small messages, so that one system call sends many of them.
//!
//! A thread holds a message back only if a flush is going to follow soon: by the thread that waits
//! for the answer, or by the next receive. If none follows, a timer flushes, so no message is
//! delayed for longer than [`LONGEST`].
//!
//! Decision 064 has the reasons.

use std::io::IoSlice;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering, fence};
use std::task::Waker;
use std::time::{Duration, Instant};

use crate::direction_lock::DirectionLock;
use crate::sending::{Flushed, SendDirection};
use crate::timer::Timer;
use jstream_base::Header;
use jstream_device::connection::{Incoming, Outgoing};
use jstream_device::deadline::Deadline;

/// Maximum delay of a message that is held back.
const LONGEST: Duration = Duration::from_millis(2);

/// Timers expire at multiples of this interval, so that the timers of many connections expire
/// together.
const TICK_NANOS: u64 = 1_000_000;

/// State of batching that is known without a lock.
#[derive(Default)]
pub(super) struct Batching {
    /// True if the device holds messages back.
    is_used: bool,
    /// True if messages may be held back. Stored under the lock of the send direction.
    holds: AtomicBool,
    /// True if a whole message has arrived that was not received yet. Stored by the thread that
    /// receives, after each receive.
    has_more: AtomicBool,
    /// True if the timer is set.
    is_timed: AtomicBool,
    timer: OnceLock<Option<(Timer, Waker)>>,
}

/// Outcome for a message that was to be held back.
pub(super) enum HeldBack {
    /// The device does not hold it back, so it has to be sent by itself.
    No,
    /// The device holds it back, and a flush is certain.
    Yes,
    /// The device holds it back, and the caller has to set the timer.
    Untimed,
}

impl Batching {
    /// Creates the state. A simulated network never holds messages back, because timers do not
    /// follow its clock.
    pub(super) fn new(half: &dyn Outgoing, scheme: &str) -> Self {
        Self {
            is_used: half.gathers() && scheme != "sim",
            ..Self::default()
        }
    }

    /// Returns true if messages can be held back.
    #[inline]
    pub(super) fn is_used(&self) -> bool {
        self.is_used
    }

    /// Returns true if a whole message has arrived that was not received yet.
    #[inline]
    pub(super) fn has_more(&self) -> bool {
        self.has_more.load(Ordering::Relaxed)
    }

    /// Records whether another whole message has arrived. `is_received` is true if one was just
    /// received.
    #[inline]
    pub(super) fn record_more(&self, is_received: bool, half: Option<&dyn Incoming>) {
        if self.is_used {
            let has_more = is_received && half.is_some_and(Incoming::has_whole);
            self.has_more.store(has_more, Ordering::Relaxed);
        }
    }

    /// Leaves a message with the device.
    pub(super) fn hold_back(
        &self,
        sending: &DirectionLock<SendDirection>,
        header: Header,
        segments: &[IoSlice<'_>],
    ) -> HeldBack {
        let mut sending = sending.lock();
        if !sending.gather(header, segments) {
            return HeldBack::No;
        }
        // Relaxed is enough for the flushes, which look again under this lock. A flush before a
        // poll has a fence.
        self.holds.store(true, Ordering::Relaxed);
        // A timer that expires flushes under the lock: either after this message, or this thread
        // sees that no timer is set.
        let is_timed = self.is_timed.load(Ordering::Relaxed);
        drop(sending);
        if is_timed || !self.claim_timer() {
            return HeldBack::Yes;
        }
        HeldBack::Untimed
    }

    /// Returns true if no timer was set, and the caller has to set it.
    pub(super) fn claim_timer(&self) -> bool {
        !self.is_timed.swap(true, Ordering::Relaxed)
    }

    /// Sets the timer, whose waker `make` creates the first time. Returns false if the system has
    /// no room for timers.
    pub(super) fn set_timer(&self, make: impl FnOnce() -> Waker) -> bool {
        let timer = self
            .timer
            .get_or_init(|| Some((Timer::new().ok()?, make())));
        if let Some((timer, waker)) = timer {
            timer.set(Deadline::at(next_tick()), waker);
        }
        timer.is_some()
    }

    /// Returns true if a caller that is going to poll has to flush first. A thread that holds a
    /// message back because there are more messages checks that again afterwards. So at least one
    /// of the two threads flushes.
    #[inline]
    pub(super) fn needs_flush_before_poll(&self) -> bool {
        if !self.is_used || self.has_more() {
            return false;
        }
        // Pairs with the fence in `needs_flush_unless_more`: this thread has stored that nothing
        // more has arrived and now looks for held messages, and the other thread has held one back
        // and looks for more.
        fence(Ordering::SeqCst);
        self.holds.load(Ordering::Relaxed)
    }

    /// Returns true if no other thread is going to poll, and so flush.
    #[inline]
    pub(super) fn needs_flush_unless_more(&self) -> bool {
        fence(Ordering::SeqCst);
        !self.has_more()
    }

    /// Sends the messages that are held back, if there are any.
    pub(super) fn flush(&self, sending: &DirectionLock<SendDirection>) -> Flushed {
        if !self.holds.load(Ordering::Relaxed) {
            return Flushed::All;
        }
        self.flush_locked(sending)
    }

    /// As [`flush`](Self::flush), for a timer that has expired or could not be created. A thread
    /// that holds another message back sets the timer again.
    pub(super) fn flush_timed(&self, sending: &DirectionLock<SendDirection>) -> Flushed {
        // Cleared before the lock: a thread that holds a message back under the lock later than
        // this flush sees no timer and sets it.
        self.is_timed.store(false, Ordering::Relaxed);
        self.flush_locked(sending)
    }

    fn flush_locked(&self, sending: &DirectionLock<SendDirection>) -> Flushed {
        let mut sending = sending.lock();
        // Another thread may have flushed while this one waited for the lock.
        if !self.holds.load(Ordering::Relaxed) {
            return Flushed::All;
        }
        let flushed = sending.flush();
        // The sleeping thread that holds the half sends only if it has a message to send, so the
        // flush is due again.
        let is_left = matches!(flushed, Flushed::Later);
        self.holds.store(is_left, Ordering::Relaxed);
        flushed
    }
}

/// Returns the next time at which timers expire, which is at most [`LONGEST`] ahead.
fn next_tick() -> Instant {
    static FIRST: OnceLock<Instant> = OnceLock::new();
    let now = Instant::now();
    let since = now.saturating_duration_since(*FIRST.get_or_init(|| now));
    let into = u64::from(since.subsec_nanos()).checked_rem(TICK_NANOS);
    let then = now.checked_add(LONGEST.saturating_sub(Duration::from_nanos(into.unwrap_or(0))));
    then.unwrap_or(now)
}
