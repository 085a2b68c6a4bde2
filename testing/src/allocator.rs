//! A global allocator that counts. A test program installs it:
//!
//! ```
//! #[global_allocator]
//! static ALLOCATOR: testing::allocator::Counting = testing::allocator::Counting;
//! ```
//!
//! [`allocations`] and [`live`] count all threads of the process, so the test needs a process of
//! its own ([`alone`](crate::process::alone)). [`allocations_of`] counts the calling thread only.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);
static LIVE: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static OF_THIS_THREAD: Cell<usize> = const { Cell::new(0) };
}

/// The system allocator, which counts the allocations and the bytes in use.
#[derive(Debug)]
pub struct Counting;

fn count() {
    ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
    OF_THIS_THREAD.set(OF_THIS_THREAD.get() + 1);
}

// SAFETY: every call is forwarded unchanged to the system allocator, which fulfils the contract of
// `GlobalAlloc`. Counting does not allocate: the thread's counter is initialized by a constant and
// has no destructor.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        LIVE.fetch_add(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller upholds the contract, and the arguments are forwarded unchanged.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller upholds the contract, and the arguments are forwarded unchanged.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        LIVE.fetch_add(size, Ordering::Relaxed);
        LIVE.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller upholds the contract, and the arguments are forwarded unchanged.
        unsafe { System.realloc(at, layout, size) }
    }
}

/// Returns the number of allocations of the process so far. A reallocation counts as one.
pub fn allocations() -> usize {
    ALLOCATIONS.load(Ordering::Relaxed)
}

/// Returns the number of allocated bytes of the process.
pub fn live() -> usize {
    LIVE.load(Ordering::Relaxed)
}

/// Returns the number of allocations that `work` makes on this thread.
pub fn allocations_of(work: impl FnOnce()) -> usize {
    let before = OF_THIS_THREAD.get();
    work();
    OF_THIS_THREAD.get() - before
}
