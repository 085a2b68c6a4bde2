//! Memory that can be exposed to peers.

use std::fmt;
use std::sync::{Arc, RwLock, RwLockReadGuard, RwLockWriteGuard};

use jstream::buffer::{EmptyBuffer, MessageBuffer, Region, Registration};

/// Memory that can be exposed on one or more endpoints. Clones refer to the same memory.
///
/// Puts, gets and the program access the memory under one lock, so a put is atomic. A long put is
/// atomic only by piece; see [`Remote::put`](crate::Remote::put).
#[derive(Clone)]
pub struct Window {
    memory: Arc<RwLock<MessageBuffer>>,
    length: usize,
}

impl Window {
    fn new(memory: MessageBuffer) -> Self {
        Self {
            length: memory.len(),
            memory: Arc::new(RwLock::new(memory)),
        }
    }

    /// Returns the length of the memory, in bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.length
    }

    /// Returns true if the memory has no bytes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Calls `look` with the bytes. Puts wait meanwhile, and so does everything that their
    /// endpoints receive. Therefore, `look` must not wait for a message of such an endpoint, and
    /// must not use this window.
    pub fn with<R>(&self, look: impl FnOnce(&[u8]) -> R) -> R {
        look(self.read().as_bytes())
    }

    /// Calls `change` with the mutable bytes. Puts and gets wait meanwhile. The restrictions of
    /// [`with`](Self::with) apply.
    pub fn with_mut<R>(&self, change: impl FnOnce(&mut [u8]) -> R) -> R {
        change(self.write().as_bytes_mut())
    }

    /// Returns the buffer if this is the only handle and the memory is not exposed.
    ///
    /// # Errors
    ///
    /// The window itself, if there are other handles.
    pub fn into_buffer(self) -> Result<MessageBuffer, Self> {
        let length = self.length;
        match Arc::try_unwrap(self.memory) {
            Ok(memory) => Ok(jstream_sync::unpoisoned(memory.into_inner())),
            Err(memory) => Err(Self { memory, length }),
        }
    }

    /// Registers the region of the memory, if it was created from a region.
    pub(super) fn register(&self) -> Option<Registration> {
        self.read().register()
    }

    /// Locks the memory. Poisoning is ignored, because every byte value is valid.
    pub(super) fn read(&self) -> RwLockReadGuard<'_, MessageBuffer> {
        jstream_sync::unpoisoned(self.memory.read())
    }

    pub(super) fn write(&self) -> RwLockWriteGuard<'_, MessageBuffer> {
        jstream_sync::unpoisoned(self.memory.write())
    }
}

impl From<MessageBuffer> for Window {
    /// Uses the bytes of the message.
    fn from(filled: MessageBuffer) -> Self {
        Self::new(filled)
    }
}

impl From<EmptyBuffer> for Window {
    /// Uses the whole buffer, filled with zeros.
    fn from(empty: EmptyBuffer) -> Self {
        let capacity = empty.capacity();
        match empty.zeroed(capacity) {
            Ok(filled) => Self::new(filled),
            Err(_) => unreachable!("a buffer has room for its capacity"),
        }
    }
}

impl From<Region> for Window {
    /// Uses the whole region, unchanged.
    fn from(region: Region) -> Self {
        Self::new(MessageBuffer::region(region))
    }
}

impl From<&Window> for Window {
    fn from(window: &Window) -> Self {
        window.clone()
    }
}

impl fmt::Debug for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Window")
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}
