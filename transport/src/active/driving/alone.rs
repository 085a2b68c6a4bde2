//! A connection that is alone in its bundle: who serves it looks there, and sleeps there, and leaves out what many need.

use super::waiting::Progress;
use super::{Core, Driving, Looked};
use crate::active::budget::Tick;
use crate::active::turn;
use crate::device::deadline::Deadline;
use crate::endpoint::Message;
use crate::endpoint::spin::Spin;

/// How often a connection that is alone is looked at before its bundle is looked after.
const LOOKS: u32 = 64;

impl Core {
    /// Takes one message of a connection that is alone here, if there is one: looks a number of times, without letting
    /// go of it in between. `None` where there are others to look after.
    #[inline]
    pub(super) fn look_alone(
        &self,
        driving: &mut Driving<'_>,
        until: Deadline,
        last: Tick,
        progress: &mut Progress,
    ) -> Option<Looked> {
        progress.is_more = false;
        self.see(&mut progress.seen);
        let [member] = progress.seen.all() else {
            return None;
        };
        let link = member.link.upgrade()?;
        if self.has_more() || link.is_posted() {
            return None;
        }
        let (mut message, mut more) = (Message::nothing(), None);
        let shared = link.endpoint().shared();
        let had_more = shared.has_more();
        if !had_more {
            turn::flush();
            shared.flush_before_look();
        }
        let (spin, mut looks) = (&mut progress.spin, 0u32);
        let has_come = shared.look_again(&mut message, &mut more, || {
            looks = looks.wrapping_add(1);
            let begin = || Spin::begin(self.spin, self.habit(), until);
            looks < LOOKS && spin.get_or_insert_with(begin).again()
        });
        if !has_come {
            link.note_room();
            return Some(Looked::Nothing);
        }
        progress.is_more = shared.has_more();
        if had_more && looks == 0 {
            driving.last = last;
        }
        let come = (&mut message, &mut more);
        let looked = self.received(link, &member.handlers, come, driving);
        progress.last = std::mem::take(&mut driving.last);
        Some(looked)
    }

    /// Sleeps until something comes of a connection that is alone here, or somebody calls; who comes back looks first.
    /// False, without a sleep, where there is more to look after, or something is here.
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
        // A message that has no room keeps the connection readable.
        if link.is_posted() || link.starves() {
            return false;
        }
        if !link.endpoint().shared().may_be_called() {
            return false;
        }
        // As a receive that is posted, a sleep does not keep what the program has of it.
        let endpoint = link.endpoint().clone();
        drop(link);
        let (shared, Some(queue)) = (endpoint.shared(), self.queue()) else {
            return false;
        };
        turn::flush();
        shared.flush_before_look();
        let slept = queue.sleep_beside(|bell| shared.sleep_or_called(bell, until));
        progress.is_awake = slept == Some(true);
        if let (true, Some(spin)) = (progress.is_awake, &mut progress.spin) {
            spin.has_slept();
        }
        progress.is_awake
    }

    /// Nothing has come after such a sleep: somebody has called, or it was for no reason.
    #[cold]
    pub(super) fn look_after_sleep(&self, driving: &mut Driving<'_>, progress: &mut Progress) {
        match self.look_at_queue(driving) {
            Looked::Something => self.has_come(progress),
            Looked::Nothing | Looked::NoRoom => self.end(progress),
        }
    }
}
