//! An encrypted stream over a socket.
//!
//! Decision 059 has the reasons.

use std::io::{self, BufRead, IoSlice, Write};
use std::os::fd::BorrowedFd;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::Waker;

use rustls::Connection;
use socket2::MaybeUninitSlice;

use super::arrived::Arrived;
use super::room::FilledSlices;
use crate::connection::{Armed, Interest};
use crate::deadline::Deadline;
use crate::poll::sleep_on;
use crate::stream::Wire;
use crate::stream::socket::SocketWire;
use jstream_sync::lock;

/// Maximum number of slices that are encrypted at once.
const SLICES: usize = 64;

/// A connected socket after the TLS handshake.
///
/// Both directions share the session. Its lock is held while a few records are encrypted or
/// decrypted, and never while a thread sleeps.
pub(super) struct TlsWire {
    socket: SocketWire,
    session: Mutex<Session>,
    /// Used only by the receiving thread.
    arrived: Mutex<Arrived>,
}

struct Session {
    tls: Connection,
    /// True if the last encrypted byte was not reported as sent, because its record did not fit the
    /// socket's buffer as a whole. The sender therefore calls again, and this byte is the first of
    /// that call.
    withheld: bool,
}

impl TlsWire {
    pub(super) fn new(socket: SocketWire, tls: Connection, arrived: Arrived) -> Self {
        Self {
            socket,
            session: Mutex::new(Session {
                tls,
                withheld: false,
            }),
            arrived: Mutex::new(arrived),
        }
    }

    /// Returns the socket.
    pub(super) fn socket(&self) -> &SocketWire {
        &self.socket
    }

    /// Locks the session.
    fn session(&self) -> MutexGuard<'_, Session> {
        lock(&self.session)
    }

    fn arrived(&self) -> MutexGuard<'_, Arrived> {
        lock(&self.arrived)
    }

    /// Returns the peer's own certificate, in DER.
    pub(super) fn certificate(&self) -> Option<Arc<[u8]>> {
        let session = self.session();
        let chain = session.tls.peer_certificates()?;
        chain.first().map(|own| Arc::from(own.as_ref()))
    }

    /// Sends a close alert, if there is room for it.
    fn say_end(&self) {
        let session = &mut *self.session();
        session.tls.send_close_notify();
        let _ = flush(&mut session.tls, &self.socket);
    }
}

