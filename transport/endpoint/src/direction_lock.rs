//! The lock of one direction of a connection, and waiting under it.
//!
//! The lock is held only for work that does not block. Before a thread sleeps, it moves the device
//! half out of the lock, so that other threads can still post, poll and unlock; it puts the half
//! back when it wakes. A thread that finds the half taken waits until it is back. A thread that
//! releases the lock makes sure that the direction is still polled: by a waiting thread or, if only
//! tasks wait, by the device, which wakes them.
//!
//! No code of the program runs under the lock. Wake-ups, events, reclaimed buffers and destructors
//! wait until it is released; see [`jstream_sync::callbacks`].

mod direction;
mod sleeping;

pub(super) use self::direction::{Common, Direction};

use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

use super::alarm::Alarm;
use super::spin::Spin;
use super::timer::Timer;
use jstream_base::process::Origin;
use jstream_device::deadline::Deadline;
use jstream_sync::callbacks::Deferral;
use jstream_sync::flag::DekkerFlag;

/// A direction and its lock.
pub(super) struct DirectionLock<D> {
    state: Mutex<D>,
    /// Number of threads that wait for the lock itself. A thread that spins under the lock yields
    /// it to them.
    wanted: AtomicU32,
    /// True if posted operations had not ended when the lock was released.
    pending: AtomicBool,
    /// Number of threads that sleep for the other direction, or are about to. They check
    /// `pending` afterwards.
    beside: DekkerFlag,
    /// Notified when the half is back, or when an operation has ended.
    changed: Condvar,
    spin: Duration,
    alarm: std::sync::Arc<Alarm>,
    origin: Origin,
}

/// Guard of a locked direction. While it exists, the program is not called.
pub(super) struct TurnGuard<'t, D> {
    state: MutexGuard<'t, D>,
    /// Dropped after the lock was released.
    deferral: Deferral,
}

impl<D> Deref for TurnGuard<'_, D> {
    type Target = D;

    #[inline]
    fn deref(&self) -> &D {
        &self.state
    }
}

impl<D> DerefMut for TurnGuard<'_, D> {
    #[inline]
    fn deref_mut(&mut self) -> &mut D {
        &mut self.state
    }
}

/// Result of a release: true if the other direction has to be ended too.
#[must_use]
pub(super) struct Broke(pub(super) bool);

