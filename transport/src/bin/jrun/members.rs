//! Interface to the processes of a job, wherever they run.

use std::time::{Duration, Instant};

use rustix::event::{PollFd, Timespec, poll};

use crate::output::LabelledOutput;
use crate::process::End;

/// An event of the processes of a job, which have numbers from 0.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum JobEvent {
    /// A process has started, with this process id.
    Started(usize, u32),
    /// A process can't be started: the exit code for this, and the reason.
    NotStarted(usize, u8, String),
    /// A process has ended, or will not be started.
    Ended(usize, End),
    /// Text for the user.
    Notice(String),
    /// The job can't go on: the exit code for this, and the reason.
    Failed(u8, String),
}

/// The processes of a job, on this host or on others.
pub(crate) trait JobProcesses {
    /// Adds the descriptors that are ready when [`advance`](Self::advance) has something to do.
    fn add_descriptors<'p>(&'p self, has_room: bool, fds: &mut Vec<PollFd<'p>>);

    /// Returns the next moment at which [`advance`](Self::advance) has something to do, even if no
    /// descriptor is ready.
    fn wakes_at(&self) -> Option<Instant>;

    /// Passes on output, and adds what has happened. Returns true if there was any output.
    fn advance(&mut self, output: &mut LabelledOutput, events: &mut Vec<JobEvent>) -> bool;

    /// Sends a signal to all processes that run.
    fn signal(&mut self, signal: i32);

    /// Kills everything that the processes have left behind, after their end.
    fn clean(&mut self);

    /// Returns true if no output can come any more.
    fn is_silent(&self) -> bool;

    /// Returns the time for which output may arrive after the end of all processes, or after the
    /// last output.
    fn patience(&self) -> Duration;
}

/// Waits until a descriptor is ready, at most until a moment.
pub(crate) fn wait(fds: &mut [PollFd<'_>], until: Option<Instant>) -> std::io::Result<()> {
    let left = until.map(|until| until.saturating_duration_since(Instant::now()));
    let left = left.and_then(|left| Timespec::try_from(left).ok());
    match poll(fds, left.as_ref()) {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
