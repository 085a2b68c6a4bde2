//! The file that a writer writes: a temporary one that gets its name with the first commit, or one
//! that is there already.

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
    /// In the folder of the file that it is to become. It is removed with this.
    Temporary(NamedTempFile),
    Named(File),
    /// It was to get its name, and may have it.
    Lost,
}

/// Whoever may read files that the user makes may read these.
const MODE: u32 = 0o666;

impl Target {
    /// A new file, of which nobody knows yet.
    pub(super) fn temporary(path: &Path) -> Result<Self, FileError> {
        let folder = folder(path);
        // Nobody may read it meanwhile who may not read what it is to replace.
        let replaced = path.metadata().ok().filter(Metadata::is_file);
        let mode = replaced.map_or(MODE, |about| about.mode() & 0o777);
        let file = tempfile::Builder::new()
            .prefix(".jstream-")
            .permissions(Permissions::from_mode(mode))
            .tempfile_in(folder)
            .map_err(FileError::system("making a file in", folder))?;
        // Nobody else has it, so that no file system that can lock says no.
        lock(file.as_file(), path)?;
        Ok(Self::Temporary(file))
    }

    /// The file of this name, locked.
    pub(super) fn named(path: &Path) -> Result<Self, FileError> {
        loop {
            let file = OpenOptions::new()
                .read(true)
                .write(true)
                .open(path)
                .map_err(FileError::system("opening", path))?;
            lock(&file, path)?;
            if is_still(&file, path).map_err(FileError::system("looking at", path))? {
                return Ok(Self::Named(file));
            }
            // Another one got its name before this one was locked.
        }
    }

    pub(super) fn file(&self) -> Result<&File, FileError> {
        match self {
            Self::Temporary(file) => Ok(file.as_file()),
            Self::Named(file) => Ok(file),
            Self::Lost => Err(FileError::Abandoned),
        }
    }

    /// Gives a temporary file its name; a file that has it goes if it may be replaced. A file that is no
    /// temporary one keeps its.
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
        // Whoever can't open it is told before anything has happened.
        let opened = match sync {
            true => Some(File::open(folder).map_err(FileError::system("opening", folder))?),
            false => None,
        };
        loop {
            let file = self.file()?;
            // Locked until the name is given.
            let Ok(replaced) = Replaced::of(path)? else {
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
                // Not over what somebody else gives the name to at the same time.
                None => file.persist_noclobber(path),
            };
            if let Err(error) = given {
                let is_taken = error.error.kind() == io::ErrorKind::AlreadyExists;
                if replaced.is_none() && is_taken {
                    *self = Self::Temporary(error.file);
                    continue;
                }
                // Not all file systems can tell.
                given = match replaced.is_none() && replace {
                    true => error.file.persist(path),
                    false => Err(error),
                };
            }
            match given {
                Ok(file) => *self = Self::Named(file),
                Err(error) => {
                    *self = Self::Temporary(error.file);
                    return Err(FileError::system("giving its name to", path)(error.error));
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

/// A file that is about to lose its name.
struct Replaced {
    about: Metadata,
    /// Nobody may be appending to it. Whether what can't be opened can be replaced is another question.
    _locked: Option<File>,
}

impl Replaced {
    /// What has the name, if anything has; an error inside when it is another file by now.
    fn of(path: &Path) -> Result<Result<Option<Self>, Changed>, FileError> {
        // A link that leads nowhere is replaced itself.
        let about = match path.metadata().or_else(|_| path.symlink_metadata()) {
            Ok(about) => about,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Ok(None)),
            Err(error) => return Err(FileError::system("looking at", path)(error)),
        };
        if !about.is_file() && !about.is_symlink() {
            return Err(FileError::Irregular {
                path: path.to_owned(),
            });
        }
        let file = match open(path) {
            Ok(file) => Some(file),
            // A link that leads nowhere, or what may be replaced but not read: nobody appends to that.
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
        if let Some(file) = &file {
            lock(file, path)?;
            if !is_still(file, path).map_err(FileError::system("looking at", path))? {
                return Ok(Err(Changed));
            }
        }
        Ok(Ok(Some(Self {
            about,
            _locked: file,
        })))
    }
}

/// Another file got the name meanwhile.
struct Changed;

/// Lets nobody read or write a file who may not do so with the one that it replaces.
fn keep_access(file: &File, replaced: &Metadata) -> io::Result<()> {
    if replaced.is_symlink() {
        return Ok(());
    }
    let own = file.metadata()?;
    let mut mode = replaced.mode() & 0o777;
    let is_same = (own.uid(), own.gid()) == (replaced.uid(), replaced.gid());
    if !is_same && fchown(file, Some(replaced.uid()), Some(replaced.gid())).is_err() {
        // Of another group, nobody but its owner.
        mode &= 0o707;
    }
    file.set_permissions(Permissions::from_mode(mode))
}

/// The file that a name leads to, wherever the program works later; it keeps its place if there are links
/// on the way.
pub(super) fn followed(path: &Path) -> PathBuf {
    let is_link = path
        .symlink_metadata()
        .is_ok_and(|about| about.is_symlink());
    match path.canonicalize() {
        Ok(led_to) if is_link => led_to,
        // Of an empty one, making the file says what is wrong.
        _ => std::path::absolute(path).unwrap_or_else(|_| path.to_owned()),
    }
}

/// Opens a file to read it. Of a pipe, which has no end, opening would wait for a writer otherwise.
pub(super) fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let file = retry_on_intr(|| rustix::fs::open(path, flags, Mode::empty()))?;
    Ok(file.into())
}

/// The folder that a file stands in.
fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Something has the name of a new file.
#[cold]
pub(super) fn taken(path: &Path) -> FileError {
    FileError::system("giving its name to", path)(io::ErrorKind::AlreadyExists.into())
}

/// That objects can be written into an open file, and read again, where they belong.
pub(super) fn assert_writable(file: &File) -> Result<(), FileError> {
    let flags = rustix::fs::fcntl_getfl(file);
    let flags = flags.map_err(|error| FileError::system("looking at", "")(error.into()))?;
    if flags.intersection(OFlags::RWMODE) != OFlags::RDWR {
        return Err(FileError::Mode {
            what: "to read or to write only",
        });
    }
    if flags.contains(OFlags::APPEND) {
        // The system would ignore all places.
        return Err(FileError::Mode { what: "to append" });
    }
    Ok(())
}

/// Keeps other writers away, as long as the file is open.
pub(super) fn lock(file: &File, path: &Path) -> Result<(), FileError> {
    match flock(file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(()),
        Err(Errno::WOULDBLOCK) => Err(FileError::Locked {
            path: path.to_owned(),
        }),
        Err(error) => Err(FileError::system("locking", path)(error.into())),
    }
}

/// Whether the file still has this name.
fn is_still(file: &File, path: &Path) -> io::Result<bool> {
    let about = file.metadata()?;
    match path.metadata() {
        Ok(named) => Ok((about.dev(), about.ino()) == (named.dev(), named.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}