impl Session {
    /// Encrypts and sends at most a few records of `slices`. Returns the number of bytes sent, and
    /// true if there is room for more.
    fn write(
        &mut self,
        slices: &mut &mut [IoSlice<'_>],
        socket: &SocketWire,
    ) -> io::Result<(usize, bool)> {
        if !flush(&mut self.tls, socket)? {
            return Ok((0, false));
        }
        let mut sent = 0usize;
        if std::mem::take(&mut self.withheld) {
            IoSlice::advance_slices(slices, 1);
            sent = 1;
        }
        let taken = self.tls.writer().write_vectored(slices)?;
        IoSlice::advance_slices(slices, taken);
        sent = sent.saturating_add(taken);
        let flushed = flush(&mut self.tls, socket)?;
        if !flushed {
            self.withheld = true;
            sent = sent.saturating_sub(1);
        }
        Ok((sent, flushed && taken > 0))
    }

    /// Decrypts received bytes until `room` is full. Returns true if the peer has ended its
    /// direction.
    fn read(
        &mut self,
        arrived: &mut Arrived,
        room: &mut FilledSlices<'_, '_>,
        socket: &SocketWire,
    ) -> io::Result<bool> {
        loop {
            if self.read_plaintext(room)? {
                return Ok(true);
            }
            arrived.more = room.is_full();
            if arrived.more || arrived.bytes().is_empty() {
                return Ok(false);
            }
            let n = self.tls.read_tls(&mut arrived.bytes())?;
            arrived.consume(n);
            let processed = self.tls.process_new_packets();
            // The flush sends a key update that the peer requested, or an alert about an invalid
            // record. If it does not fit, it is sent with the next message.
            let _ = flush(&mut self.tls, socket);
            processed.map_err(as_io)?;
        }
    }

    /// Moves decrypted bytes to `room`. Returns true if the peer has ended its direction.
    fn read_plaintext(&mut self, room: &mut FilledSlices<'_, '_>) -> io::Result<bool> {
        let mut reader = self.tls.reader();
        while !room.is_full() {
            match reader.fill_buf() {
                Ok([]) => return Ok(true),
                Ok(plain) => {
                    let n = room.put(plain);
                    reader.consume(n);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            }
        }
        Ok(false)
    }
}

// SAFETY: the returned number is `FilledSlices::filled`. `FilledSlices` fills the slices one after
// the other, and its invariant is that the first `filled` bytes are initialised.
unsafe impl Wire for TlsWire {
    fn try_read(&self, slices: &mut [MaybeUninitSlice<'_>]) -> io::Result<Option<usize>> {
        let arrived = &mut *self.arrived();
        let mut room = FilledSlices::new(slices);
        loop {
            let ended = self.session().read(arrived, &mut room, &self.socket);
            match (room.filled(), ended) {
                // The next call reports an end or an error behind these bytes.
                (n @ 1.., _) => return Ok(Some(n)),
                (0, Ok(true)) => return Ok(Some(0)),
                (0, Ok(false)) => {}
                (0, Err(error)) => return Err(error),
            }
            match arrived.receive(&self.socket)? {
                None => return Ok(None),
                // The peer has not sent a close alert, so the stream may have been truncated by an
                // attacker.
                Some(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Some(_) => {}
            }
        }
    }

    fn try_write(&self, slices: &[IoSlice<'_>]) -> io::Result<Option<usize>> {
        let mut batch = [IoSlice::new(&[]); SLICES];
        let mut sent = 0usize;
        for few in slices.chunks(SLICES) {
            let Some(batch) = batch.get_mut(..few.len()) else {
                break;
            };
            batch.copy_from_slice(few);
            let mut left = batch;
            while left.iter().any(|slice| !slice.is_empty()) {
                // The lock is released after each step, so that the receiving thread gets its turn.
                let (n, more) = self.session().write(&mut left, &self.socket)?;
                sent = sent.saturating_add(n);
                if !more {
                    return Ok((sent > 0).then_some(sent));
                }
            }
        }
        Ok((sent > 0).then_some(sent))
    }

    fn sleep(&self, interest: Interest, deadline: Deadline) -> io::Result<()> {
        if self.arm(interest, None) == Armed::Source {
            sleep_on([self.source(interest)], deadline)?;
        }
        Ok(())
    }

    fn arm(&self, interest: Interest, _waker: Option<&Waker>) -> Armed {
        if interest == Interest::Writable {
            return Armed::Source;
        }
        let arrived = &mut *self.arrived();
        arrived.rest();
        if arrived.is_ready() {
            Armed::Ready
        } else {
            Armed::Source
        }
    }

    fn end_sending(&self) {
        self.say_end();
        self.socket.end_sending();
    }

    fn end(&self) {
        self.say_end();
        self.socket.end();
    }

    fn reset(&self) {
        self.socket.reset();
    }

    fn fd(&self) -> BorrowedFd<'_> {
        self.socket.fd()
    }
}

/// Sends encrypted bytes. Returns true if all of them were sent.
pub(super) fn flush(tls: &mut Connection, socket: &SocketWire) -> io::Result<bool> {
    while tls.wants_write() {
        match tls.write_tls(&mut TlsWriter(socket)) {
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
            Err(error) => return Err(error),
        }
    }
    Ok(true)
}

/// Adapter by which the TLS library writes encrypted bytes to a socket.
struct TlsWriter<'s>(&'s SocketWire);

impl Write for TlsWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_vectored(&[IoSlice::new(bytes)])
    }

    fn write_vectored(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        let sent = self.0.try_write(slices)?;
        sent.ok_or_else(|| io::ErrorKind::WouldBlock.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Converts a TLS error to an error of the stream.
pub(super) fn as_io(error: rustls::Error) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}
