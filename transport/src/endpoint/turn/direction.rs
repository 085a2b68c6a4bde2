//! What has a turn: a direction, and what both have in common.

use std::os::fd::BorrowedFd;
use std::task::Waker;
use std::time::{Duration, Instant};

use crate::device::connection::{Armed, Fault, Interest};
use crate::device::deadline::Deadline;
use crate::endpoint::timer::Timer;
use crate::endpoint::watcher::Watch;

/// What a direction does under its lock.
pub(in crate::endpoint) trait Direction {
    /// What a sleep needs.
    type Half;

    fn common(&mut self) -> &mut Common;

    /// Carries on what was posted, as far as it goes now.
    fn drive(&mut self);

    /// Whether something is posted that has not ended.
    fn has_posted(&self) -> bool;

    /// Whether the half has to go on for it.
    fn wants_half(&self) -> bool {
        self.has_posted()
    }

    /// Whether nobody has taken the half, and it has not ended.
    fn has_half(&self) -> bool;

    /// For how long what is on its way may still take; `None` when nothing is.
    fn patience(&mut self) -> Option<Duration>;

    fn take_half(&mut self) -> Option<Self::Half>;

    fn sleep(half: &mut Self::Half, deadline: Deadline) -> Result<(), Fault>;

    /// Prepares a half for a sleep on its source.
    fn arm_bare(half: &mut Self::Half) -> Armed;

    fn source(half: &Self::Half) -> (BorrowedFd<'_>, Interest);

    /// Puts the half back. It slept for so long.
    fn put_back(&mut self, half: Self::Half, slept: Result<(), Fault>, elapsed: Duration);

    /// Has the alarm rung when the half can go on. False when it can go on now.
    fn arm(&mut self) -> bool;

    /// Ends it in a process that has only a copy of it. What it shares with the one that it belongs to stays as it
    /// is.
    fn disown(&mut self);
}

/// What the states of both directions have.
#[derive(Default)]
pub(in crate::endpoint) struct Common {
    /// How many threads wait for the half to come back, or for their operations.
    pub(super) waiting: u32,
    /// An operation has ended that a thread may wait for.
    pub(in crate::endpoint) news: bool,
    /// The tasks whose operations have ended.
    pub(in crate::endpoint) to_wake: Vec<Waker>,
    /// This direction has ended, and the other one is to be told.
    pub(in crate::endpoint) broke: bool,
    /// How waits have ended lately.
    pub(in crate::endpoint) habit: u8,
    /// Where the alarm is registered, if it is the system that rings it.
    pub(in crate::endpoint) watch: Option<Watch>,
    /// Rings the alarm when the patience of tasks is over; there once one was needed.
    pub(super) timer: Option<Timer>,
    /// Since when tasks wait with what was on its way then. Nothing when that has ended.
    pub(in crate::endpoint) waited_since: Option<Instant>,
}
