//! Fast path for a group with a single connection: its poller polls and sleeps in the connection
//! itself, and skips the work that several connections need.

use super::progress::Progress;
use super::{PollGuard, PollLoop, PollOutcome};
use crate::budget::Tick;
use crate::turn;
use jstream_device::deadline::Deadline;
use jstream_endpoint::receiving::Inbound;
use jstream_endpoint::spin::Spin;

/// Number of looks at the connection before the state of the group is checked again.
const LOOKS: u32 = 64;

impl PollLoop {
    /// Handles one message of the only connection, if there is one. Polls it several times while it
    /// holds the connection's receive half. Returns `None` if the group has other work.
    #[inline]
    pub(super) fn look_alone(
        &self,
        guard: &mut PollGuard<'_>,
        until: Deadline,
        last: Tick,
        progress: &mut Progress,
    ) -> Option<PollOutcome> {
        progress.is_more = false;
        self.see(&mut progress.seen);
        let [member] = progress.seen.all() else {
            return None;
        };
        let link = member.link.upgrade()?;
        if self.has_more() || link.is_posted() {
            return None;
        }
        let mut inbound = Inbound::empty();
        let shared = link.endpoint().shared();
        let had_more = shared.has_more();
        if !had_more {
            turn::flush();
            shared.flush_before_poll();
        }
        let (spin, mut looks) = (&mut progress.spin, 0u32);
        let has_come = shared.poll_message(&mut inbound, || {
            looks = looks.wrapping_add(1);
            let begin = || Spin::begin(self.spin, self.habit(), until);
            looks < LOOKS && spin.get_or_insert_with(begin).again()
        });
        if !has_come {
            link.note_room();
            return Some(PollOutcome::Nothing);
        }
        progress.is_more = shared.has_more();
        if had_more && looks == 0 {
            guard.last = last;
        }
        let looked = self.received(link, &member.handlers, &mut inbound, guard);
        progress.last = std::mem::take(&mut guard.last);
        Some(looked)
    }

    /// Sleeps until a message of the only connection arrives, or a thread calls; the caller must
    /// then look for messages. Returns false without sleeping if the group has other work, or a
    /// message is available.
    pub(super) fn sleep_alone(&self, until: Deadline, progress: &mut Progress) -> bool {
        if !progress.is_entered || self.has_more() {
            return false;
        }
        self.see(&mut progress.seen);
        let [member] = progress.seen.all() else {
            return false;
        };
        let Some(link) = member.link.upgrade() else {
            return false;
        };
        // A message that waits for room in the pool keeps the socket readable.
        if link.is_posted() || link.starves() {
            return false;
        }
        if !link.endpoint().shared().may_be_called() {
            return false;
        }
        // Like a posted receive, the sleep must not keep the link alive, so only the endpoint is
        // cloned.
        let endpoint = link.endpoint().clone();
        drop(link);
        let (shared, Some(queue)) = (endpoint.shared(), self.queue()) else {
            return false;
        };
        turn::flush();
        shared.flush_before_poll();
        let slept = queue.sleep_beside(|bell| shared.sleep_or_called(bell, until));
        progress.is_awake = slept == Some(true);
        if let (true, Some(spin)) = (progress.is_awake, &mut progress.spin) {
            spin.has_slept();
        }
        progress.is_awake
    }

    /// Handles a wake-up after which no message was found: a call by another thread, or a spurious
    /// one.
    #[cold]
    pub(super) fn look_after_sleep(&self, guard: &mut PollGuard<'_>, progress: &mut Progress) {
        match self.look_at_queue(guard) {
            PollOutcome::Something => self.has_come(progress),
            PollOutcome::Nothing | PollOutcome::NoRoom => self.end(progress),
        }
    }
}
