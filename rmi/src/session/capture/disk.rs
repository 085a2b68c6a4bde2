//! The queue of captured records, and the thread that writes them.

use std::collections::{BTreeMap, VecDeque};
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};
use std::{io, process};

use jstream::capture::{Record, encode};
use jstream_base::events::emit;
use tracing::Level;

use crate::session::capture::options::CaptureOptions;
use jstream_sync::lock;

/// State that all captured connections share.
pub(super) struct Shared {
    folder: PathBuf,
    options: CaptureOptions,
    state: Mutex<DiskState>,
    /// Notified when the queue is not empty, or the thread has to end.
    work: Condvar,
    /// Notified when the thread has written its batch.
    written: Condvar,
}

#[derive(Default)]
struct DiskState {
    queue: VecDeque<(u64, Job)>,
    /// Number of bytes in the queue and in the batch that is being written.
    waiting: u64,
    is_writing: bool,
    is_ending: bool,
    next: u64,
    files: BTreeMap<u64, Account>,
    in_all: u64,
    lost: u64,
}

/// State of an open file.
#[derive(Default)]
struct Account {
    bytes: u64,
    /// Number of messages and bytes that were lost since the last record.
    lost: (u64, u64),
    has_failed: bool,
}

enum Job {
    Write(Vec<u8>),
    Close,
}

impl Account {
    /// Counts a message that can't be written.
    fn lose(&mut self, bytes: u64) {
        let (messages, before) = self.lost;
        self.lost = (messages.saturating_add(1), before.saturating_add(bytes));
    }

    /// Encodes the record of lost messages, if there are any.
    fn mark(&mut self) -> Option<Vec<u8>> {
        let (messages, bytes) = std::mem::take(&mut self.lost);
        (messages > 0).then(|| {
            let mut mark = Vec::new();
            encode(&Record::Lost { messages, bytes }, &mut mark);
            mark
        })
    }
}

impl DiskState {
    fn push(&mut self, file: u64, bytes: Vec<u8>) {
        self.waiting = self.waiting.saturating_add(bytes.len() as u64);
        self.queue.push_back((file, Job::Write(bytes)));
    }
}

impl Shared {
    /// Opens a file with these first bytes. Returns its number.
    pub(super) fn open(&self, bytes: Vec<u8>) -> u64 {
        // The number and the first bytes are entered under one lock, so that no record of the file
        // comes before its start.
        let mut state = lock(&self.state);
        let number = state.next;
        state.next = number.saturating_add(1);
        state.files.insert(number, Account::default());
        state.push(number, bytes);
        drop(state);
        self.work.notify_one();
        number
    }

    /// Returns true if the buffer currently has room for `length` bytes. A hint, used before the
    /// bytes are copied.
    pub(super) fn may_have_room(&self, length: u64) -> bool {
        let waiting = lock(&self.state).waiting;
        waiting.saturating_add(length) <= self.options.max_buffer
    }

    /// Counts a message that was not written.
    pub(super) fn lose(&self, file: u64, length: u64) {
        let mut state = lock(&self.state);
        state.lost = state.lost.saturating_add(1);
        if let Some(account) = state.files.get_mut(&file) {
            account.lose(length);
        }
    }

    /// Appends a record to a file, if there is room.
    pub(super) fn write(&self, file: u64, bytes: Vec<u8>) {
        let length = bytes.len() as u64;
        let mut guard = lock(&self.state);
        let state = &mut *guard;
        let Some(account) = state.files.get_mut(&file) else {
            return;
        };
        let fits = [
            (account.bytes, self.options.max_file),
            (state.in_all, self.options.max_in_all),
            (state.waiting, self.options.max_buffer),
        ];
        let has_room = |(is, most): (u64, u64)| is.saturating_add(length) <= most;
        // Calls never wait for the disk, so a record without room is counted as lost.
        if account.has_failed || !fits.into_iter().all(has_room) {
            account.lose(length);
            state.lost = state.lost.saturating_add(1);
            return;
        }
        account.bytes = account.bytes.saturating_add(length);
        // The mark of earlier losses comes before this record, where they are missing.
        let mark = account.mark();
        state.in_all = state.in_all.saturating_add(length);
        if let Some(mark) = mark {
            state.push(file, mark);
        }
        state.push(file, bytes);
        drop(guard);
        self.work.notify_one();
    }

