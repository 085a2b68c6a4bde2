//! The flag that says whether a rank polls its queues for messages of threads.
//!
//! While the flag is set, a sender only puts a message into its [queue](super::queue): a thread of
//! the rank is polling, or will poll before it blocks. A thread that is going to sleep clears the
//! flag and polls a last time ([`DekkerFlag`]):
//!
//! ```text
//! sender: puts a message there   receiver: given := 0
//!         ---- barrier ----                ---- barrier ----
//!         still given?                     takes in what is there
//! ```
//!
//! At least one side sees the other. A sender that sees the flag cleared drains the queue itself,
//! under the lock of the inbox, and wakes the sleeping thread. The flag changes only when a thread
//! sleeps, so its cache line stays with the sender.
//!
//! Decision 073 has the reasons.

use jstream_sync::flag::DekkerFlag;
use jstream_sync::{CacheLines, Ordering};

/// The flag, which is changed under the lock of an inbox.
pub(super) struct Attention(CacheLines<DekkerFlag>);

impl Attention {
    /// Returns the flag in cleared state.
    pub(super) fn new() -> Self {
        Self(CacheLines(DekkerFlag::new()))
    }

    #[inline]
    pub(super) fn is_given(&self) -> bool {
        self.0.0.load(Ordering::Relaxed) != 0
    }

    /// Returns true if a sender that has put a message into a queue may leave it there.
    #[inline]
    pub(super) fn is_given_after_fence(&self) -> bool {
        self.0.0.is_set_after_change()
    }

    pub(super) fn grant(&self) {
        self.0.0.store(1, Ordering::Relaxed);
    }

    /// Clears the flag. Returns true if it was set; the queues must then be polled once more.
    pub(super) fn withdraw(&self) -> bool {
        if !self.is_given() {
            return false;
        }
        self.0.0.store(0, Ordering::Relaxed);
        self.0.0.make_all_pass();
        true
    }
}
