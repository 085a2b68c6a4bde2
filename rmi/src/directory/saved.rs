//! Names in a file, so that they outlive the process of their registry.
//!
//! The file is one of [objects](jstream::file): a [`Head`] first, and then an [`Entry`] for each name. It is written anew by
//! a thread when names have changed, as a temporary file that takes its name when it is complete; changes that come
//! together are written together.

use std::collections::BTreeSet;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::task::{Poll, Waker};
use std::thread::{self, JoinHandle};

use jstream::file::{FileError, FileReader, FileWriter, ReadOptions};
use jstream::{Limits, Transportable};

use super::places::{LONGEST_ADDRESS, MOST_ADDRESSES};
use super::registrar::{RegistrarOptions, size};
use super::{Entry, EntryRef};
use crate::stream::Tasks;
use crate::sync::lock;

/// Of what stands in the file.
const VERSION: u32 = 1;

/// What a file of names begins with.
#[derive(Transportable)]
struct Head {
    version: u32,
    /// How many names follow.
    names: u64,
}

/// Why names can't be kept in a file, or those of a file are not taken.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PersistError {
    /// The file can't be read or written, is damaged, or has something else in it.
    #[error("the file of names {}", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong, and where.
        source: FileError,
    },
    /// It has names, but of another version.
    #[error("the file of names {} has version {found}; this registry reads and writes version {VERSION}", .path.display())]
    Version {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
    },
    /// What it has is not what a registry with these options would have written.
    #[error("the file of names {}, object {number}: {what}", .path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// Which object of the file is meant, from 0 on.
        number: u64,
        /// What is wrong with it.
        what: &'static str,
    },
    /// There is no thread to write it.
    #[error("no thread to write a file of names")]
    Thread(#[source] io::Error),
}

fn file_error(path: &Path) -> impl Fn(FileError) -> PersistError {
    let path = path.to_owned();
    move |source| PersistError::File {
        path: path.clone(),
        source,
    }
}

/// The names of a file; none where there is no file yet.
pub(super) fn read(path: &Path, options: &RegistrarOptions) -> Result<Vec<Entry>, PersistError> {
    let is_none = |error: &io::Error| error.kind() == ErrorKind::NotFound;
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
    if head.names != file.len().saturating_sub(1) {
        return Err(wrong(0, "it says another number of names than there are"));
    }
    let (mut entries, mut bytes, mut known) = (Vec::new(), 0usize, BTreeSet::new());
    for number in 1..file.len() {
        let entry = file.read::<Entry>(number).map_err(file_error(path))?;
        let entry = entry.get();
        fits(entry, options).map_err(|what| wrong(number, what))?;
        let entry = owned(entry);
        bytes = bytes.saturating_add(size(&entry));
        if bytes > options.max_bytes || entries.len() >= options.max_names {
            return Err(wrong(number, "there is more than the registry may have"));
        }
        if !known.insert(entry.name.clone()) {
            return Err(wrong(number, "its name was there before"));
        }
        entries.push(entry);
    }
    Ok(entries)
}

/// Whether an entry is one that a registry would have.
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
        |of: &&str| of.len() > LONGEST_ADDRESS || of.parse::<jstream_transport::Address>().is_err();
    if addresses.iter().any(is_none) {
        return Err("one of its addresses is none");
    }
    Ok(())
}

/// An entry that does not need the message that it came in.
pub(super) fn owned(entry: &EntryRef<'_>) -> Entry {
    Entry {
        name: entry.name.to_owned(),
        interface: entry.interface.to_owned(),
        id: entry.id,
        description: entry.description.to_owned(),
        addresses: entry.addresses.iter().map(|&of| of.to_owned()).collect(),
    }
}

/// Writes the file. Whoever has what is returned keeps others from replacing it; `before` did so till now.
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

/// The file of a registry, with the thread that writes it.
pub(super) struct Saving {
    wanted: Arc<Wanted>,
    thread: Option<JoinHandle<()>>,
}

/// What is to be written, by the number of changes.
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
    /// Whether the last attempt failed.
    failed: bool,
    over: bool,
}

impl Saving {
    /// Writes what `names` gives to the file, now and whenever it is wanted.
    pub(super) fn start(
        path: &Path,
        wanted: Arc<Wanted>,
        names: impl Fn() -> Vec<Arc<Entry>> + Send + 'static,
    ) -> Result<Self, PersistError> {
        // Whoever can't write it is told before anything is bound.
        let mut file = Some(write(path, &names(), None).map_err(file_error(path))?);
        let thread = thread::Builder::new().name("jstream-names".to_owned());
        let spawned = {
            let (path, wanted) = (path.to_owned(), wanted.clone());
            thread.spawn(move || {
                while let Some(number) = wanted.next() {
                    match write(&path, &names(), file.take()) {
                        Ok(written) => file = Some(written),
                        Err(error) => {
                            let path = path.display();
                            tracing::error!(%path, %error, "the names of a registry are not kept");
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

    /// Waits until what is wanted now is written: whether it is.
    pub(super) fn saved(&self) -> impl Future<Output = bool> + Send + use<> {
        let wanted = self.wanted.clone();
        let number = lock(&wanted.progress).wanted;
        std::future::poll_fn(move |context| wanted.poll(number, context.waker()))
    }
}

impl Drop for Saving {
    fn drop(&mut self) {
        lock(&self.wanted.progress).over = true;
        self.wanted.changed.notify_all();
        if let Some(thread) = self.thread.take() {
            // It has said so where it panicked.
            let _ = thread.join();
        }
    }
}

impl Wanted {
    /// There is something to be written.
    pub(super) fn want(&self) {
        let mut progress = lock(&self.progress);
        progress.wanted = progress.wanted.wrapping_add(1);
        self.changed.notify_all();
    }

    /// Waits until there is; up to which change. `None` when there will be nothing more.
    fn next(&self) -> Option<u64> {
        let mut progress = lock(&self.progress);
        while progress.wanted == progress.done {
            if progress.over {
                return None;
            }
            let waited = self.changed.wait(progress);
            progress = waited.unwrap_or_else(PoisonError::into_inner);
        }
        Some(progress.wanted)
    }

    fn did(&self, number: u64, failed: bool) {
        let mut progress = lock(&self.progress);
        progress.done = number;
        progress.failed = failed;
        drop(progress);
        self.tasks.wake_all();
    }

    fn poll(&self, number: u64, waker: &Waker) -> Poll<bool> {
        self.tasks.register(waker);
        let progress = lock(&self.progress);
        if progress.done < number {
            return Poll::Pending;
        }
        Poll::Ready(!progress.failed)
    }
}
