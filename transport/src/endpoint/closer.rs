//! Ending something from another thread.

use std::fmt;
use std::sync::{Arc, Weak};

/// What a [`Closer`] ends.
pub(crate) trait Close: Send + Sync {
    fn close(&self);
}

/// Ends an endpoint or a listener from any thread. Does not keep it alive.
#[derive(Clone)]
pub struct Closer {
    end: Weak<dyn Close>,
}

impl Closer {
    pub(super) fn of<C: Close + 'static>(end: &Arc<C>) -> Self {
        // In two steps, since unsizing needs the type named.
        let end: Weak<C> = Arc::downgrade(end);
        Self { end }
    }

    /// Ends it: threads that wait on it return at once with `ClosedLocally`, and so do all later
    /// calls. Messages that the device has taken are still delivered to the peer, within the
    /// limits that [`Endpoint`](crate::Endpoint) tells of. Closing again does nothing.
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
