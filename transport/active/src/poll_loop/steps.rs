//! Steps of a wait: each handles an available message, or waits for one.

use std::sync::atomic::Ordering;
use std::thread;

use super::progress::{Progress, Wait};
use super::{PollGuard, PollLoop, PollOutcome, SLICE, SOON, Seen};
use crate::budget::Tick;
use crate::turn;
use jstream_device::deadline::Deadline;
use jstream_endpoint::CompletionQueue;
use jstream_endpoint::receiving::Inbound;
use jstream_endpoint::spin::Spin;

impl PollLoop {
    /// Posts a receive to each connection that has none, except to one whose message waits for room
    /// in the pool: there the receive would end immediately. Returns true if there is no such
    /// message. Otherwise the caller must poll, because it is not woken when the pool has room.
    pub(super) fn post_all(&self, queue: &CompletionQueue, seen: &mut Seen) -> bool {
        let mut has_room = true;
        self.see(seen);
        for member in seen.all() {
            let Some(link) = member.link.upgrade() else {
                continue;
            };
            if link.is_posted() {
                continue;
            }
            if link.starves() {
                has_room = false;
                continue;
            }
            // A thread that moves the connection either finds the receive, or no receive is posted.
            let _stays = link.moving();
            if link.set_posted(self, true) {
                queue.post_recv(link.endpoint(), 0, None);
            }
        }
        has_room
    }

    /// Handles an available message, or waits for one until the deadline.
    #[inline]
    pub(super) fn step(&self, guard: &mut PollGuard<'_>, wait: &Wait<'_>, progress: &mut Progress) {
        if let (Some(link), false, false) = (wait.link, progress.slept, self.has_more()) {
            if self.has_only(link) && !link.is_posted() {
                progress.last = Tick::default();
                let mut inbound = Inbound::empty();
                let shared = link.endpoint().shared();
                if !shared.has_more() {
                    turn::flush();
                    shared.flush_before_poll();
                }
                if shared.receive_within(&mut inbound, SLICE, wait.until) {
                    let (link, handlers) = (link.clone(), link.handlers());
                    let looked = self.received(link, handlers, &mut inbound, guard);
                    if let PollOutcome::NoRoom = looked {
                        guard.release();
                        thread::sleep(SOON);
                    }
                } else {
                    link.note_room();
                    progress.slept = true;
                }
                return;
            }
        }
        self.step_among_many(guard, wait.until, progress);
    }

    /// As [`step`](Self::step), for a thread that waits for no connection in particular.
    pub(super) fn step_among_many(
        &self,
        guard: &mut PollGuard<'_>,
        mut until: Deadline,
        progress: &mut Progress,
    ) {
        let last = std::mem::take(&mut progress.last);
        let is_awake = std::mem::take(&mut progress.is_awake);
        // If more messages are available, a sleep would return immediately.
        let sleeps = self.spin.is_zero() && !is_awake && !progress.is_more;
        if sleeps && self.sleep_alone(until, progress) {
            return;
        }
        progress.last = last;
        if let PollOutcome::Something = self.look(guard, progress, Some(until)) {
            return self.has_come(progress);
        }
        turn::flush();
        if is_awake {
            return self.look_after_sleep(guard, progress);
        }
        let spinning = progress
            .spin
            .get_or_insert_with(|| Spin::begin(self.spin, self.habit(), until));
        if spinning.again() {
            return;
        }
        if !progress.is_entered {
            progress.slept = true;
            return;
        }
        if self.sleep_alone(until, progress) {
            return;
        }
        if self.has_more() {
            until = until.or_sooner(Deadline::after(SOON));
        }
        let Some(queue) = self.queue() else {
            guard.release();
            return thread::sleep(SOON);
        };
        if !self.post_all(queue, &mut progress.seen) {
            until = until.or_sooner(Deadline::after(SOON));
        }
        let done = queue.wait_done(until);
        if let Some(spin) = &mut progress.spin {
            spin.has_slept();
        }
        match done.map(|done| self.take(done, guard)) {
            Some(PollOutcome::Something) => self.has_come(progress),
            Some(PollOutcome::Nothing | PollOutcome::NoRoom) | None => self.end(progress),
        }
    }

    /// Records that a message was handled: the next wait begins anew.
    pub(super) fn has_come(&self, progress: &mut Progress) {
        progress.slept = false;
        self.end(progress);
    }

    pub(super) fn end(&self, progress: &mut Progress) {
        if let Some(spin) = progress.spin.take() {
            let mut habit = self.habit();
            spin.end(&mut habit);
            self.habit.store(habit, Ordering::Relaxed);
        }
    }
}
