//! Puts and gets: one side writes and reads memory that the other side has exposed.
//!
//! Both travel as frames among the messages of a connection. The `op` of the header distinguishes
//! them:
//!
//! | op | frame | `kind` | `words` | payload |
//! |---|---|---|---|---|
//! | 0 | a message | of the program | of the program | of the program |
//! | 1 | put | 1 if a notice follows, else 0 | key, offset, request | bytes to write |
//! | 2 | done | result | request, length of the exposed memory, 0 | |
//! | 3 | get | number of bytes | key, offset, request | |
//! | 4 | data | 0 | request, 0, 0 | bytes that were read |
//! | 5 | notice | of the program | of the program | |
//!
//! Each put is answered by `done`. Each get is answered by `data`, or by `done` with an error. The
//! owner serves requests in the order of arrival, among the messages. Notices belong to the puts
//! with `kind` 1, in order. A notice becomes a message if its put was carried out. Otherwise it is
//! dropped.
//!
//! `frame` implements this format, `owner` holds the exposed memory, and `asker` the requests of
//! this side; none of them does I/O. `serving` connects them to the receive direction. `calls` and
//! `ticket` are the public interface.
//!
//! INVARIANT: a side has at most [`MOST_REQUESTS`] requests whose answers it has not received. This
//! bounds the answers that wait to be sent. A peer that sends more requests is disconnected.
//!
//! Lock order: the receive direction, then the send direction or a window; never the reverse.

mod asker;
mod calls;
mod error;
mod frame;
mod key;
mod owner;
mod serving;
mod ticket;
mod window;

pub use self::error::RemoteError;
pub use self::key::{RemoteKey, Rights};
pub use self::ticket::{GetTicket, PutTicket};
pub use self::window::{Exposure, Window};

use std::sync::Weak;

use self::asker::Asks;
use self::owner::Exposed;
pub(super) use self::serving::ServeOutcome;
use super::shared::Shared;

/// Maximum number of requests without a received answer. Bounds the memory for a peer that sends
/// requests and does not read.
pub const MOST_REQUESTS: usize = 32;

/// Maximum number of bytes that one get request may ask for. The answers that wait for a peer have
/// at most [`MOST_REQUESTS`] times this size.
pub(crate) const PIECE: u32 = 256 << 10;

/// State of puts and gets in the receive direction.
pub(super) struct Remote {
    exposed: Exposed,
    asks: Asks,
    /// True if no more messages can be kept for later, so that frames behind them have to wait.
    stuck: bool,
    /// True if the frame that is being received goes to the scratch buffer.
    scratched: bool,
    /// Total length of the kept messages, in bytes.
    pub(super) kept_bytes: u64,
    /// The connection, for sending answers and requests.
    pub(super) shared: Weak<Shared>,
}

impl Remote {
    pub(super) fn new(shared: Weak<Shared>) -> Self {
        Self {
            exposed: Exposed::default(),
            asks: Asks::default(),
            stuck: false,
            scratched: false,
            kept_bytes: 0,
            shared,
        }
    }

    /// Returns true if frames may arrive. Then a thread that drives the direction receives them,
    /// even if no receive waits for a message.
    #[inline]
    pub(super) fn is_active(&self) -> bool {
        !self.exposed.is_empty() || !self.asks.is_empty()
    }

    /// Returns true if the direction makes progress when bytes arrive.
    #[inline]
    pub(super) fn is_waiting(&self) -> bool {
        self.is_active() && !self.stuck
    }
}
