//! A capture, and the part of it for one connection.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::{fmt, io};

use crate::interface::Interface;
use crate::session::capture::disk::{Owner, Shared};
use crate::session::capture::options::CaptureOptions;
use crate::support::lock;

/// Maximum number of methods that are described for one connection.
pub(super) const MOST_METHODS: usize = 4096;

/// A folder with one file per connection, to which all arguments and results of the connection are
/// written. Only the current user can read the files. `jstream-inspect` shows them.
///
/// A single thread writes. Calls never wait for it: messages that cannot be written are counted,
/// and the file contains the count. Cheap to clone; clients and servers may share a capture.
#[derive(Clone)]
pub struct Capture {
    owner: Arc<Owner>,
}

impl Capture {
    /// Captures to a folder, which is created if it does not exist.
    ///
    /// # Errors
    ///
    /// The error of the operating system if the writing thread cannot be started. If the folder
    /// cannot be written to, a warning is logged and the messages are lost.
    pub fn new(folder: impl Into<PathBuf>) -> io::Result<Self> {
        Self::with(folder, CaptureOptions::default())
    }

    /// Captures to a folder, with custom limits.
    ///
    /// # Errors
    ///
    /// As for [`new`](Self::new).
    pub fn with(folder: impl Into<PathBuf>, options: CaptureOptions) -> io::Result<Self> {
        let owner = Arc::new(Owner::start(folder.into(), options)?);
        Ok(Self { owner })
    }

    /// Blocks until everything captured so far is written. Call this before the program ends.
    pub fn flush(&self) {
        self.owner.shared().flush();
    }

    /// Returns the number of messages that were not written.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.owner.shared().lost()
    }

    /// Returns the capture of a connection and of its further connections.
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

/// Called methods, by the numbers of object and method.
type Methods = BTreeMap<(u32, u16), &'static Interface>;

/// The capture of one connection and its lane.
#[derive(Clone)]
pub(crate) struct Capturing {
    owner: Arc<Owner>,
    pub(super) by_client: bool,
    /// Methods that this side calls.
    methods: Arc<Mutex<Methods>>,
}

impl Capturing {
    /// Records the interface of a method that is about to be called.
    pub(crate) fn record(&self, object: u32, index: usize, interface: &'static Interface) {
        let mut methods = lock(&self.methods);
        if let Ok(place) = u16::try_from(index) {
            // Numbers of objects change with each reference, so a long connection could otherwise
            // fill this table.
            if methods.len() < MOST_METHODS || methods.contains_key(&(object, place)) {
                methods.insert((object, place), interface);
            }
        }
    }

    pub(super) fn noted(&self, object: u32, place: u16) -> Option<&'static Interface> {
        lock(&self.methods).get(&(object, place)).copied()
    }

    pub(super) fn shared(&self) -> &Arc<Shared> {
        self.owner.shared()
    }
}

impl fmt::Debug for Capturing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Capturing").finish_non_exhaustive()
    }
}
