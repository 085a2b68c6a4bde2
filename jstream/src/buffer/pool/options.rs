//! Options of a pool.

use std::sync::Arc;
use std::time::Duration;

use super::callback::Callback;
use super::stats::Leak;
use crate::buffer::{EmptyBuffer, RegionOptions};

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
    pub reclaim: Option<Callback<EmptyBuffer>>,
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
    /// Blocks until a suitable buffer is returned. Returns
    /// [`PoolError::TimedOut`](super::PoolError::TimedOut) after this time.
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
