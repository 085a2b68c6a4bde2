//! Listener of shared memory connections.

use std::io;
use std::net::Shutdown;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::task::Waker;

use rustix::io::Errno;
use socket2::{Domain, Socket, Type};

use super::handshake::{PendingShm, Users};
use crate::connection::{Accept, Accepted, Armed};
use crate::credentials::Credentials;
use crate::unix_name::{SocketFile, UnixName};
use jstream_base::AcceptError;
use jstream_base::Address;
use jstream_base::Options;
use jstream_sync::lock;
use jstream_sync::wakers::{WakerList, wake};

/// Maximum number of connections that wait to be accepted. The system may allow fewer.
const BACKLOG: i32 = 1024;

/// Maximum number of wakers that are kept. If there are more, the oldest one is woken spuriously.
const MOST_WAITING: usize = 64;

pub(super) struct ShmListener {
    address: Address,
    options: Options,
    /// The listening socket. Once closed, the descriptor refers to a connection that was hung up.
    socket: Socket,
    /// The file of the socket, which `close` removes. `None` if the name is abstract.
    file: Option<SocketFile>,
    closed: AtomicBool,
    /// Wakers of tasks that wait for a connection. `close` wakes them, because the socket that the
    /// system watches for them is then gone.
    waiting: Mutex<WakerList>,
}

impl ShmListener {
    pub(super) fn new(address: &Address, options: &Options) -> io::Result<Self> {
        let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
        socket.set_nonblocking(true)?;
        let file = socket_name(address).listen(&socket, options.socket_mode, BACKLOG)?;
        Ok(Self {
            address: address.clone(),
            options: options.clone(),
            socket,
            file,
            closed: AtomicBool::new(false),
            waiting: Mutex::default(),
        })
    }

    fn waiting(&self) -> MutexGuard<'_, WakerList> {
        lock(&self.waiting)
    }

    /// Removes the file, when the listener is closed.
    fn remove_file(&self) {
        if let Some(file) = &self.file {
            file.remove();
        }
    }
}

impl Accept for ShmListener {
    fn local(&self) -> &Address {
        &self.address
    }

    fn try_accept(&self) -> Result<Option<Accepted>, AcceptError> {
        let accepted = self.socket.accept();
        if self.closed.load(Ordering::Acquire) {
            return Err(AcceptError::ClosedLocally {
                address: self.address.clone(),
            });
        }
        match accepted {
            Ok((socket, _)) => {
                let peer = named(&self.address, &socket);
                let users = Users::allowed(is_path(&peer));
                let pending = PendingShm::new(socket, peer.clone(), users, &self.options);
                let half_made = Box::new(pending);
                Ok(Some(Accepted { peer, half_made }))
            }
            Err(error) => match Errno::from_io_error(&error) {
                Some(Errno::AGAIN | Errno::INTR | Errno::CONNABORTED) => Ok(None),
                _ => Err(AcceptError::System {
                    address: self.address.clone(),
                    source: error,
                }),
            },
        }
    }

    fn source(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    fn arm(&self, waker: &Waker) -> Armed {
        let mut waiting = self.waiting();
        // Checked under the lock: `close` sets the flag before it takes the list.
        if self.closed.load(Ordering::Acquire) {
            return Armed::Ready;
        }
        waiting.insert(waker);
        let first = (waiting.len() > MOST_WAITING).then(|| waiting.pop());
        drop(waiting);
        first.flatten().into_iter().for_each(wake);
        Armed::Source
    }

    fn close(&self) {
        if self.closed.swap(true, Ordering::AcqRel) {
            return;
        }
        self.remove_file();
        // Wakes threads that sleep on the socket. An abstract name is released once no descriptor
        // refers to the socket, so the descriptor is replaced by one that is always readable. The
        // replacement is readable from the start, because a woken thread polls the descriptor once
        // more and is not notified of later changes.
        let _ = self.socket.shutdown(Shutdown::Both);
        if let Ok((end, other)) = Socket::pair(Domain::UNIX, Type::STREAM, None) {
            drop(other);
            let flags = libc::O_CLOEXEC;
            // SAFETY: Both descriptors are open and owned here. The second one afterwards refers to
            // another socket; no code here relies on which socket it refers to.
            unsafe { libc::dup3(end.as_raw_fd(), self.socket.as_raw_fd(), flags) };
        }
        let waiting = self.waiting().take();
        waiting.wake_all();
    }
}

impl Drop for ShmListener {
    fn drop(&mut self) {
        if !self.closed.swap(true, Ordering::AcqRel) {
            self.remove_file();
        }
    }
}

/// Returns the name of an address's socket. A name that is no path is abstract, and each user has
/// a separate set of these.
///
/// # Panics
///
/// If the address has another scheme.
pub(super) fn socket_name(address: &Address) -> UnixName {
    let Address::Shm { name, .. } = address else {
        panic!("the shared memory device was given {address}");
    };
    if is_path(address) {
        return UnixName::File(name.into());
    }
    let uid = rustix::process::geteuid().as_raw();
    UnixName::Abstract(format!("jstream-shm-{uid}-{name}"))
}

/// Returns true for `shm:///path`.
pub(super) fn is_path(address: &Address) -> bool {
    matches!(address, Address::Shm { name, .. } if name.starts_with('/'))
}

/// Returns the listener's name with the process ID of the peer.
fn named(listener: &Address, socket: &Socket) -> Address {
    let pid = Credentials::of_peer(socket.as_fd()).map_or(0, |peer| peer.pid);
    match listener {
        Address::Shm { name, .. } => Address::shm_peer(format!("{name}/{pid}")),
        other => other.clone(),
    }
}
