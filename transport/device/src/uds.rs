//! Connections over Unix domain sockets.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

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
use super::unix_name::{SocketFile, UnixName};
use jstream_base::Address;
use jstream_base::Options;
use jstream_base::{ConnectError, ListenError};

/// The device of `uds:///path` and `uds://@name`.
pub(super) struct Uds;

impl Device for Uds {
    fn scheme(&self) -> &'static str {
        UdsFamily::SCHEME
    }

    fn listen(&self, address: &Address, options: &Options) -> Result<Box<dyn Accept>, ListenError> {
        let listening = new_socket().and_then(|socket| {
            let file = name_of(address).listen(&socket, options.socket_mode, BACKLOG)?;
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
        let name = name_of(address);
        let socket = connect_to(&name, options.connect_timeout);
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
                source: name.unreached(source, None),
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

/// Listens on a socket that other processes have, too. Its file stays when the listener is closed.
pub(super) fn listen_shared(
    socket: Socket,
    options: &Options,
) -> Result<Box<dyn Accept>, ListenError> {
    let path = socket.local_addr().map(|local| path_of_socket(&local));
    let address = Address::uds_peer(path.as_ref().map_or_else(|_| String::new(), String::clone));
    let listening = path.and_then(|path| {
        let family = UdsFamily {
            path,
            accepted: AtomicU64::new(1),
            file: None,
        };
        SocketListener::of_shared(socket, address.clone(), options, family)
    });
    match listening {
        Ok(listening) => Ok(Box::new(listening)),
        Err(source) => Err(ListenError::System { address, source }),
    }
}

/// Returns the path of a socket, or its name after `@`. It is empty if the socket has none.
fn path_of_socket(local: &SockAddr) -> String {
    if let Some(path) = local.as_pathname() {
        return path.to_string_lossy().into_owned();
    }
    let name = local.as_abstract_namespace().unwrap_or_default();
    format!("@{}", String::from_utf8_lossy(name))
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

fn path_of(address: &Address) -> &str {
    let Address::Uds { path, .. } = address else {
        panic!("{address} is not an address of the Unix socket device")
    };
    path
}

/// Returns the name of an address's socket. The path `@name` is outside of the file system.
fn name_of(address: &Address) -> UnixName {
    let path = path_of(address);
    match path.strip_prefix('@') {
        Some(name) => UnixName::Abstract(name.to_owned()),
        None => UnixName::File(path.into()),
    }
}

fn new_socket() -> io::Result<Socket> {
    Socket::new(Domain::UNIX, Type::STREAM, None)
}

fn connect_to(name: &UnixName, timeout: Duration) -> io::Result<Socket> {
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

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{FileTypeExt, PermissionsExt};
    use std::os::unix::net::UnixListener;
    use std::path::Path;

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
    fn the_mode_of_the_file_is_that_of_the_options() {
        let directory = directory();
        let path = directory.path().join("a");
        let mut options = options();
        // More than the umask of most leaves.
        options.socket_mode = 0o666;
        let _listener = Uds.listen(&address(&path), &options).unwrap();
        let found = fs::symlink_metadata(&path).unwrap();
        assert_eq!(found.permissions().mode() & 0o777, 0o666);
        options.socket_mode = 0o4600;
        let other = address(&directory.path().join("b"));
        let error = Uds.listen(&other, &options).err().unwrap().to_string();
        assert!(error.contains("Options::socket_mode is 0o4600"), "{error}");
    }

    #[test]
    fn the_error_for_an_abstract_name_names_the_namespace() {
        let at = Address::uds("@jstream-nobody-has-this-name").unwrap();
        let error = Uds.connect(&at, &options()).err().unwrap().to_string();
        let namespace = fs::read_link("/proc/self/ns/net").unwrap();
        assert!(error.contains(&namespace.display().to_string()), "{error}");
        assert!(error.contains("is the server running?"), "{error}");
        // A path is the same in all namespaces.
        let nobody = address(&directory().path().join("a"));
        let error = Uds.connect(&nobody, &options()).err().unwrap().to_string();
        assert!(!error.contains("namespace"), "{error}");
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
    fn one_of_many_listeners_gets_a_stale_name() {
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
        let _first = connect_to(&UnixName::File(path.clone()), Duration::from_secs(60)).unwrap();
        let mut options = options();
        options.connect_timeout = Duration::from_millis(50);
        let error = Uds.connect(&address(&path), &options).err().unwrap();
        assert!(matches!(error, ConnectError::TimedOut { .. }), "{error}");
        // A full queue means that a listener exists.
        assert!(in_use(&address(&path)));
    }
}
