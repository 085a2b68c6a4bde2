//! Memory that peers reach, and its owner's handle of it.

use std::fmt;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, Weak};

use jstream::buffer::{Filled, Region, Registration, Spent};

use super::key::RemoteKey;
use crate::endpoint::shared::Shared;

/// Memory that may be exposed, on one endpoint or on several. Clones are of the same memory.
///
/// Puts, gets and the program reach it under one lock, so that nobody sees half of a put (of a long one,
/// half of a piece: see [`Endpoint::put`](crate::Endpoint::put)).
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

    /// How many bytes there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Shows the bytes to `look`. Puts wait meanwhile, and with them whatever their endpoints receive:
    /// so `look` must not wait for a message of such an endpoint, nor use this window otherwise.
    pub fn with<R>(&self, look: impl FnOnce(&[u8]) -> R) -> R {
        look(self.read().as_bytes())
    }

    /// Has `change` change the bytes. Puts and gets wait meanwhile; else as for [`with`](Self::with).
    pub fn with_mut<R>(&self, change: impl FnOnce(&mut [u8]) -> R) -> R {
        change(self.write().as_bytes_mut())
    }

    /// The jbuf, when this is the only handle and nothing exposes it any more.
    ///
    /// # Errors
    ///
    /// Itself, when it is not.
    pub fn into_filled(self) -> Result<Filled, Self> {
        let length = self.length;
        match Arc::try_unwrap(self.memory) {
            Ok(memory) => Ok(memory.into_inner().unwrap_or_else(PoisonError::into_inner)),
            Err(memory) => Err(Self { memory, length }),
        }
    }

    /// Registers the region that it was made of, if it was.
    fn register(&self) -> Option<Registration> {
        self.read().register()
    }

    /// A panic of the program leaves bytes, whichever they are.
    pub(super) fn read(&self) -> RwLockReadGuard<'_, Filled> {
        self.memory.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn write(&self) -> RwLockWriteGuard<'_, Filled> {
        self.memory.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl From<Filled> for Window {
    /// The bytes of the message.
    fn from(filled: Filled) -> Self {
        Self::new(filled)
    }
}

impl From<Spent> for Window {
    /// All of the jbuf, zeroed.
    fn from(spent: Spent) -> Self {
        let capacity = spent.capacity();
        match spent.zeroed(capacity) {
            Ok(filled) => Self::new(filled),
            Err(_) => unreachable!("it has room for its capacity"),
        }
    }
}

impl From<Region> for Window {
    /// All of the region, as it is.
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

/// Memory that the peer of one endpoint reaches under a key, until this is dropped.
///
/// It does not keep the connection. A region is registered as long as it is exposed: it stays in memory,
/// if the system lets it, from its first exposure to the end of its last.
#[must_use = "is withdrawn when it is dropped"]
pub struct Exposure {
    key: RemoteKey,
    window: Window,
    shared: Weak<Shared>,
    /// Dropped when the memory has been withdrawn.
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

    /// What the peer has to know.
    #[must_use]
    pub fn key(&self) -> RemoteKey {
        self.key
    }

    /// The memory.
    #[must_use]
    pub fn window(&self) -> &Window {
        &self.window
    }

    /// How the region that the memory is made of is registered, with the reason if the system does not keep
    /// it in memory; nothing for other memory.
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

    /// Ends it: nothing is put or got any more when this returns, and later requests find no such key.
    /// [`Window::into_filled`] then has the jbuf, if it is exposed nowhere else.
    #[must_use = "has the memory"]
    pub fn withdraw(self) -> Window {
        // Dropping the rest withdraws it, and then this is the only handle.
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
