//! Sleeping: on the half itself, until another thread returns the half, and on both directions at
//! once.

use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

use super::{Direction, DirectionGuard, DirectionLock};
use jstream_device::connection::{Armed, Fault, Interest};
use jstream_device::deadline::Deadline;
use jstream_device::poll::sleep_on;
use jstream_sync::callbacks::{self, Deferral};

/// Duration of a sleep on one of two sources, if the system has no memory to poll both.
const SOON: Duration = Duration::from_millis(1);

impl<D: Direction> DirectionLock<D> {
    /// Blocks until another thread has put the half back, or an operation has ended.
    pub(super) fn wait_for_change<'t, E: Direction>(
        &'t self,
        other: &DirectionLock<E>,
        mut guard: DirectionGuard<'t, D>,
        mut until: Deadline,
    ) -> DirectionGuard<'t, D> {
        // The thread that holds the half may have fallen asleep before an operation was posted to
        // the other direction.
        let is_pending = other.is_pending();
        if is_pending {
            until = until.or_sooner(Deadline::after(Duration::from_millis(1)));
        }
        // A task that one of the callbacks wakes would otherwise wait for the end of this sleep.
        if guard.deferral.has_queued() || guard.common().duties.is_broken() {
            // The callbacks run before the sleep. The caller then polls again.
            drop(guard);
            return self.lock();
        }
        // Counted under the lock, which the wait releases: a thread that changes the direction
        // later sees this one.
        guard.common().duties.add_waiting();
        let DirectionGuard { state, deferral } = guard;
        let state = state.wait(&self.state.listeners().changed, until.left());
        let mut guard = DirectionGuard { state, deferral };
        guard.common().duties.remove_waiting();
        if is_pending {
            // The receive direction is locked before the send direction, and this may be either of
            // them.
            drop(guard);
            other.lock().drive();
            guard = self.lock();
        }
        guard
    }

    /// Sleeps until the half may make progress.
    pub(super) fn sleep<'t, E: Direction>(
        &'t self,
        other: &DirectionLock<E>,
        guard: DirectionGuard<'t, D>,
        until: Deadline,
    ) -> DirectionGuard<'t, D> {
        self.sleep_by(guard, until, |half, until| {
            other.sleep_beside::<D>(half, until)
        })
    }

    /// As [`sleep`](Self::sleep), but also wakes when `bell` is readable. Does not sleep if
    /// operations are posted to the other direction. Other threads drive the operations that are
    /// posted meanwhile.
    pub(crate) fn sleep_or_called<'t, E: Direction>(
        &'t self,
        other: &DirectionLock<E>,
        guard: DirectionGuard<'t, D>,
        bell: BorrowedFd<'_>,
        until: Deadline,
    ) -> DirectionGuard<'t, D> {
        self.sleep_by(guard, until, |half, until| {
            // Announced before the last check for posted operations. A thread that posts checks in
            // the reverse order, so one of the two sees the other.
            other.opposite_sleepers.add_sleeper();
            let mut slept = Ok(());
            if !other.is_pending_by_now() && D::arm_bare(half) != Armed::Ready {
                let sources = [D::source(half), (bell, Interest::Readable)];
                if sleep_on(sources, until).is_err() {
                    // The system has no memory to poll two sources.
                    // The bell cannot be waited for in this sleep, so the sleep is short.
                    slept = D::sleep(half, until.or_sooner(Deadline::after(SOON)));
                }
            }
            other.opposite_sleepers.remove_sleeper();
            slept
        })
    }

    /// Moves the half out of the lock, sleeps, and puts the half back.
    ///
    /// Callbacks run before that or after it: one that uses this direction in a blocking call would
    /// wait for the half, which only this thread can put back. The end of a broken connection is
    /// among them.
    fn sleep_by<'t>(
        &'t self,
        mut guard: DirectionGuard<'t, D>,
        until: Deadline,
        sleep: impl FnOnce(&mut D::Half, Deadline) -> Result<(), Fault>,
    ) -> DirectionGuard<'t, D> {
        if guard.deferral.has_queued() || guard.common().duties.is_broken() {
            // The caller then polls again.
            drop(guard);
            return self.lock();
        }
        // Read before the half is taken, because the half knows whether a message has begun.
        let patience = guard.patience();
        // The half is gone if the direction has ended or another thread sleeps with it. The caller
        // checks both.
        let Some(mut half) = guard.take_half() else {
            return guard;
        };
        let before = self.take_waited_since(&mut guard);
        // Dropped after the half was put back, when the guard that is returned defers.
        let _deferral = Deferral::begin();
        drop(guard);
        let until = patience.map_or(until, |left| until.or_sooner(Deadline::after(left)));
        let slept = sleep(&mut half, until);
        let elapsed = before.elapsed();
        let mut guard = self.lock();
        // The sleep may have consumed the event for which the device was armed.
        self.alarm().disarm();
        guard.put_back(half, slept, elapsed);
        guard
    }

    /// Returns the time from which a thread that is about to sleep measures: that at which tasks
    /// began to wait, if they still do, or else now.
    fn take_waited_since(&self, direction: &mut D) -> Instant {
        let since = direction.common().waited_since.take();
        let since = since.filter(|_| self.alarm().is_waited_for());
        since.unwrap_or_else(Instant::now)
    }

    /// Sleeps until a half of the other direction may make progress. Drives the operations that are
    /// posted to this direction meanwhile, unless another thread does.
    pub(crate) fn sleep_beside<E: Direction>(
        &self,
        half: &mut E::Half,
        until: Deadline,
    ) -> Result<(), Fault> {
        // Announced before the last check for posted operations, for the same reason as in
        // `sleep_or_called`.
        self.opposite_sleepers.add_sleeper();
        let slept = self.sleep_seeing::<E>(half, until);
        self.opposite_sleepers.remove_sleeper();
        slept
    }

    fn sleep_seeing<E: Direction>(&self, half: &mut E::Half, until: Deadline) -> Result<(), Fault> {
        if !self.is_pending_by_now() {
            return E::sleep(half, until);
        }
        let mut guard = self.lock();
        // Callbacks that were queued before belong to a deferral of an outer layer, and would be
        // there after each attempt. Only new ones prevent the sleep.
        let were_queued = callbacks::are_queued();
        guard.drive();
        if !were_queued && (callbacks::are_queued() || guard.common().duties.is_broken()) {
            // They run, or the connection is ended, when the other half has been put back.
            return Ok(());
        }
        let patience = guard.patience();
        // Messages that wait for credit need only the half with which this thread sleeps: the peer
        // returns the credit there.
        let ours = if guard.wants_half() {
            guard.take_half()
        } else {
            None
        };
        let Some(mut ours) = ours else {
            // Another thread drives this direction, or it has ended.
            drop(guard);
            return E::sleep(half, until);
        };
        let before = self.take_waited_since(&mut guard);
        drop(guard);
        let mut slept = Ok(());
        // Both halves are armed before the sleep. A half in memory makes its descriptor readable
        // only for what comes after that.
        if E::arm_bare(half) != Armed::Ready && D::arm_bare(&mut ours) != Armed::Ready {
            let until = patience.map_or(until, |left| until.or_sooner(Deadline::after(left)));
            let sources = [E::source(half), D::source(&ours)];
            slept = match sleep_on(sources, until) {
                Ok(_) => Ok(()),
                // The system has no memory to poll two sources: sleep on one of them.
                Err(_) => E::sleep(half, Deadline::after(SOON)),
            };
        }
        // This half goes back at once, although the caller may keep the other one.
        let mut guard = self.lock();
        self.alarm().disarm();
        guard.put_back(ours, Ok(()), before.elapsed());
        // The operations may have become possible during the sleep, and no other thread had the
        // half to drive them.
        guard.drive();
        slept
    }
}
