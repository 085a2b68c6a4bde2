//! Small messages that wait for those behind them, so that one call of the system sends many.
//!
//! Who leaves a message says with that that somebody is going to send it soon: whoever waits for its answer, or
//! receives next. Should nobody, a timer does, so that nothing waits for longer than [`LONGEST`].

use std::io::IoSlice;
use std::sync::atomic::{AtomicBool, Ordering, fence};
use std::sync::{Arc, OnceLock, Weak};
use std::task::{Wake, Waker};
use std::time::{Duration, Instant};

use super::Shared;
use crate::device::connection::{Body, Incoming, Outbound, Outgoing};
use crate::device::deadline::Deadline;
use crate::endpoint::sending::Flushed;
use crate::endpoint::timer::Timer;
use crate::header::Header;

/// How long a message may wait for others.
const LONGEST: Duration = Duration::from_millis(2);

/// Timers ring at multiples of that: so those of many connections ring together.
const TICK_NANOS: u64 = 1_000_000;

/// What is known, without a lock, of what was gathered.
#[derive(Default)]
pub(super) struct Gathering {
    /// The device gathers.
    is_used: bool,
    /// Something may be gathered.
    holds: AtomicBool,
    /// A whole message is here that was not received.
    has_more: AtomicBool,
    /// The timer is set.
    is_set: AtomicBool,
    timer: OnceLock<Option<(Timer, Waker)>>,
}

/// What the timer wakes.
struct Late(Weak<Shared>);

impl Wake for Late {
    fn wake(self: Arc<Self>) {
        if let Some(shared) = self.0.upgrade() {
            let flushed = shared.flush_timed();
            shared.see_to(flushed);
        }
    }
}

impl Gathering {
    /// A simulated network has no time but its own.
    pub(super) fn new(half: &dyn Outgoing, scheme: &str) -> Self {
        Self {
            is_used: half.gathers() && scheme != "sim",
            ..Self::default()
        }
    }

    /// Notes whether another message is here, behind one that has come or not.
    #[inline]
    pub(super) fn note(&self, come: bool, half: Option<&dyn Incoming>) {
        if self.is_used {
            let has_more = come && half.is_some_and(Incoming::has_whole);
            self.has_more.store(has_more, Ordering::Relaxed);
        }
    }
}

impl Shared {
    /// Whether messages can wait for others.
    #[inline]
    pub(crate) fn gathers(&self) -> bool {
        self.gathering.is_used
    }

    /// Whether a whole message is here that was not received: then somebody is at it, and looks again soon.
    #[inline]
    pub(crate) fn has_more(&self) -> bool {
        self.gathering.has_more.load(Ordering::Relaxed)
    }

    /// Leaves a small message with the device, to go with the next one, or when somebody [flushes](Self::flush) or
    /// [looks](Self::flush_before_look). False where it has to be sent by itself.
    pub(crate) fn hold_back(self: &Arc<Self>, header: Header, segments: &[IoSlice<'_>]) -> bool {
        if !self.gathers() {
            return false;
        }
        let lengths = segments.iter().map(|segment| segment.len() as u64);
        let length = lengths.fold(0, u64::saturating_add);
        if length > self.facts.limits.max_send {
            return false;
        }
        let header = Outbound::new(header, length, Body::Borrowed(segments)).header;
        let mut held = self.sending.lock();
        let gathered = held.gather(header, segments);
        if gathered {
            self.gathering.holds.store(true, Ordering::Relaxed);
        }
        // A timer that rings flushes under the lock: behind this, or it is seen here that none is set.
        let is_timed = !gathered || self.gathering.is_set.load(Ordering::Relaxed);
        self.settle(self.sending.leave(held));
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
            // A system without room for timers: nothing waits. What a sleeping sender is in the way of goes when
            // somebody sends or looks.
            None => {
                if let Flushed::Posted = self.flush_timed() {
                    self.carry();
                }
            }
        }
    }

    /// Sends what was gathered before somebody looks for more than what is here, which takes a call of the system.
    ///
    /// Who gathers because there is [more](Self::has_more) here looks at that once more behind it: so one of both sends.
    #[inline]
    pub(crate) fn flush_before_look(self: &Arc<Self>) {
        if self.gathering.is_used && !self.has_more() {
            self.flush_unless_none();
        }
    }

    /// Sends what was gathered where nobody is left who looks.
    #[inline]
    pub(crate) fn flush_unless_more(self: &Arc<Self>) {
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

    /// Sends what was gathered. What there is no room for now is posted.
    pub(crate) fn flush(self: &Arc<Self>) {
        let flushed = self.try_flush();
        self.see_to(flushed);
    }

    /// Has what is left sent.
    fn see_to(self: &Arc<Self>, flushed: Flushed) {
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

    /// The same where nobody carries on what is posted.
    pub(super) fn try_flush(&self) -> Flushed {
        if !self.gathering.holds.load(Ordering::Relaxed) {
            return Flushed::All;
        }
        self.flush_locked()
    }

    /// The same by a timer that has rung, or is none: who leaves something behind that sets it anew.
    fn flush_timed(&self) -> Flushed {
        self.gathering.is_set.store(false, Ordering::Relaxed);
        self.flush_locked()
    }

    fn flush_locked(&self) -> Flushed {
        let mut held = self.sending.lock();
        let mut flushed = Flushed::All;
        if self.gathering.holds.load(Ordering::Relaxed) {
            flushed = held.flush();
            let is_left = matches!(flushed, Flushed::Later);
            self.gathering.holds.store(is_left, Ordering::Relaxed);
        }
        self.settle(self.sending.leave(held));
        flushed
    }
}

/// When timers ring next, neither at once nor later than [`LONGEST`].
fn next_tick() -> Instant {
    static FIRST: OnceLock<Instant> = OnceLock::new();
    let now = Instant::now();
    let since = now.saturating_duration_since(*FIRST.get_or_init(|| now));
    let into = u64::from(since.subsec_nanos()).checked_rem(TICK_NANOS);
    let then = now.checked_add(LONGEST.saturating_sub(Duration::from_nanos(into.unwrap_or(0))));
    then.unwrap_or(now)
}
