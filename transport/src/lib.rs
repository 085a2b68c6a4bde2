//! Messages that arrive in registered buffers.
//!
//! A [`Device`] carries messages between two sides of a [`Link`]: reliably, in order, each with
//! a [`Header`] and a payload. A received payload stands in a jbuf of the receiver's own
//! [`Pool`](jstream::buffer::Pool), where it can be read in place.
//!
//! | address | device | a message costs |
//! |---|---|---|
//! | `inproc://name` | inside this process | one copy, or none when a jbuf itself is sent |
//! | `tcp://host:port` | TCP | one system call on each side while it is small |
//!
//! ```text
//! listen ── Listener ── accept ── Incoming ── establish ─┐
//! connect ───────────────────────────────────────────────┴─ Link ── split ── Sender, Receiver
//! ```
//!
//! Nothing that a peer sends is believed: lengths, queues and waiting times have limits, which
//! are in [`Options`] with the threat that each one answers.
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
//!     let link = listener.accept().unwrap().establish().unwrap();
//!     let (mut sender, mut receiver) = link.split();
//!     let ping = receiver.recv().unwrap();
//!     // The jbuf itself goes back.
//!     sender.send_filled(Header::new(2, ping.header.words), ping.payload).unwrap();
//! });
//!
//! let link = connect(&"inproc://ping".parse()?, &Options::default())?;
//! let (mut sender, mut receiver) = link.split();
//! let parts = [IoSlice::new(b"hello, "), IoSlice::new(b"world")];
//! sender.send(Header::new(1, [7, 0, 0]), &parts)?;
//! let pong = receiver.recv()?;
//! assert_eq!((pong.header.kind, pong.header.words), (2, [7, 0, 0]));
//! assert_eq!(pong.payload.as_bytes(), b"hello, world");
//! # server.join().unwrap();
//! # Ok(())
//! # }
//! ```

mod address;
mod device;
mod endpoint;
mod error;
mod header;
mod options;

pub use address::Address;
pub use endpoint::{
    Closer, Completion, CompletionQueue, Counters, Endpoint, Incoming, Limits, Listener, Message,
    Next, Outcome, Progress, RecvTicket, SendTicket, connect, connect_cheapest, device_counters,
    listen, listen_all,
};
pub use error::{
    AcceptError, AddressError, ConnectError, HandshakeError, HeaderError, ListenError, RecvError,
    SendError, Unreceived, Unsent,
};
pub use header::Header;
pub use options::Options;
