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
mod exposure;
mod frame;
mod key;
mod owner;
mod serving;
mod state;
mod ticket;
mod window;

pub use self::calls::Remote;
pub use self::error::RemoteError;
pub use self::exposure::Exposure;
pub use self::frame::MOST_REQUESTS;
pub use self::key::{RemoteKey, Rights};
pub(super) use self::serving::ServeOutcome;
pub(super) use self::state::RemoteState;
pub use self::ticket::{GetTicket, PutTicket};
pub use self::window::Window;
