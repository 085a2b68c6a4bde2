//! A stream over a socket that a ring receives from.

use std::io::{self, IoSlice};
use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use std::time::Duration;

use jstream::buffer::Filled;
use socket2::MaybeUninitSlice;

use super::lending::Lending;
use super::receiver::Taken;
use super::ring::{Issuer, Prospect, Ring};
use super::seat::{Seat, ring_of_thread};
use crate::device::connection::{Armed, Interest};
use crate::device::deadline::Deadline;
use crate::device::poll::sleep_on;
use crate::device::stream::lent::Lent;
use crate::device::stream::socket::SocketWire;
use crate::device::stream::{Patience, Wire};
use crate::endpoint::watcher::Watcher;
use crate::options::Options;

/// From how many missing bytes on the rest of a payload is received where it belongs, and not
/// copied from the ring's buffers.
const LARGE: usize = 16 * 1024;
/// How many pieces are received past the ring after a large one: a peer that sends one large
/// message sends more, and starting and stopping a receive costs two calls.
const PAST: u32 = 16;

/// After how long whoever sleeps looks again whether the ring of another thread has let go.
const LET_GO: Duration = Duration::from_millis(1);

/// A connected stream socket and its place at a ring.
///
/// Small messages are received by the ring of the thread that asks for them; when another thread asks,
/// the socket moves to the ring of that. It rests while a large payload comes, which the
/// system writes straight to its jbuf, and for programs that poll the socket. What is sent goes straight to
/// the socket: it is one call either way, and one that waits for nothing leaves no memory with the
/// system; but for large jbufs to other hosts, which are lent.
pub(super) struct UringWire {
    socket: SocketWire,
    issuer: Issuer,
    /// Only who receives uses it.
    seat: Mutex<Option<Seat>>,
    /// How many more pieces are received past the ring. Only who receives reads and writes it.
    past: AtomicU32,
    /// For large jbufs, where they are lent.
    lending: Option<Lending>,
}

