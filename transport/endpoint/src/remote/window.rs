//! Memory that peers can access, and the owner's handle of it.

use std::fmt;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, Weak};

use jstream::buffer::{Filled, Region, Registration, Spent};

use super::key::RemoteKey;
use crate::shared::Shared;

/// Memory that can be exposed on one or more endpoints. Clones refer to the same memory.
///
/// Puts, gets and the program access the memory under one lock, so a put is atomic. A long put is
/// atomic only by piece; see [`Endpoint::put`](crate::Endpoint::put).
#[derive(Clone)]
pub struct Window {
    memory: Arc<RwLock<Filled>>,
    length: usize,
}

impl Window {
    fn new(memory: Filled) -> Self {
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
    pub fn into_filled(self) -> Result<Filled, Self> {
        let length = self.length;
        match Arc::try_unwrap(self.memory) {
            Ok(memory) => Ok(memory.into_inner().unwrap_or_else(PoisonError::into_inner)),
            Err(memory) => Err(Self { memory, length }),
        }
    }

    /// Registers the region of the memory, if it was created from a region.
    fn register(&self) -> Option<Registration> {
        self.read().register()
    }

    /// Locks the memory. Poisoning is ignored, because every byte value is valid.
    pub(super) fn read(&self) -> RwLockReadGuard<'_, Filled> {
        self.memory.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn write(&self) -> RwLockWriteGuard<'_, Filled> {
        self.memory.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl From<Filled> for Window {
    /// Uses the bytes of the message.
    fn from(filled: Filled) -> Self {
        Self::new(filled)
    }
}

impl From<Spent> for Window {
    /// Uses the whole buffer, filled with zeros.
    fn from(spent: Spent) -> Self {
        let capacity = spent.capacity();
        match spent.zeroed(capacity) {
            Ok(filled) => Self::new(filled),
            Err(_) => unreachable!("a buffer has room for its capacity"),
        }
    }
}

impl From<Region> for Window {
    /// Uses the whole region, unchanged.
    fn from(region: Region) -> Self {
        Self::new(Filled::region(region))
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

/// Memory that the peer of one endpoint can access under a key. Access ends when this handle is
/// dropped.
///
/// The handle does not keep the connection alive. A region is registered while it is exposed: if
/// the system permits it, the region is locked in memory from its first exposure to the end of its
/// last.
#[must_use = "the memory is withdrawn when this is dropped"]
pub struct Exposure {
    key: RemoteKey,
    window: Window,
    shared: Weak<Shared>,
    /// Dropped after the memory was withdrawn.
    registration: Option<Registration>,
}

impl Exposure {
    pub(super) fn new(key: RemoteKey, window: Window, shared: Weak<Shared>) -> Self {
        Self {
            registration: window.register(),
            key,
            window,
            shared,
        }
    }

    /// Returns the key that the peer needs.
    #[must_use]
    pub fn key(&self) -> RemoteKey {
        self.key
    }

    /// Returns the memory.
    #[must_use]
    pub fn window(&self) -> &Window {
        &self.window
    }

    /// Returns the registration of the region that the memory was created from, with the reason if
    /// the system does not lock it in memory. `None` for other memory.
    #[must_use]
    pub fn registration(&self) -> Option<&Registration> {
        self.registration.as_ref()
    }

    /// As [`Window::with`].
    pub fn with<R>(&self, look: impl FnOnce(&[u8]) -> R) -> R {
        self.window.with(look)
    }

    /// As [`Window::with_mut`].
    pub fn with_mut<R>(&self, change: impl FnOnce(&mut [u8]) -> R) -> R {
        self.window.with_mut(change)
    }

    /// Ends the exposure. When this returns, no put or get accesses the memory any more, and later
    /// requests fail with an unknown key. [`Window::into_filled`] then returns the buffer if it is
    /// not exposed elsewhere.
    #[must_use = "contains the memory"]
    pub fn withdraw(self) -> Window {
        // Dropping `self` withdraws the memory, and then the returned handle is the only one.
        self.window.clone()
    }
}

impl Drop for Exposure {
    fn drop(&mut self) {
        if let Some(shared) = self.shared.upgrade() {
            shared.withdraw(self.key.number);
        }
    }
}

impl fmt::Debug for Exposure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Exposure")
            .field("window", &self.window)
            .field("rights", &self.key.rights)
            .finish_non_exhaustive()
    }
}
