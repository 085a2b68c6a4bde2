//! The interface between a direction and its lock, and the state that both directions have.

use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

use crate::timer::Timer;
use jstream_device::connection::{Armed, Fault, Interest};
use jstream_device::deadline::Deadline;
use jstream_sync::watcher::Watch;

/// Operations of a direction under its lock.
pub(crate) trait Direction {
    /// The part that a sleeping thread moves out of the lock.
    type Half;

    fn common(&mut self) -> &mut Common;

    /// Drives the posted operations as far as possible without blocking.
    fn drive(&mut self);

    /// Returns true if posted operations have not ended.
    fn has_posted(&self) -> bool;

    /// Returns true if their progress depends on the half.
    fn wants_half(&self) -> bool {
        self.has_posted()
    }

    /// Returns true if no thread has taken the half and the direction has not ended.
    fn has_half(&self) -> bool;

    /// Returns the time after which the operation in progress is to be driven again: at most that
    /// which it may still take. Returns `None` if there is none.
    fn patience(&mut self) -> Option<Duration>;

    fn take_half(&mut self) -> Option<Self::Half>;

    fn sleep(half: &mut Self::Half, deadline: Deadline) -> Result<(), Fault>;

    /// Arms a half for a sleep on its source.
    fn arm_bare(half: &mut Self::Half) -> Armed;

    fn source(half: &Self::Half) -> (BorrowedFd<'_>, Interest);

    /// Puts the half back after a sleep of length `elapsed`.
    fn put_back(&mut self, half: Self::Half, slept: Result<(), Fault>, elapsed: Duration);

    /// Arms the device so that it notifies the waiting tasks when the half can make progress.
    /// Returns false if it can make progress now.
    fn arm(&mut self) -> bool;

    /// Ends the direction in a forked process, which has only a copy of it. Resources that are
    /// shared with the parent process stay as they are.
    fn disown(&mut self);
}

/// State that both directions have.
#[derive(Default)]
pub(crate) struct Common {
    /// Duties of the next release of the lock.
    pub(crate) duties: ReleaseDuties,
    /// History of recent waits, which determines how long the next one spins.
    pub(crate) habit: u8,
    /// Registration with a watcher, if the system rather than the device wakes the tasks.
    pub(crate) watch: Option<Watch>,
    /// Timer that wakes the waiting tasks when the timeout expires. Created on first use.
    pub(super) timer: Option<Timer>,
    /// Time at which tasks began to wait for the operation that is in progress; `None` once it has
    /// ended.
    pub(crate) waited_since: Option<Instant>,
}

/// Duties of a release of the lock besides publishing whether operations are posted. They are one
/// word, so that a release without duties is a single check.
#[derive(Debug, Default)]
pub(crate) struct ReleaseDuties(u32);

impl ReleaseDuties {
    /// This direction has ended, and the other one has to be ended too.
    const BROKEN: u32 = 1;
    /// An operation has ended for which a thread may be waiting.
    const CHANGED: u32 = 1 << 1;
    /// A thread waits for the half to come back, or for its operations to end.
    const WAITING: u32 = 1 << 2;

    /// Returns true if there is nothing to do.
    #[inline]
    pub(super) fn are_none(&self) -> bool {
        self.0 == 0
    }

    /// Counts a waiting thread.
    pub(super) fn add_waiting(&mut self) {
        // The count takes the upper 30 bits, which no number of threads fills.
        self.0 = self.0.saturating_add(Self::WAITING);
    }

    /// Subtracts a waiting thread.
    pub(super) fn remove_waiting(&mut self) {
        self.0 = self.0.saturating_sub(Self::WAITING);
        // A change is recorded for waiting threads. Without any, it would only keep releases from
        // the fast path.
        if !self.has_waiting() {
            self.0 &= Self::BROKEN;
        }
    }

    pub(super) fn has_waiting(&self) -> bool {
        self.0 >= Self::WAITING
    }

    /// Records that the waiting threads, if there are any, have to check their conditions.
    pub(crate) fn record_change(&mut self) {
        if self.has_waiting() {
            self.0 |= Self::CHANGED;
        }
    }

    /// Records that the other direction has to be ended.
    pub(crate) fn record_break(&mut self) {
        self.0 |= Self::BROKEN;
    }

    pub(super) fn is_broken(&self) -> bool {
        self.0 & Self::BROKEN != 0
    }

    pub(super) fn take_change(&mut self) -> bool {
        self.clear(Self::CHANGED)
    }

    pub(super) fn take_break(&mut self) -> bool {
        self.clear(Self::BROKEN)
    }

    fn clear(&mut self, duty: u32) -> bool {
        let has_duty = self.0 & duty != 0;
        self.0 &= !duty;
        has_duty
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn changes_are_for_threads_that_wait() {
        let mut duties = ReleaseDuties::default();
        duties.record_change();
        assert!(duties.are_none());
        duties.add_waiting();
        duties.add_waiting();
        assert!(duties.has_waiting() && !duties.take_change());
        duties.record_change();
        duties.record_break();
        assert!(duties.take_change() && !duties.take_change());
        duties.remove_waiting();
        duties.record_change();
        assert!(duties.has_waiting() && !duties.are_none());
        duties.remove_waiting();
        assert!(!duties.has_waiting() && !duties.take_change());
        assert!(duties.is_broken() && duties.take_break());
        assert!(duties.are_none());
    }
}
