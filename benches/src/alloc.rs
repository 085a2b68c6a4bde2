//! A global allocator that counts allocations.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The system allocator, which also counts allocations while [`count`] runs.
#[derive(Debug)]
pub(crate) struct Counting;

/// Number of calls of [`count`] that are in progress.
static COUNTING: AtomicUsize = AtomicUsize::new(0);
static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

fn note() {
    if COUNTING.load(Ordering::Relaxed) > 0 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
    }
}

// SAFETY: every method forwards to the system allocator, which upholds the contract of the trait.
// The counting does not access memory that was handed out, and it does not unwind.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note();
        // SAFETY: the caller upholds the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        note();
        // SAFETY: the caller upholds the contract of `alloc_zeroed`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        note();
        // SAFETY: the caller upholds the contract of `realloc`; every block came from the system
        // allocator.
        unsafe { System.realloc(block, layout, size) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller upholds the contract of `dealloc`; every block came from the system
        // allocator.
        unsafe { System.dealloc(block, layout) }
    }
}

/// Runs `f` and returns its result with the number of allocations and reallocations that all
/// threads made in the meantime.
pub(crate) fn count<R>(f: impl FnOnce() -> R) -> (R, usize) {
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    COUNTING.fetch_add(1, Ordering::Relaxed);
    let result = f();
    COUNTING.fetch_sub(1, Ordering::Relaxed);
    (result, ALLOCATIONS.load(Ordering::Relaxed) - before)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_allocated_is_counted() {
        let (kept, allocations) = count(|| std::hint::black_box(vec![1u8; 100]));
        assert_eq!(kept.len(), 100);
        // Other tests may allocate at the same time.
        assert!(allocations >= 1);
    }
}
