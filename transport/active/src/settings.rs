//! Limits and timeouts of one side of an active-message connection.

use std::sync::Arc;
use std::time::Duration;

use super::tap::Tap;
use jstream_base::byte_limit::{ByteCharge, ByteTotal};

/// Maximum number of bytes of schemas that the readers of objects of other versions keep, over all
/// connections that are made with the same settings and their clones. A reader without room is
/// dropped, so nothing waits for it.
pub(super) const MAX_READERS_IN_ALL: u64 = 32 << 20;

/// Limits that a side sets for its peer, and its timeouts. Each limit names the threat that it
/// counters.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Settings {
    /// Maximum number of the peer's messages that this side has not completed (default 256, at most
    /// 65,535). Counters a peer that sends faster than its handlers run.
    pub window_messages: u16,
    /// Maximum total payload of such messages in bytes (default 16 MiB). A single message may
    /// exceed it. Counters the same threat with large messages.
    pub window_bytes: u64,
    /// Maximum nesting depth of handlers in one thread, which nest when they wait for answers
    /// (default 8). Deeper handlers go to the executor. Counters peers that call each other
    /// endlessly and overflow the stack.
    pub nesting: usize,
    /// Maximum number of retries of a request that is returned because its handler is busy (default
    /// 12).
    pub retries: u32,
    /// Delay before the first retry (default 50 us). It doubles with each retry.
    pub backoff: Duration,
    /// Maximum number of returned messages that are kept although no ticket waits for them (default
    /// 64); their total size is limited to `window_bytes`. Further ones are dropped. Counters a
    /// peer that returns messages that the program never takes.
    pub kept_returns: usize,
    /// Maximum time that the peer may take to send its handler table (default 5 s). Counters
    /// connections that stay silent after they are made.
    pub handshake_timeout: Duration,
    /// Maximum time that a caller that waits for an answer waits for room in the pool (default 200
    /// ms). After that, the call fails and the received message stays in the connection. Counters
    /// answers that the program keeps and that block others.
    pub room_timeout: Duration,
    /// Maximum time that a received message waits for room in the pool (default 10 s), before its
    /// connection is ended. Counters peers that keep connections and messages pending while others
    /// use up the pool.
    pub buffer_timeout: Duration,
    /// Maximum time that a send waits for credit (default 30 s). Counters a peer that completes no
    /// messages.
    pub credit_timeout: Duration,
    /// Maximum number of bytes of answers that wait until their peers take them, over all
    /// connections that are made with these settings and their clones (default 256 MiB). A single
    /// answer may exceed it. From half of it on, requests of a peer that has answers to take are
    /// deferred, as far as their handlers [ask](super::Request::is_unread). If it is reached, the
    /// connection whose peer takes its answers most slowly is ended, and an answer to that peer
    /// fails. Counters peers that ask for large answers and do not read them.
    pub max_backlog_in_all: u64,
    /// Observer of all messages (default: none). It is dropped with the connection.
    pub tap: Option<Arc<dyn Tap>>,
    /// Bytes of waiting answers, for [`max_backlog_in_all`](Self::max_backlog_in_all).
    pub(super) backlog_in_all: Arc<ByteTotal>,
    /// Bytes of the schemas that the readers of objects of other versions keep.
    pub(super) readers_in_all: Arc<ByteTotal>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            window_messages: 256,
            window_bytes: 16 << 20,
            nesting: 8,
            retries: 12,
            backoff: Duration::from_micros(50),
            kept_returns: 64,
            handshake_timeout: Duration::from_secs(5),
            room_timeout: Duration::from_millis(200),
            buffer_timeout: Duration::from_secs(10),
            credit_timeout: Duration::from_secs(30),
            max_backlog_in_all: 256 << 20,
            tap: None,
            backlog_in_all: Arc::default(),
            readers_in_all: Arc::default(),
        }
    }
}

impl Settings {
    /// Returns true if requests of peers that have answers to take are deferred.
    pub(super) fn has_large_backlog(&self) -> bool {
        self.backlog_in_all.bytes() > self.max_backlog_in_all / 2
    }

    /// Charges a result that is kept for its caller to fetch. Returns `None` if more than half of
    /// [`max_backlog_in_all`](Self::max_backlog_in_all) would be used.
    pub(super) fn charge_kept(&self, bytes: u64) -> Option<ByteCharge> {
        let half = self.max_backlog_in_all / 2;
        self.backlog_in_all.try_charge(bytes, half)
    }

    /// Charges the schemas that a reader of objects of another version keeps. Returns `None` if
    /// there is no room, so that the reader is to be dropped.
    pub(super) fn charge_reader(&self, bytes: u64) -> Option<ByteCharge> {
        self.readers_in_all.try_charge(bytes, MAX_READERS_IN_ALL)
    }

    /// Returns the message window, at least 1: a window of 0 would allow no messages.
    pub(super) fn window_messages(&self) -> u32 {
        u32::from(self.window_messages.max(1))
    }

    /// Returns the backoff before the next retry of a request that was returned `times` times
    /// before.
    pub(super) fn pause(&self, times: u32) -> Duration {
        /// Maximum backoff.
        const LONGEST: Duration = Duration::from_millis(50);
        let factor = 1u32.checked_shl(times).unwrap_or(u32::MAX);
        self.backoff.saturating_mul(factor).min(LONGEST)
    }
}
