//! The memory of another process of this host.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd};

use libc::{iovec, pid_t};

/// How many ranges the system takes in one call; one is for the mark.
pub(super) const MOST_RANGES: usize = 1023;

/// Who is at the other end of a Unix socket, as the system knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Credentials {
    /// 0 when it can't be seen from here, as in another container.
    pub(crate) pid: pid_t,
    pub(crate) uid: u32,
}

impl Credentials {
    pub(crate) fn of_peer(socket: BorrowedFd<'_>) -> io::Result<Self> {
        let mut found = MaybeUninit::<libc::ucred>::uninit();
        let size = size_of::<libc::ucred>();
        let mut length = libc::socklen_t::try_from(size).unwrap_or_default();
        // SAFETY: the option writes at most `length` bytes to `found`.
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
        // SAFETY: the system has written all of it; its fields are integers.
        let found = unsafe { found.assume_init() };
        Ok(Self {
            pid: found.pid,
            uid: found.uid,
        })
    }
}

/// A random value in memory that stays where it is, by which a process is known again: another one
/// that has got its number, or that has called `exec`, has it not.
pub(super) struct Nonce(Box<[u64; 2]>);

impl Nonce {
    pub(super) fn new() -> Self {
        let random = RandomState::new();
        Self(Box::new([1_u64, 2].map(|n| {
            let mut hasher = random.build_hasher();
            hasher.write_u64(n);
            hasher.finish()
        })))
    }

    /// Where it stands, and what it is.
    pub(super) fn mark(&self) -> Mark {
        Mark {
            address: std::ptr::from_ref(&*self.0).addr() as u64,
            value: *self.0,
        }
    }
}

/// What a process says about its nonce.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) address: u64,
    pub(super) value: [u64; 2],
}

impl Mark {
    /// That of who does not want to be read: nothing stands at that address.
    pub(super) const NOWHERE: Self = Self {
        address: 0,
        value: [0; 2],
    };
}

/// A range of another process's memory: address and length.
pub(super) type Range = (u64, u64);

/// A process whose memory can be read.
#[derive(Debug)]
pub(super) struct Remote {
    pid: pid_t,
    mark: Mark,
    /// What a call is given, kept for the next one.
    iovecs: Vec<iovec>,
}

// SAFETY: the addresses in it are of another process, and are not followed in this one.
unsafe impl Send for Remote {}

impl Remote {
    /// Tries to read the mark of a process.
    pub(super) fn probe(pid: pid_t, mark: Mark) -> io::Result<Self> {
        if pid <= 0 {
            return Err(io::Error::new(
                io::ErrorKind::NotFound,
                "its process can't be seen from here",
            ));
        }
        let mut remote = Self {
            pid,
            mark,
            iovecs: Vec::new(),
        };
        remote.read(&[], &mut [])?;
        Ok(remote)
    }

    /// Copies ranges, one after the other, to `to`, which they fill exactly. When it fails, nothing
    /// is known of what stands in `to`.
    pub(super) fn read(&mut self, ranges: &[Range], to: &mut [MaybeUninit<u8>]) -> io::Result<()> {
        self.iovecs.clear();
        let mark = (self.mark.address, size_of_val(&self.mark.value) as u64);
        for &(address, length) in ranges.iter().chain([&mark]) {
            let (Ok(address), Ok(length)) = (usize::try_from(address), usize::try_from(length))
            else {
                return Err(io::ErrorKind::InvalidData.into());
            };
            self.iovecs.push(iovec {
                iov_base: std::ptr::without_provenance_mut(address),
                iov_len: length,
            });
        }
        let mut value = [0_u64; 2];
        let wanted = to.len().saturating_add(size_of_val(&value));
        let local = [
            iovec {
                iov_base: to.as_mut_ptr().cast(),
                iov_len: to.len(),
            },
            iovec {
                iov_base: value.as_mut_ptr().cast(),
                iov_len: size_of_val(&value),
            },
        ];
        // SAFETY: both local ranges are borrowed exclusively, and any bytes may stand in them; the
        // system reads the others as addresses of the other process, whatever they are.
        let copied = unsafe {
            libc::process_vm_readv(
                self.pid,
                local.as_ptr(),
                local.len() as libc::c_ulong,
                self.iovecs.as_ptr(),
                self.iovecs.len() as libc::c_ulong,
                0,
            )
        };
        match usize::try_from(copied) {
            Err(_) => Err(io::Error::last_os_error()),
            // The mark comes last, so it says that all before came from the same process.
            Ok(copied) if copied == wanted && value == self.mark.value => Ok(()),
            Ok(_) => Err(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                "the peer's memory is not what it said",
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(
        clippy::arithmetic_side_effects,
        clippy::cast_possible_truncation,
        clippy::undocumented_unsafe_blocks,
        reason = "test code"
    )]

    use super::*;

    fn this_process() -> pid_t {
        std::process::id().try_into().unwrap()
    }

    #[test]
    fn ranges_are_read_in_order() {
        let nonce = Nonce::new();
        let mut remote = Remote::probe(this_process(), nonce.mark()).unwrap();
        let range = |bytes: &[u8]| (bytes.as_ptr().addr() as u64, bytes.len() as u64);
        let mut to = [MaybeUninit::new(0_u8); 5];
        remote
            .read(&[range(b"abc"), range(b""), range(b"de")], &mut to)
            .unwrap();
        assert_eq!(to.map(|b| unsafe { b.assume_init() }), *b"abcde");
        let error = remote.read(&[(1, 5)], &mut to).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::EFAULT));
        assert!(remote.read(&[(u64::MAX, u64::MAX)], &mut to).is_err());
    }

    #[test]
    fn another_mark_is_another_process() {
        let (nonce, other) = (Nonce::new(), Nonce::new());
        assert_ne!(nonce.mark(), other.mark());
        let mut mark = nonce.mark();
        mark.value[1] ^= 1;
        let error = Remote::probe(this_process(), mark).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
        mark.address = 8;
        Remote::probe(this_process(), mark).unwrap_err();
        Remote::probe(0, nonce.mark()).unwrap_err();
    }
}
