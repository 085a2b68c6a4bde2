//! Handle that closes an endpoint or a listener from another thread.

use std::fmt;
use std::sync::{Arc, Weak};

/// An object that a [`Closer`] closes.
pub(crate) trait Close: Send + Sync {
    fn close(&self);
}

/// Closes an endpoint or a listener from any thread. Does not keep it alive.
#[derive(Clone)]
pub struct Closer {
    end: Weak<dyn Close>,
}

impl Closer {
    pub(super) fn new<C: Close + 'static>(end: &Arc<C>) -> Self {
        // Two steps, because unsizing needs the type named.
        let end: Weak<C> = Arc::downgrade(end);
        Self { end }
    }

    /// Closes the endpoint or listener. Threads that wait on it return at once with
    /// `ClosedLocally`, and so do all later calls. Messages that the device has taken are still
    /// delivered to the peer, within the limits that [`Endpoint`](crate::Endpoint) documents.
    /// Closing again has no effect.
    pub fn close(&self) {
        if let Some(end) = self.end.upgrade() {
            end.close();
        }
    }
}

impl fmt::Debug for Closer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Closer").finish_non_exhaustive()
    }
}
