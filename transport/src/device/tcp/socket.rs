//! One connection and how its calls wait.

use std::ffi::c_int;
use std::io::{self, IoSlice};
use std::net::Shutdown;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use socket2::{MaybeUninitSlice, Socket, TcpKeepalive};

use crate::address::Address;
use crate::device::deadline::Deadline;
use crate::device::link::Close;
use crate::options::Options;

/// Sending to a peer that is gone must be an error, not a signal that ends the program.
/// `socket2` sets the same per socket where the system has no such flag.
const NO_SIGNAL: c_int = if cfg!(any(target_os = "linux", target_os = "android")) {
    0x4000
} else if cfg!(target_os = "freebsd") {
    0x2_0000
} else if cfg!(any(
    target_os = "netbsd",
    target_os = "openbsd",
    target_os = "dragonfly"
)) {
    0x400
} else {
    0
};

/// Why a call did nothing.
#[derive(Debug)]
pub(super) enum Failure {
    /// The deadline passed. (The system's own `TimedOut` means a connection that is lost.)
    TimedOut,
    System(io::Error),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::System(error)
    }
}

/// The shortest time-out that a socket is given; 0 would mean none.
const SHORTEST: Duration = Duration::from_millis(1);

/// A connected socket that both halves of a link share.
pub(super) struct Connection {
    socket: Socket,
    peer: Address,
    closed: AtomicBool,
}

impl Connection {
    pub(super) fn new(socket: Socket, peer: Address) -> Self {
        Self {
            socket,
            peer,
            closed: AtomicBool::new(false),
        }
    }

    pub(super) fn socket(&self) -> &Socket {
        &self.socket
    }

    pub(super) fn peer(&self) -> Address {
        self.peer.clone()
    }

    /// Whether it was closed in this program.
    pub(super) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// Ends both directions; the peer sees the end after what was sent.
    pub(super) fn end(&self) {
        // It fails only if the connection has ended already.
        let _ = self.socket.shutdown(Shutdown::Both);
    }

    /// Ends the sending direction alone.
    pub(super) fn end_sending(&self) {
        // It fails only if the connection has ended already.
        let _ = self.socket.shutdown(Shutdown::Write);
    }
}

impl Close for Connection {
    fn close(&self) {
        // The flag comes first: whoever is woken by the end has to find it.
        self.closed.store(true, Ordering::Release);
        self.end();
    }
}

/// Sets what every connection needs.
pub(super) fn prepare(socket: &Socket, options: &Options) -> io::Result<()> {
    // Messages are written whole, so there is nothing to wait for.
    socket.set_tcp_nodelay(true)?;
    let keepalive = TcpKeepalive::new().with_time(options.keepalive.max(Duration::from_secs(1)));
    #[cfg(any(target_os = "linux", target_os = "macos", windows))]
    let keepalive = keepalive.with_interval(Duration::from_secs(10));
    socket.set_tcp_keepalive(&keepalive)
}

/// Which direction of a socket a [`Patience`] is for.
#[derive(Debug, Clone, Copy)]
enum Direction {
    Receive,
    Send,
}

/// How long calls of one direction block, which the system is told only when it has to change:
/// a link in steady use makes no system call for it.
#[derive(Debug)]
pub(super) struct Patience {
    direction: Direction,
    told: Option<Duration>,
}

impl Patience {
    /// For a socket that has no time-out yet.
    pub(super) fn to_receive() -> Self {
        Self {
            direction: Direction::Receive,
            told: None,
        }
    }

    /// For a socket that has no time-out yet.
    pub(super) fn to_send() -> Self {
        Self {
            direction: Direction::Send,
            told: None,
        }
    }

    /// Receives what is there, waiting for it until the deadline; 0 bytes are the end of the
    /// stream.
    pub(super) fn receive(
        &mut self,
        socket: &Socket,
        deadline: Deadline,
        slices: &mut [MaybeUninitSlice<'_>],
    ) -> Result<usize, Failure> {
        self.wait(socket, deadline, || Ok(socket.recv_vectored(slices)?.0))
    }

    /// Sends what the system takes, waiting for room until the deadline.
    pub(super) fn send(
        &mut self,
        socket: &Socket,
        deadline: Deadline,
        slices: &[IoSlice<'_>],
    ) -> Result<usize, Failure> {
        self.wait(socket, deadline, || {
            socket.send_vectored_with_flags(slices, NO_SIGNAL)
        })
    }

    /// Calls until it succeeds, fails, or the deadline has passed. Calls at least
    /// once: what is possible without waiting is done after the deadline too.
    fn wait(
        &mut self,
        socket: &Socket,
        deadline: Deadline,
        mut call: impl FnMut() -> io::Result<usize>,
    ) -> Result<usize, Failure> {
        if let Some(left) = deadline.left() {
            // A little late is well, and spares a system call for each piece of a message.
            let late = left
                .saturating_add(left.checked_div(8).unwrap_or_default())
                .saturating_add(SHORTEST);
            if self.told.is_none_or(|told| told > late) {
                self.tell(socket, Some(left))?;
            }
        }
        loop {
            match call() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if is_time_out(&error) => {
                    let left = deadline.left();
                    if left == Some(Duration::ZERO) {
                        return Err(Failure::TimedOut);
                    }
                    // It was told less, for an earlier message.
                    self.tell(socket, left)?;
                }
                result => return Ok(result?),
            }
        }
    }

    fn tell(&mut self, socket: &Socket, timeout: Option<Duration>) -> io::Result<()> {
        let timeout = timeout.map(|timeout| timeout.max(SHORTEST));
        match self.direction {
            Direction::Receive => socket.set_read_timeout(timeout)?,
            Direction::Send => socket.set_write_timeout(timeout)?,
        }
        self.told = timeout;
        Ok(())
    }
}

/// Unix says that the call would block, Windows that it timed out.
fn is_time_out(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::WouldBlock
        || (cfg!(windows) && error.kind() == io::ErrorKind::TimedOut)
}
