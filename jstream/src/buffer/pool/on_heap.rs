//! The count of a pool's buffers on the heap.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::buffer::ALIGNMENT;

/// Counts the bytes of a pool's buffers on the heap.
pub(in crate::buffer) struct OnHeap(pub(super) Arc<AtomicUsize>);

impl OnHeap {
    /// Returns the number of bytes that a buffer of `capacity` bytes counts for: the capacity
    /// rounded up to the alignment.
    pub(super) fn counted(capacity: usize) -> usize {
        let blocks = capacity.div_ceil(ALIGNMENT).max(1);
        blocks.saturating_mul(ALIGNMENT)
    }

    /// Subtracts a freed buffer of `capacity` bytes.
    pub(in crate::buffer) fn end(&self, capacity: usize) {
        self.0.fetch_sub(Self::counted(capacity), Ordering::Relaxed);
    }
}
