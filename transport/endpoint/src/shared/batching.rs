//! Batching of small messages, so that one system call sends many of them.
//!
//! A thread holds a message back only if a flush is going to follow soon: by the thread that waits
//! for the answer, or by the next receive. If none follows, a timer flushes, so no message is
//! delayed for longer than [`LONGEST`].

use std::io::IoSlice;
use std::sync::atomic::{Ordering, fence};
use std::sync::{Arc, OnceLock, Weak};
use std::task::Wake;
use std::time::{Duration, Instant};

use super::Shared;
use crate::sending::Flushed;
use crate::timer::Timer;
use jstream_base::Header;
use jstream_device::connection::{Body, Outbound};
use jstream_device::deadline::Deadline;

/// Maximum delay of a message that is held back.
const LONGEST: Duration = Duration::from_millis(2);

/// Timers expire at multiples of this interval, so that the timers of many connections expire
/// together.
const TICK_NANOS: u64 = 1_000_000;

/// Waker that the timer calls.
struct Late(Weak<Shared>);

impl Wake for Late {
    fn wake(self: Arc<Self>) {
        if let Some(shared) = self.0.upgrade() {
            let flushed = shared.flush_timed();
            shared.schedule_rest(flushed);
        }
    }
}

impl Shared {
    /// Returns true if messages can be held back.
    #[inline]
    pub fn gathers(&self) -> bool {
        self.gathering.is_used
    }

    /// Returns true if a whole message has arrived that was not received yet. A thread is then
    /// processing messages and polls again soon.
    #[inline]
    pub fn has_more(&self) -> bool {
        self.gathering.has_more.load(Ordering::Relaxed)
    }

    /// Leaves a small message with the device. It goes with the next message, with a
    /// [flush](Self::flush), or before the next [poll](Self::flush_before_poll). Returns false if
    /// the message has to be sent by itself.
    pub fn gather_message(self: &Arc<Self>, header: Header, segments: &[IoSlice<'_>]) -> bool {
        if !self.gathers() {
            return false;
        }
        let lengths = segments.iter().map(|segment| segment.len() as u64);
        let length = lengths.fold(0, u64::saturating_add);
        if length > self.info.limits.max_send {
            return false;
        }
        let header = Outbound::new(header, length, Body::Borrowed(segments)).header;
        let mut sending = self.sending.lock();
        let gathered = sending.gather(header, segments);
        if gathered {
            self.gathering.holds.store(true, Ordering::Relaxed);
        }
        // A timer that expires flushes under the lock: either after this message, or this thread
        // sees that no timer is set.
        let is_timed = !gathered || self.gathering.is_set.load(Ordering::Relaxed);
        drop(sending);
        if !is_timed && !self.gathering.is_set.swap(true, Ordering::Relaxed) {
            self.set_timer();
        }
        gathered
    }

    #[cold]
    fn set_timer(self: &Arc<Self>) {
        let timer = self.gathering.timer.get_or_init(|| {
            let late = Arc::new(Late(Arc::downgrade(self)));
            Some((Timer::new().ok()?, late.into()))
        });
        match timer {
            Some((timer, waker)) => timer.set(Deadline::at(next_tick()), waker),
            // The system has no room for timers, so nothing is held back. If a sleeping sender has
            // the half, the messages go when a thread sends or polls next.
            None => {
                if let Flushed::Posted = self.flush_timed() {
                    self.carry();
                }
            }
        }
    }

    /// Sends the gathered messages before a caller polls for more than has already arrived, which
    /// takes a system call.
    ///
    /// A thread that gathers a message because there are [more messages](Self::has_more) checks
    /// that again afterwards. So at least one of the two threads flushes.
    #[inline]
    pub fn flush_before_poll(self: &Arc<Self>) {
        if self.gathering.is_used && !self.has_more() {
            self.flush_unless_none();
        }
    }

    /// Sends the gathered messages if no other thread is going to poll.
    #[inline]
    pub fn flush_unless_more(self: &Arc<Self>) {
        fence(Ordering::SeqCst);
        if !self.has_more() {
            self.flush();
        }
    }

    #[inline]
    fn flush_unless_none(self: &Arc<Self>) {
        fence(Ordering::SeqCst);
        if self.gathering.holds.load(Ordering::Relaxed) {
            self.flush();
        }
    }

    /// Sends the gathered messages. Messages for which the device has no room now are posted.
    pub fn flush(self: &Arc<Self>) {
        let flushed = self.try_flush();
        self.schedule_rest(flushed);
    }

    /// Arranges that the rest is sent.
    fn schedule_rest(self: &Arc<Self>, flushed: Flushed) {
        match flushed {
            Flushed::All => {}
            Flushed::Posted => self.carry(),
            Flushed::Later => {
                if !self.gathering.is_set.swap(true, Ordering::Relaxed) {
                    self.set_timer();
                }
            }
        }
    }

    /// As [`flush`](Self::flush), but without a background thread for the posted rest.
    pub(super) fn try_flush(&self) -> Flushed {
        if !self.gathering.holds.load(Ordering::Relaxed) {
            return Flushed::All;
        }
        self.flush_locked()
    }

    /// As [`try_flush`](Self::try_flush), for a timer that has expired or could not be created. A
    /// thread that gathers another message sets the timer again.
    fn flush_timed(&self) -> Flushed {
        self.gathering.is_set.store(false, Ordering::Relaxed);
        self.flush_locked()
    }

    fn flush_locked(&self) -> Flushed {
        let mut sending = self.sending.lock();
        let mut flushed = Flushed::All;
        if self.gathering.holds.load(Ordering::Relaxed) {
            flushed = sending.flush();
            let is_left = matches!(flushed, Flushed::Later);
            self.gathering.holds.store(is_left, Ordering::Relaxed);
        }
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
