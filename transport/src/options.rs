//! What an endpoint allows its peer.

use std::num::NonZero;
use std::sync::OnceLock;
use std::thread::available_parallelism;
use std::time::Duration;

use jstream::buffer::Pool;

/// Where an endpoint receives, and what it allows its peer to do.
///
/// Every limit says the threat that it answers. Both sides have their own options.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Options {
    /// Where the jbufs of received messages come from (default: a pool of its own). Its limit
    /// answers the threat of many peers who each stay within theirs.
    pub pool: Pool,
    /// The longest payload that is received, in bytes (default 64 MiB). Answers the threat of a
    /// header that claims more than we can hold. The peer learns it when the connection is made.
    pub max_message: u64,
    /// How long a peer may take to say who it is (default 5 s). Answers the threat of
    /// connections that are opened and then silent.
    pub handshake_timeout: Duration,
    /// How long we wait for the rest of a message once its first byte is here (default 30 s).
    /// Answers the threat of a peer that sends half a message, or a byte now and then. Time
    /// that passes while nobody receives does not count.
    pub message_timeout: Duration,
    /// How long connecting to one address may take (default 5 s). Answers hosts that don't
    /// answer at all.
    pub connect_timeout: Duration,
    /// How long a message may wait until the device has taken all of it (default 30 s). Answers
    /// the threat of a peer that does not read.
    pub send_timeout: Duration,
    /// How long whoever waits looks again and again before it sleeps (default 10 us, 0 on a machine
    /// with one core). Sleeping and waking cost 15 to 30 us on many machines; looking costs a core.
    /// `Duration::MAX` never sleeps.
    pub spin: Duration,
    /// Whether each message is an event of `tracing`, of level TRACE (default no). Connections always
    /// are.
    pub trace_messages: bool,
    /// After how long a silence the system asks the peer's host whether the connection is still
    /// there (tcp only, default 60 s). Answers hosts that vanish without a word.
    pub keepalive: Duration,
    /// The most messages that wait in a queue for this side to receive them: in-process, and those that
    /// came before an answer or a request to put or get, on all devices (default 64). Answers the threat of a peer that sends faster than we receive.
    pub queue_messages: usize,
    /// The most payload bytes that wait in such a queue (default 64 MiB); one
    /// message alone may exceed it. Answers the same threat with large messages.
    pub queue_bytes: u64,
}

impl Options {
    /// The defaults, receiving into jbufs of `pool`.
    #[must_use]
    pub fn new(pool: Pool) -> Self {
        Self {
            pool,
            max_message: 64 << 20,
            handshake_timeout: Duration::from_secs(5),
            message_timeout: Duration::from_secs(30),
            connect_timeout: Duration::from_secs(5),
            send_timeout: Duration::from_secs(30),
            spin: if has_one_core() {
                Duration::ZERO
            } else {
                Duration::from_micros(10)
            },
            trace_messages: false,
            keepalive: Duration::from_secs(60),
            queue_messages: 64,
            queue_bytes: 64 << 20,
        }
    }
}

/// Whoever looks again and again on the only core keeps the other side from running.
fn has_one_core() -> bool {
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(|| available_parallelism().map_or(1, NonZero::get)) == 1
}

impl Default for Options {
    fn default() -> Self {
        Self::new(Pool::default())
    }
}
