//! The file that a writer writes: a temporary one that gets its name with the first commit, or one
//! that is there already.

use std::fs::{File, OpenOptions, Permissions};
use std::io;
use std::mem;
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt};
use std::path::Path;

use rustix::fs::{FlockOperation, Mode, OFlags, flock};
use rustix::io::Errno;
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
        let file = tempfile::Builder::new()
            .prefix(".jstream-")
            .permissions(Permissions::from_mode(MODE))
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

    /// Gives a temporary file its name; whatever has it goes. A file that is no temporary one keeps its.
    pub(super) fn rename(&mut self, path: &Path, sync: bool) -> Result<(), FileError> {
        if let Self::Named(_) = self {
            return Ok(());
        }
        // Nobody may be appending to what is replaced. Whether what can't be opened can be replaced is
        // another question.
        let replaced = open(path).ok();
        if let Some(replaced) = &replaced {
            lock(replaced, path)?;
        }
        let Self::Temporary(file) = mem::replace(self, Self::Lost) else {
            return Err(FileError::Abandoned);
        };
        match file.persist(path) {
            Ok(file) => *self = Self::Named(file),
            Err(error) => {
                *self = Self::Temporary(error.file);
                return Err(FileError::system("giving its name to", path)(error.error));
            }
        }
        if sync {
            let folder = folder(path);
            let synced = File::open(folder).and_then(|folder| folder.sync_all());
            if let Err(error) = synced {
                *self = Self::Lost;
                return Err(FileError::system("syncing", folder)(error));
            }
        }
        Ok(())
    }
}

/// Opens a file to read it. Of a pipe, which has no end, opening would wait for a writer otherwise.
pub(super) fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    Ok(rustix::fs::open(path, flags, Mode::empty())?.into())
}

/// The folder that a file stands in.
fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
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

/// Writes at a place.
pub(super) fn write_at(file: &File, bytes: &[u8], at: u64, path: &Path) -> Result<(), FileError> {
    let result = file.write_all_at(bytes, at);
    result.map_err(FileError::system("writing", path))
}
