//! Statistics of a pool.

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
    /// Number of bytes of such buffers in use now, as counted by [`WhenLow::Heap`](super::WhenLow::Heap).
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
