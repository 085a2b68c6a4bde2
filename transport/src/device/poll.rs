//! Sleeping on descriptors.

use std::io;
use std::os::fd::BorrowedFd;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::connection::Interest;
use super::deadline::Deadline;

/// Sleeps until one of `sources` is ready or hung up, the deadline has passed, or a signal came.
/// Whether it was one of `sources`.
pub(crate) fn sleep_on<const N: usize>(
    sources: [(BorrowedFd<'_>, Interest); N],
    deadline: Deadline,
) -> io::Result<bool> {
    let mut fds = sources.each_ref().map(|(fd, interest)| {
        let flags = match interest {
            Interest::Readable => PollFlags::IN,
            Interest::Writable => PollFlags::OUT,
        };
        PollFd::new(fd, flags)
    });
    sleep(&mut fds, deadline)
}

/// As [`sleep_on`], until any of several sources is readable.
pub(crate) fn sleep_on_any<'s>(
    sources: impl Iterator<Item = BorrowedFd<'s>>,
    deadline: Deadline,
) -> io::Result<bool> {
    let mut fds: Vec<_> = sources
        .map(|source| PollFd::from_borrowed_fd(source, PollFlags::IN))
        .collect();
    sleep(&mut fds, deadline)
}

fn sleep(fds: &mut [PollFd<'_>], deadline: Deadline) -> io::Result<bool> {
    let timeout = deadline
        .left()
        .and_then(|left| Timespec::try_from(left).ok());
    match poll(fds, timeout.as_ref()) {
        Ok(ready) => Ok(ready > 0),
        Err(rustix::io::Errno::INTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}
