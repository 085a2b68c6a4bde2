//! What connections carry, in files that `jstream-inspect` reads.

mod disk;
mod tape;

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use self::disk::{Owner, Shared};
pub(crate) use self::tape::Tape;
use crate::interface::Interface;
use crate::sync::lock;

/// The most methods that one connection is described.
const MOST_METHODS: usize = 4096;

/// How much is captured.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct CaptureOptions {
    /// The most bytes of one file (default 256 MiB); later messages of its connection are counted alone.
    pub max_file: u64,
    /// The most bytes of all files together (default 1 GiB), as long as the capture is there.
    pub max_in_all: u64,
    /// The most bytes that wait for the disk (default 16 MiB); what has no room there is counted alone. Answers the
    /// threat of a disk that is slower than the connections.
    pub max_buffer: u64,
}

impl Default for CaptureOptions {
    fn default() -> Self {
        Self {
            max_file: 256 << 20,
            max_in_all: 1 << 30,
            max_buffer: 16 << 20,
        }
    }
}

/// A folder in which each connection has a file of what it carried: all arguments and results, which this user alone may
/// read. `jstream-inspect` shows them.
///
/// One thread writes. Calls never wait for it: what can't be written is counted, and the file says so. Cheap to clone;
/// clients and servers may share one.
#[derive(Clone)]
pub struct Capture {
    owner: Arc<Owner>,
}

impl Capture {
    /// Captures to a folder, which is made if there is none.
    ///
    /// # Errors
    ///
    /// What the system says when it is out of threads. A folder that can't be written to is a warning, and lost messages.
    pub fn new(folder: impl Into<PathBuf>) -> io::Result<Self> {
        Self::with(folder, CaptureOptions::default())
    }

    /// The same, with limits of one's own.
    ///
    /// # Errors
    ///
    /// As for [`new`](Self::new).
    pub fn with(folder: impl Into<PathBuf>, options: CaptureOptions) -> io::Result<Self> {
        let owner = Arc::new(Owner::start(folder.into(), options)?);
        Ok(Self { owner })
    }

    /// Waits until what was captured so far is written. To be called before a program ends.
    pub fn flush(&self) {
        self.owner.shared().flush();
    }

    /// How many messages were not written.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.owner.shared().lost()
    }

    /// For a connection, and those that are made for it.
    pub(crate) fn connection(&self, by_client: bool) -> Capturing {
        Capturing {
            owner: self.owner.clone(),
            by_client,
            methods: Arc::default(),
        }
    }
}

impl fmt::Debug for Capture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Capture").finish_non_exhaustive()
    }
}

/// What is called, by the numbers of object and method.
type Methods = BTreeMap<(u32, u16), &'static Interface>;

/// The capture of one connection and its lane.
#[derive(Clone)]
pub(crate) struct Capturing {
    owner: Arc<Owner>,
    by_client: bool,
    /// Those that this side calls.
    methods: Arc<Mutex<Methods>>,
}

impl Capturing {
    /// Keeps what is about to be called.
    pub(crate) fn note(&self, object: u32, index: usize, interface: &'static Interface) {
        let mut methods = lock(&self.methods);
        if let Ok(place) = u16::try_from(index) {
            if methods.len() < MOST_METHODS || methods.contains_key(&(object, place)) {
                methods.insert((object, place), interface);
            }
        }
    }

    /// A file for a connection.
    pub(crate) fn tape(&self, peer: String) -> Arc<Tape> {
        Arc::new(Tape::new(self.clone(), peer))
    }

    fn noted(&self, object: u32, place: u16) -> Option<&'static Interface> {
        lock(&self.methods).get(&(object, place)).copied()
    }

    fn shared(&self) -> &Arc<Shared> {
        self.owner.shared()
    }
}

impl fmt::Debug for Capturing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Capturing").finish_non_exhaustive()
    }
}
