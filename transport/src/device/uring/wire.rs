//! A stream over a socket that a ring receives from.

use std::io::{self, IoSlice};
use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicU32, Ordering};

use std::task::Waker;

use socket2::MaybeUninitSlice;

use super::ring::{Issuer, Ring, Taken};
use crate::device::connection::{Armed, Interest};
use crate::device::deadline::Deadline;
use crate::device::stream::socket::SocketWire;
use crate::device::stream::{Patience, Wire};

/// From how many missing bytes on the rest of a payload is received where it belongs, and not
/// copied from the ring's buffers.
const LARGE: usize = 16 * 1024;
/// How many pieces are received past the ring after a large one: a peer that sends one large
/// message sends more, and starting and stopping the ring costs two calls.
const PAST: u32 = 16;

/// A connected stream socket and its ring.
///
/// Small messages are received by the ring. The ring rests while a large payload comes, which the
/// system writes straight to its jbuf. What is sent goes straight to the socket: it is one call
/// either way, and one that waits for nothing leaves no memory with the system.
pub(super) struct UringWire {
    // Before the socket, which it receives from.
    ring: Ring,
    socket: SocketWire,
    /// How many more pieces are received past the ring. Only who receives reads and writes it.
    past: AtomicU32,
}

impl UringWire {
    /// Gives the socket back if there can't be a ring.
    pub(super) fn new(socket: SocketWire, issuer: Issuer) -> Result<Self, (SocketWire, io::Error)> {
        match Ring::new(socket.fd(), issuer) {
            Ok(ring) => Ok(Self {
                ring,
                socket,
                past: AtomicU32::new(0),
            }),
            Err(error) => Err((socket, error)),
        }
    }

    pub(super) fn ring(&self) -> &Ring {
        &self.ring
    }

    /// Whether the ring is to be passed by for `slices`.
    fn passes(&self, slices: &[MaybeUninitSlice<'_>]) -> bool {
        // A slice before the last is the rest of a payload; the last is for whatever follows.
        if matches!(slices, [rest, _, ..] if rest.len() >= LARGE) {
            self.past.store(PAST, Ordering::Relaxed);
            return true;
        }
        self.past.load(Ordering::Relaxed) > 0
    }

    fn passed(&self, received: Option<usize>) -> Option<usize> {
        if received.is_some() {
            let past = self.past.load(Ordering::Relaxed);
            self.past.store(past.saturating_sub(1), Ordering::Relaxed);
        }
        received
    }
}

// SAFETY: the ring, and what the system receives past it, fill the slices one after the other, and
// say how many bytes they wrote.
unsafe impl Wire for UringWire {
    fn try_read(&self, slices: &mut [MaybeUninitSlice<'_>]) -> io::Result<Option<usize>> {
        if !self.passes(slices) {
            return self.ring.take(slices);
        }
        match self.ring.take_last(slices)? {
            Taken::Bytes(n) => Ok(Some(n)),
            Taken::Soon => Ok(None),
            Taken::Never => Ok(self.passed(self.socket.try_read(slices)?)),
        }
    }

    fn try_write(&self, slices: &[IoSlice<'_>]) -> io::Result<Option<usize>> {
        self.socket.try_write(slices)
    }

    fn read(
        &self,
        patience: &mut Patience,
        deadline: Deadline,
        slices: &mut [MaybeUninitSlice<'_>],
    ) -> io::Result<Option<usize>> {
        if !self.passes(slices) {
            return self.ring.wait(slices, deadline);
        }
        match self.ring.take_last(slices)? {
            Taken::Bytes(n) => Ok(Some(n)),
            Taken::Soon => self.ring.wait(slices, deadline),
            Taken::Never => Ok(self.passed(self.socket.read(patience, deadline, slices)?)),
        }
    }

    fn arm(&self, interest: Interest, _waker: Option<&Waker>) -> Armed {
        let receive = self.past.load(Ordering::Relaxed) == 0;
        match interest {
            Interest::Writable => Armed::Source,
            Interest::Readable => match self.ring.arm(receive) {
                Ok(false) => Armed::Source,
                // Whoever receives finds what is wrong.
                Ok(true) | Err(_) => Armed::Ready,
            },
        }
    }

    fn source(&self, interest: Interest) -> (BorrowedFd<'_>, Interest) {
        let fd = match (interest, self.ring.issuer()) {
            (Interest::Readable, Issuer::Any) => self.ring.fd(),
            // The ring wakes nobody who polls it. But nothing is taken from the socket outside the
            // calls of its issuer, so that the socket stays readable until then.
            (Interest::Readable, Issuer::First) | (Interest::Writable, _) => self.socket.fd(),
        };
        (fd, interest)
    }

    fn end_sending(&self) {
        self.socket.end_sending();
    }

    fn end(&self) {
        self.socket.end();
    }

    fn fd(&self) -> BorrowedFd<'_> {
        self.socket.fd()
    }
}
