//! The thread that writes the output of the processes, so that a slow reader of it does not keep
//! the program from ending them.

use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use rustix::event::{EventfdFlags, eventfd};

/// Maximum number of bytes that wait to be written. If there are more, the processes wait.
const ROOM: usize = 1 << 20;

/// Pause between two looks whether the thread has ended.
const LOOK: Duration = Duration::from_millis(1);

/// Destination of output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    Output,
    Errors,
    /// The file with this number.
    File(usize),
}

pub(crate) struct Relay {
    chunks: Sender<(Target, Vec<u8>)>,
    shared: Arc<Backlog>,
    thread: JoinHandle<()>,
}

struct Backlog {
    /// Number of bytes that wait to be written.
    waiting: AtomicUsize,
    /// The first error.
    failure: Mutex<Option<io::Error>>,
    /// Becomes readable when there is room again, or after an error.
    changed: OwnedFd,
}

impl Relay {
    pub(crate) fn start(files: Vec<File>) -> io::Result<Self> {
        let (chunks, received) = mpsc::channel();
        let shared = Arc::new(Backlog {
            waiting: AtomicUsize::new(0),
            failure: Mutex::default(),
            changed: eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?,
        });
        let sharing = shared.clone();
        let builder = Builder::new().name("output".to_owned());
        Ok(Self {
            chunks,
            shared,
            thread: builder.spawn(move || sharing.write_all(&received, files))?,
        })
    }

    pub(crate) fn has_room(&self) -> bool {
        self.shared.waiting.load(Ordering::Acquire) < ROOM
    }

    /// Queues bytes.
    pub(crate) fn write(&self, target: Target, bytes: Vec<u8>) {
        if !bytes.is_empty() {
            self.shared.waiting.fetch_add(bytes.len(), Ordering::AcqRel);
            // The thread receives until this side is dropped.
            let _ = self.chunks.send((target, bytes));
        }
    }

    /// Returns the first error of writing, once.
    pub(crate) fn failure(&self) -> Option<io::Error> {
        let mut number = [0; 8];
        // There is nothing to read if nothing has changed.
        let _ = rustix::io::read(&self.shared.changed, &mut number);
        self.shared.failure().take()
    }

    /// Returns a descriptor that becomes readable when there is room again.
    pub(crate) fn changed(&self) -> BorrowedFd<'_> {
        self.shared.changed.as_fd()
    }

    /// Waits until everything is written, at most until a moment. Returns the error of writing.
    pub(crate) fn finish(self, until: Option<Instant>) -> Option<io::Error> {
        drop(self.chunks);
        while !self.thread.is_finished() {
            if until.is_some_and(|until| Instant::now() >= until) {
                return Some(ErrorKind::TimedOut.into());
            }
            std::thread::sleep(LOOK);
        }
        self.shared.failure().take()
    }
}

impl Backlog {
    fn write_all(&self, chunks: &Receiver<(Target, Vec<u8>)>, mut files: Vec<File>) {
        while let Ok((target, bytes)) = chunks.recv() {
            let written = match target {
                Target::Output => {
                    let mut to = io::stdout().lock();
                    to.write_all(&bytes).and_then(|()| to.flush())
                }
                Target::Errors => io::stderr().lock().write_all(&bytes),
                Target::File(number) => match files.get_mut(number) {
                    Some(file) => file.write_all(&bytes),
                    None => Ok(()),
                },
            };
            let is_error = written.is_err();
            if let Err(error) = written {
                self.failure().get_or_insert(error);
            }
            let before = self.waiting.fetch_sub(bytes.len(), Ordering::AcqRel);
            let regains_room = before >= ROOM && before.saturating_sub(bytes.len()) < ROOM;
            if is_error || regains_room {
                // The counter can't overflow: it is read often.
                let _ = rustix::io::write(&self.changed, &1u64.to_ne_bytes());
            }
        }
    }

    fn failure(&self) -> std::sync::MutexGuard<'_, Option<io::Error>> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
