//! What time it is for leases, deadlines and connections that are not used.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, Weak};
use std::task::{Wake as _, Waker};
use std::time::{Duration, Instant};

use jstream_transport::Reminder;

use crate::frame::{self, Deadline, Word};
use crate::lease::Tender;
use crate::sync::lock;

/// What time it is for leases, for the deadlines of calls, and for connections that are not used: that of the system, or
/// one that a test moves on.
///
/// ```
/// use jstream_rmi::{Clock, ServerOptions};
/// use std::time::Duration;
///
/// let clock = Clock::paused();
/// let mut options = ServerOptions::default();
/// options.clock = clock.clone();
/// // Leases that were not renewed in that time are over when this returns.
/// clock.advance(Duration::from_secs(3600));
/// ```
///
/// Each side goes by its own: that of the client says when its calls end, and that of the server when its methods do. What
/// the transport waits for, as messages that are under way and peers that are silent, goes by the system's clock always,
/// and so do [`Serving::shutdown`](crate::Serving::shutdown) and the pauses between [retries](crate::Retries).
#[derive(Clone, Default)]
pub struct Clock(Option<Arc<Paused>>);

/// How many of its moves a clock remembers, for what has waited meanwhile.
const MOST_MOVES: usize = 1024;

struct Paused {
    begun: Instant,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    since: Duration,
    /// When it was moved on, by the system's clock, and where it stood before.
    moves: VecDeque<(Instant, Duration)>,
    /// The connections that go by it.
    tenders: Vec<Weak<Tender>>,
    /// When whom to wake, by the numbers of the alarms.
    alarms: HashMap<u64, (Instant, Waker)>,
    next: u64,
}

impl Paused {
    fn at(&self, since: Duration) -> Instant {
        self.begun.checked_add(since).unwrap_or(self.begun)
    }

    /// How far it went since then, or since it began.
    fn went_since(&self, then: Option<Instant>) -> Duration {
        let state = lock(&self.state);
        let moves = state.moves.iter();
        let mut seen = moves.skip_while(|(moved, _)| then.is_some_and(|then| *moved < then));
        let stood = seen.next().map_or(state.since, |(_, before)| *before);
        state.since.saturating_sub(stood)
    }
}

impl Clock {
    pub(crate) const SYSTEM: Self = Self(None);

    /// The clock of the system.
    #[must_use]
    pub fn system() -> Self {
        Self(None)
    }

    /// A clock that stands, until it is [moved on](Self::advance). Clones are the same clock.
    #[must_use]
    pub fn paused() -> Self {
        Self(Some(Arc::new(Paused {
            begun: Instant::now(),
            state: Mutex::default(),
        })))
    }

    /// Moves a paused clock on, and does what is due then: leases are renewed, or end, and whoever waits for a deadline
    /// that has passed is woken. That of the system goes its way.
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
        state.tenders.retain(|tender| tender.strong_count() > 0);
        let tenders: Vec<_> = state.tenders.iter().filter_map(Weak::upgrade).collect();
        let alarms = state.alarms.values().filter(|(then, _)| *then <= now);
        let due: Vec<_> = alarms.map(|(_, waker)| waker.clone()).collect();
        state.alarms.retain(|_, (then, _)| *then > now);
        drop(state);
        for tender in tenders {
            tender.wake();
        }
        due.into_iter().for_each(Waker::wake);
    }

    pub(crate) fn now(&self) -> Instant {
        match &self.0 {
            None => Instant::now(),
            Some(paused) => paused.at(lock(&paused.state).since),
        }
    }

    /// The moment that a call's time counts from.
    #[inline]
    pub(crate) fn begin(&self, time: Option<Duration>) -> Instant {
        match &self.0 {
            None => frame::begin(time),
            Some(_) => self.now(),
        }
    }

    /// Until when a call waits that has come now, by its word, if it counts its time from that tick of the system's clock.
    #[inline]
    pub(crate) fn deadline(&self, word: u64, tick: Option<u64>) -> Option<Deadline> {
        match &self.0 {
            None => Deadline::since(Word::time_of(word), tick),
            Some(_) => None,
        }
    }

    /// How far it went while something waited for so long, by the clock of the system, until now.
    #[inline]
    pub(crate) fn went_in(&self, waited: Duration) -> Duration {
        let (Some(paused), false) = (&self.0, waited.is_zero()) else {
            return waited;
        };
        paused.went_since(Instant::now().checked_sub(waited))
    }

    /// Whether both are the same clock.
    pub(crate) fn is(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (None, None) => true,
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            _ => false,
        }
    }

    /// Has what is due done when the clock is moved on. False for that of the system.
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

/// Wakes a task at a moment of a clock. Dropping it keeps it quiet.
#[derive(Debug)]
pub(crate) enum Alarm {
    System(Reminder),
    Paused(PausedAlarm),
}

/// One of a clock that is moved on, by its number.
pub(crate) struct PausedAlarm {
    clock: Arc<Paused>,
    number: u64,
}

impl Alarm {
    /// One that is not set.
    pub(crate) fn new(clock: &Clock) -> io::Result<Self> {
        let Some(clock) = &clock.0 else {
            return Reminder::new().map(Self::System);
        };
        let mut state = lock(&clock.state);
        let number = state.next;
        state.next = number.wrapping_add(1);
        drop(state);
        let clock = clock.clone();
        Ok(Self::Paused(PausedAlarm { clock, number }))
    }

    /// Calls `waker` at that moment of its clock, instead of what was set before.
    pub(crate) fn set(&self, moment: Instant, waker: &Waker) {
        let PausedAlarm { clock, number } = match self {
            Self::System(reminder) => return reminder.set(moment, waker),
            Self::Paused(alarm) => alarm,
        };
        let mut state = lock(&clock.state);
        let is_due = moment <= clock.at(state.since);
        let before = if is_due {
            state.alarms.remove(number)
        } else {
            state.alarms.insert(*number, (moment, waker.clone()))
        };
        drop(state);
        drop(before);
        if is_due {
            waker.wake_by_ref();
        }
    }
}

impl Drop for PausedAlarm {
    fn drop(&mut self) {
        let waker = lock(&self.clock.state).alarms.remove(&self.number);
        drop(waker);
    }
}

impl fmt::Debug for PausedAlarm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PausedAlarm").field(&self.number).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waited_has_seen_the_moves_since() {
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