impl<D: Direction> DirectionLock<D> {
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
            beside: DekkerFlag::of_frequent_sleepers(),
            changed: Condvar::new(),
            spin,
            alarm,
            origin,
        }
    }

    /// Locks the direction. Poisoning is ignored, because the state is consistent after every
    /// statement.
    #[inline]
    pub(super) fn lock(&self) -> TurnGuard<'_, D> {
        let state = match self.state.try_lock() {
            Ok(state) => state,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => self.lock_slowly(),
        };
        let mut held = TurnGuard {
            state,
            deferral: Deferral::begin(),
        };
        if self.origin.is_elsewhere() {
            held.disown();
        }
        held
    }

    /// Returns the state. Exclusive access needs no lock.
    pub(super) fn get_mut(&mut self) -> &mut D {
        jstream_sync::unpoisoned(self.state.get_mut())
    }

    #[cold]
    fn lock_slowly(&self) -> MutexGuard<'_, D> {
        self.wanted.fetch_add(1, Ordering::Relaxed);
        let state = jstream_sync::lock(&self.state);
        self.wanted.fetch_sub(1, Ordering::Relaxed);
        state
    }

    /// Releases the lock.
    #[inline]
    pub(super) fn leave(&self, mut held: TurnGuard<'_, D>) -> Broke {
        let has_posted = held.has_posted();
        let common = held.common();
        let quiet = has_posted == self.is_pending()
            && common.waiting == 0
            && !common.broke
            && !self.alarm.is_wanted();
        if quiet {
            common.news = false;
            return Broke(false);
        }
        self.leave_slowly(held)
    }

    /// Publishes under the lock whether operations are posted, for threads that do not hold the
    /// lock.
    #[inline]
    fn note_posted(&self, held: &D) {
        let has_posted = held.has_posted();
        if !has_posted && self.is_pending() {
            self.alarm.tell_carrier();
        }
        self.pending.store(has_posted, Ordering::Relaxed);
    }

    #[cold]
    fn leave_slowly(&self, mut held: TurnGuard<'_, D>) -> Broke {
        // Tasks wait only for posted operations.
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
        broke
    }

    /// Drives the posted operations for a task. The time that tasks have waited counts towards the
    /// timeout.
    pub(super) fn drive_for_task(held: &mut D) {
        let since = held.common().waited_since.take();
        let half = since.and_then(|_| held.take_half());
        if let (Some(since), Some(half)) = (since, half) {
            let now = Instant::now();
            held.put_back(half, Ok(()), now.saturating_duration_since(since));
            // The tasks go on waiting, even if the device stays armed and no timer is set anew.
            if held.has_half() && held.patience().is_some() {
                held.common().waited_since.get_or_insert(now);
            }
        }
        held.drive();
    }

    /// Sets a timer that wakes the tasks when the operation in progress times out. If the system
    /// has no room for timers, the next poll detects the timeout.
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

    /// Drives the posted operations until `attempt` returns a value. Returns `None` if the deadline
    /// passes first. `attempt` returns a value when the direction has ended.
    ///
    /// The posted operations of the other direction are driven meanwhile: a peer may have to
    /// receive before it sends, or vice versa.
    pub(super) fn wait_until<'t, R, E: Direction>(
        &'t self,
        other: &DirectionLock<E>,
        held: TurnGuard<'t, D>,
        deadline: impl FnMut() -> Deadline,
        attempt: impl FnMut(&mut D) -> Option<R>,
    ) -> (TurnGuard<'t, D>, Option<R>) {
        self.wait_spinning(other, held, (None, false), deadline, attempt)
    }

    /// As [`wait_until`](Self::wait_until), for a caller that has already polled under this lock,
    /// or knows that polling would find nothing. Calls `deadline` late, because that reads the
    /// clock: after spinning or, if spinning `is_bounded` by the deadline or would not end, after
    /// the first polls.
    pub(super) fn wait_beyond_spinning<'t, R, E: Direction>(
        &'t self,
        other: &DirectionLock<E>,
        mut held: TurnGuard<'t, D>,
        is_bounded: bool,
        mut deadline: impl FnMut() -> Deadline,
        mut attempt: impl FnMut(&mut D) -> Option<R>,
    ) -> (TurnGuard<'t, D>, Option<R>) {
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

    fn begin_to_spin<E: Direction>(
        &self,
        other: &DirectionLock<E>,
        held: &mut D,
        until: Deadline,
    ) -> Spin {
        let budget = if other.is_pending() {
            Duration::ZERO
        } else {
            self.spin
        };
        Spin::begin(budget, held.common().habit, until)
    }

    /// Drives the posted operations until `attempt` returns a value. Stops when `again` returns
    /// false, or when operations are posted to the other direction, which are driven during a
    /// sleep.
    #[inline]
    pub(super) fn spin_until<'t, R, E: Direction>(
        &'t self,
        other: &DirectionLock<E>,
        mut held: TurnGuard<'t, D>,
        mut again: impl FnMut() -> bool,
        mut attempt: impl FnMut(&mut D) -> Option<R>,
    ) -> (TurnGuard<'t, D>, Option<R>) {
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

    /// As [`wait_until`](Self::wait_until), with a spin that has begun, if there is one. If
    /// `has_looked` is true, the caller has polled already, or knows that polling would find
    /// nothing.
    pub(super) fn wait_spinning<'t, R, E: Direction>(
        &'t self,
        other: &DirectionLock<E>,
        mut held: TurnGuard<'t, D>,
        (mut spin, mut has_looked): (Option<Spin>, bool),
        mut deadline: impl FnMut() -> Deadline,
        mut attempt: impl FnMut(&mut D) -> Option<R>,
    ) -> (TurnGuard<'t, D>, Option<R>) {
        let mut until = None;
        // A caller that has polled by itself has not driven the posted operations.
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
            // Operations that are posted to the other direction are driven during the sleep.
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

    /// Returns true if threads wait for the lock itself.
    #[inline]
    pub(super) fn is_wanted(&self) -> bool {
        self.wanted.load(Ordering::Relaxed) > 0
    }

    /// Yields the lock to the threads that wait for it.
    fn make_way<'t>(&'t self, held: TurnGuard<'t, D>) -> TurnGuard<'t, D> {
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

    /// Returns true if operations are posted, as far as is known without the lock.
    #[inline]
    pub(super) fn is_pending(&self) -> bool {
        self.pending.load(Ordering::Relaxed)
    }

    /// As [`is_pending`](Self::is_pending), for a caller that has already announced that it waits.
    pub(super) fn is_pending_by_now(&self) -> bool {
        self.beside.make_all_pass();
        self.is_pending()
    }

    /// Returns true if a thread may be sleeping for the other direction without knowing of
    /// operations that were posted before this call.
    pub(super) fn has_opposite_sleepers(&self) -> bool {
        self.beside.is_set_after_change()
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
