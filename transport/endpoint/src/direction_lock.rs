//! The lock of one direction of a connection, and waiting under it.
//!
//! The lock is held only for work that does not block. Before a thread sleeps, it moves the device
//! half out of the lock, so that other threads can still post, poll and unlock; it puts the half
//! back when it wakes. A thread that finds the half taken waits until it is back.
//!
//! Dropping the guard publishes the direction ([`PublishingLock`]): whether operations are posted,
//! and that a waiting thread has to look. It makes sure that the direction is still polled: by a
//! waiting thread or, if only tasks wait, by the device, which wakes them. If the direction has
//! broken, the other one is ended as soon as the thread holds no lock.
//!
//! No code of the program runs under the lock. Wake-ups, events, reclaimed buffers and destructors
//! wait until it is released; see [`jstream_sync::callbacks`].
//!
//! Decisions 029 and 117 have the reasons.

mod direction;
mod sleeping;

pub(super) use self::direction::{Common, Direction};

use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Weak};
use std::thread;
use std::time::{Duration, Instant};

use super::alarm::Alarm;
use super::spin::Spin;
use super::timer::Timer;
use jstream_base::process::Origin;
use jstream_device::deadline::Deadline;
use jstream_sync::callbacks::{self, Deferral};
use jstream_sync::flag::DekkerFlag;
use jstream_sync::publishing_lock::{Publish, PublishingGuard, PublishingLock, Word};
use jstream_sync::{AtomicU32, Condvar, Ordering};

/// A direction and its lock.
pub(super) struct DirectionLock<D: Direction> {
    /// The summary is true if posted operations had not ended when the lock was released.
    state: PublishingLock<DirectionState<D>>,
    /// Number of threads that wait for the lock itself. A thread that spins under the lock yields
    /// it to them.
    wanted: AtomicU32,
    /// Number of threads that sleep for the other direction, or are about to. They check the
    /// summary afterwards.
    opposite_sleepers: DekkerFlag,
    spin: Duration,
    origin: Origin,
}

/// A connection, of which one direction has broken.
pub(super) trait BreakOff: Send + Sync {
    /// Ends both directions. The calling thread holds no lock of a direction.
    fn break_off(&self);
}

/// Guard of a locked direction. While it exists, the program is not called.
pub(super) struct DirectionGuard<'t, D: Direction> {
    state: PublishingGuard<'t, DirectionState<D>>,
    /// Dropped after the lock was released.
    deferral: Deferral,
}

impl<D: Direction> Deref for DirectionGuard<'_, D> {
    type Target = D;

    #[inline]
    fn deref(&self) -> &D {
        &self.state.0
    }
}

impl<D: Direction> DerefMut for DirectionGuard<'_, D> {
    #[inline]
    fn deref_mut(&mut self) -> &mut D {
        &mut self.state.0
    }
}

impl<D: Direction> DirectionGuard<'_, D> {
    /// Drops the guard, on a hot path ([`PublishingGuard::release`]).
    #[inline(always)]
    pub(super) fn release(self) {
        let Self { state, deferral } = self;
        // The callbacks of the deferral may use this direction, so the lock is released before they
        // run.
        state.release();
        drop(deferral);
    }
}

/// The state of a lock.
struct DirectionState<D>(D);

/// Parts of a lock that are notified when it is released.
struct DirectionListeners {
    /// Notified when the half is back, or when an operation has ended.
    changed: Condvar,
    alarm: Arc<Alarm>,
    connection: Weak<dyn BreakOff>,
}

impl<D: Direction> Publish for DirectionState<D> {
    type Summary = Word<bool>;
    type Listeners = DirectionListeners;

    #[inline]
    fn summary(&self) -> bool {
        self.0.has_posted()
    }

    #[inline]
    fn is_quiet(&mut self, listeners: &DirectionListeners) -> bool {
        // Tasks wait only for what the half is wanted for.
        let is_armed = || !self.0.wants_half() || !listeners.alarm.is_wanted();
        is_armed() && self.0.common().duties.are_none()
    }

    /// Arms the device for the waiting tasks.
    fn prepare(&mut self, listeners: &DirectionListeners) {
        let direction = &mut self.0;
        // Arming fails if the device can make progress. Driving may then complete all operations,
        // or leave the half without a message, so the conditions are checked anew until the device
        // is armed.
        while listeners.alarm.is_wanted() && direction.has_half() && direction.wants_half() {
            if direction.arm() {
                set_timer(direction, &listeners.alarm);
            } else {
                direction.drive();
            }
        }
    }

    fn notify(&mut self, listeners: &DirectionListeners, was_pending: bool) {
        // A background driver that waits for the end of all operations is not woken by the device
        // if another thread has completed the last one.
        if was_pending && !self.0.has_posted() {
            listeners.alarm.tell_carrier();
        }
        let half_is_free = self.0.has_half();
        let common = self.0.common();
        if common.duties.has_waiting() {
            // A change may end the wait of any thread. A half that is back can be used by one
            // thread only, which then drives the operations of all.
            if common.duties.take_change() {
                listeners.changed.notify_all();
            } else if half_is_free {
                listeners.changed.notify_one();
            }
        }
        if common.duties.take_break() {
            // Not here: this thread may hold the lock of the other direction, too.
            // A connection that is being dropped has nothing left to be ended.
            if let Some(connection) = listeners.connection.upgrade() {
                callbacks::run(move || connection.break_off());
            }
        }
    }
}

