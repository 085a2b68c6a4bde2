//! Whose turn it is: the lock of one direction of a connection, and waiting under it.
//!
//! The lock is held for what does not wait. Who has to sleep takes the half out of it first, so that
//! others can post, look and leave meanwhile, and puts it back when it wakes. Who finds the half taken
//! waits until it is back. Whoever leaves sees to it that somebody is left who is going to look:
//! a thread that waits, or, if only tasks do, the device.

mod direction;
mod sleeping;

pub(super) use self::direction::{Common, Direction};

use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering, fence};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

use super::alarm::Alarm;
use super::spin::Spin;
use super::timer::Timer;
use super::watcher::wake;
use crate::device::deadline::Deadline;
use crate::process::Origin;

/// A direction and its lock.
pub(super) struct Turn<D> {
    state: Mutex<D>,
    /// How many threads wait for the lock itself. Whoever spins under it makes way.
    wanted: AtomicU32,
    /// Something was posted that had not ended when the lock was released.
    pending: AtomicBool,
    /// How many threads sleep for the other direction, or are about to.
    beside: AtomicU32,
    /// The half is back, or there are news.
    changed: Condvar,
    spin: Duration,
    alarm: std::sync::Arc<Alarm>,
    origin: Origin,
}

/// The lock, held.
pub(super) struct Held<'t, D> {
    state: MutexGuard<'t, D>,
}

impl<D> Deref for Held<'_, D> {
    type Target = D;

    #[inline]
    fn deref(&self) -> &D {
        &self.state
    }
}

impl<D> DerefMut for Held<'_, D> {
    #[inline]
    fn deref_mut(&mut self) -> &mut D {
        &mut self.state
    }
}

/// That the other direction is to be ended too.
#[must_use]
pub(super) struct Broke(pub(super) bool);

impl<D: Direction> Turn<D> {
    pub(super) fn new(
        state: D,
        spin: Duration,
        alarm: std::sync::Arc<Alarm>,
        origin: Origin,
    ) -> Self {
        Self {
            state: Mutex::new(state),
            wanted: AtomicU32::new(0),
            pending: AtomicBool::new(false),
            beside: AtomicU32::new(0),
            changed: Condvar::new(),
            spin,
            alarm,
            origin,
        }
    }

