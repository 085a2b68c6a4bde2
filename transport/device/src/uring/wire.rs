//! A stream over a socket that receives through a ring.

use std::io::{self, IoSlice};
use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::Waker;
use std::time::Duration;

use jstream::buffer::MessageBuffer;
use socket2::MaybeUninitSlice;

use super::lending::Lending;
use super::receiver::TakeResult;
use super::ring::{Issuer, Prospect, ReceiveRing};
use super::seat::{SocketNumber, ring_of_thread};
use crate::connection::{Armed, Interest};
use crate::deadline::Deadline;
use crate::poll::sleep_on;
use crate::stream::lent::Lent;
use crate::stream::socket::SocketWire;
use crate::stream::{Patience, Wire};
use jstream_base::Options;
use jstream_sync::lock;
use jstream_sync::watcher::Watcher;

/// The number of missing bytes from which the rest of a payload is received directly into its
/// buffer, instead of being copied from the ring's buffers.
const LARGE: usize = 16 * 1024;
/// Number of pieces that bypass the ring after a large one. A peer that sends one large message
/// usually sends more, and stopping and starting a receive costs two system calls.
const PAST: u32 = 16;

/// Interval of checks if the ring of another thread has released the socket.
const LET_GO: Duration = Duration::from_millis(1);

/// A connected stream socket and its seat at a ring.
///
/// Small messages are received through the ring of the receiving thread. If another thread takes
/// over, the socket moves to that thread's ring. The ring's receive is stopped while a large
/// payload is received, which the kernel writes directly to its buffer, and for programs that poll
/// the socket. Data is sent directly through the socket: this needs one system call either way, and
/// a call that does not block leaves no memory with the kernel. The exception is large buffers to
/// other hosts, which are lent.
pub(super) struct UringWire {
    socket: SocketWire,
    issuer: Issuer,
    /// Used only by the receiving thread.
    seat: Mutex<Option<SocketNumber>>,
    /// Number of further pieces that bypass the ring. Accessed only by the receiving thread.
    past: AtomicU32,
    /// State for lending large buffers, if they are lent.
    lending: Option<Lending>,
}

impl UringWire {
    /// Creates a wire, and returns it with the features that it has to do without. If there can't
    /// be a ring, the error has the socket.
    pub(super) fn new(
        socket: SocketWire,
        issuer: Issuer,
        options: &Options,
    ) -> Result<(Self, Vec<String>), (SocketWire, io::Error)> {
        match ring_of_thread(issuer) {
            Ok(ring) => {
                let (lending, mut lacks) = Lending::new(&socket, options);
                lacks.extend(
                    ring.unlocked().map(|why| {
                        format!("the buffers of io_uring are not locked in memory: {why}")
                    }),
                );
                let wire = Self {
                    socket,
                    issuer,
                    seat: Mutex::new(None),
                    past: AtomicU32::new(0),
                    lending,
                };
                Ok((wire, lacks))
            }
            Err(error) => Err((socket, error)),
        }
    }

    /// Checks if the kernel has released lent buffers.
    fn check_loans(&self) {
        if let Some(lending) = &self.lending {
            lending.check_loans();
        }
    }

