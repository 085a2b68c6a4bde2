//! Clocks for leases, deadlines and idle connections.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, Weak};
use std::task::{Wake as _, Waker};
use std::time::{Duration, Instant};
use std::{fmt, io};

use jstream_active::WeakPeer;
use jstream_endpoint::Reminder;
use jstream_sync::timers::Timers;

use crate::frame::{Deadline, begin};
use crate::support::lock;

/// The clock for leases, call deadlines and idle connections: the system clock, or a manual clock
/// that a test advances.
///
/// ```
/// use jstream_rmi::{Clock, ServerOptions};
/// use std::time::Duration;
///
/// let clock = Clock::paused();
/// let mut options = ServerOptions::default();
/// options.clock = clock.clone();
/// // When this returns, all leases that were not renewed within that time have expired.
/// clock.advance(Duration::from_secs(3600));
/// ```
///
/// Each side uses its own clock: the client's clock decides when its calls time out, and the
/// server's clock when its methods do. Timeouts of the transport, such as those for messages in
/// flight and silent peers, always use the system clock. So do
/// [`Serving::shutdown`](crate::Serving::shutdown) and the pauses between
/// [retries](crate::Retries).
#[derive(Clone, Default)]
pub struct Clock(Option<Arc<Paused>>);

/// Number of advances that a paused clock remembers, to measure how far it moved during a wait.
const MOST_MOVES: usize = 1024;

/// Waker that performs the due work of a connection.
pub(crate) struct Tender(pub(crate) WeakPeer);

struct Paused {
    begun: Instant,
    state: Mutex<ClockState>,
    alarms: Timers,
}

#[derive(Default)]
struct ClockState {
    since: Duration,
    /// For each advance, its time by the system clock and the clock's previous value.
    moves: VecDeque<(Instant, Duration)>,
    /// Lease timers of the connections that use this clock.
    tenders: Vec<Weak<Tender>>,
}

impl Paused {
    fn at(&self, since: Duration) -> Instant {
        // A test may advance the clock by any time. Beyond what an `Instant` can hold, the clock
        // stands at its beginning, which is better than a panic in each thread that reads it.
        self.begun.checked_add(since).unwrap_or(self.begun)
    }

    fn now(&self) -> Instant {
        self.at(lock(&self.state).since)
    }

    /// Returns how far the clock was advanced since `then`, or since its creation.
    fn went_since(&self, then: Option<Instant>) -> Duration {
        let state = lock(&self.state);
        let moves = state.moves.iter();
        // A move is skipped if it happened before the wait began. The first one that is left tells
        // the time at which the clock stood when the wait began.
        let mut seen = moves.skip_while(|(moved, _)| then.is_some_and(|then| *moved < then));
        let stood = seen.next().map_or(state.since, |(_, before)| *before);
        state.since.saturating_sub(stood)
    }
}

impl Clock {
    pub(crate) const SYSTEM: Self = Self(None);

    /// Returns the system clock.
    #[must_use]
    pub fn system() -> Self {
        Self(None)
    }

    /// Returns a clock that stands still until it is [advanced](Self::advance). Clones share the
    /// clock.
    #[must_use]
    pub fn paused() -> Self {
        Self(Some(Arc::new(Paused {
            begun: Instant::now(),
            state: Mutex::default(),
            alarms: Timers::default(),
        })))
    }

    /// Advances a paused clock and triggers everything that is then due: leases are renewed or
    /// expire, and waits whose deadline has passed are woken. Has no effect on the system clock.
    pub fn advance(&self, by: Duration) {
        let Some(paused) = &self.0 else { return };
        let mut state = lock(&paused.state);
        let before = state.since;
        if state.moves.len() >= MOST_MOVES {
            state.moves.pop_front();
        }
        state.moves.push_back((Instant::now(), before));
        state.since = before.saturating_add(by);
        let now = paused.at(state.since);
        // Connections that have ended leave their entries behind, which would otherwise accumulate
        // in a test with many connections.
        state.tenders.retain(|tender| tender.strong_count() > 0);
        let tenders: Vec<_> = state.tenders.iter().filter_map(Weak::upgrade).collect();
        // The tenders read this clock, so waking them under the lock would block for ever.
        drop(state);
        for tender in tenders {
            tender.wake();
        }
        paused.alarms.expire(now);
    }