    /// A panic elsewhere can't leave the state half changed: it holds between statements.
    #[inline]
    pub(super) fn lock(&self) -> Held<'_, D> {
        let state = match self.state.try_lock() {
            Ok(state) => state,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => self.lock_slowly(),
        };
        let mut held = Held { state };
        if self.origin.is_elsewhere() {
            held.disown();
        }
        held
    }

    /// Whoever has it alone needs no lock.
    pub(super) fn get_mut(&mut self) -> &mut D {
        self.state.get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    #[cold]
    fn lock_slowly(&self) -> MutexGuard<'_, D> {
        self.wanted.fetch_add(1, Ordering::Relaxed);
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        self.wanted.fetch_sub(1, Ordering::Relaxed);
        state
    }

    /// Releases the lock.
    #[inline]
    pub(super) fn leave(&self, mut held: Held<'_, D>) -> Broke {
        let has_posted = held.has_posted();
        let common = held.common();
        let quiet = has_posted == self.is_pending()
            && common.waiting == 0
            && common.to_wake.is_empty()
            && !common.broke
            && !self.alarm.is_wanted();
        if quiet {
            common.news = false;
            return Broke(false);
        }
        self.leave_slowly(held)
    }

    /// Notes under the lock whether something is posted, for who has no lock.
    #[inline]
    fn note_posted(&self, held: &D) {
        let has_posted = held.has_posted();
        if !has_posted && self.is_pending() {
            self.alarm.tell_carrier();
        }
        self.pending.store(has_posted, Ordering::Relaxed);
    }

    #[cold]
    fn leave_slowly(&self, mut held: Held<'_, D>) -> Broke {
        // Only what was posted is waited for by tasks.
        while self.alarm.is_wanted() && held.has_half() && held.wants_half() {
            if held.arm() {
                self.set_timer(&mut held);
            } else {
                held.drive();
            }
        }
        self.note_posted(&held);
        let half_is_free = held.has_half();
        let common = held.common();
        let broke = Broke(std::mem::take(&mut common.broke));
        if common.waiting > 0 {
            if std::mem::take(&mut common.news) {
                self.changed.notify_all();
            } else if half_is_free {
                self.changed.notify_one();
            }
        }
        self.wake_tasks(held);
        broke
    }

    /// Carries on what was posted, for a task. The time that tasks have waited counts.
    pub(super) fn drive_for_task(held: &mut D) {
        let since = held.common().waited_since.take();
        let half = since.and_then(|_| held.take_half());
        if let (Some(since), Some(half)) = (since, half) {
            held.put_back(half, Ok(()), since.elapsed());
        }
        held.drive();
    }

    /// Has the alarm rung when what is on its way has taken too long. Where the system has no room
    /// for timers, it is noticed when somebody looks.
    fn set_timer(&self, held: &mut D) {
        let Some(left) = held.patience() else {
            return;
        };
        let common = held.common();
        common.waited_since.get_or_insert_with(Instant::now);
        if common.timer.is_none() {
            common.timer = Timer::new().ok();
        }
        if let Some(timer) = &common.timer {
            timer.set(Deadline::after(left), &self.alarm.clone().into());
        }
    }

    /// Wakes the tasks whose operations have ended, without the lock.
    fn wake_tasks<'t>(&'t self, mut held: Held<'t, D>) {
        while let Some(task) = held.common().to_wake.pop() {
            drop(held);
            wake(task);
            held = self.lock();
        }
    }

    /// Carries on what was posted until `attempt` answers or the deadline has passed (`None`).
    /// `attempt` answers when the direction has ended.
    ///
    /// What was posted to the other direction goes on meanwhile: a peer may have to receive before it
    /// sends, or the other way round.
    pub(super) fn wait_until<'t, R, E: Direction>(
        &'t self,
        other: &Turn<E>,
        held: Held<'t, D>,
        deadline: impl FnMut() -> Deadline,
        attempt: impl FnMut(&mut D) -> Option<R>,
    ) -> (Held<'t, D>, Option<R>) {
        self.wait_spinning(other, held, (None, false), deadline, attempt)
    }

    /// As [`wait_until`](Self::wait_until), for who has looked under this lock, or knows that a look would be in vain.
    pub(super) fn wait_after_look<'t, R, E: Direction>(
        &'t self,
        other: &Turn<E>,
        held: Held<'t, D>,
        deadline: impl FnMut() -> Deadline,
        attempt: impl FnMut(&mut D) -> Option<R>,
    ) -> (Held<'t, D>, Option<R>) {
        self.wait_spinning(other, held, (None, true), deadline, attempt)
    }

    /// As [`wait_after_look`](Self::wait_after_look), where the `deadline` is asked for late, as that looks at the clock:
    /// behind spinning, or behind the first looks where spinning `is_bounded` by it, or would not end.
    pub(super) fn wait_beyond_spinning<'t, R, E: Direction>(
        &'t self,
        other: &Turn<E>,
        mut held: Held<'t, D>,
        is_bounded: bool,
        mut deadline: impl FnMut() -> Deadline,
        mut attempt: impl FnMut(&mut D) -> Option<R>,
    ) -> (Held<'t, D>, Option<R>) {
        let is_bounded = is_bounded || self.spin == Duration::MAX;
        let mut spin = self.begin_to_spin(other, &mut held, Deadline::NEVER);
        let again = || (spin.is_timeless() || !is_bounded) && spin.again();
        let (mut held, answer) = self.spin_until(other, held, again, &mut attempt);
        if let Some(answer) = answer {
            Spin::end(spin, &mut held.common().habit);
            return (held, Some(answer));
        }
        let mut until = None;
        if is_bounded {
            spin.end_by(*until.insert(deadline()));
        }
        let deadline = || until.unwrap_or_else(&mut deadline);
        self.wait_spinning(other, held, (Some(spin), true), deadline, attempt)
    }

    fn begin_to_spin<E: Direction>(&self, other: &Turn<E>, held: &mut D, until: Deadline) -> Spin {
        let budget = if other.is_pending() {
            Duration::ZERO
        } else {
            self.spin
        };
        Spin::begin(budget, held.common().habit, until)
    }

    /// Carries on what was posted until `attempt` answers, as long as it is to be looked `again` and nothing was posted
    /// to the other direction, which goes on in a sleep.
    #[inline]
    pub(super) fn spin_until<'t, R, E: Direction>(
        &'t self,
        other: &Turn<E>,
        mut held: Held<'t, D>,
        mut again: impl FnMut() -> bool,
        mut attempt: impl FnMut(&mut D) -> Option<R>,
    ) -> (Held<'t, D>, Option<R>) {
        while held.has_half() && !other.is_pending() && again() {
            if self.is_wanted() {
                held = self.make_way(held);
            }
            held.drive();
            if let Some(answer) = attempt(&mut held) {
                return (held, Some(answer));
            }
        }
        (held, None)
    }

    fn wait_spinning<'t, R, E: Direction>(
        &'t self,
        other: &Turn<E>,
        mut held: Held<'t, D>,
        (mut spin, mut has_looked): (Option<Spin>, bool),
        mut deadline: impl FnMut() -> Deadline,
        mut attempt: impl FnMut(&mut D) -> Option<R>,
    ) -> (Held<'t, D>, Option<R>) {
        let mut until = None;
        // Who looks for itself does not go on with what was posted.
        has_looked &= !held.has_posted();
        loop {
            if !std::mem::take(&mut has_looked) {
                held.drive();
                if let Some(answer) = attempt(&mut held) {
                    if let Some(spin) = spin {
                        Spin::end(spin, &mut held.common().habit);
                    }
                    return (held, Some(answer));
                }
            }
            let until = *until.get_or_insert_with(&mut deadline);
            if !held.has_half() {
                if until.has_passed() {
                    return (held, None);
                }
                held = self.wait_for_change(other, held, until);
                continue;
            }
            let spinning = spin.get_or_insert_with(|| self.begin_to_spin(other, &mut held, until));
            // What was posted beside goes on in the sleep.
            if !other.is_pending() && spinning.again() {
                if self.wanted.load(Ordering::Relaxed) > 0 {
                    held = self.make_way(held);
                }
                continue;
            }
            if until.has_passed() {
                return (held, None);
            }
            held = self.sleep(other, held, until);
            if let Some(spin) = &mut spin {
                spin.has_slept();
            }
        }
    }

    /// Whether who waits sleeps at once.
    #[inline]
    pub(super) fn never_spins(&self) -> bool {
        self.spin.is_zero()
    }

    /// Whether threads wait for the lock itself.
    #[inline]
    pub(super) fn is_wanted(&self) -> bool {
        self.wanted.load(Ordering::Relaxed) > 0
    }

    /// Lets those in who wait for the lock.
    fn make_way<'t>(&'t self, held: Held<'t, D>) -> Held<'t, D> {
        const PATIENCE: u32 = 100;
        drop(held);
        for _ in 0..PATIENCE {
            if self.wanted.load(Ordering::Relaxed) == 0 {
                break;
            }
            thread::yield_now();
        }
        self.lock()
    }

    /// Whether something is posted, as far as is known without the lock.
    #[inline]
    pub(super) fn is_pending(&self) -> bool {
        self.pending.load(Ordering::Relaxed)
    }

    /// As [`is_pending`](Self::is_pending), for who has said before that they wait.
    pub(super) fn is_pending_by_now(&self) -> bool {
        // With the one of `has_sleepers_beside`.
        fence(Ordering::SeqCst);
        self.is_pending()
    }

    /// Whether somebody may sleep who does not know what was posted before this call.
    pub(super) fn has_sleepers_beside(&self) -> bool {
        // With those of `sleep_beside` and `is_pending_by_now`: either this sees who sleeps, or they what was posted.
        fence(Ordering::SeqCst);
        self.beside.load(Ordering::Relaxed) > 0
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
