//! What a pool is told, and what it says.

use std::error::Error;
use std::fmt;
use std::io;
use std::panic::{self, AssertUnwindSafe, RefUnwindSafe, UnwindSafe};
use std::sync::Arc;
use std::time::Duration;

use crate::buffer::{RegionOptions, Spent};

/// How a [`Pool`](super::Pool) is set up.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PoolOptions {
    /// The most bytes of address space the pool maps, over all its classes (default 4 GiB).
    /// Answers the threat of peers who make us hold many large messages at once.
    pub max_mapped: usize,
    /// What happens when there is no jbuf (default: [`WhenLow::Fail`]).
    pub when_low: WhenLow,
    /// How the pool's regions are mapped (default: anonymous memory, usual pages, not locked).
    pub region: RegionOptions,
    /// Gets each jbuf that the program is done with, after the last handle of it was dropped, and may
    /// use it again; a jbuf that it drops goes back to the pool (default: all go back).
    ///
    /// It is called in the thread that dropped the handle. What it drops itself is not shown to it
    /// again. It must not own the pool, which would then never end. A panic in it ends there, and the
    /// jbuf goes back.
    pub reclaim: Option<Callback<Spent>>,
    /// Is told when the last handle of the pool is dropped while jbufs are still out. These stay
    /// usable, and the memory is unmapped when the last of them is dropped.
    pub leaked: Option<Callback<Leak>>,
    /// What the pool is called among the program's counters (default: `jstream`).
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

/// What a pool does that is at its limit, or that the system gives no more memory, when a jbuf is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum WhenLow {
    /// It gives an error.
    Fail,
    /// It waits until a jbuf comes back that serves, and gives [`PoolError::TimedOut`] after so long.
    ///
    /// There is no order among those who wait, and those who come later may be first; who wants a
    /// large jbuf gets it only at a moment when there is room for it. A region that its last holder
    /// lets go of makes room too, but is noticed only when the next jbuf comes back.
    Wait(Duration),
    /// It gives a jbuf on the heap, of just the capacity that is asked for.
    Heap {
        /// The most bytes of such jbufs that are out at once, each counted as the next multiple of
        /// [`ALIGNMENT`](crate::buffer::ALIGNMENT), and the smallest as one; answers the same threat
        /// as [`PoolOptions::max_mapped`].
        max_bytes: usize,
    },
}

/// A function of the program that a pool calls.
pub struct Callback<A>(Arc<dyn Fn(A) + Send + Sync>);

impl<A> Callback<A> {
    /// Calls `function`, from whatever thread.
    pub fn new(function: impl Fn(A) + Send + Sync + 'static) -> Self {
        Self(Arc::new(function))
    }

    /// Calls it. A panic ends here.
    pub(super) fn call(&self, argument: A) {
        let mut result = panic::catch_unwind(AssertUnwindSafe(|| (self.0)(argument)));
        // What it panicked with may panic when it is dropped, with something that does so, too.
        for _ in 0..8 {
            let Err(payload) = result else {
                return;
            };
            result = panic::catch_unwind(AssertUnwindSafe(|| drop(payload)));
        }
        std::mem::forget(result);
    }
}

// Its panics are caught, and what it leaves half done is its own.
impl<A> UnwindSafe for Callback<A> {}
impl<A> RefUnwindSafe for Callback<A> {}

impl<A> Clone for Callback<A> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

/// Whether both are clones of one.
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

/// Jbufs that were out when their pool's last handle was dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Leak {
    /// How many they were.
    pub jbufs: usize,
    /// How many bytes they hold.
    pub bytes: usize,
}

/// What a pool holds at a moment.
///
/// The counts are exact while nobody takes jbufs or gives them back; otherwise each of them was true
/// at some time meanwhile, but perhaps not all at once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PoolStats {
    /// Jbufs that are out.
    pub in_use: usize,
    /// The most jbufs that were out at once: of one class, or the sum of these over all classes.
    pub high_water: usize,
    /// Bytes of address space mapped.
    pub mapped: usize,
    /// How often a jbuf on the heap was given because there was no other.
    pub fallbacks: u64,
    /// Bytes of such jbufs that are out now, as [`WhenLow::Heap`] counts them.
    pub on_heap: usize,
    /// How often somebody had to wait for a jbuf.
    pub waits: u64,
}

/// What a pool holds of one size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClassStats {
    /// How many bytes fit a jbuf of this class.
    pub capacity: usize,
    /// The counts. Bytes on the heap are counted for the pool alone, and are 0 here.
    pub stats: PoolStats,
}

/// Why a pool gave no jbuf.
#[derive(Debug)]
#[non_exhaustive]
pub enum PoolError {
    /// Mapping what is missing would exceed [`PoolOptions::max_mapped`].
    Exhausted {
        /// The capacity asked for, in bytes.
        wanted: usize,
        /// Bytes mapped already.
        mapped: usize,
        /// The limit.
        max_mapped: usize,
    },
    /// The system refused to map memory.
    System {
        /// The capacity asked for, in bytes.
        wanted: usize,
        /// What the system said.
        source: io::Error,
    },
    /// The pool is at its limit, and no jbuf came back in time.
    TimedOut {
        /// The capacity asked for, in bytes.
        wanted: usize,
        /// How long it waited, which is what [`WhenLow::Wait`] says.
        waited: Duration,
    },
    /// The pool is at its limit, and so are its jbufs on the heap.
    HeapExhausted {
        /// The capacity asked for, in bytes.
        wanted: usize,
        /// Bytes of its jbufs on the heap.
        on_heap: usize,
        /// The limit, which [`WhenLow::Heap`] says.
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
                "no jbuf of {wanted} bytes: {mapped} of at most {max_mapped} bytes are mapped; \
                 drop received objects or raise PoolOptions::max_mapped"
            ),
            Self::System { wanted, source } => {
                write!(f, "no jbuf of {wanted} bytes: the system says: {source}")
            }
            Self::TimedOut { wanted, waited } => write!(
                f,
                "no jbuf of {wanted} bytes came back within {waited:?}; drop received objects or \
                 raise PoolOptions::max_mapped"
            ),
            Self::HeapExhausted {
                wanted,
                on_heap,
                max_bytes,
            } => write!(
                f,
                "no jbuf of {wanted} bytes: the pool is at its limit, and {on_heap} of at most \
                 {max_bytes} bytes are on the heap; drop received objects or raise \
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
