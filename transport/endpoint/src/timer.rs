//! Timers that wake tasks.
//!
//! Message timeouts are long and messages are many, so setting a timer repeatedly is cheap, and
//! finding the expired timers is not. The reactor thread scans all timers at the earliest time that
//! it knows of.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use std::time::{Duration, Instant};

use super::reactor::Reactor;
use jstream_device::deadline::Deadline;
use jstream_sync::watcher::wake;

/// A timer that calls a waker once at a given time. A dropped timer does not call it.
#[derive(Debug)]
pub struct Timer {
    reactor: Arc<Reactor>,
    place: usize,
}

impl Timer {
    /// Creates a timer that is not set.
    ///
    /// # Errors
    ///
    /// The error of the system if it is out of descriptors or threads.
    pub fn new() -> io::Result<Self> {
        let reactor = Arc::clone(Reactor::started()?);
        let place = reactor.timers().lock().take_place();
        Ok(Self { reactor, place })
    }

    /// Sets the timer to call `waker` at `deadline`, and replaces the previous setting. Setting it
    /// repeatedly to the same or a later time makes no system call.
    pub fn set(&self, deadline: Deadline, waker: &Waker) {
        let Some(moment) = deadline.moment() else {
            return self.clear();
        };
        let mut state = self.reactor.timers().lock();
        let old = state.places.get_mut(self.place).and_then(|place| {
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
        if sooner {
            self.reactor.kick();
        }
    }

    /// Clears the setting of the timer.
    pub(crate) fn clear(&self) {
        let mut state = self.reactor.timers().lock();
        let old = state.places.get_mut(self.place).and_then(Option::take);
        drop(state);
        drop(old);
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        let mut state = self.reactor.timers().lock();
        let old = state.places.get_mut(self.place).and_then(Option::take);
        state.free.push(self.place);
        drop(state);
        drop(old);
    }
}

/// A timer that wakes a task once at a given time. A dropped timer does not wake it.
///
/// The timer is driven by the same thread of the process that wakes tasks which wait for messages.
#[derive(Debug)]
pub struct Reminder(Timer);

impl Reminder {
    /// Creates a timer that is not set.
    ///
    /// # Errors
    ///
    /// The error of the system if it is out of descriptors or threads.
    pub fn new() -> io::Result<Self> {
        Timer::new().map(Self)
    }

    /// Sets the timer to call `waker` at `moment`, and replaces the previous setting. Setting it to
    /// the same time again is very cheap.
    pub fn set(&self, moment: Instant, waker: &Waker) {
        self.0.set(Deadline::at(moment), waker);
    }
}

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

impl TimerState {
    fn take_place(&mut self) -> usize {
        self.free.pop().unwrap_or_else(|| {
            self.places.push(None);
            self.places.len().saturating_sub(1)
        })
    }
}

impl Timers {
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

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::task::Wake;

    use super::*;

    struct TimerBell(mpsc::Sender<()>);

    impl Wake for TimerBell {
        fn wake(self: Arc<Self>) {
            let _ = self.0.send(());
        }
    }

    fn bell() -> (Waker, mpsc::Receiver<()>) {
        let (rings, heard) = mpsc::channel();
        (Arc::new(TimerBell(rings)).into(), heard)
    }

    fn hear(heard: &mpsc::Receiver<()>) {
        heard.recv_timeout(Duration::from_secs(20)).unwrap();
    }

    fn after(milliseconds: u64) -> Deadline {
        Deadline::after(Duration::from_millis(milliseconds))
    }

    #[test]
    fn a_timer_rings_once_and_not_before_its_moment() {
        let ((late, late_heard), (soon, soon_heard)) = (bell(), bell());
        let (one, two) = (Timer::new().unwrap(), Timer::new().unwrap());
        let start = Instant::now();
        one.set(after(60), &late);
        // The earlier timer is set after the thread has begun to sleep.
        two.set(after(20), &soon);
        hear(&soon_heard);
        assert!(start.elapsed() >= Duration::from_millis(20));
        hear(&late_heard);
        assert!(start.elapsed() >= Duration::from_millis(60));
        two.set(after(1), &late);
        hear(&late_heard);
        assert!(soon_heard.try_recv().is_err() && late_heard.try_recv().is_err());
    }

    #[test]
    fn what_was_set_last_counts() {
        let ((one, one_heard), (two, two_heard)) = (bell(), bell());
        let [a, b, c] = [(); 3].map(|()| Timer::new().unwrap());
        a.set(after(10), &one);
        b.set(after(10), &one);
        c.set(after(10), &one);
        a.set(after(30), &two);
        b.set(Deadline::NEVER, &one);
        drop((c, one));
        hear(&two_heard);
        // No timer holds that waker any more.
        assert_eq!(one_heard.recv(), Err(mpsc::RecvError));
        a.clear();
    }

    #[test]
    fn places_are_used_again() {
        let (waker, heard) = bell();
        for _ in 0..100 {
            let timer = Timer::new().unwrap();
            timer.set(after(0), &waker);
            hear(&heard);
        }
        // Other tests use timers at the same time.
        let places = Reactor::started().unwrap().timers().lock().places.len();
        assert!(places < 50, "{places}");
    }
}
