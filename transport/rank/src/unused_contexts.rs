//! Numbers of contexts that no communicator of a rank has used.

use std::sync::atomic::{AtomicU32, Ordering};

/// The number of the first context that no communicator of a rank has used.
pub(super) struct UnusedContexts(AtomicU32);

impl UnusedContexts {
    pub(super) const fn new() -> Self {
        // The first two are those of the world.
        Self(AtomicU32::new(2))
    }

    /// Returns the number that this rank would use next.
    pub(super) fn next(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }

    /// Reserves the number of a context. Returns false if it may be in use.
    pub(super) fn reserve(&self, context: u32) -> bool {
        let reserved = self
            .0
            .fetch_max(context.saturating_add(1), Ordering::Relaxed);
        reserved <= context
    }
}
