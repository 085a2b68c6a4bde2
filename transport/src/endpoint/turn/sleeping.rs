//! Sleeping: for the half itself, for whoever has it, and for both directions at once.

use std::os::fd::BorrowedFd;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::{Broke, Direction, Held, Turn};
use crate::device::connection::{Armed, Fault, Interest};
use crate::device::deadline::Deadline;
use crate::device::poll::sleep_on;

/// How long a sleep for one of two sources is that the system has no memory for.
const SOON: Duration = Duration::from_millis(1);

impl<D: Direction> Turn<D> {
    /// Waits until somebody else has put the half back, or has news.
    pub(super) fn wait_for_change<'t, E: Direction>(
        &'t self,
        other: &Turn<E>,
        mut held: Held<'t, D>,
        mut until: Deadline,
    ) -> Held<'t, D> {
        // Who has the half may sleep since before something was posted to the other direction.
        let is_pending = other.is_pending();
        if is_pending {
            until = until.or_sooner(Deadline::after(Duration::from_millis(1)));
        }
        held.common().waiting = held.common().waiting.saturating_add(1);
        let state = match until.left() {
            None => self
                .changed
                .wait(held.state)
                .unwrap_or_else(PoisonError::into_inner),
            Some(left) => {
                self.changed
                    .wait_timeout(held.state, left)
                    .unwrap_or_else(PoisonError::into_inner)
                    .0
            }
        };
        let mut held = Held { state };
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

    /// Sleeps until the half may go on.
    pub(super) fn sleep<'t, E: Direction>(
        &'t self,
        other: &Turn<E>,
        held: Held<'t, D>,
        until: Deadline,
    ) -> Held<'t, D> {
        self.sleep_by(held, until, |half, until| {
            other.sleep_beside::<D>(half, until)
        })
    }

    /// As [`sleep`](Self::sleep), or until `bell` is readable. It does not where something is posted to the other
    /// direction; others carry on what is posted meanwhile.
    pub(in crate::endpoint) fn sleep_or_called<'t, E: Direction>(
        &'t self,
        other: &Turn<E>,
        held: Held<'t, D>,
        bell: BorrowedFd<'_>,
        until: Deadline,
    ) -> Held<'t, D> {
        self.sleep_by(held, until, |half, until| {
            other.beside.fetch_add(1, Ordering::Relaxed);
            let mut slept = Ok(());
            if !other.is_pending_by_now() && D::arm_bare(half) != Armed::Ready {
                let sources = [D::source(half), (bell, Interest::Readable)];
                if sleep_on(sources, until).is_err() {
                    // A system without memory for so little.
                    slept = D::sleep(half, until.or_sooner(Deadline::after(SOON)));
                }
            }
            other.beside.fetch_sub(1, Ordering::Relaxed);
            (slept, Broke(false))
        })
    }

    /// Takes the half out for a sleep, and puts it back.
    fn sleep_by<'t>(
        &'t self,
        mut held: Held<'t, D>,
        until: Deadline,
        sleep: impl FnOnce(&mut D::Half, Deadline) -> (Result<(), Fault>, Broke),
    ) -> Held<'t, D> {
        let patience = held.patience();
        // Whoever sleeps measures the time itself.
        held.common().waited_since = None;
        let Some(mut half) = held.take_half() else {
            return held;
        };
        self.tell(held);
        let before = Instant::now();
        let until = patience.map_or(until, |left| until.or_sooner(Deadline::after(left)));
        let (slept, broke) = sleep(&mut half, until);
        let elapsed = before.elapsed();
        let mut held = self.lock();
        held.common().broke |= broke.0;
        // The sleep may have taken what the alarm was armed for.
        self.alarm.disarm();
        held.put_back(half, slept, elapsed);
        held
    }

    /// Sleeps until a half of the other direction may go on. What is posted to this one goes on
    /// meanwhile, if nobody else sees to it.
    pub(in crate::endpoint) fn sleep_beside<E: Direction>(
        &self,
        half: &mut E::Half,
        until: Deadline,
    ) -> (Result<(), Fault>, Broke) {
        self.beside.fetch_add(1, Ordering::Relaxed);
        let slept = self.sleep_seeing::<E>(half, until);
        self.beside.fetch_sub(1, Ordering::Relaxed);
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
        held.drive();
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
        held.common().waited_since = None;
        self.tell(held);
        let before = Instant::now();
        let mut slept = Ok(());
        if E::arm_bare(half) != Armed::Ready && D::arm_bare(&mut ours) != Armed::Ready {
            let until = patience.map_or(until, |left| until.or_sooner(Deadline::after(left)));
            let sources = [E::source(half), D::source(&ours)];
            slept = match sleep_on(sources, until) {
                Ok(_) => Ok(()),
                // A system without memory for so little: one at a time.
                Err(_) => E::sleep(half, Deadline::after(SOON)),
            };
        }
        let mut held = self.lock();
        self.alarm.disarm();
        held.put_back(ours, Ok(()), before.elapsed());
        held.drive();
        (slept, self.leave(held))
    }

    /// Tells the news before a sleep.
    fn tell(&self, mut held: Held<'_, D>) {
        self.note_posted(&held);
        let common = held.common();
        if std::mem::take(&mut common.news) && common.waiting > 0 {
            self.changed.notify_all();
        }
        self.wake_tasks(held);
    }
}
