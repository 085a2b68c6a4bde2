//! Messages that arrive in registered buffers.
//!
//! An [`Endpoint`] carries messages to and from a peer: reliably, in order, each with a [`Header`]
//! and a payload. A received payload stands in a jbuf of the receiver's own
//! [`Pool`](jstream::buffer::Pool), where it can be read in place.
//!
//! | address | device | a message costs |
//! |---|---|---|
//! | `inproc://name` | inside this process | one copy, or none when a jbuf itself is sent |
//! | `shm://name` | memory shared with another process | two copies, or one when it is large; no system call while both are awake |
//! | `uds:///path` | a Unix socket | one system call on each side while it is small |
//! | `tcp://host:port` | TCP | the same |
//! | `uring://host:port` | TCP, received by io_uring | the same |
//! | `tls://host:port` | TCP, encrypted (feature `tls`) | the same, and the encryption |
//!
//! The [guide] says when to choose which, and how endpoints are used; `PROTOCOL.md` what stands on the wire.
//!
//! ```text
//! listen ── Listener ── accept ── Incoming ── establish ─┐
//! connect ───────────────────────────────────────────────┴─ Endpoint
//! ```
//!
//! Any number of threads use an endpoint at once. They wait, look ([`try_recv_message`], and so on),
//! or post what is to be done and get a ticket for it, which is also a future:
//!
//! | | waits | looks | posted, or async |
//! |---|---|---|---|
//! | sends segments | [`send_message`] | [`try_send_message`] | |
//! | sends a jbuf | [`send_filled`] | | [`post_send`] |
//! | receives | [`recv_message`], [`recv_message_timeout`] | [`try_recv_message`] | [`post_recv`], [`post_recv_any`] |
//! | receives into memory | [`recv_into`], [`recv_into_timeout`] | [`try_recv_into`] | |
//!
//! One side may also [expose](Endpoint::expose) memory, where the other one puts and gets without
//! receiving anything:
//!
//! | | waits | posted, or async |
//! |---|---|---|
//! | puts | [`put`], [`put_notify`] | [`post_put`], [`post_put_notify`] |
//! | gets | [`get`], [`get_into`] | [`post_get`] |
//!
//! Several programs, or threads, that work together are [ranks](rank): they send each other messages by
//! number and tag, over any of these connections or without one.
//!
//! Above endpoints stand [`active`] messages, which name the handler that runs when they arrive, and typed
//! [channels](mod@channel).
//!
//! [`matching`] finds the receive of each message by context, source and tag, for programs that carry
//! messages in their own way.
//!
//! Nothing that a peer sends is believed: lengths, queues and waiting times have limits, which
//! are in [`Options`] with the threat that each one answers.
//!
//! [`send_message`]: Endpoint::send_message
//! [`try_send_message`]: Endpoint::try_send_message
//! [`send_filled`]: Endpoint::send_filled
//! [`post_send`]: Endpoint::post_send
//! [`recv_message`]: Endpoint::recv_message
//! [`recv_message_timeout`]: Endpoint::recv_message_timeout
//! [`try_recv_message`]: Endpoint::try_recv_message
//! [`post_recv`]: Endpoint::post_recv
//! [`post_recv_any`]: Endpoint::post_recv_any
//! [`recv_into`]: Endpoint::recv_into
//! [`recv_into_timeout`]: Endpoint::recv_into_timeout
//! [`try_recv_into`]: Endpoint::try_recv_into
//! [`put`]: Endpoint::put
//! [`put_notify`]: Endpoint::put_notify
//! [`post_put`]: Endpoint::post_put
//! [`post_put_notify`]: Endpoint::post_put_notify
//! [`get`]: Endpoint::get
//! [`get_into`]: Endpoint::get_into
//! [`post_get`]: Endpoint::post_get
//!
//! # Example
//!
//! ```
//! use std::io::IoSlice;
//!
//! use jstream_transport::{Header, Options, connect, listen};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let listener = listen(&"inproc://ping".parse()?, &Options::default())?;
//! let server = std::thread::spawn(move || {
//!     let endpoint = listener.accept().unwrap().establish().unwrap();
//!     let ping = endpoint.recv_message().unwrap();
//!     // The jbuf itself goes back.
//!     endpoint.send_filled(Header::new(2, ping.header.words), ping.payload).unwrap();
//! });
//!
//! let endpoint = connect(&"inproc://ping".parse()?, &Options::default())?;
//! let parts = [IoSlice::new(b"hello, "), IoSlice::new(b"world")];
//! endpoint.send_message(Header::new(1, [7, 0, 0]), &parts)?;
//! let pong = endpoint.recv_message()?;
//! assert_eq!((pong.header.kind, pong.header.words), (2, [7, 0, 0]));
//! assert_eq!(pong.payload.as_bytes(), b"hello, world");
//! # server.join().unwrap();
//! # Ok(())
//! # }
//! ```

pub mod active;
mod address;
pub mod channel;
mod device;
mod endpoint;
mod error;
pub mod guide;
mod header;
pub mod matching;
mod options;
mod process;
pub mod rank;
#[cfg(feature = "tls")]
pub mod tls;

pub use address::Address;
pub use channel::channel;
pub use device::sim;
pub use endpoint::{
    Closer, Completion, CompletionQueue, Counters, Cutter, Endpoint, Exposure, GetTicket, Incoming,
    Limits, Listener, Message, Next, ObjectTicket, Outcome, Progress, PutTicket, RecvObjectError,
    RecvTicket, Remains, Reminder, RemoteError, RemoteKey, Rights, Scope, ScopedTicket,
    SendObjectError, SendTicket, UnsentObject, Window, connect, connect_cheapest, device_counters,
    listen, listen_all,
};
pub use error::{
    AcceptError, AddressError, ConnectError, HandshakeError, HeaderError, ListenError, RecvError,
    SendError, Unreceived, Unsent,
};
pub use header::Header;
pub use options::Options;
