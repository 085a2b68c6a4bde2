//! Connections over Unix domain sockets.

use std::fs::{self, File};
use std::io;
use std::os::linux::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use rustix::fs::{FlockOperation, Mode, fchmod, flock};
use socket2::{Domain, SockAddr, Socket, Type};

use super::connection::{Accept, Connection, Device};
use super::credentials::Credentials;
use super::deadline::Deadline;
use super::stream::Wire;
use super::stream::connection;
use super::stream::greeting::greet;
use super::stream::hello::Hello;
use super::stream::listening::{BACKLOG, Family, SocketListener};
use super::stream::socket::SocketWire;
use jstream_base::Address;
use jstream_base::Options;
use jstream_base::{ConnectError, ListenError};

/// Number and interval of attempts to lock the directory of a socket file. The bound protects
/// against a process that locks the directory and keeps it.
const LOCK_TRIES: u32 = 100;
const LOCK_PAUSE: Duration = Duration::from_millis(10);

/// The device of `uds:///path` and `uds://@name`.
pub(super) struct Uds;

impl Device for Uds {
    fn scheme(&self) -> &'static str {
        UdsFamily::SCHEME
    }

    fn listen(&self, address: &Address, options: &Options) -> Result<Box<dyn Accept>, ListenError> {
        let name = Name::of(address);
        let listening = name.listen().and_then(|(socket, file)| {
            let family = UdsFamily {
                path: path_of(address).into(),
                accepted: AtomicU64::new(1),
                file,
            };
            SocketListener::new(socket, address.clone(), options, family)
        });
        match listening {
            Ok(listening) => Ok(Box::new(listening)),
            Err(source) => {
                let address = address.clone();
                Err(match source.kind() {
                    io::ErrorKind::AddrInUse => ListenError::InUse { address },
                    _ => ListenError::System { address, source },
                })
            }
        }
    }

    fn connect(&self, address: &Address, options: &Options) -> Result<Connection, ConnectError> {
        let socket = connect_to(&Name::of(address), options.connect_timeout);
        let socket = socket.map_err(|source| {
            let address = address.clone();
            // The connect blocks while the listener's queue is full, until the timeout.
            if source.kind() == io::ErrorKind::WouldBlock {
                return ConnectError::TimedOut {
                    address,
                    after: options.connect_timeout,
                };
            }
            ConnectError::Unreachable {
                address,
                tried: 1,
                source,
            }
        })?;
        let wire = SocketWire::new(socket);
        let theirs = greet(&wire, options).map_err(|unwelcome| unwelcome.at(address))?;
        Ok(UdsFamily::connection(
            wire,
            address.clone(),
            theirs,
            options,
        ))
    }
}

/// The family of Unix domain sockets.
struct UdsFamily {
    path: String,
    accepted: AtomicU64,
    /// The socket file. `None` if the name is abstract.
    file: Option<SocketFile>,
}

impl Family for UdsFamily {
    const SCHEME: &'static str = "uds";

    /// Returns the listener's address with a number appended, because a connecting socket has no
    /// address.
    fn peer(&self, _socket: &Socket, _from: &SockAddr) -> io::Result<Address> {
        let number = self.accepted.fetch_add(1, Ordering::Relaxed);
        Ok(Address::uds_peer(format!("{}#{number}", self.path)))
    }

    fn prepare(_socket: &Socket, _options: &Options) -> io::Result<()> {
        Ok(())
    }

    fn connection(wire: SocketWire, peer: Address, theirs: Hello, options: &Options) -> Connection {
        let identity = Credentials::identity(wire.fd());
        Connection {
            identity,
            ..connection(wire, (peer, Self::SCHEME), theirs, options)
        }
    }

    fn free(&self) {
        if let Some(file) = &self.file {
            file.remove();
        }
    }
}

