//! Timers that wake tasks.
//!
//! Message timeouts are long and messages are many, so setting a timer repeatedly is cheap, and
//! finding the expired timers is not. The owner of the timers scans all of them at the earliest
//! time that it knows of.

use std::mem;
use std::sync::Mutex;
use std::task::Waker;
use std::time::{Duration, Instant};

use crate::callbacks::{discard, wake};
use crate::lock;

/// Timers that share a clock.
#[derive(Debug, Default)]
pub struct Timers(Mutex<TimerState>);

#[derive(Debug, Default)]
struct TimerState {
    places: Vec<Option<(Instant, Waker)>>,
    free: Vec<usize>,
    /// The time at which the owner scans for expired timers: not later than the earliest of them.
    next: Option<Instant>,
    /// Empty buffer for the wakers of expired timers.
    due: Vec<Waker>,
}

impl Timers {
    /// Adds a timer that is not set. Returns its number.
    #[must_use]
    pub fn add(&self) -> usize {
        let mut state = lock(&self.0);
        state.free.pop().unwrap_or_else(|| {
            state.places.push(None);
            state.places.len().saturating_sub(1)
        })
    }

    /// Sets a timer to call `waker` at `moment`, and replaces the previous setting. Returns true if
    /// the owner has to scan earlier than it knows of.
    pub fn set(&self, timer: usize, moment: Instant, waker: &Waker) -> bool {
        let mut state = lock(&self.0);
        let old = state.places.get_mut(timer).and_then(|place| {
            let same = place.as_ref().is_some_and(|(_, old)| old.will_wake(waker));
            match place {
                Some((then, _)) if same => {
                    *then = moment;
                    None
                }
                _ => place.replace((moment, waker.clone())),
            }
        });
        let sooner = state.next.is_none_or(|next| moment < next);
        if sooner {
            state.next = Some(moment);
        }
        drop(state);
        // Outside of the lock: dropping the last handle of a task may run its destructor here.
        discard(old.map(|(_, waker)| waker));
        sooner
    }

    /// Clears the setting of a timer.
    pub fn clear(&self, timer: usize) {
        let mut state = lock(&self.0);
        let old = state.places.get_mut(timer).and_then(Option::take);
        drop(state);
        discard(old.map(|(_, waker)| waker));
    }

    /// Removes a timer. Its number may be used by a later one.
    pub fn remove(&self, timer: usize) {
        let mut state = lock(&self.0);
        let old = state.places.get_mut(timer).and_then(Option::take);
        state.free.push(timer);
        drop(state);
        discard(old.map(|(_, waker)| waker));
    }

    /// Returns the number of timers that existed at the same time.
    #[must_use]
    pub fn count_places(&self) -> usize {
        lock(&self.0).places.len()
    }

    /// Calls the wakers of the timers that have expired at `now`, and returns the time until the
    /// next one may expire; `None` if no timer is set.
    pub fn expire(&self, now: Instant) -> Option<Duration> {
        let mut state = lock(&self.0);
        if state.next? <= now {
            let mut next: Option<Instant> = None;
            let TimerState { places, due, .. } = &mut *state;
            for place in places {
                if let Some((_, waker)) = place.take_if(|(moment, _)| *moment <= now) {
                    due.push(waker);
                } else if let Some((moment, _)) = place {
                    next = Some(next.map_or(*moment, |next| next.min(*moment)));
                }
            }
            state.next = next;
        }
        let next = state.next;
        if !state.due.is_empty() {
            let mut due = mem::take(&mut state.due);
            drop(state);
            due.drain(..).for_each(wake);
            lock(&self.0).due = due;
        }
        next.map(|next| next.saturating_duration_since(now))
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Wake;

    use super::*;

    #[derive(Default)]
    struct Expired(AtomicUsize);

    impl Wake for Expired {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn a_timer_expires_at_its_time() {
        let timers = Timers::default();
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        assert_eq!(timers.expire(at(9)), None);
        let expired = [(); 2].map(|()| Arc::new(Expired::default()));
        let [one, other] = expired.clone().map(Waker::from);
        let counts = || {
            expired
                .each_ref()
                .map(|expired| expired.0.load(Ordering::Relaxed))
        };
        let (first, second) = (timers.add(), timers.add());
        assert!(timers.set(first, at(20), &one));
        assert!(timers.set(second, at(10), &other));
        assert_eq!(timers.expire(at(9)), Some(Duration::from_secs(1)));
        assert_eq!(counts(), [0, 0]);
        assert_eq!(timers.expire(at(10)), Some(Duration::from_secs(10)));
        assert_eq!(counts(), [0, 1]);
        // A later setting replaces the previous one, and the owner scans in vain.
        assert!(!timers.set(first, at(30), &one));
        assert_eq!(timers.expire(at(20)), Some(Duration::from_secs(10)));
        assert_eq!(counts(), [0, 1]);
        assert!(!timers.set(second, at(30), &other));
        timers.clear(second);
        assert_eq!(timers.expire(at(30)), None);
        assert_eq!(counts(), [1, 1]);
        timers.remove(first);
        assert_eq!(timers.add(), first);
        assert_eq!(timers.count_places(), 2);
    }
}
