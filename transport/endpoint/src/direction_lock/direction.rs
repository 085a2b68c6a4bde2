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
    /// Number of threads that wait for the half to come back, or for their operations to end.
    pub(super) waiting: u32,
    /// True if an operation has ended for which a thread may be waiting.
    pub(crate) news: bool,
    /// True if this direction has ended and the other one has to be ended too.
    pub(crate) broke: bool,
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
