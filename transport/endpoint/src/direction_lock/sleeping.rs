//! Sleeping: on the half itself, until another thread returns the half, and on both directions at
//! once.

use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

use super::{Broke, Direction, DirectionLock, TurnGuard};
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
        mut held: TurnGuard<'t, D>,
        mut until: Deadline,
    ) -> TurnGuard<'t, D> {
        // The thread that holds the half may have fallen asleep before an operation was posted to
        // the other direction.
        let is_pending = other.is_pending();
        if is_pending {
            until = until.or_sooner(Deadline::after(Duration::from_millis(1)));
        }
        if held.deferral.has_queued() {
            // The callbacks run before the sleep. The caller then looks again.
            drop(held);
            return self.lock();
        }
        held.common().waiting = held.common().waiting.saturating_add(1);
        let TurnGuard { state, deferral } = held;
        let state = match until.left() {
            None => jstream_sync::unpoisoned(self.changed.wait(state)),
            Some(left) => jstream_sync::unpoisoned(self.changed.wait_timeout(state, left)).0,
        };
        let mut held = TurnGuard { state, deferral };
        held.common().waiting = held.common().waiting.saturating_sub(1);
        if is_pending {
            drop(held);
            let mut beside = other.lock();
            beside.drive();
            let broke = other.leave(beside);
            held = self.lock();
            held.common().broke |= broke.0;
        }
        held
    }

    /// Sleeps until the half may make progress.
    pub(super) fn sleep<'t, E: Direction>(
        &'t self,
        other: &DirectionLock<E>,
        held: TurnGuard<'t, D>,
        until: Deadline,
    ) -> TurnGuard<'t, D> {
        self.sleep_by(held, until, |half, until| {
            other.sleep_beside::<D>(half, until)
        })
    }

    /// As [`sleep`](Self::sleep), but also wakes when `bell` is readable. Does not sleep if
    /// operations are posted to the other direction. Other threads drive the operations that are
    /// posted meanwhile.
    pub(crate) fn sleep_or_called<'t, E: Direction>(
        &'t self,
        other: &DirectionLock<E>,
        held: TurnGuard<'t, D>,
        bell: BorrowedFd<'_>,
        until: Deadline,
    ) -> TurnGuard<'t, D> {
        self.sleep_by(held, until, |half, until| {
            other.beside.add_sleeper();
            let mut slept = Ok(());
            if !other.is_pending_by_now() && D::arm_bare(half) != Armed::Ready {
                let sources = [D::source(half), (bell, Interest::Readable)];
                if sleep_on(sources, until).is_err() {
                    // The system has no memory to poll two sources.
                    slept = D::sleep(half, until.or_sooner(Deadline::after(SOON)));
                }
            }
            other.beside.remove_sleeper();
            (slept, Broke(false))
        })
    }

    /// Moves the half out of the lock, sleeps, and puts the half back.
    ///
    /// Callbacks run before that or after it: one that uses this direction in a blocking call would
    /// wait for the half, which only this thread can put back.
    fn sleep_by<'t>(
        &'t self,
        mut held: TurnGuard<'t, D>,
        until: Deadline,
        sleep: impl FnOnce(&mut D::Half, Deadline) -> (Result<(), Fault>, Broke),
    ) -> TurnGuard<'t, D> {
        if held.deferral.has_queued() {
            // The caller then looks again.
            drop(held);
            return self.lock();
        }
        let patience = held.patience();
        let Some(mut half) = held.take_half() else {
            return held;
        };
        let before = self.take_waited_since(&mut held);
        // Dropped after the half was put back, when the guard that is returned defers.
        let _deferral = Deferral::begin();
        self.tell(held);
        let until = patience.map_or(until, |left| until.or_sooner(Deadline::after(left)));
        let (slept, broke) = sleep(&mut half, until);
        let elapsed = before.elapsed();
        let mut held = self.lock();
        held.common().broke |= broke.0;
        // The sleep may have consumed the event for which the device was armed.
        self.alarm.disarm();
        held.put_back(half, slept, elapsed);
        held
    }

    /// Returns the time from which a thread that is about to sleep measures: that at which tasks
    /// began to wait, if they still do, or else now.
    fn take_waited_since(&self, held: &mut D) -> Instant {
        let since = held.common().waited_since.take();
        let since = since.filter(|_| self.alarm.is_waited_for());
        since.unwrap_or_else(Instant::now)
    }

    /// Sleeps until a half of the other direction may make progress. Drives the operations that are
    /// posted to this direction meanwhile, unless another thread does.
    pub(crate) fn sleep_beside<E: Direction>(
        &self,
        half: &mut E::Half,
        until: Deadline,
    ) -> (Result<(), Fault>, Broke) {
        self.beside.add_sleeper();
        let slept = self.sleep_seeing::<E>(half, until);
        self.beside.remove_sleeper();
        slept
    }

    fn sleep_seeing<E: Direction>(
        &self,
        half: &mut E::Half,
        until: Deadline,
    ) -> (Result<(), Fault>, Broke) {
        if !self.is_pending_by_now() {
            return (E::sleep(half, until), Broke(false));
        }
        let mut held = self.lock();
        let were_queued = callbacks::are_queued();
        held.drive();
        if !were_queued && callbacks::are_queued() {
            // They run when the other half has been put back.
            return (Ok(()), self.leave(held));
        }
        let patience = held.patience();
        let ours = if held.wants_half() {
            held.take_half()
        } else {
            None
        };
        let Some(mut ours) = ours else {
            let broke = self.leave(held);
            return (E::sleep(half, until), broke);
        };
        let before = self.take_waited_since(&mut held);
        self.tell(held);
        let mut slept = Ok(());
        if E::arm_bare(half) != Armed::Ready && D::arm_bare(&mut ours) != Armed::Ready {
            let until = patience.map_or(until, |left| until.or_sooner(Deadline::after(left)));
            let sources = [E::source(half), D::source(&ours)];
            slept = match sleep_on(sources, until) {
                Ok(_) => Ok(()),
                // The system has no memory to poll two sources: sleep on one of them.
                Err(_) => E::sleep(half, Deadline::after(SOON)),
            };
        }
        let mut held = self.lock();
        self.alarm.disarm();
        held.put_back(ours, Ok(()), before.elapsed());
        held.drive();
        (slept, self.leave(held))
    }

    /// Publishes posted and ended operations before a sleep.
    fn tell(&self, mut held: TurnGuard<'_, D>) {
        self.note_posted(&held);
        let common = held.common();
        if std::mem::take(&mut common.news) && common.waiting > 0 {
            self.changed.notify_all();
        }
    }
}
