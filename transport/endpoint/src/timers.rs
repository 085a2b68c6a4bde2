//! All timers of the process.
//!
//! Message timeouts are long and messages are many, so setting a timer repeatedly is cheap, and
//! finding the expired timers is not. The reactor thread scans all timers at the earliest time that
//! it knows of.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use std::time::{Duration, Instant};

use jstream_sync::watcher::wake;

/// All timers of the process.
#[derive(Debug, Default)]
pub(super) struct Timers(Mutex<TimerState>);

#[derive(Debug, Default)]
struct TimerState {
    places: Vec<Option<(Instant, Waker)>>,
    free: Vec<usize>,
    /// The time at which the thread scans for expired timers: not later than the earliest of them.
    next: Option<Instant>,
}

impl Timers {
    /// Adds a timer that is not set.
    pub(super) fn take_place(&self) -> usize {
        let mut state = self.lock();
        state.free.pop().unwrap_or_else(|| {
            state.places.push(None);
            state.places.len().saturating_sub(1)
        })
    }

    /// Sets a timer to call `waker` at `moment`. Returns true if the thread has to scan earlier
    /// than it knows of.
    pub(super) fn set(&self, place: usize, moment: Instant, waker: &Waker) -> bool {
        let mut state = self.lock();
        let old = state.places.get_mut(place).and_then(|place| {
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
        drop(old);
        sooner
    }

    /// Clears the setting of a timer.
    pub(super) fn clear(&self, place: usize) {
        let mut state = self.lock();
        let old = state.places.get_mut(place).and_then(Option::take);
        drop(state);
        drop(old);
    }

    /// Removes a timer.
    pub(super) fn remove(&self, place: usize) {
        let mut state = self.lock();
        let old = state.places.get_mut(place).and_then(Option::take);
        state.free.push(place);
        drop(state);
        drop(old);
    }

    /// Returns the number of timers that existed at the same time.
    #[cfg(test)]
    pub(super) fn count_places(&self) -> usize {
        self.lock().places.len()
    }

    /// Calls the wakers of expired timers, and returns the time until the next one may expire.
    /// `due` is a buffer that is reused between calls.
    pub(super) fn ring(&self, due: &mut Vec<Waker>) -> Option<Duration> {
        let mut state = self.lock();
        let now = Instant::now();
        if state.next? <= now {
            let mut next: Option<Instant> = None;
            for place in &mut state.places {
                if let Some((_, waker)) = place.take_if(|(moment, _)| *moment <= now) {
                    due.push(waker);
                } else if let Some((moment, _)) = place {
                    next = Some(next.map_or(*moment, |next| next.min(*moment)));
                }
            }
            state.next = next;
        }
        let next = state.next;
        drop(state);
        due.drain(..).for_each(wake);
        next.map(|next| next.saturating_duration_since(now))
    }

    /// Locks the timers. No code panics under the lock except when out of memory, and then nothing
    /// was changed.
    fn lock(&self) -> MutexGuard<'_, TimerState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
