//! Fast path for a group with a single connection: its poller sleeps in the connection itself,
//! without posting a receive.

use super::progress::Progress;
use super::{PollGuard, PollLoop, PollOutcome};
use crate::turn;
use jstream_device::deadline::Deadline;
use jstream_sync::callbacks;

impl PollLoop {
    /// Sleeps until a message of the only connection arrives, or a thread calls; the caller must
    /// then look for messages. Returns false without sleeping if the group has other work, or a
    /// message is available.
    pub(super) fn sleep_alone(&self, until: Deadline, progress: &mut Progress) -> bool {
        if !progress.is_entered || self.has_more() || callbacks::are_queued() {
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
