//! What a side of active messages allows the other one.

use std::sync::Arc;
use std::time::Duration;

use super::tap::Tap;

/// What a side allows its peer, and how it waits. Every limit says the threat that it answers.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Settings {
    /// How many messages the peer may have sent that this side is not done with (default 256, at most 65,535).
    /// Answers the threat of a peer that sends faster than its handlers run.
    pub window_messages: u16,
    /// How many bytes of payload such messages may have (default 16 MiB); one message alone may exceed it. Answers
    /// the same threat with large messages.
    pub window_bytes: u64,
    /// How many handlers of one thread run one inside the other, when they wait for answers (default 8). Those beyond
    /// go to the executor. Answers the threat of peers that ask each other without an end, and overflow the
    /// stack.
    pub nesting: usize,
    /// How often a request is sent again that comes back because its handler is busy (default 12).
    pub retries: u32,
    /// How long is waited before it is sent for the second time (default 50 us); twice as long each time after
    /// that.
    pub backoff: Duration,
    /// How many messages are kept that came back though nobody waits for an answer to them (default 64), with as many
    /// bytes as the window has; further ones are dropped. Answers the threat of a peer that gives back what nobody looks at.
    pub kept_returns: usize,
    /// How long the peer may take to tell its handlers (default 5 s). Answers the threat of connections that are
    /// made and then silent.
    pub handshake_timeout: Duration,
    /// How long who waits for an answer waits for room in the pool (default 200 ms), before it gives up: what has come
    /// stays in the connection. Answers the threat of answers that are kept, and stand in the way of others.
    pub room_timeout: Duration,
    /// How long a message that has come waits for room in the pool (default 10 s), before its connection is ended. Answers
    /// the threat of peers who keep connections, and what has come over them, while others use up the pool.
    pub buffer_timeout: Duration,
    /// How long sending waits for credit (default 30 s). Answers the threat of a peer that is done with nothing.
    pub credit_timeout: Duration,
    /// What sees each message (default: nothing). It is dropped with the connection.
    pub tap: Option<Arc<dyn Tap>>,
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
            tap: None,
        }
    }
}

impl Settings {
    /// Without a window there would be no messages at all.
    pub(super) fn window_messages(&self) -> u32 {
        u32::from(self.window_messages.max(1))
    }

    /// How long is waited before a request is sent again that was given back so many times.
    pub(super) fn pause(&self, times: u32) -> Duration {
        /// Longer pauses help nobody.
        const LONGEST: Duration = Duration::from_millis(50);
        let factor = 1u32.checked_shl(times).unwrap_or(u32::MAX);
        self.backoff.saturating_mul(factor).min(LONGEST)
    }
}
