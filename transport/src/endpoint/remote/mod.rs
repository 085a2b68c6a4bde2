//! Puts and gets: one side reads and writes memory that the other one has exposed.
//!
//! They travel as frames among the messages of a connection, told apart by the header's `op`:
//!
//! | op | frame | `kind` | `words` | payload |
//! |---|---|---|---|---|
//! | 0 | a message | of the program | of the program | of the program |
//! | 1 | put | 1 when a notice belongs to it, else 0 | key, offset, request | what is put |
//! | 2 | done | what came of it | request, length of what is exposed, 0 | |
//! | 3 | get | how much, in bytes | key, offset, request | |
//! | 4 | data | 0 | request, 0, 0 | what was got |
//! | 5 | notice | of the program | of the program | |
//!
//! Each put is answered by `done`, each get by `data` or by `done` that says why not. The owner serves
//! requests in the order in which they come, among the messages. A notice becomes a message if the put
//! that belongs to it, the last one with `kind` 1, was carried out; else it is dropped.
//!
//! `frame` knows this format, `owner` has what is exposed, `asker` the requests of this side: none of
//! them does I/O. `serving` joins them to the direction that receives, `calls` and `ticket` are for
//! programs.
//!
//! Invariant: a side has at most [`MOST_REQUESTS`] requests whose answers it has not received. So the
//! answers that wait to be sent are bounded; whoever sends more requests loses the connection.
//!
//! Lock order: the direction that receives, then the one that sends or a window; never the reverse.

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
pub(super) use self::serving::Served;
use super::shared::Shared;

/// The most requests whose answers have not been received. Answers the threat of a peer that asks and
/// does not read.
pub(crate) const MOST_REQUESTS: usize = 32;

/// The most that is got by one request, in bytes: the answers that wait for a peer are no more than
/// this, [`MOST_REQUESTS`] times.
pub(crate) const PIECE: u32 = 256 << 10;

/// What the direction that receives knows of puts and gets.
pub(super) struct Remote {
    exposed: Exposed,
    asks: Asks,
    /// No more messages can be kept for later, so that what stands behind them waits.
    stuck: bool,
    /// The frame that is being received goes to the scratch.
    scratched: bool,
    /// How many bytes the messages have that are kept.
    pub(super) kept_bytes: u64,
    /// Where answers and requests are sent.
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

    /// Whether frames are to be expected: then whoever drives the direction receives them, though
    /// nobody waits for a message.
    #[inline]
    pub(super) fn is_active(&self) -> bool {
        !self.exposed.is_empty() || !self.asks.is_empty()
    }

    /// Whether the direction goes on when something comes.
    #[inline]
    pub(super) fn is_waiting(&self) -> bool {
        self.is_active() && !self.stuck
    }
}