impl UringWire {
    /// Gives the socket back if there can't be a ring; else tells as well what it has to do without.
    pub(super) fn new(
        socket: SocketWire,
        issuer: Issuer,
        options: &Options,
    ) -> Result<(Self, Vec<String>), (SocketWire, io::Error)> {
        match ring_of_thread(issuer) {
            Ok(ring) => {
                let (lending, mut lacks) = Lending::of(&socket, options);
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

    /// Sees whether the system has let go of jbufs.
    #[inline]
    fn look(&self) {
        if let Some(lending) = &self.lending {
            lending.look();
        }
    }

    /// A panic elsewhere can't leave it half changed.
    fn seat(&self) -> MutexGuard<'_, Option<Seat>> {
        self.seat.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the ring is to be passed by for `slices`.
    fn passes(&self, slices: &[MaybeUninitSlice<'_>]) -> bool {
        // A slice before the last is the rest of a payload; the last is for whatever follows.
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

    /// Leaves the ring of another thread, once it has let go of the socket. What came of that.
    fn come_here(
        &self,
        seat: &mut Option<Seat>,
        slices: &mut [MaybeUninitSlice<'_>],
    ) -> io::Result<Taken> {
        let Some(there) = seat.as_ref().filter(|seat| !seat.ring.is_here()) else {
            return Ok(Taken::Never);
        };
        self.check(&there.ring)?;
        let taken = there.ring.take_last(there.number, slices)?;
        if taken == Taken::Never {
            seat.take().map(Seat::leave);
        }
        Ok(taken)
    }

    /// Whether this thread may drive the ring.
    fn check(&self, ring: &Ring) -> io::Result<()> {
        if ring.obeys() || ring.is_over() {
            return Ok(());
        }
        let driver = ring.owner();
        Err(io::Error::other(format!(
            "with a single issuer, this direction is driven by {driver:?} alone"
        )))
    }

    /// Has it received from by the ring of this thread. Where there can't be one, it is passed by.
    fn sit<'s>(&self, seat: &'s mut Option<Seat>) -> Option<&'s Seat> {
        if seat.is_none() {
            match Seat::of_thread(self.issuer, self.socket.fd()) {
                Ok(made) => *seat = Some(made),
                Err(_) => self.past.store(u32::MAX, Ordering::Relaxed),
            }
        }
        seat.as_ref()
    }

    /// Takes what the ring has, or ends its receive, for who is going to ask the socket.
    fn rest(seat: Option<&Seat>, slices: &mut [MaybeUninitSlice<'_>]) -> io::Result<Taken> {
        seat.map_or(Ok(Taken::Never), |seat| {
            seat.ring.take_last(seat.number, slices)
        })
    }

    /// What is to be expected, where the ring is to receive, or not.
    fn prospect(&self, receive: bool) -> io::Result<Prospect> {
        let seat = &mut *self.seat();
        if let Some(there) = seat.as_ref().filter(|seat| !seat.ring.is_here()) {
            self.check(&there.ring)?;
            match there.ring.prospect(there.number, false)? {
                Prospect::Never => seat.take().map(Seat::leave),
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

// SAFETY: the ring, and what the system receives past it, fill the slices one after the other, and
// say how many bytes they wrote.
unsafe impl Wire for UringWire {
    fn try_read(&self, slices: &mut [MaybeUninitSlice<'_>]) -> io::Result<Option<usize>> {
        self.look();
        let seat = &mut *self.seat();
        let mut taken = self.come_here(seat, slices)?;
        if taken == Taken::Never {
            taken = if self.passes(slices) {
                Self::rest(seat.as_ref(), slices)?
            } else {
                let seat = self.sit(seat);
                seat.map_or(Ok(Taken::Never), |seat| seat.ring.take(seat.number, slices))?
            };
        }
        match taken {
            Taken::Bytes(n) => Ok(Some(n)),
            Taken::Soon => Ok(None),
            Taken::Never => Ok(self.passed(self.socket.try_read(slices)?)),
        }
    }

    fn try_read_last(&self, slices: &mut [MaybeUninitSlice<'_>]) -> io::Result<Option<usize>> {
        let seat = &mut *self.seat();
        if let Some(seat) = &*seat {
            self.check(&seat.ring)?;
        }
        match Self::rest(seat.as_ref(), slices)? {
            Taken::Bytes(n) => Ok(Some(n)),
            Taken::Soon => Ok(None),
            Taken::Never => self.socket.try_read(slices),
        }
    }

    fn try_write(&self, slices: &[IoSlice<'_>]) -> io::Result<Option<usize>> {
        self.look();
        self.socket.try_write(slices)
    }

    fn try_write_more(&self, bytes: &[u8]) -> io::Result<Option<usize>> {
        self.socket.try_write_more(bytes)
    }

    fn lends(&self, length: usize) -> bool {
        let lending = self.lending.as_ref();
        lending.is_some_and(|lending| lending.takes(length))
    }

    fn lend(&self, jbuf: Filled) -> Lent {
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
        self.look();
        let seat = &mut *self.seat();
        let mut taken = self.come_here(seat, slices)?;
        if let (Taken::Soon, Some(there)) = (taken, &seat) {
            // Its thread may be anywhere, and looks first.
            let soon = deadline.or_sooner(Deadline::after(LET_GO));
            sleep_on([(there.ring.fd(), Interest::Readable)], soon)?;
        }
        if taken == Taken::Never {
            let rested = if self.passes(slices) {
                Self::rest(seat.as_ref(), slices)?
            } else {
                self.sit(seat);
                Taken::Soon
            };
            taken = match (rested, &seat) {
                (Taken::Soon, Some(seat)) => seat.ring.wait(seat.number, slices, deadline)?,
                (Taken::Soon, None) => Taken::Never,
                (rested, _) => rested,
            };
        }
        match taken {
            Taken::Bytes(n) => Ok(Some(n)),
            Taken::Soon => Ok(None),
            Taken::Never => Ok(self.passed(self.socket.read(patience, deadline, slices)?)),
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
            // It polls the socket, and so it is the socket that has to have what comes.
            let past = self.past.load(Ordering::Relaxed).max(PAST);
            self.past.store(past, Ordering::Relaxed);
        }
        match self.prospect(waker.is_some()) {
            Ok(Prospect::Never) => Armed::Source,
            Ok(Prospect::Soon) if waker.is_some() => Armed::Source,
            // Whoever receives finds what is wrong.
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
        if seat.is_some_and(|seat| !seat.leave()) {
            // The system keeps the socket as long as it receives from it.
            self.socket.end();
        }
    }
}
