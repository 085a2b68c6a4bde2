//! Configuration of a rank.

use std::time::Duration;

use jstream::Limits as ObjectLimits;
use jstream::buffer::Pool;

use super::queue::SHORT;
use jstream_endpoint::Limits;
use jstream_matching::Bounds;

/// Configuration of a rank: its memory and the limits for other ranks.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Options {
    /// The pool for jbufs of messages between threads (default: a separate pool). Messages over a
    /// connection use the pool of that connection.
    pub pool: Pool,
    /// Maximum number of unexpected messages, and of their bytes, that are queued for each other
    /// rank. Values below 4 messages or 4 KiB are raised to these. A rank that exceeds the limit
    /// blocks when it sends; other ranks are not affected. Over a connection, room is reported to
    /// the sender in batches, so that it may block when half of this is in use.
    pub bounds: Bounds,
    /// Maximum length in bytes of a message that is sent eagerly, whether a receive was posted or
    /// not. Longer messages are announced, and their payload is sent when a receive requests it.
    /// `None` selects a default for the device: see [`Rank::eager`](super::Rank::eager).
    pub eager: Option<u64>,
    /// Limits on the objects that the rank reads and writes (default: those of
    /// [`Limits`](jstream::Limits)). Their `bytes` limit all messages for which the library
    /// allocates the memory: objects, vectors, and jbufs that were not posted. Values below 4 KiB
    /// are raised to this for vectors and jbufs. A longer message fails with
    /// [`OverLimit`](super::Error::OverLimit) before memory is allocated for it. A receive into
    /// memory of the program has no limit but the length of that memory.
    pub object_limits: ObjectLimits,
    /// Time for which a waiting thread spins before it sleeps (default: as for
    /// [`Options::spin`](jstream_base::Options::spin)).
    pub spin: Duration,
    /// Time for which a rank waits for a message of a [collective
    /// operation](super::Rank#collective-operations) (default: 10 minutes). It limits how long a
    /// rank hangs if the ranks disagree about the operation, and how much later than the first of
    /// them the last may begin. Connecting to a member counts.
    ///
    /// A message that has begun by then can't be taken back. If the rest of it takes more than
    /// another quarter of this time, the connection to the other rank ends, and the rank is
    /// [gone](crate::Error::PeerGone).
    pub collective_timeout: Duration,
}

impl Options {
    /// Returns the defaults, with `pool` for received messages.
    #[must_use]
    pub fn new(pool: Pool) -> Self {
        Self {
            spin: jstream_base::Options::new(pool.clone()).spin,
            pool,
            bounds: Bounds::default(),
            eager: None,
            object_limits: ObjectLimits::default(),
            collective_timeout: Duration::from_secs(600),
        }
    }

    /// Returns the maximum length of eager messages over a device.
    pub(super) fn eager_over(&self, scheme: &str, limits: &Limits) -> u64 {
        let default = match scheme {
            "inproc" => EAGER_INPROC,
            "shm" => EAGER_SHM,
            _ => EAGER_SOCKETS,
        };
        let eager = self.eager.unwrap_or(default).min(limits.max_send);
        eager.min(self.max_allocated())
    }

    /// Returns the maximum length of messages between threads that are sent as a copy.
    pub(super) fn eager_between_threads(&self) -> u64 {
        let eager = self.eager.unwrap_or(EAGER_THREADS);
        eager.min(self.max_allocated())
    }

    /// Returns the maximum length in bytes of a message for which the library allocates memory.
    ///
    /// Messages in the queues between threads are within it, and so are those by which the ranks
    /// tell each other of failures. Eager messages are within the limit of their sender. If all
    /// ranks have the same limit, as they usually have, a longer message is announced, and its
    /// sender learns that it was refused.
    pub(super) fn max_allocated(&self) -> u64 {
        self.object_limits.bytes.max(SHORT) as u64
    }
}

/// Default limits for eager messages, in bytes. An eager message that is unexpected is copied once
/// more when it is received; an announced one takes a round trip.
const EAGER_THREADS: u64 = 16 << 10;
const EAGER_INPROC: u64 = 64 << 10;
const EAGER_SHM: u64 = 128 << 10;
const EAGER_SOCKETS: u64 = 256 << 10;

impl Default for Options {
    fn default() -> Self {
        Self::new(jstream_base::Options::default().pool)
    }
}
