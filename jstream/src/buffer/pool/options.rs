//! Options, statistics and errors of a pool.

use std::error::Error;
use std::fmt;
use std::io;
use std::panic::{self, AssertUnwindSafe, RefUnwindSafe, UnwindSafe};
use std::sync::Arc;
use std::time::Duration;

use crate::buffer::{RegionOptions, Spent};

/// Options of a [`Pool`](super::Pool).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PoolOptions {
    /// Maximum number of bytes of address space that the pool maps, over all its classes (default 4
    /// GiB). Limits the memory that peers can occupy by sending many large messages at once.
    pub max_mapped: usize,
    /// Behaviour when no buffer is available (default: [`WhenLow::Fail`]).
    pub when_low: WhenLow,
    /// Options for mapping the pool's regions (default: anonymous memory, normal pages, not
    /// locked).
    pub region: RegionOptions,
    /// Receives each buffer after its last handle was dropped, and may reuse it. If the function
    /// drops the buffer, the buffer returns to the pool (default: all buffers return).
    ///
    /// The function is called on the thread that dropped the handle. It is not called for buffers
    /// that it drops itself. It must not own the pool, which would then never be freed. If it
    /// panics, the panic is caught and the buffer returns to the pool.
    pub reclaim: Option<Callback<Spent>>,
    /// Called when the last handle of the pool is dropped while buffers are still in use. These
    /// buffers stay usable, and the memory is unmapped when the last of them is dropped.
    pub leaked: Option<Callback<Leak>>,
    /// The label of the pool in the published metrics (default: `jstream`).
    pub name: Arc<str>,
}

impl Default for PoolOptions {
    fn default() -> Self {
        Self {
            max_mapped: 4 << 30,
            when_low: WhenLow::Fail,
            region: RegionOptions::default(),
            reclaim: None,
            leaked: None,
            name: Arc::from("jstream"),
        }
    }
}

/// The behaviour of a pool when a buffer is requested and the pool is at its limit, or the system
/// refuses memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum WhenLow {
    /// Returns an error.
    Fail,
    /// Blocks until a suitable buffer is returned. Returns [`PoolError::TimedOut`] after this time.
    ///
    /// Waiting threads are served in no particular order, and a later request may be served first.
    /// A request for a large buffer is served only at a moment when there is room for it. Dropping
    /// the last reference to a region also makes room, but waiting threads notice this only when
    /// the next buffer is returned.
    Wait(Duration),
    /// Allocates a buffer on the heap, with exactly the requested capacity.
    Heap {
        /// Maximum number of bytes of such buffers in use at once. Each buffer counts as its
        /// capacity rounded up to a multiple of [`ALIGNMENT`](crate::buffer::ALIGNMENT), and as at
        /// least that. Limits the memory that peers can occupy, like [`PoolOptions::max_mapped`].
        max_bytes: usize,
    },
}

/// A function of the program that a pool calls.
pub struct Callback<A>(Arc<dyn Fn(A) + Send + Sync>);

impl<A> Callback<A> {
    /// Creates a callback from `function`, which may be called on any thread.
    pub fn new(function: impl Fn(A) + Send + Sync + 'static) -> Self {
        Self(Arc::new(function))
    }

    /// Calls the function and catches its panic.
    pub(super) fn call(&self, argument: A) {
        let mut result = panic::catch_unwind(AssertUnwindSafe(|| (self.0)(argument)));
        // Dropping the payload of a panic may itself panic, and so may dropping the payload of that
        // panic.
        for _ in 0..8 {
            let Err(payload) = result else {
                return;
            };
            result = panic::catch_unwind(AssertUnwindSafe(|| drop(payload)));
        }
        std::mem::forget(result);
    }
}

// Panics of the function are caught, and the function is responsible for its own state after a
// panic.
impl<A> UnwindSafe for Callback<A> {}
impl<A> RefUnwindSafe for Callback<A> {}

impl<A> Clone for Callback<A> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

/// Returns true if both are clones of the same callback.
impl<A> PartialEq for Callback<A> {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl<A> Eq for Callback<A> {}

impl<A> fmt::Debug for Callback<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Callback(..)")
    }
}

/// Buffers that were in use when the last handle of their pool was dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Leak {
    /// Number of buffers.
    pub jbufs: usize,
    /// Total size of the buffers in bytes.
    pub bytes: usize,
}

/// A snapshot of the counts of a pool.
///
/// The counts are exact if no thread takes or returns buffers meanwhile. Otherwise each count was
/// correct at some time during the call, but not necessarily all at the same time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PoolStats {
    /// Number of buffers in use.
    pub in_use: usize,
    /// Maximum number of buffers that were in use at once. For a whole pool, the sum of the maxima
    /// of all classes.
    pub high_water: usize,
    /// Number of bytes of address space mapped.
    pub mapped: usize,
    /// Number of requests that were served from the heap because the pool was at its limit.
    pub fallbacks: u64,
    /// Number of bytes of such buffers in use now, as counted by [`WhenLow::Heap`].
    pub on_heap: usize,
    /// Number of requests that had to wait for a buffer.
    pub waits: u64,
}

/// The counts of one size class of a pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClassStats {
    /// Capacity in bytes of a buffer of this class.
    pub capacity: usize,
    /// The counts of the class. `on_heap` is always 0, because it is only counted for the whole
    /// pool.
    pub stats: PoolStats,
}

/// The reason why a pool could not provide a buffer.
#[derive(Debug)]
#[non_exhaustive]
pub enum PoolError {
    /// Mapping the missing memory would exceed [`PoolOptions::max_mapped`].
    Exhausted {
        /// The requested capacity in bytes.
        wanted: usize,
        /// Number of bytes already mapped.
        mapped: usize,
        /// The limit in bytes.
        max_mapped: usize,
    },
    /// The system refused to provide memory.
    System {
        /// The requested capacity in bytes.
        wanted: usize,
        /// The error of the system.
        source: io::Error,
    },
    /// The pool is at its limit, and no buffer was returned in time.
    TimedOut {
        /// The requested capacity in bytes.
        wanted: usize,
        /// The time waited, which is that of [`WhenLow::Wait`].
        waited: Duration,
    },
    /// The pool is at its limit, and its buffers on the heap are at theirs.
    HeapExhausted {
        /// The requested capacity in bytes.
        wanted: usize,
        /// Number of bytes of the pool's buffers on the heap.
        on_heap: usize,
        /// The limit in bytes, from [`WhenLow::Heap`].
        max_bytes: usize,
    },
}

impl fmt::Display for PoolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exhausted {
                wanted,
                mapped,
                max_mapped,
            } => write!(
                f,
                "no buffer of {wanted} bytes: the pool has mapped {mapped} of at most {max_mapped} \
                 bytes; drop received objects or raise PoolOptions::max_mapped"
            ),
            Self::System { wanted, source } => {
                write!(
                    f,
                    "no buffer of {wanted} bytes: the system refused memory: {source}"
                )
            }
            Self::TimedOut { wanted, waited } => write!(
                f,
                "no buffer of {wanted} bytes was returned within {waited:?}; drop received objects \
                 or raise PoolOptions::max_mapped"
            ),
            Self::HeapExhausted {
                wanted,
                on_heap,
                max_bytes,
            } => write!(
                f,
                "no buffer of {wanted} bytes: the pool is at its limit, and its buffers on the heap \
                 take {on_heap} of at most {max_bytes} bytes; drop received objects or raise \
                 PoolOptions::max_mapped"
            ),
        }
    }
}

impl Error for PoolError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::System { source, .. } => Some(source),
            _ => None,
        }
    }
}
