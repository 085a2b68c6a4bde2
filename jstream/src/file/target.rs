//! The file that a writer writes to: a temporary file that is renamed by the first commit, or an
//! existing file.

use std::fs::{File, Metadata, OpenOptions, Permissions};
use std::io;
use std::mem;
use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, Mode, OFlags, flock};
use rustix::io::{Errno, retry_on_intr};
use tempfile::NamedTempFile;

use super::error::FileError;

#[derive(Debug)]
pub(super) enum Target {
    /// A temporary file in the folder of its final path. Dropping it removes the file.
    Temporary(NamedTempFile),
    Named(LockedFile),
    /// Renaming failed in a way that leaves the outcome unknown.
    Lost,
}

/// Default mode of new files, to which the umask applies.
const MODE: u32 = 0o666;

impl Target {
    /// Creates a temporary file in the folder of `path`.
    pub(super) fn temporary(path: &Path) -> Result<Self, FileError> {
        let folder = folder(path);
        // The mode must not give access to users who have none to the file that is going to be
        // replaced.
        let replaced = path.metadata().ok().filter(Metadata::is_file);
        let mode = replaced.map_or(MODE, |about| about.mode() & 0o777);
        let file = tempfile::Builder::new()
            .prefix(".jstream-")
            .permissions(Permissions::from_mode(mode))
            .tempfile_in(folder)
            .map_err(FileError::system("creating a file in", folder))?;
        // A new file is never locked by another process, so this fails only if the file system has
        // no locks.
        lock(file.as_file(), path)?;
        Ok(Self::Temporary(file))
    }

    /// Opens and locks the file at `path`.
    pub(super) fn named(path: &Path) -> Result<Self, FileError> {
        loop {
            let file = OpenOptions::new()
                .read(true)
                .write(true)
                .open(path)
                .map_err(FileError::system("opening", path))?;
            let file = LockedFile::new(file, path)?;
            if is_named(&file.0, path).map_err(FileError::system("examining", path))? {
                return Ok(Self::Named(file));
            }
            // Another file was renamed to `path` before this one was locked.
        }
    }

    pub(super) fn file(&self) -> Result<&File, FileError> {
        match self {
            Self::Temporary(file) => Ok(file.as_file()),
            Self::Named(file) => Ok(&file.0),
            Self::Lost => Err(FileError::Abandoned),
        }
    }

    /// Renames a temporary file to `path`, and replaces a file at `path` if `replace` is set. Other
    /// files keep their names.
    pub(super) fn rename(
        &mut self,
        path: &Path,
        replace: bool,
        sync: bool,
    ) -> Result<(), FileError> {
        if !matches!(self, Self::Temporary(_)) {
            return self.file().map(|_| ());
        }
        let folder = folder(path);
        // The folder is opened before anything is changed, so that an error has no effect.
        let opened = match sync {
            true => Some(File::open(folder).map_err(FileError::system("opening", folder))?),
            false => None,
        };
        loop {
            let file = self.file()?;
            // The lock on the replaced file is held until the rename is done.
            let Ok(replaced) = Replaced::open(path)? else {
                continue;
            };
            if replaced.is_some() && !replace {
                return Err(taken(path));
            }
            if let Some(replaced) = &replaced {
                let kept = keep_access(file, &replaced.about);
                kept.map_err(FileError::system("setting the permissions of", path))?;
            }
            let Self::Temporary(file) = mem::replace(self, Self::Lost) else {
                return Err(FileError::Abandoned);
            };
            let mut given = match replaced {
                Some(_) => file.persist(path),
                // Must not replace a file that another process creates at `path` concurrently.
                None => file.persist_noclobber(path),
            };
            if let Err(error) = given {
                let is_taken = error.error.kind() == io::ErrorKind::AlreadyExists;
                if replaced.is_none() && is_taken {
                    *self = Self::Temporary(error.file);
                    continue;
                }
                // Some file systems do not support a rename that refuses to replace.
                given = match replaced.is_none() && replace {
                    true => error.file.persist(path),
                    false => Err(error),
                };
            }
            match given {
                Ok(file) => *self = Self::Named(LockedFile(file)),
                Err(error) => {
                    *self = Self::Temporary(error.file);
                    return Err(FileError::system("renaming the new file to", path)(
                        error.error,
                    ));
                }
            }
            break;
        }
        if let Some(Err(error)) = opened.map(|folder| folder.sync_all()) {
            *self = Self::Lost;
            return Err(FileError::system("syncing", folder)(error));
        }
        Ok(())
    }
}

/// An existing file that is about to be replaced.
struct Replaced {
    about: Metadata,
    /// Lock that excludes writers that append to the file. `None` if the file cannot be opened,
    /// which does not prevent replacing it.
    _locked: Option<LockedFile>,
}