/// The name of a socket.
enum Name<'a> {
    File(&'a Path),
    /// A name outside of the file system, which disappears with the socket.
    Abstract(&'a str),
}

impl<'a> Name<'a> {
    fn of(address: &'a Address) -> Self {
        let path = path_of(address);
        path.strip_prefix('@')
            .map_or(Self::File(Path::new(path)), Self::Abstract)
    }

    fn socket_address(&self) -> io::Result<SockAddr> {
        match self {
            Self::File(path) => SockAddr::unix(path),
            Self::Abstract(name) => SockAddr::unix(format!("\0{name}")),
        }
    }

    fn listen(&self) -> io::Result<(Socket, Option<SocketFile>)> {
        let socket = new_socket()?;
        let at = self.socket_address()?;
        let Self::File(path) = self else {
            socket.bind(&at)?;
            socket.listen(BACKLOG)?;
            return Ok((socket, None));
        };
        // The file gets the mode of the socket, less the umask, so other users never have access.
        fchmod(&socket, Mode::RUSR | Mode::WUSR)?;
        let _lock = lock_directory(path);
        if let Err(error) = socket.bind(&at) {
            if error.kind() != io::ErrorKind::AddrInUse || !is_stale(path) {
                return Err(error);
            }
            fs::remove_file(path)?;
            socket.bind(&at)?;
        }
        let file = SocketFile::at(path)?;
        socket.listen(BACKLOG)?;
        Ok((socket, Some(file)))
    }
}

/// The file of a socket, identified by its inode number.
struct SocketFile {
    path: PathBuf,
    device: u64,
    inode: u64,
}

impl SocketFile {
    fn at(path: &Path) -> io::Result<Self> {
        // The working directory may have changed when the file is removed.
        let path = std::path::absolute(path)?;
        let found = fs::symlink_metadata(&path)?;
        Ok(Self {
            device: found.st_dev(),
            inode: found.st_ino(),
            path,
        })
    }

    /// Removes the file, if it still belongs to this listener.
    fn remove(&self) {
        let _lock = lock_directory(&self.path);
        let found = fs::symlink_metadata(&self.path);
        if found.is_ok_and(|it| (it.st_dev(), it.st_ino()) == (self.device, self.inode)) {
            // If this fails, the next listener detects that the file is stale.
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn path_of(address: &Address) -> &str {
    let Address::Uds { path, .. } = address else {
        panic!("{address} is not an address of the Unix socket device")
    };
    path
}

fn new_socket() -> io::Result<Socket> {
    Socket::new(Domain::UNIX, Type::STREAM, None)
}

fn connect_to(name: &Name<'_>, timeout: Duration) -> io::Result<Socket> {
    let socket = new_socket()?;
    let at = name.socket_address()?;
    let deadline = Deadline::after(timeout);
    loop {
        // For Unix domain sockets, the write timeout also limits `connect`. 0 would mean no
        // timeout.
        let left = deadline.left().unwrap_or(timeout);
        socket.set_write_timeout(Some(left.max(Duration::from_millis(1))))?;
        match socket.connect(&at) {
            Ok(()) => break,
            // A signal arrived while the listener's queue was full.
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {
                if deadline.has_passed() {
                    return Err(io::ErrorKind::WouldBlock.into());
                }
            }
            Err(error) => return Err(error),
        }
    }
    socket.set_write_timeout(None)?;
    Ok(socket)
}

/// Returns true if the file is a socket without a listener, because the listener was killed.
fn is_stale(path: &Path) -> bool {
    let probe = || {
        let socket = new_socket()?;
        socket.set_nonblocking(true)?;
        socket.connect(&SockAddr::unix(path)?)
    };
    // Connecting to a file that is no socket fails in the same way. Such a file must not be
    // removed.
    let is_socket = fs::symlink_metadata(path).is_ok_and(|found| {
        use std::os::unix::fs::FileTypeExt;
        found.file_type().is_socket()
    });
    let refused = probe().is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused);
    is_socket && refused
}

/// Locks the directory of a socket file against other listeners until the result is dropped.
/// Without the lock, two listeners that find the same stale file could each remove the other's new
/// file. If the directory can't be locked, this race is accepted.
fn lock_directory(path: &Path) -> Option<File> {
    let parent = path.parent().filter(|parent| *parent != Path::new(""));
    let directory = File::open(parent.unwrap_or(Path::new("."))).ok()?;
    for _ in 0..LOCK_TRIES {
        if flock(&directory, FlockOperation::NonBlockingLockExclusive).is_ok() {
            return Some(directory);
        }
        thread::sleep(LOCK_PAUSE);
    }
    None
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{FileTypeExt, PermissionsExt};
    use std::os::unix::net::UnixListener;

    use super::super::stream::tests::{accept, options};
    use super::*;

    fn directory() -> tempfile::TempDir {
        tempfile::tempdir().unwrap()
    }

    fn address(path: &Path) -> Address {
        Address::uds(path.to_str().unwrap()).unwrap()
    }

    fn in_use(at: &Address) -> bool {
        let listening = Uds.listen(at, &options());
        matches!(listening.err().unwrap(), ListenError::InUse { .. })
    }

    #[test]
    fn the_file_is_for_its_owner_and_goes_with_the_listener() {
        let directory = directory();
        let path = directory.path().join("a");
        let listener = Uds.listen(&address(&path), &options()).unwrap();
        let found = fs::symlink_metadata(&path).unwrap();
        assert!(found.file_type().is_socket());
        assert_eq!(found.permissions().mode() & 0o777, 0o600);
        assert!(in_use(&address(&path)));
        drop(listener);
        assert!(!path.exists());
    }

    #[test]
    fn a_stale_file_is_replaced() {
        let directory = directory();
        let path = directory.path().join("a");
        // A listener of `std` leaves its file behind.
        drop(UnixListener::bind(&path).unwrap());
        assert!(path.exists());
        let listener = Uds.listen(&address(&path), &options()).unwrap();
        std::thread::scope(|scope| {
            let at = address(&path);
            let connecting = scope.spawn(move || Uds.connect(&at, &options()).map(|_| ()));
            let accepted = accept(&*listener);
            assert_eq!(accepted.peer, address(&directory.path().join("a#1")));
            accepted.half_made.establish().unwrap();
            connecting.join().unwrap().unwrap();
        });
    }

    #[test]
    fn a_file_of_others_stays() {
        let directory = directory();
        let path = directory.path().join("a");
        fs::write(&path, "text").unwrap();
        assert!(in_use(&address(&path)));
        assert_eq!(fs::read(&path).unwrap(), b"text");
        fs::remove_file(&path).unwrap();
        // Another listener takes the name while the first one is open.
        let listener = Uds.listen(&address(&path), &options()).unwrap();
        fs::remove_file(&path).unwrap();
        let _other = UnixListener::bind(&path).unwrap();
        drop(listener);
        assert!(path.exists());
        assert!(in_use(&address(&path)));
    }

    #[test]
    fn of_many_who_want_a_stale_name_one_gets_it() {
        let directory = directory();
        let path = directory.path().join("a");
        for _ in 0..20 {
            drop(UnixListener::bind(&path).unwrap());
            let at = address(&path);
            let listeners: Vec<_> = std::thread::scope(|scope| {
                let all: Vec<_> = (0..4)
                    .map(|_| scope.spawn(|| Uds.listen(&at, &options()).ok()))
                    .collect();
                all.into_iter()
                    .filter_map(|one| one.join().unwrap())
                    .collect()
            });
            assert_eq!(listeners.len(), 1);
        }
    }

    #[test]
    fn a_full_queue_is_waited_for_and_then_reported() {
        let directory = directory();
        let path = directory.path().join("a");
        let socket = new_socket().unwrap();
        socket.bind(&SockAddr::unix(&path).unwrap()).unwrap();
        socket.listen(0).unwrap();
        let _first = connect_to(&Name::File(&path), Duration::from_secs(60)).unwrap();
        let mut options = options();
        options.connect_timeout = Duration::from_millis(50);
        let error = Uds.connect(&address(&path), &options).err().unwrap();
        assert!(matches!(error, ConnectError::TimedOut { .. }), "{error}");
        // A full queue means that a listener exists.
        assert!(in_use(&address(&path)));
    }
}
