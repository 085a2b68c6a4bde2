//! Credentials of the peers of Unix sockets.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd};

use libc::pid_t;

use crate::connection::PeerIdentity;

/// Credentials of the process at the other end of a Unix socket, as reported by the system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Credentials {
    /// The process ID, or 0 if the process is not visible in this PID namespace (in another
    /// container).
    pub(crate) pid: pid_t,
    pub(crate) uid: u32,
    pub(crate) gid: u32,
}

impl Credentials {
    pub(crate) fn of_peer(socket: BorrowedFd<'_>) -> io::Result<Self> {
        let mut found = MaybeUninit::<libc::ucred>::uninit();
        let size = size_of::<libc::ucred>();
        let mut length = libc::socklen_t::try_from(size).unwrap_or_default();
        // SAFETY: The call writes at most `length` bytes to `found`.
        let status = unsafe {
            libc::getsockopt(
                socket.as_raw_fd(),
                libc::SOL_SOCKET,
                libc::SO_PEERCRED,
                found.as_mut_ptr().cast(),
                &raw mut length,
            )
        };
        if status != 0 {
            return Err(io::Error::last_os_error());
        }
        if usize::try_from(length) != Ok(size) {
            return Err(io::ErrorKind::InvalidData.into());
        }
        // SAFETY: The system has written all of it, and its fields are integers.
        let found = unsafe { found.assume_init() };
        Ok(Self {
            pid: found.pid,
            uid: found.uid,
            gid: found.gid,
        })
    }

    /// Returns the identity of the peer of a socket.
    pub(crate) fn identity(socket: BorrowedFd<'_>) -> PeerIdentity {
        let found = Self::of_peer(socket).ok();
        let process = found
            .as_ref()
            .and_then(|found| u32::try_from(found.pid).ok());
        PeerIdentity {
            process: process.filter(|pid| *pid != 0),
            user: found.as_ref().map(|found| found.uid),
            group: found.map(|found| found.gid),
            certificate: None,
        }
    }
}