/// Sets a timer that wakes the tasks when the operation in progress times out. If the system has no
/// room for timers, the next poll detects the timeout.
fn set_timer<D: Direction>(direction: &mut D, alarm: &Arc<Alarm>) {
    let Some(left) = direction.patience() else {
        return;
    };
    let common = direction.common();
    // The time counts from the first task that waits. A task that polls again does not extend the
    // timeout, and neither does another thread, whose poll has the device armed again: `left` does
    // not contain the time since then yet.
    let since = *common.waited_since.get_or_insert_with(Instant::now);
    let left = left.saturating_sub(since.elapsed());
    if common.timer.is_none() {
        common.timer = Timer::new().ok();
    }
    if let Some(timer) = &common.timer {
        timer.set(Deadline::after(left), &alarm.clone().into());
    }
}

impl<D: Direction> DirectionLock<D> {
    /// Creates the lock of a direction of `connection`.
    pub(super) fn new(
        direction: D,
        spin: Duration,
        alarm: Arc<Alarm>,
        origin: Origin,
        connection: Weak<dyn BreakOff>,
    ) -> Self {
        let listeners = DirectionListeners {
            changed: Condvar::new(),
            alarm,
            connection,
        };
        Self {
            state: PublishingLock::new(DirectionState(direction), listeners),
            wanted: AtomicU32::new(0),
            opposite_sleepers: DekkerFlag::of_frequent_sleepers(),
            spin,
            origin,
        }
    }