/// A file with an exclusive lock, which dropping it releases.
///
/// Closing the file does not: a child process that was being started has a copy of each open file
/// until it executes its program, and the lock belongs to all copies.
#[derive(Debug)]
pub(super) struct LockedFile(File);

impl LockedFile {
    /// Takes the lock.
    pub(super) fn new(file: File, path: &Path) -> Result<Self, FileError> {
        lock(&file, path)?;
        Ok(Self(file))
    }
}

impl Drop for LockedFile {
    fn drop(&mut self) {
        // If this fails, the lock ends with the last copy of the file.
        let _ = flock(&self.0, FlockOperation::Unlock);
    }
}

impl Replaced {
    /// Examines and locks the file at `path`, if there is one. Returns `Err(Changed)` inside `Ok`
    /// if another file was renamed to `path` meanwhile.
    fn open(path: &Path) -> Result<Result<Option<Self>, Changed>, FileError> {
        // A dangling symbolic link is replaced itself.
        let about = match path.metadata().or_else(|_| path.symlink_metadata()) {
            Ok(about) => about,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Ok(None)),
            Err(error) => return Err(FileError::system("examining", path)(error)),
        };
        if !about.is_file() && !about.is_symlink() {
            return Err(FileError::Irregular {
                path: path.to_owned(),
            });
        }
        let file = match open(path) {
            Ok(file) => Some(file),
            // A dangling link, or a file that may be replaced but not read; no writer of ours
            // appends to either.
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied
                ) =>
            {
                None
            }
            Err(error) => return Err(FileError::system("opening", path)(error)),
        };
        let locked = match file {
            Some(file) => Some(LockedFile::new(file, path)?),
            None => None,
        };
        if let Some(LockedFile(file)) = &locked {
            if !is_named(file, path).map_err(FileError::system("examining", path))? {
                return Ok(Err(Changed));
            }
        }
        Ok(Ok(Some(Self {
            about,
            _locked: locked,
        })))
    }
}

/// Another file was renamed to the path concurrently.
struct Changed;

/// Copies owner and permissions from the file that is replaced, so that no other users get access.
fn keep_access(file: &File, replaced: &Metadata) -> io::Result<()> {
    if replaced.is_symlink() {
        return Ok(());
    }
    let own = file.metadata()?;
    let mut mode = replaced.mode() & 0o777;
    let is_same = (own.uid(), own.gid()) == (replaced.uid(), replaced.gid());
    if !is_same && fchown(file, Some(replaced.uid()), Some(replaced.gid())).is_err() {
        // The owner and group could not be copied: the permissions of the group are dropped.
        mode &= 0o707;
    }
    file.set_permissions(Permissions::from_mode(mode))
}

/// Resolves a path: a symbolic link to its target, any other path to an absolute one, so that a
/// later change of the working directory has no effect. Links in parent folders are kept.
pub(super) fn followed(path: &Path) -> PathBuf {
    let is_link = path
        .symlink_metadata()
        .is_ok_and(|about| about.is_symlink());
    match path.canonicalize() {
        Ok(led_to) if is_link => led_to,
        // If the path is empty, creating the file reports the error.
        _ => std::path::absolute(path).unwrap_or_else(|_| path.to_owned()),
    }
}

/// Opens a file for reading. `NONBLOCK` prevents blocking on a pipe until a writer opens it.
pub(super) fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let file = retry_on_intr(|| rustix::fs::open(path, flags, Mode::empty()))?;
    Ok(file.into())
}

/// Returns the folder of a path.
fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Returns the error for a new file whose path is already in use.
#[cold]
pub(super) fn taken(path: &Path) -> FileError {
    FileError::system("renaming the new file to", path)(io::ErrorKind::AlreadyExists.into())
}

/// Checks that an open file can be read, and written at any offset.
pub(super) fn assert_writable(file: &File) -> Result<(), FileError> {
    let flags = rustix::fs::fcntl_getfl(file);
    let flags = flags.map_err(|error| FileError::system("examining", "")(error.into()))?;
    if flags.intersection(OFlags::RWMODE) != OFlags::RDWR {
        return Err(FileError::Mode {
            details: "for reading or writing only",
        });
    }
    if flags.contains(OFlags::APPEND) {
        // In append mode the system ignores write offsets.
        return Err(FileError::Mode {
            details: "in append mode",
        });
    }
    Ok(())
}

/// Takes an exclusive lock, which is held as long as a copy of the open file exists.
fn lock(file: &File, path: &Path) -> Result<(), FileError> {
    match flock(file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(()),
        Err(Errno::WOULDBLOCK) => Err(FileError::Locked {
            path: path.to_owned(),
        }),
        Err(error) => Err(FileError::system("locking", path)(error.into())),
    }
}

/// Returns true if `path` still names this file.
fn is_named(file: &File, path: &Path) -> io::Result<bool> {
    let about = file.metadata()?;
    match path.metadata() {
        Ok(named) => Ok((about.dev(), about.ino()) == (named.dev(), named.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}
