//! What a rank allows the others.

use std::time::Duration;

use jstream::buffer::Pool;

use crate::endpoint::Limits;
use crate::matching::Bounds;

/// Where a rank receives, and what it allows the others to do.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Options {
    /// Where the jbufs of messages between threads come from (default: a pool of its own). Those of
    /// connections come from the pool of each connection.
    pub pool: Pool,
    /// How much of one other rank waits here for receives, at most; less than 4 messages and 4 KiB count as these.
    /// A rank that exceeds it waits when it sends, and nobody else does. Over connections a rank is told in parts that
    /// there is room again: it may have to wait when half of this is in use.
    pub bounds: Bounds,
    /// Messages of up to so many bytes travel at once, whether they are wanted or not; longer ones are
    /// announced, and come when they are. `None` chooses by the device: see
    /// [`Rank::eager`](super::Rank::eager).
    pub eager: Option<u64>,
    /// How long whoever waits looks again and again before it sleeps (default: as for
    /// [`Options::spin`](crate::Options::spin)).
    pub spin: Duration,
}

impl Options {
    /// The defaults, receiving into jbufs of `pool`.
    #[must_use]
    pub fn new(pool: Pool) -> Self {
        Self {
            spin: crate::Options::new(pool.clone()).spin,
            pool,
            bounds: Bounds::default(),
            eager: None,
        }
    }

    /// Up to which length messages travel at once over a device.
    pub(super) fn eager_over(&self, scheme: &str, limits: &Limits) -> u64 {
        let default = match scheme {
            "inproc" => EAGER_INPROC,
            "shm" => EAGER_SHM,
            _ => EAGER_SOCKETS,
        };
        self.eager.unwrap_or(default).min(limits.max_send)
    }

    /// Up to which length messages between threads are left as a copy.
    pub(super) fn eager_between_threads(&self) -> u64 {
        self.eager.unwrap_or(EAGER_THREADS)
    }
}

/// What waits is copied once more when it is received; what is announced takes a question and an answer.
const EAGER_THREADS: u64 = 16 << 10;
const EAGER_INPROC: u64 = 64 << 10;
const EAGER_SHM: u64 = 128 << 10;
const EAGER_SOCKETS: u64 = 256 << 10;

impl Default for Options {
    fn default() -> Self {
        Self::new(crate::Options::default().pool)
    }
}