    /// Locks the seat.
    fn seat(&self) -> MutexGuard<'_, Option<SocketNumber>> {
        lock(&self.seat)
    }

    /// Returns true if receiving into `slices` is to bypass the ring.
    fn passes(&self, slices: &[MaybeUninitSlice<'_>]) -> bool {
        // A slice before the last is the rest of a payload; the last is for the bytes behind it.
        if matches!(slices, [rest, _, ..] if rest.len() >= LARGE) {
            self.past.store(PAST, Ordering::Relaxed);
            return true;
        }
        self.is_past()
    }

    fn is_past(&self) -> bool {
        self.past.load(Ordering::Relaxed) > 0
    }

    fn passed(&self, received: Option<usize>) -> Option<usize> {
        if received.is_some() {
            let past = self.past.load(Ordering::Relaxed);
            self.past.store(past.saturating_sub(1), Ordering::Relaxed);
        }
        received
    }

    /// Leaves the ring of another thread once that ring has released the socket. Returns the bytes
    /// that the ring had received.
    fn move_to_own_ring(
        &self,
        seat: &mut Option<SocketNumber>,
        slices: &mut [MaybeUninitSlice<'_>],
    ) -> io::Result<TakeResult> {
        let Some(other) = seat
            .as_ref()
            .filter(|seat| !seat.ring.is_owned_by_this_thread())
        else {
            return Ok(TakeResult::Never);
        };
        self.check(&other.ring)?;
        let taken = other.ring.take_last(other.number, slices)?;
        if taken == TakeResult::Never {
            seat.take().map(SocketNumber::remove);
        }
        Ok(taken)
    }

    /// Returns an error if this thread may not drive the ring.
    fn check(&self, ring: &ReceiveRing) -> io::Result<()> {
        if ring.obeys() || ring.is_over() {
            return Ok(());
        }
        let driver = ring.owner();
        Err(io::Error::other(format!(
            "with a single issuer, only {driver:?} may receive from this connection"
        )))
    }

    /// Adds the socket to the ring of this thread. If there can't be a ring, it is bypassed from
    /// now on.
    fn sit<'s>(&self, seat: &'s mut Option<SocketNumber>) -> Option<&'s SocketNumber> {
        if seat.is_none() {
            match SocketNumber::of_thread(self.issuer, self.socket.fd()) {
                Ok(made) => *seat = Some(made),
                Err(_) => self.past.store(u32::MAX, Ordering::Relaxed),
            }
        }
        seat.as_ref()
    }

    /// Takes the bytes that the ring has, or ends its receive, before the socket is read directly.
    fn rest(
        seat: Option<&SocketNumber>,
        slices: &mut [MaybeUninitSlice<'_>],
    ) -> io::Result<TakeResult> {
        seat.map_or(Ok(TakeResult::Never), |seat| {
            seat.ring.take_last(seat.number, slices)
        })
    }

    /// Returns the prospect of receiving. Starts the ring's receive if `receive` is true, and ends
    /// it otherwise.
    fn prospect(&self, receive: bool) -> io::Result<Prospect> {
        let seat = &mut *self.seat();
        if let Some(other) = seat
            .as_ref()
            .filter(|seat| !seat.ring.is_owned_by_this_thread())
        {
            self.check(&other.ring)?;
            match other.ring.prospect(other.number, false)? {
                Prospect::Never => seat.take().map(SocketNumber::remove),
                prospect => return Ok(prospect),
            };
        }
        let receive = receive && !self.is_past();
        if receive {
            self.sit(seat);
        }
        seat.as_ref().map_or(Ok(Prospect::Never), |seat| {
            seat.ring.prospect(seat.number, receive)
        })
    }
}

