//! Names of Unix sockets, in the file system or outside of it.
//!
//! A name outside of the file system ("abstract") disappears with its socket, but only processes in
//! the same network namespace find it: containers usually have one each. A file is found by all
//! that see its folder, and its mode says who may connect.

use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use rustix::fs::{FileType, FlockOperation, Mode, OFlags, fchmod, flock, fstat};
use socket2::{Domain, SockAddr, Socket, Type};

/// Number and interval of attempts to lock the folder of a socket's file. The bound protects
/// against a process that locks the folder and keeps it.
const LOCK_TRIES: u32 = 100;
const LOCK_PAUSE: Duration = Duration::from_millis(10);

/// Permissions that the mode of a file may have.
const PERMISSIONS: u32 = 0o777;

/// The name of a socket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum UnixName {
    File(PathBuf),
    /// A name outside of the file system, without the leading zero byte.
    Abstract(String),
}

impl UnixName {
    pub(crate) fn socket_address(&self) -> io::Result<SockAddr> {
        match self {
            Self::File(path) => SockAddr::unix(path),
            Self::Abstract(name) => SockAddr::unix(format!("\0{name}")),
        }
    }

    /// Gives the name to a socket, which then listens. Returns the file, which has the permissions
    /// `mode`. It replaces the file of a listener that was killed.
    pub(crate) fn listen(
        &self,
        socket: &Socket,
        mode: u32,
        backlog: i32,
    ) -> io::Result<Option<SocketFile>> {
        let at = self.socket_address()?;
        let Self::File(path) = self else {
            socket.bind(&at)?;
            socket.listen(backlog)?;
            return Ok(None);
        };
        if mode & !PERMISSIONS != 0 {
            let text = format!("Options::socket_mode is {mode:#o}, and at most 0o777 is possible");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        }
        // The file gets the mode of the socket, less the umask, so nobody has more access than
        // `mode` gives at any time.
        fchmod(socket, Mode::from_raw_mode(mode))?;
        // The lock covers `listen`: another listener would take the file of a socket that does not
        // listen yet for a stale one.
        let _lock = lock_folder(path);
        if let Err(error) = socket.bind(&at) {
            if error.kind() != io::ErrorKind::AddrInUse || !is_stale(path) {
                return Err(error);
            }
            fs::remove_file(path)?;
            socket.bind(&at)?;
        }
        let file = SocketFile::with_mode(path, mode)?;
        socket.listen(backlog)?;
        Ok(Some(file))
    }

    /// Returns the error of a connection attempt, which for a name outside of the file system names
    /// the network namespace in which nobody has it. `user` is part of the name, if there is one.
    pub(crate) fn unreached(&self, error: io::Error, user: Option<u32>) -> io::Error {
        if error.kind() != io::ErrorKind::ConnectionRefused || matches!(self, Self::File(_)) {
            return error;
        }
        let user = user.map_or_else(String::new, |user| format!(" of user {user}"));
        let namespace = fs::read_link("/proc/self/ns/net");
        let namespace = namespace.map_or_else(
            |_| "of this process".to_owned(),
            |link| link.display().to_string(),
        );
        io::Error::new(
            error.kind(),
            format!("no process{user} has this name in the network namespace {namespace}"),
        )
    }
}

/// The file of a socket, identified by its inode number.
pub(crate) struct SocketFile {
    path: PathBuf,
    device: u64,
    inode: u64,
}

impl SocketFile {
    /// Returns the file of a socket that was just bound, after giving it the permissions that the
    /// umask has taken away.
    fn with_mode(path: &Path, mode: u32) -> io::Result<Self> {
        // The working directory may have changed when the file is removed.
        let path = std::path::absolute(path)?;
        // Others may write to the folder. The descriptor keeps them from replacing the file by a
        // link to one whose permissions must not change.
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = rustix::fs::open(&path, flags, Mode::empty())?;
        let found = fstat(&file)?;
        if FileType::from_raw_mode(found.st_mode) != FileType::Socket {
            return Err(io::ErrorKind::AddrInUse.into());
        }
        if found.st_mode & PERMISSIONS != mode {
            let open = format!("/proc/self/fd/{}", file.as_raw_fd());
            fs::set_permissions(open, fs::Permissions::from_mode(mode))?;
        }
        Ok(Self {
            device: found.st_dev,
            inode: found.st_ino,
            path,
        })
    }

    /// Removes the file, if it still belongs to this listener.
    pub(crate) fn remove(&self) {
        use std::os::linux::fs::MetadataExt;

        let _lock = lock_folder(&self.path);
        let found = fs::symlink_metadata(&self.path);
        if found.is_ok_and(|it| (it.st_dev(), it.st_ino()) == (self.device, self.inode)) {
            // If this fails, the next listener detects that the file is stale.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Returns true if the file is a socket without a listener, because the listener was killed.
fn is_stale(path: &Path) -> bool {
    let probe = || {
        let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
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

/// Locks the folder of a socket's file against other listeners until the result is dropped. Without
/// the lock, two listeners that find the same stale file could each remove the other's new file. If
/// the folder can't be locked, this race is accepted.
fn lock_folder(path: &Path) -> Option<File> {
    let parent = path.parent().filter(|parent| *parent != Path::new(""));
    let folder = File::open(parent.unwrap_or(Path::new("."))).ok()?;
    for _ in 0..LOCK_TRIES {
        if flock(&folder, FlockOperation::NonBlockingLockExclusive).is_ok() {
            return Some(folder);
        }
        thread::sleep(LOCK_PAUSE);
    }
    None
}
