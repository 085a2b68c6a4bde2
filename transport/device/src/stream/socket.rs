//! A [`Wire`] over a socket.
//!
//! The socket stays in blocking mode, so that one system call can both wait and receive. Calls that
//! must not block pass a flag.

use std::ffi::c_int;
use std::io::{self, IoSlice};
use std::net::Shutdown;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::{self, RecvFlags, SendFlags};
use socket2::{MaybeUninitSlice, Socket};

use super::{Patience, Wire};
use crate::deadline::Deadline;

/// Flags of a send that does not block. Sending to a peer that is gone must be an error, not a
/// signal that terminates the program.
const SEND: SendFlags = SendFlags::DONTWAIT.union(SendFlags::NOSIGNAL);
const SEND_MORE: SendFlags = SEND.union(SendFlags::MORE);
const LOOK: RecvFlags = RecvFlags::DONTWAIT;
const WAIT: RecvFlags = RecvFlags::empty();

#[allow(clippy::cast_possible_wrap, reason = "flags are bits")]
const fn bits(flags: u32) -> c_int {
    flags as c_int
}

/// The shortest timeout that is set on a socket, because 0 would mean no timeout.
const SHORTEST: Duration = Duration::from_millis(1);

/// A connected stream socket, in blocking mode.
#[derive(Debug)]
pub(crate) struct SocketWire(Socket);

impl SocketWire {
    pub(crate) fn new(socket: Socket) -> Self {
        Self(socket)
    }

    /// Returns the socket.
    pub(crate) fn socket(&self) -> &Socket {
        &self.0
    }

    /// Returns the socket.
    #[cfg(feature = "shm")]
    pub(crate) fn into_socket(self) -> Socket {
        self.0
    }

    /// Like [`try_read`](Wire::try_read), but into initialised memory.
    #[cfg(feature = "tls")]
    pub(crate) fn try_read_into(&self, memory: &mut [u8]) -> io::Result<Option<usize>> {
        match net::recv(&self.0, memory, LOOK) {
            Ok((_, n)) => Ok(Some(n)),
            Err(Errno::AGAIN | Errno::INTR) => Ok(None),
            Err(errno) => Err(errno.into()),
        }
    }
}

// SAFETY: the kernel has written as many bytes as it reports to the slices, and fills each slice
// before the next.
unsafe impl Wire for SocketWire {
    fn try_read(&self, slices: &mut [MaybeUninitSlice<'_>]) -> io::Result<Option<usize>> {
        receive(&self.0, slices, LOOK)
    }

    fn try_write(&self, slices: &[IoSlice<'_>]) -> io::Result<Option<usize>> {
        // For one slice, `send` costs less than a call with a list of slices.
        match slices {
            [slice] => send(|| Ok(net::send(&self.0, slice, SEND)?)),
            _ => send(|| self.0.send_vectored_with_flags(slices, bits(SEND.bits()))),
        }
    }

    fn try_write_more(&self, bytes: &[u8]) -> io::Result<Option<usize>> {
        send(|| Ok(net::send(&self.0, bytes, SEND_MORE)?))
    }

    fn read(
        &self,
        patience: &mut Patience,
        deadline: Deadline,
        slices: &mut [MaybeUninitSlice<'_>],
    ) -> io::Result<Option<usize>> {
        let left = deadline.left();
        if patience.has_changed(left) {
            patience.told = left.map(|left| left.max(SHORTEST));
            self.0.set_read_timeout(patience.told)?;
        }
        let received = receive(&self.0, slices, WAIT)?;
        patience.in_vain = received.is_none();
        Ok(received)
    }

    fn reads_asleep(&self) -> bool {
        true
    }

    fn end_sending(&self) {
        // This fails only if the connection has already ended.
        let _ = self.0.shutdown(Shutdown::Write);
    }

    fn end(&self) {
        // This fails only if the connection has already ended.
        let _ = self.0.shutdown(Shutdown::Both);
    }

    fn reset(&self) {
        // A TCP socket that was only shut down accepts no more bytes without telling the peer, so a
        // peer that is sending would wait for room. Disconnecting resets the connection. Other
        // sockets refuse to be disconnected, but a shutdown notifies their peers.
        if net::connect_unspec(&self.0).is_err() {
            self.end();
        }
    }

    fn fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

fn send(mut call: impl FnMut() -> io::Result<usize>) -> io::Result<Option<usize>> {
    loop {
        match call() {
            Ok(n) => return Ok(Some(n)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(None),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

fn receive(
    socket: &Socket,
    slices: &mut [MaybeUninitSlice<'_>],
    flags: RecvFlags,
) -> io::Result<Option<usize>> {
    // A polling thread finds nothing most of the time. A plain errno makes that case cheap.
    let received = match slices {
        [slice] => net::recv(socket, &mut **slice, flags).map(|(_, n)| n),
        _ => {
            let received = socket.recv_vectored_with_flags(slices, bits(flags.bits()));
            let received = received.map(|(n, _)| n);
            match received.map_err(|error| Errno::from_io_error(&error).ok_or(error)) {
                Ok(n) => Ok(n),
                Err(Ok(errno)) => Err(errno),
                Err(Err(error)) => return Err(error),
            }
        }
    };
    match received {
        Ok(n) => Ok(Some(n)),
        Err(Errno::AGAIN | Errno::INTR) => Ok(None),
        Err(errno) => Err(errno.into()),
    }
}

impl Patience {
    /// Returns true if the socket needs another receive timeout for a wait of `left`.
    fn has_changed(&self, left: Option<Duration>) -> bool {
        match (self.told, left) {
            (None, left) => left.is_some(),
            // A wait without limit that the socket's timeout ends too early is repeated, and the
            // timeout is changed then.
            (Some(_), None) => self.in_vain,
            (Some(told), Some(left)) => {
                // Waking up a little late is acceptable, and saves a system call for each piece of
                // a message.
                let longest = left
                    .saturating_add(left.checked_div(8).unwrap_or_default())
                    .saturating_add(SHORTEST);
                told > longest || (self.in_vain && told < left)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(millis: Option<u64>, in_vain: bool) -> Patience {
        Patience {
            told: millis.map(Duration::from_millis),
            in_vain,
        }
    }

    #[test]
    fn sets_the_timeout_only_if_it_matters() {
        let of = |millis| Some(Duration::from_millis(millis));
        assert!(!told(None, true).has_changed(None));
        assert!(told(None, false).has_changed(of(5)));
        assert!(!told(Some(5), false).has_changed(None));
        assert!(told(Some(5), true).has_changed(None));
        assert!(!told(Some(900), false).has_changed(of(1000)));
        assert!(told(Some(900), true).has_changed(of(1000)));
        assert!(!told(Some(1000), false).has_changed(of(950)));
        assert!(told(Some(1000), false).has_changed(of(500)));
        assert!(told(Some(1000), true).has_changed(Some(Duration::ZERO)));
    }
}
