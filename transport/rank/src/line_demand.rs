//! Demand of receives and probes for connections that do not exist yet.

use super::communicator::ENDING;
use super::state::RankState;
use jstream_matching::Pattern;

impl RankState {
    /// Records a new connection, which the threads and tasks that wait have to drive.
    pub(super) fn add_line(&mut self, rank: u32) {
        self.change_rare(|parts| parts.wanted.settle(rank));
        if self.tasks > 0 {
            self.wake_all_tasks();
        }
        self.notify_waiting();
    }

    /// Asks for the connections to the ranks whose messages match a pattern: without a source, to
    /// all members of the communicator.
    #[inline]
    pub(super) fn want_lines(&mut self, pattern: &Pattern) {
        if self.rare.wanted.any_is_missing() {
            self.want_missing(pattern);
        }
    }

    #[cold]
    fn want_missing(&mut self, pattern: &Pattern) {
        if let Some(rank) = pattern.source {
            return self.change_rare(|parts| parts.wanted.want(rank));
        }
        if pattern.context == ENDING {
            // The end of a world is told along the tree of its ranks.
            return;
        }
        let members = self.communicators.members(pattern.context);
        let all = members.as_ref().and_then(|members| members.all());
        let ranks = (0..).take(self.peers.len());
        self.change_rare(|parts| match all {
            Some(members) => members.iter().for_each(|rank| parts.wanted.want(*rank)),
            None => ranks.for_each(|rank| parts.wanted.want(rank)),
        });
    }
}
