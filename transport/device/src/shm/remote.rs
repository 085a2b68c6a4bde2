//! Reads from the memory of another process of this host.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::mem::MaybeUninit;

use libc::{iovec, pid_t};

/// Maximum number of ranges of one call. The system takes one more, which is for the mark.
pub(super) const MOST_RANGES: usize = 1023;

/// A random value at a fixed address, which identifies a process. Another process that got the same
/// process ID, or the same process after `exec`, does not have it.
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

    /// Returns the address and the value.
    pub(super) fn mark(&self) -> NonceMark {
        NonceMark {
            address: std::ptr::from_ref(&*self.0).addr() as u64,
            value: *self.0,
        }
    }
}

/// Address and value of a process's nonce, as that process announces them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NonceMark {
    pub(super) address: u64,
    pub(super) value: [u64; 2],
}

impl NonceMark {
    /// The mark of a process whose memory must not be read: no process has memory at this address.
    pub(super) const NOWHERE: Self = Self {
        address: 0,
        value: [0; 2],
    };
}

/// A range of another process's memory: address and length in bytes.
pub(super) type Range = (u64, u64);

/// A process whose memory can be read.
#[derive(Debug)]
pub(super) struct Remote {
    pid: pid_t,
    mark: NonceMark,
    /// Arguments of a call; the allocation is kept for the next call.
    iovecs: Vec<iovec>,
}

// SAFETY: The addresses in it belong to another process and are not dereferenced in this one.
unsafe impl Send for Remote {}

impl Remote {
    /// Verifies that the mark of a process can be read.
    pub(super) fn probe(pid: pid_t, mark: NonceMark) -> io::Result<Self> {
        if pid <= 0 {
            return Err(io::Error::new(
                io::ErrorKind::NotFound,
                "its process is not visible in this PID namespace",
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

    /// Copies ranges in order to `to`, whose length is the sum of their lengths. If this fails, the
    /// contents of `to` are unspecified.
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
        // SAFETY: Both local ranges are borrowed exclusively, and all byte values are valid in
        // them. The system interprets the remote ranges as addresses of the other process and
        // checks them.
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
            // The mark is read last. If it matches, all ranges before it were read from the same
            // process.
            Ok(copied) if copied == wanted && value == self.mark.value => Ok(()),
            Ok(_) => Err(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                "the peer's memory does not contain the announced mark",
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