    /// Closes a file after its last record.
    pub(super) fn close(&self, file: u64) {
        let mut state = lock(&self.state);
        let mark = state.files.remove(&file).and_then(|mut of| of.mark());
        let mut bytes = mark.unwrap_or_default();
        encode(&Record::End, &mut bytes);
        // Without the check of the limits: a file without an end would look like one of a crash.
        // There are as many of these records as files.
        state.push(file, bytes);
        state.queue.push_back((file, Job::Close));
        drop(state);
        self.work.notify_one();
    }

    pub(super) fn lost(&self) -> u64 {
        lock(&self.state).lost
    }

    /// Blocks until everything that was queued before is written.
    pub(super) fn flush(&self) {
        let mut state = lock(&self.state);
        // The thread takes the queue as a whole, so an empty queue alone does not mean that all is
        // written.
        while state.is_writing || !state.queue.is_empty() {
            let waited = self.written.wait(state);
            state = jstream_sync::unpoisoned(waited);
        }
    }

    /// Writes until the capture is dropped and the queue is empty.
    fn run(&self) {
        let mut files = BTreeMap::new();
        let mut state = lock(&self.state);
        loop {
            // The batch is written without the lock, so that calls can queue records meanwhile.
            let jobs = std::mem::take(&mut state.queue);
            if jobs.is_empty() {
                if state.is_ending {
                    return;
                }
                let waited = self.work.wait(state);
                state = jstream_sync::unpoisoned(waited);
                continue;
            }
            state.is_writing = true;
            drop(state);
            for (number, job) in jobs {
                self.work_off(&mut files, number, job);
            }
            state = lock(&self.state);
            state.is_writing = false;
            self.written.notify_all();
        }
    }

    fn work_off(&self, files: &mut BTreeMap<u64, Option<File>>, number: u64, job: Job) {
        let bytes = match job {
            Job::Write(bytes) => bytes,
            Job::Close => {
                files.remove(&number);
                return;
            }
        };
        let file = files.entry(number).or_insert_with(|| {
            let created = self.create(number);
            // A file that can't be created is remembered as `None`, so that each record of it does
            // not warn again.
            created.map_err(|error| warn(&self.folder, &error)).ok()
        });
        let written = file.as_mut().map(|file| file.write_all(&bytes));
        if let Some(Err(error)) = &written {
            warn(&self.folder, error);
            // After a failed write, the end of the file is not known. Records behind it could not
            // be read.
            *file = None;
        }
        let mut state = lock(&self.state);
        // Given back after the write: records that are being written still take memory.
        state.waiting = state.waiting.saturating_sub(bytes.len() as u64);
        if !matches!(written, Some(Ok(()))) {
            state.lost = state.lost.saturating_add(1);
            if let Some(account) = state.files.get_mut(&number) {
                account.has_failed = true;
            }
        }
    }

    /// Creates a file that only the current user can access.
    fn create(&self, number: u64) -> io::Result<File> {
        let (mut folder, mut file) = (DirBuilder::new(), OpenOptions::new());
        folder.recursive(true);
        // A file of this name may be a link that another user of the folder has made.
        file.write(true).create_new(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
            folder.mode(0o700);
            file.mode(0o600);
        }
        folder.create(&self.folder)?;
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        let nanos = since.map_or(0, |since| since.as_nanos());
        let name = format!("{nanos}-{}-{number}.jcap", process::id());
        file.open(self.folder.join(name))
    }
}

fn warn(folder: &Path, error: &io::Error) {
    let (folder, error) = (folder.to_owned(), error.to_string());
    emit(Level::WARN, move || {
        tracing::warn!(folder = %folder.display(), error, "could not write a capture file");
    });
}

/// Handle of the writing thread. Dropping it ends the thread.
pub(super) struct Owner(Arc<Shared>);

impl Owner {
    pub(super) fn start(folder: PathBuf, options: CaptureOptions) -> io::Result<Self> {
        let shared = Arc::new(Shared {
            folder,
            options,
            state: Mutex::default(),
            work: Condvar::new(),
            written: Condvar::new(),
        });
        let thread = shared.clone();
        jstream_sync::threads::spawn("jstream-capture", move || thread.run())?;
        Ok(Self(shared))
    }

    pub(super) fn shared(&self) -> &Arc<Shared> {
        &self.0
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        lock(&self.0.state).is_ending = true;
        // The thread writes what is queued, and ends after that. The drop does not wait for it,
        // which `flush` does.
        self.0.work.notify_one();
    }
}
