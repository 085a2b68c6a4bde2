//! Blocking on file descriptors.

use std::io;
use std::os::fd::BorrowedFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::deadline::Deadline;
use jstream_sync::watcher::Interest;

/// Blocks until one of `sources` is ready or hung up, the deadline has passed, or a signal arrived.
/// Returns true if one of `sources` is the reason.
pub fn sleep_on<const N: usize>(
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

/// Like [`sleep_on`], but blocks until any of several sources is readable.
pub fn sleep_on_any<'s>(
    sources: impl Iterator<Item = BorrowedFd<'s>>,
    deadline: Deadline,
) -> io::Result<bool> {
    let mut fds: Vec<_> = sources
        .map(|source| PollFd::from_borrowed_fd(source, PollFlags::IN))
        .collect();
    sleep(&mut fds, deadline)
}

/// Returns true if both directions of a socket have ended, or it has an error. If the peer has only
/// shut down its sending direction, the result is false.
pub(crate) fn has_hung_up(source: BorrowedFd<'_>) -> bool {
    let mut fds = [PollFd::from_borrowed_fd(source, PollFlags::empty())];
    let now = Deadline::after(Duration::ZERO);
    let has_news = sleep(&mut fds, now).is_ok_and(|news| news);
    let ends = PollFlags::HUP | PollFlags::ERR;
    has_news && fds.iter().any(|fd| fd.revents().intersects(ends))
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