// SAFETY: the ring fills the slices one after the other and returns the number of bytes written. So
// does `SocketWire`, which receives if the ring is bypassed.
unsafe impl Wire for UringWire {
    fn try_read(&self, slices: &mut [MaybeUninitSlice<'_>]) -> io::Result<Option<usize>> {
        self.check_loans();
        let seat = &mut *self.seat();
        let mut taken = self.move_to_own_ring(seat, slices)?;
        if taken == TakeResult::Never {
            taken = if self.passes(slices) {
                Self::rest(seat.as_ref(), slices)?
            } else {
                let seat = self.sit(seat);
                seat.map_or(Ok(TakeResult::Never), |seat| {
                    seat.ring.receive(seat.number, slices)
                })?
            };
        }
        match taken {
            TakeResult::Bytes(n) => Ok(Some(n)),
            TakeResult::Soon => Ok(None),
            TakeResult::Never => Ok(self.passed(self.socket.try_read(slices)?)),
        }
    }

    fn try_read_last(&self, slices: &mut [MaybeUninitSlice<'_>]) -> io::Result<Option<usize>> {
        let seat = &mut *self.seat();
        if let Some(seat) = &*seat {
            self.check(&seat.ring)?;
        }
        match Self::rest(seat.as_ref(), slices)? {
            TakeResult::Bytes(n) => Ok(Some(n)),
            TakeResult::Soon => Ok(None),
            TakeResult::Never => self.socket.try_read(slices),
        }
    }

    fn try_write(&self, slices: &[IoSlice<'_>]) -> io::Result<Option<usize>> {
        self.check_loans();
        self.socket.try_write(slices)
    }

    fn try_write_more(&self, bytes: &[u8]) -> io::Result<Option<usize>> {
        self.socket.try_write_more(bytes)
    }

    fn lends(&self, length: usize) -> bool {
        let lending = self.lending.as_ref();
        lending.is_some_and(|lending| lending.takes(length))
    }

    fn lend(&self, jbuf: MessageBuffer) -> Lent {
        match &self.lending {
            Some(lending) => lending.begin(jbuf),
            None => Lent::new(jbuf),
        }
    }

    fn try_write_lent(&self, lent: &Lent, from: usize) -> io::Result<Option<usize>> {
        match &self.lending {
            Some(lending) => lending.try_send(&self.socket, lent, from),
            None => {
                let rest = lent.bytes().get(from..).unwrap_or_default();
                self.socket.try_write(&[IoSlice::new(rest)])
            }
        }
    }

    fn end_lending(&self, lent: Lent) {
        if let Some(lending) = &self.lending {
            lending.end(lent);
        }
    }

    fn read(
        &self,
        patience: &mut Patience,
        deadline: Deadline,
        slices: &mut [MaybeUninitSlice<'_>],
    ) -> io::Result<Option<usize>> {
        self.check_loans();
        let seat = &mut *self.seat();
        let mut taken = self.move_to_own_ring(seat, slices)?;
        if let (TakeResult::Soon, Some(other)) = (taken, &seat) {
            // The owner of that ring may be anywhere, and may process the completion first.
            let wait_deadline = deadline.or_sooner(Deadline::after(LET_GO));
            sleep_on([(other.ring.fd(), Interest::Readable)], wait_deadline)?;
        }
        if taken == TakeResult::Never {
            let rested = if self.passes(slices) {
                Self::rest(seat.as_ref(), slices)?
            } else {
                self.sit(seat);
                TakeResult::Soon
            };
            taken = match (rested, &seat) {
                (TakeResult::Soon, Some(seat)) => seat.ring.wait(seat.number, slices, deadline)?,
                (TakeResult::Soon, None) => TakeResult::Never,
                (rested, _) => rested,
            };
        }
        match taken {
            TakeResult::Bytes(n) => Ok(Some(n)),
            TakeResult::Soon => Ok(None),
            TakeResult::Never => Ok(self.passed(self.socket.read(patience, deadline, slices)?)),
        }
    }

    fn sleep(&self, interest: Interest, deadline: Deadline) -> io::Result<()> {
        if self.arm(interest, None) == Armed::Source {
            sleep_on([self.source(interest)], deadline)?;
        }
        Ok(())
    }

    fn arm(&self, interest: Interest, waker: Option<&Waker>) -> Armed {
        if interest == Interest::Writable {
            return Armed::Source;
        }
        if waker.is_none() {
            // Without a waker, the caller polls the socket, so the ring must not take its data.
            let past = self.past.load(Ordering::Relaxed).max(PAST);
            self.past.store(past, Ordering::Relaxed);
        }
        match self.prospect(waker.is_some()) {
            Ok(Prospect::Never) => Armed::Source,
            Ok(Prospect::Soon) if waker.is_some() => Armed::Source,
            // If there is an error, the next receive reports it.
            Ok(Prospect::Soon | Prospect::Now) | Err(_) => Armed::Ready,
        }
    }

    fn watch(&self, waker: &Waker, watcher: &Arc<Watcher>) -> io::Result<bool> {
        match &*self.seat() {
            Some(seat) => seat.ring.watch(seat.number, waker, watcher),
            None => Ok(false),
        }
    }

    fn end_sending(&self) {
        self.socket.end_sending();
    }

    fn end(&self) {
        self.socket.end();
    }

    fn reset(&self) {
        self.socket.reset();
    }

    fn fd(&self) -> BorrowedFd<'_> {
        self.socket.fd()
    }
}

impl Drop for UringWire {
    fn drop(&mut self) {
        let seat = self.seat().take();
        if seat.is_some_and(|seat| !seat.remove()) {
            // The kernel keeps the socket open while it receives from it.
            self.socket.end();
        }
    }
}
