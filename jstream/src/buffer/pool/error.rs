//! Errors of a pool.

use std::error::Error;
use std::fmt;
use std::io;
use std::time::Duration;

/// The reason why a pool could not provide a buffer.
#[derive(jstream_derive::ErrorDebug)]
#[non_exhaustive]
pub enum PoolError {
    /// Mapping the missing memory would exceed [`PoolOptions::max_mapped`](super::PoolOptions::max_mapped).
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
        /// The time waited, which is that of [`WhenLow::Wait`](super::WhenLow::Wait).
        waited: Duration,
    },
    /// The pool is at its limit, and its buffers on the heap are at theirs.
    HeapExhausted {
        /// The requested capacity in bytes.
        wanted: usize,
        /// Number of bytes of the pool's buffers on the heap.
        on_heap: usize,
        /// The limit in bytes, from [`WhenLow::Heap`](super::WhenLow::Heap).
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

impl Error for PoolError {}
