//! Handle of exposed memory.

use std::fmt;
use std::sync::Weak;

use jstream::buffer::Registration;

use super::key::RemoteKey;
use super::window::Window;
use crate::shared::Shared;

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
    /// requests fail with an unknown key. [`Window::into_buffer`] then returns the buffer if it is
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
            let window = shared.receiving().withdraw(self.key.number);
            // Dropped without the lock.
            drop(window);
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
