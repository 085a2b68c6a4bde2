//! The bound of the descriptions of the versions in which the other side calls objects.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Maximum number of bytes by which a peer describes the versions in which it calls objects. The
/// plans of the conversions take memory in proportion.
const MAX_DESCRIBED: usize = 1 << 20;

/// Number of bytes that a shorter description counts as, so there are at most 64.
const MIN_DESCRIBED: usize = MAX_DESCRIBED / 64;

/// Guard that counts the description of one object which the other side calls in another version of
/// its interface.
#[derive(Debug)]
pub(crate) struct VersionPlace {
    len: usize,
    described: Arc<AtomicUsize>,
}

impl VersionPlace {
    /// Counts a description of `len` bytes in `described`. Returns `None` if there are too many.
    pub(super) fn reserve(described: &Arc<AtomicUsize>, len: usize) -> Option<Self> {
        let len = len.max(MIN_DESCRIBED);
        let before = described.fetch_add(len, Ordering::Relaxed);
        let described = described.clone();
        let place = Self { len, described };
        (before.saturating_add(len) <= MAX_DESCRIBED).then_some(place)
    }
}

impl Drop for VersionPlace {
    fn drop(&mut self) {
        self.described.fetch_sub(self.len, Ordering::Relaxed);
    }
}