    /// Locks the direction.
    #[inline]
    pub(super) fn lock(&self) -> DirectionGuard<'_, D> {
        // A child shares sockets and memory with its parent and must not use them.
        if self.origin.is_elsewhere() {
            return self.lock_elsewhere();
        }
        DirectionGuard {
            state: self.state.lock_counted(&self.wanted),
            deferral: Deferral::begin(),
        }
    }

    /// Locks the direction in a forked process, which has only a copy of it.
    #[cold]
    fn lock_elsewhere(&self) -> DirectionGuard<'_, D> {
        let mut guard = DirectionGuard {
            state: self.state.lock_counted(&self.wanted),
            deferral: Deferral::begin(),
        };
        guard.disown();
        guard
    }

    /// Returns the direction. Exclusive access needs no lock.
    pub(super) fn get_mut(&mut self) -> &mut D {
        &mut self.state.get_mut().0
    }

    fn alarm(&self) -> &Alarm {
        &self.state.listeners().alarm
    }

    /// Drives the posted operations for a task. The time that tasks have waited counts towards the
    /// timeout.
    pub(super) fn drive_for_task(direction: &mut D) {
        let since = direction.common().waited_since.take();
        // `put_back` charges the elapsed time to the timeout, and ends an operation that has
        // exceeded it. It is called for that alone: no thread has slept.
        let half = since.and_then(|_| direction.take_half());
        if let (Some(since), Some(half)) = (since, half) {
            let now = Instant::now();
            direction.put_back(half, Ok(()), now.saturating_duration_since(since));
            // The tasks go on waiting, even if the device stays armed and no timer is set anew.
            if direction.has_half() && direction.patience().is_some() {
                direction.common().waited_since.get_or_insert(now);
            }
        }
        direction.drive();
    }

    /// Drives the posted operations until `attempt` returns a value. Returns `None` if the deadline
    /// passes first. `attempt` returns a value when the direction has ended.
    ///
    /// The posted operations of the other direction are driven meanwhile: a peer may have to
    /// receive before it sends, or vice versa.
    pub(super) fn wait_until<'t, R, E: Direction>(
        &'t self,
        other: &DirectionLock<E>,
        guard: DirectionGuard<'t, D>,
        deadline: impl FnMut() -> Deadline,
        attempt: impl FnMut(&mut D) -> Option<R>,
    ) -> (DirectionGuard<'t, D>, Option<R>) {
        self.wait_spinning(other, guard, (None, false), deadline, attempt)
    }

    /// As [`wait_until`](Self::wait_until), for a caller that has already polled under this lock.
    /// Calls `deadline` late, because that reads the clock: after spinning or, if spinning
    /// `is_bounded` by the deadline or would not end, after the first polls.
    pub(super) fn wait_beyond_spinning<'t, R, E: Direction>(
        &'t self,
        other: &DirectionLock<E>,
        mut guard: DirectionGuard<'t, D>,
        is_bounded: bool,
        mut deadline: impl FnMut() -> Deadline,
        mut attempt: impl FnMut(&mut D) -> Option<R>,
    ) -> (DirectionGuard<'t, D>, Option<R>) {
        // A thread that spins without end never comes to the sleep before which the clock would be
        // read.
        let is_bounded = is_bounded || self.spin == Duration::MAX;
        // The deadline is not known yet. `end_by` limits the spin later.
        let mut spin = self.begin_to_spin(other, &mut guard, Deadline::NEVER);
        let may_spin = || (spin.is_timeless() || !is_bounded) && spin.may_continue();
        let (mut guard, answer) = self.spin_until(other, guard, may_spin, &mut attempt);
        if let Some(answer) = answer {
            Spin::end(spin, &mut guard.common().habit);
            return (guard, Some(answer));
        }
        let mut until = None;
        if is_bounded {
            spin.end_by(*until.insert(deadline()));
        }
        let deadline = || until.unwrap_or_else(&mut deadline);
        self.wait_spinning(other, guard, (Some(spin), true), deadline, attempt)
    }

    fn begin_to_spin<E: Direction>(
        &self,
        other: &DirectionLock<E>,
        direction: &mut D,
        until: Deadline,
    ) -> Spin {
        let budget = if other.is_pending() {
            Duration::ZERO
        } else {
            self.spin
        };
        Spin::begin(budget, direction.common().habit, until)
    }

    /// Drives the posted operations until `attempt` returns a value. Stops when `may_spin` returns
    /// false, or when operations are posted to the other direction, which are driven during a
    /// sleep.
    #[inline]
    fn spin_until<'t, R, E: Direction>(
        &'t self,
        other: &DirectionLock<E>,
        mut guard: DirectionGuard<'t, D>,
        mut may_spin: impl FnMut() -> bool,
        mut attempt: impl FnMut(&mut D) -> Option<R>,
    ) -> (DirectionGuard<'t, D>, Option<R>) {
        while guard.has_half() && !other.is_pending() && may_spin() {
            // A mutex does not hand itself over. Without this, a spinning thread would lock it
            // again at once, and others that post or poll would wait until the end of the spin.
            if self.is_wanted() {
                guard = self.yield_lock(guard);
            }
            guard.drive();
            if let Some(answer) = attempt(&mut guard) {
                return (guard, Some(answer));
            }
        }
        (guard, None)
    }

    /// As [`wait_until`](Self::wait_until), with a spin that has begun, if there is one. If
    /// `has_polled` is true, the caller has polled already.
    pub(super) fn wait_spinning<'t, R, E: Direction>(
        &'t self,
        other: &DirectionLock<E>,
        mut guard: DirectionGuard<'t, D>,
        (mut spin, mut has_polled): (Option<Spin>, bool),
        mut deadline: impl FnMut() -> Deadline,
        mut attempt: impl FnMut(&mut D) -> Option<R>,
    ) -> (DirectionGuard<'t, D>, Option<R>) {
        let mut until = None;
        // A caller that has polled by itself has not driven the posted operations.
        has_polled &= !guard.has_posted();
        loop {
            if !std::mem::take(&mut has_polled) {
                guard.drive();
                if let Some(answer) = attempt(&mut guard) {
                    if let Some(spin) = spin {
                        Spin::end(spin, &mut guard.common().habit);
                    }
                    return (guard, Some(answer));
                }
            }
            // The clock is read only after the first poll has found nothing.
            let until = *until.get_or_insert_with(&mut deadline);
            if !guard.has_half() {
                if until.has_passed() {
                    return (guard, None);
                }
                guard = self.wait_for_change(other, guard, until);
                continue;
            }
            let spinning = spin.get_or_insert_with(|| self.begin_to_spin(other, &mut guard, until));
            // Operations that are posted to the other direction are driven during the sleep.
            if !other.is_pending() && spinning.may_continue() {
                if self.is_wanted() {
                    guard = self.yield_lock(guard);
                }
                continue;
            }
            if until.has_passed() {
                return (guard, None);
            }
            guard = self.sleep(other, guard, until);
            // The outcome of the sleep decides whether the next wait should have spun for longer.
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
    #[cold]
    fn yield_lock<'t>(&'t self, guard: DirectionGuard<'t, D>) -> DirectionGuard<'t, D> {
        const PATIENCE: u32 = 100;
        // The number of yields is bounded because new threads may want the lock without end.
        drop(guard);
        for _ in 0..PATIENCE {
            if !self.is_wanted() {
                break;
            }
            thread::yield_now();
        }
        self.lock()
    }

    /// Returns true if operations are posted, as far as is known without the lock.
    #[inline]
    pub(super) fn is_pending(&self) -> bool {
        self.state.summary().get()
    }

    /// As [`is_pending`](Self::is_pending), for a caller that has already announced that it waits.
    pub(super) fn is_pending_by_now(&self) -> bool {
        // The barrier for the thread that posts: either this thread sees the posted operation, or
        // the poster sees this thread in `opposite_sleepers` and has the operation driven.
        self.opposite_sleepers.make_all_pass();
        self.is_pending()
    }

    /// Returns true if a thread may be sleeping for the other direction without knowing of
    /// operations that were posted before this call.
    pub(super) fn has_opposite_sleepers(&self) -> bool {
        self.opposite_sleepers.is_set_after_change()
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