    pub(crate) fn now(&self) -> Instant {
        match &self.0 {
            None => Instant::now(),
            Some(paused) => paused.now(),
        }
    }

    /// Returns the start of a call's time.
    pub(crate) fn begin(&self, time: Option<Duration>) -> Instant {
        match &self.0 {
            None => begin(time),
            Some(_) => self.now(),
        }
    }

    /// Returns the deadline of a call that arrives now with the encoded `time`, if the deadline
    /// can be counted from the given tick of the system clock.
    pub(crate) fn deadline(&self, time: u16, tick: Option<u64>) -> Option<Deadline> {
        match &self.0 {
            // The tick saves reading the clock. It is a time of the system clock, so a paused clock
            // can't use it and computes the moment itself.
            None => Deadline::since(time, tick),
            Some(_) => None,
        }
    }

    /// Returns how far this clock moved during the last `waited` of system time.
    pub(crate) fn went_in(&self, waited: Duration) -> Duration {
        let (Some(paused), false) = (&self.0, waited.is_zero()) else {
            // The system clock moves with the time that was waited for.
            return waited;
        };
        paused.went_since(Instant::now().checked_sub(waited))
    }

    /// Returns true if both are the same clock.
    pub(crate) fn is(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (None, None) => true,
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            _ => false,
        }
    }

    /// Registers a lease timer to be woken when the clock is advanced. Returns false for the system
    /// clock.
    pub(crate) fn tells(&self, tender: &Arc<Tender>) -> bool {
        let Some(paused) = &self.0 else { return false };
        lock(&paused.state).tenders.push(Arc::downgrade(tender));
        true
    }

    pub(crate) fn is_paused(&self) -> bool {
        self.0.is_some()
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Clock")
            .field(&if self.is_paused() { "paused" } else { "system" })
            .finish()
    }
}

/// An alarm that wakes a task at a given time of a clock. Dropping it cancels it.
#[derive(Debug)]
pub(crate) enum Alarm {
    System(Reminder),
    Paused(PausedAlarm),
}

/// An alarm of a paused clock.
pub(crate) struct PausedAlarm {
    clock: Arc<Paused>,
    timer: usize,
}

impl Alarm {
    /// Creates an alarm that is not set.
    pub(crate) fn new(clock: &Clock) -> io::Result<Self> {
        let Some(clock) = &clock.0 else {
            return Reminder::new().map(Self::System);
        };
        Ok(Self::Paused(PausedAlarm {
            timer: clock.alarms.add(),
            clock: clock.clone(),
        }))
    }

    /// Sets the alarm to wake `waker` at `moment`. Replaces the previous setting.
    pub(crate) fn set(&self, moment: Instant, waker: &Waker) {
        let PausedAlarm { clock, timer } = match self {
            Self::System(reminder) => return reminder.set(moment, waker),
            Self::Paused(alarm) => alarm,
        };
        // The timer is set before the time is compared: an advance of another thread either comes
        // before the comparison, or finds the timer.
        clock.alarms.set(*timer, moment, waker);
        // An advance before this check is seen here. A later one finds the alarm.
        if moment <= clock.now() {
            clock.alarms.clear(*timer);
            waker.wake_by_ref();
        }
    }
}

impl Drop for PausedAlarm {
    fn drop(&mut self) {
        self.clock.alarms.remove(self.timer);
    }
}

impl fmt::Debug for PausedAlarm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PausedAlarm").field(&self.timer).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiters_see_all_moves() {
        let (clock, second) = (Clock::paused(), Duration::from_secs(1));
        let paused = clock.0.clone().unwrap();
        clock.advance(second);
        assert_eq!(clock.went_in(Duration::ZERO), Duration::ZERO);
        let begun = Instant::now();
        clock.advance(second);
        clock.advance(second);
        assert_eq!(paused.went_since(Some(begun)), second.saturating_mul(2));
        assert_eq!(paused.went_since(None), second.saturating_mul(3));
        let hour = second.saturating_mul(3600);
        assert_eq!(clock.went_in(hour), second.saturating_mul(3));
        assert_eq!(Clock::system().went_in(second), second);
    }
}
