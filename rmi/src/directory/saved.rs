//! Names in a file, so that they survive a restart of the registry.
//!
//! The file is an [object file](jstream::file): a [`Head`], then an [`Entry`] for each name. A
//! thread rewrites it after changes, as a temporary file that is renamed when it is complete.
//! Concurrent changes are written together.
//!
//! Decision 079 has the reasons.

use std::collections::BTreeSet;
use std::io;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex};
use std::task::{Poll, Waker};
use std::thread::JoinHandle;

use jstream::file::{FileError, FileReader, FileWriter, ReadOptions};
use jstream::{Limits, Transportable};
use jstream_base::events::emit;
use tracing::Level;

use crate::directory::kept::size;
use crate::directory::options::RegistrarOptions;
use crate::directory::places::{LONGEST_ADDRESS, MOST_ADDRESSES};
use crate::directory::protocol::{Entry, EntryRef};
use crate::session::Tasks;
use jstream_sync::lock;

/// Version of the file's contents.
const VERSION: u32 = 1;

/// The first object of the file.
#[derive(Transportable)]
struct Head {
    version: u32,
    /// Number of names that follow.
    names: u64,
}

/// Error of a registry that keeps its names in a file.
#[derive(jstream_derive::ErrorDebug, thiserror::Error)]
#[non_exhaustive]
pub enum PersistError {
    /// The file can't be read or written, is damaged, or is no file of names.
    #[error("the file of names {} can't be used: {source}", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The error and its position.
        r#source: FileError,
    },
    /// The file contains names of another version.
    #[error("the file of names {} has version {found}; this registry reads and writes version {VERSION}", .path.display())]
    Version {
        /// The file.
        path: PathBuf,
        /// The version of the file.
        found: u32,
    },
    /// The file contains an entry that exceeds the limits of the registry or is invalid.
    #[error("the file of names {}, object {number}: {what}", .path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// Index of the invalid object in the file, from 0.
        number: u64,
        /// The error.
        what: &'static str,
    },
    /// The thread that writes the file could not be started.
    #[error("could not start the thread that writes the file of names: {0}")]
    Thread(io::Error),
}

fn file_error(path: &Path) -> impl Fn(FileError) -> PersistError {
    let path = path.to_owned();
    move |source| PersistError::File {
        path: path.clone(),
        source,
    }
}

/// Reads the names of a file. Returns an empty list if the file does not exist.
pub(super) fn read(path: &Path, options: &RegistrarOptions) -> Result<Vec<Entry>, PersistError> {
    let is_none = |error: &io::Error| error.kind() == ErrorKind::NotFound;
    // A link that leads nowhere is an error of the file, and not a missing one.
    if path.symlink_metadata().is_err_and(|error| is_none(&error)) {
        return Ok(Vec::new());
    }
    let wrong = |number, what| PersistError::Content {
        path: path.to_owned(),
        number,
        what,
    };
    let mut limits = Limits::default();
    limits.bytes = limits.bytes.min(options.max_bytes);
    let mut read = ReadOptions::default();
    read.limits = limits;
    let mut file = FileReader::open_with(path, read).map_err(file_error(path))?;
    let head = file.read::<Head>(0).map_err(file_error(path))?;
    let head = head.get();
    if head.version != VERSION {
        return Err(PersistError::Version {
            path: path.to_owned(),
            found: head.version,
        });
    }
    // A file that was cut at the end of an object would otherwise be read as one with fewer names.
    if head.names != file.len().saturating_sub(1) {
        return Err(wrong(0, "the stated number of names is wrong"));
    }
    let (mut entries, mut bytes, mut known) = (Vec::new(), 0usize, BTreeSet::new());
    for number in 1..file.len() {
        let entry = file.read::<Entry>(number).map_err(file_error(path))?;
        let entry = entry.get();
        // The file may come from a registry with other limits, or from another program.
        fits(entry, options).map_err(|what| wrong(number, what))?;
        let entry = owned(entry);
        bytes = bytes.saturating_add(size(&entry));
        if bytes > options.max_bytes || entries.len() >= options.max_names {
            return Err(wrong(number, "the names exceed the limits of the registry"));
        }
        if !known.insert(entry.name.clone()) {
            return Err(wrong(number, "its name occurs twice"));
        }
        entries.push(entry);
    }
    Ok(entries)
}

