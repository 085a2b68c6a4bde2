//! Flag by which a thread asks others to notify it before it sleeps (Dekker-style).
//!
//! The notifying thread changes the shared state before it checks the flag. The sleeping thread
//! stores the flag before it checks that state a last time. Each thread executes its
//! [barrier](crate::barrier) between its two steps:
//!
//! ```text
//! change the state         flag := 1
//! ---- barrier ----        ---- barrier ----
//! flag set?                state changed?
//! ```
//!
//! At least one of the two threads sees the step of the other one. If no thread sleeps, a
//! notification is a single load of a cache line that stays with the notifying thread.
//!
//! Decisions 036 and 111 have the reasons.

use crate::barrier::Barriers;
use crate::{AtomicU32, Ordering};

/// A flag, or a count of sleepers.
///
/// If the notifying threads check it often, it is in [cache lines](crate::CacheLines) of its own.
#[derive(Debug)]
pub struct DekkerFlag {
    value: AtomicU32,
    /// In the line that the notifying thread loads anyway.
    barriers: Barriers,
}

impl Default for DekkerFlag {
    fn default() -> Self {
        Self::new()
    }
}

impl DekkerFlag {
    /// Creates a flag that is 0.
    #[must_use]
    pub fn new() -> Self {
        Self::with(Barriers::of_this_process())
    }

    /// Creates a flag that is 0, for threads that sleep about as often as others notify them: each
    /// side executes its own barrier.
    #[must_use]
    pub fn of_frequent_sleepers() -> Self {
        Self::with(Barriers::Both)
    }

    fn with(barriers: Barriers) -> Self {
        Self {
            value: AtomicU32::new(0),
            barriers,
        }
    }

    /// Returns true if the flag is not 0. The caller has changed the shared state before: either
    /// this call sees the flag of the sleeping thread, or that thread sees the change after
    /// [`make_all_pass`](Self::make_all_pass).
    #[inline]
    pub fn is_set_after_change(&self) -> bool {
        self.barriers.pass();
        self.load(Ordering::Relaxed) != 0
    }

    /// Executes the barrier of the sleeping thread, after it has stored the flag and before it
    /// checks the shared state a last time.
    pub fn make_all_pass(&self) {
        self.barriers.make_all_pass();
    }

    /// Returns the flag, without a barrier.
    #[inline]
    pub fn load(&self, order: Ordering) -> u32 {
        self.value.load(order)
    }

    /// Stores the flag, without a barrier.
    #[inline]
    pub fn store(&self, value: u32, order: Ordering) {
        self.value.store(value, order);
    }

    /// Counts a sleeper, without a barrier.
    pub fn add_sleeper(&self) {
        self.value.fetch_add(1, Ordering::Relaxed);
    }

    /// Subtracts a sleeper that was [added](Self::add_sleeper).
    pub fn remove_sleeper(&self) {
        self.value.fetch_sub(1, Ordering::Relaxed);
    }
}