/// Checks that an entry is within the limits of the registry.
fn fits(entry: &EntryRef<'_>, options: &RegistrarOptions) -> Result<(), &'static str> {
    let longest = options.max_name;
    if entry.name.len() > longest || entry.interface.len() > longest {
        return Err("its name, or that of its interface, is too long");
    }
    if entry.description.len() > options.max_description {
        return Err("its description is too long");
    }
    let addresses = entry.addresses;
    if addresses.is_empty() || addresses.len() > MOST_ADDRESSES {
        return Err("it has no address, or too many");
    }
    let is_none =
        |of: &&str| of.len() > LONGEST_ADDRESS || of.parse::<jstream_base::Address>().is_err();
    if addresses.iter().any(is_none) {
        return Err("one of its addresses is invalid");
    }
    Ok(())
}

/// Copies an entry out of its buffer.
pub(super) fn owned(entry: &EntryRef<'_>) -> Entry {
    Entry {
        name: entry.name.to_owned(),
        interface: entry.interface.to_owned(),
        id: entry.id,
        description: entry.description.to_owned(),
        addresses: entry.addresses.iter().map(|&of| of.to_owned()).collect(),
    }
}

/// Writes the file. The returned writer keeps a lock on the file; `before` is the previous writer,
/// which is released just before the new file takes its place.
fn write(
    path: &Path,
    entries: &[Arc<Entry>],
    before: Option<FileWriter>,
) -> Result<FileWriter, FileError> {
    let mut file = FileWriter::create(path)?;
    file.push(&Head {
        version: VERSION,
        names: entries.len() as u64,
    })?;
    for entry in entries {
        file.push(&**entry)?;
    }
    drop(before);
    file.commit()?;
    Ok(file)
}

/// The thread that writes the file of a registry.
pub(super) struct Saving {
    wanted: Arc<Wanted>,
    thread: Option<JoinHandle<()>>,
}

/// Requests to write the file, counted by changes.
#[derive(Default)]
pub(super) struct Wanted {
    progress: Mutex<Progress>,
    changed: Condvar,
    tasks: Tasks,
}

#[derive(Default)]
struct Progress {
    wanted: u64,
    done: u64,
    /// True if the last attempt failed.
    failed: bool,
    over: bool,
}

impl Saving {
    /// Writes the entries that `names` returns to the file, now and at each request.
    pub(super) fn start(
        path: &Path,
        wanted: Arc<Wanted>,
        names: impl Fn() -> Vec<Arc<Entry>> + Send + 'static,
    ) -> Result<Self, PersistError> {
        // The first write is synchronous, so that an error is reported before a name is bound.
        let mut file = Some(write(path, &names(), None).map_err(file_error(path))?);
        let spawned = {
            let (path, wanted) = (path.to_owned(), wanted.clone());
            jstream_sync::threads::spawn("jstream-names", move || {
                while let Some(number) = wanted.next() {
                    match write(&path, &names(), file.take()) {
                        Ok(written) => file = Some(written),
                        Err(error) => {
                            let path = path.clone();
                            emit(Level::ERROR, move || {
                                let path = path.display();
                                tracing::error!(%path, %error, "could not write a file of names");
                            });
                        }
                    }
                    wanted.did(number, file.is_none());
                }
            })
        };
        Ok(Self {
            wanted,
            thread: Some(spawned.map_err(PersistError::Thread)?),
        })
    }

    /// Returns a future that completes when all current requests are done. Its value is true if the
    /// file was written.
    pub(super) fn saved(&self) -> impl Future<Output = bool> + Send + use<> {
        let wanted = self.wanted.clone();
        // The request of the caller's change is among these, since it was made before.
        let number = lock(&wanted.progress).wanted;
        std::future::poll_fn(move |context| wanted.poll(number, context.waker()))
    }
}

impl Drop for Saving {
    fn drop(&mut self) {
        lock(&self.wanted.progress).over = true;
        self.wanted.changed.notify_all();
        if let Some(thread) = self.thread.take() {
            // A panic of the thread has already been reported.
            let _ = thread.join();
        }
    }
}

impl Wanted {
    /// Requests the file to be written.
    pub(super) fn want(&self) {
        let mut progress = lock(&self.progress);
        progress.wanted = progress.wanted.wrapping_add(1);
        self.changed.notify_all();
    }

    /// Blocks until there is a request. Returns the number of the last change, or `None` at the
    /// end.
    fn next(&self) -> Option<u64> {
        let mut progress = lock(&self.progress);
        while progress.wanted == progress.done {
            // Asked only when nothing is left to write, so the last changes are in the file.
            if progress.over {
                return None;
            }
            let waited = self.changed.wait(progress);
            progress = jstream_sync::unpoisoned(waited);
        }
        // All requests so far are one write.
        Some(progress.wanted)
    }

    fn did(&self, number: u64, failed: bool) {
        let mut progress = lock(&self.progress);
        // The number from before the write: changes that were requested during it are written next.
        progress.done = number;
        progress.failed = failed;
        drop(progress);
        self.tasks.wake_all();
    }

    fn poll(&self, number: u64, waker: &Waker) -> Poll<bool> {
        // Registered before the look, so that a write which ends in between wakes the task.
        self.tasks.register(waker);
        let progress = lock(&self.progress);
        if progress.done < number {
            return Poll::Pending;
        }
        Poll::Ready(!progress.failed)
    }
}
