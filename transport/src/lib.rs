//! Message transport into registered buffers.
//!
//! ```toml
//! [dependencies]
//! jstream = "0.1"
//! jstream-transport = "0.1"
//! ```
//!
//! Start with a typed [`channel`](fn@channel): it has a name, a sending and a receiving side, and
//! works between threads, processes and hosts. If programs or threads address one another by
//! number, as with MPI, use [ranks](rank). [Endpoints](Endpoint) are what both are built on: use
//! them for a protocol of your own, memory that the peer puts data into, or many connections.
//!
//! ```
//! use jstream::Transportable;
//! use jstream_transport::channel;
//!
//! #[derive(Transportable)]
//! struct Order {
//!     symbol: String,
//!     legs: Vec<f64>,
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let receiver = channel::<Order>("inproc://orders").receiver()?;
//! std::thread::spawn(|| {
//!     let sender = channel::<Order>("inproc://orders").sender().unwrap();
//!     sender.send(&Order { symbol: "ACME".to_owned(), legs: vec![99.5, 2.0] }).unwrap();
//! });
//! for order in &receiver {
//!     let order = order?;
//!     assert_eq!((order.get().symbol, order.get().legs), ("ACME", &[99.5, 2.0][..]));
//! }
//! # Ok(())
//! # }
//! ```
//!
//! The [guide] has a page for each of them.
//!
//! # Features
//!
//! | feature | effect |
//! |---|---|
//! | `shm` (default) | memory shared with other processes, `shm://name` |
//! | `evolve` (default) | channels between programs with different versions of a type |
//! | `uring` (default) | TCP received with io_uring, `uring://host:port` |
//! | `sim` (default) | a simulated network for tests, `sim://name` |
//! | `tls` | connections over TLS 1.3, `tls://host:port`, where both sides show certificates |
//! | `cli` | builds the programs `jperf` and `jrun` |
//!
//! The devices `inproc`, `uds` and `tcp` are always there. With `default-features = false` the
//! others are left out, and programs are smaller: an address of such a device gives an error that
//! names the feature.
//!
//! `cargo install jstream-transport --features cli` installs `jperf`, which
//! [measures](guide::measuring) a connection, and `jrun`, which [starts ranks](guide::launching) on
//! one host or several.
//!
//! # Endpoints
//!
//! An [`Endpoint`] exchanges messages with a peer, reliably and in order. Each message has a
//! [`Header`] and a payload. A received payload is in a buffer of the receiver's own
//! [`Pool`](jstream::buffer::Pool), where it can be read in place.
//!
//! | address | device | cost of a message |
//! |---|---|---|
//! | `inproc://name` | inside this process | one copy, or none if a pool buffer is sent |
//! | `shm://name`, `shm:///path` | memory shared with another process | two copies, or one for a large message; no system call while both sides are awake |
//! | `uds:///path` | Unix socket | one system call on each side for a small message |
//! | `tcp://host:port` | TCP | as for a Unix socket |
//! | `uring://host:port` | TCP, received with io_uring | as for a Unix socket |
//! | `tls://host:port` | encrypted TCP (feature `tls`) | as for a Unix socket, and the encryption |
//!
//! The [guide] explains how to choose a device and how to use endpoints. `PROTOCOL.md` specifies
//! the wire format.
//!
//! ```text
//! listen ── Listener ── accept ── Incoming ── establish ─┐
//! connect ───────────────────────────────────────────────┴─ Endpoint
//! ```
//!
//! Any number of threads can use an endpoint at the same time. Each operation has up to three
//! forms: it blocks, it tries and returns immediately (a receive does so if its timeout is zero),
//! or it is posted and returns a ticket, which is also a future:
//!
//! | | blocking | non-blocking | posted or async |
//! |---|---|---|---|
//! | send segments | [`send_message`] | [`try_send_message`] | |
//! | send a buffer | [`send_buffer`] | | [`post_send`] |
//! | receive | [`recv_message`] | [`recv_message_within`] | [`post_recv`] |
//! | receive into memory | [`recv_into`] | [`recv_into_within`] | |
//!
//! An endpoint can also [expose](Remote::expose) memory. The peer then puts and gets data without
//! a receive operation on this side:
//!
//! | | blocking | posted or async |
//! |---|---|---|
//! | put | [`put`], [`put_notify`] | [`post_put`], [`post_put_notify`] |
//! | get | [`get`], [`get_into`] | [`post_get`] |
//!
//! Programs or threads that work together can be [ranks](rank). Ranks address each other by number
//! and tag, over any of these devices or inside a process.
//!
//! [`active`] messages and typed [channels](mod@channel) are built on endpoints. An active message
//! names the handler that runs when it arrives.
//!
//! [`matching`] matches messages to receives by context, source and tag, for programs with their
//! own transport.
//!
//! A peer is not trusted: lengths, queues and waiting times have limits. [`Options`] documents each
//! limit with the threat that it protects against.
//!
//! [`send_message`]: Endpoint::send_message
//! [`try_send_message`]: Endpoint::try_send_message
//! [`send_buffer`]: Endpoint::send_buffer
//! [`post_send`]: Endpoint::post_send
//! [`recv_message`]: Endpoint::recv_message
//! [`recv_message_within`]: Endpoint::recv_message_within
//! [`post_recv`]: Endpoint::post_recv
//! [`recv_into`]: Endpoint::recv_into
//! [`recv_into_within`]: Endpoint::recv_into_within
//! [`put`]: Remote::put
//! [`put_notify`]: Remote::put_notify
//! [`post_put`]: Remote::post_put
//! [`post_put_notify`]: Remote::post_put_notify
//! [`get`]: Remote::get
//! [`get_into`]: Remote::get_into
//! [`post_get`]: Remote::post_get
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
//!     // Sends the received buffer back without a copy.
//!     endpoint.send_buffer(Header::new(2, ping.header.words), ping.payload).unwrap();
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

pub mod guide;
mod rank_peers;
#[cfg(feature = "tls")]
pub mod tls;

pub use jstream_active as active;
pub use jstream_base::{
    AcceptError, Address, AddressError, ConnectError, HandshakeError, Header, HeaderError,
    ListenError, Options, RecvError, SendError,
};
pub use jstream_channel as channel;
pub use jstream_channel::channel;
pub use jstream_collective as collective;
#[cfg(feature = "sim")]
pub use jstream_device::sim;
pub use jstream_endpoint::{
    Closer, Completion, CompletionQueue, Counters, Endpoint, EndpointInfo, Exposure, GetTicket,
    Incoming, Limits, Listener, Message, Next, ObjectTicket, Outcome, Progress, PutTicket,
    RecvObjectError, RecvTicket, Remains, Reminder, Remote, RemoteError, RemoteKey, Rights, Scope,
    ScopedTicket, SendObjectError, SendTicket, Unreceived, Unsent, UnsentObject, Window, connect,
    connect_cheapest, device_counters, listen, listen_activated, listen_all,
};
pub use jstream_matching as matching;
pub use jstream_rank as rank;

pub use self::rank_peers::{RankPeers, RankPeersError};

/// The examples of the crate's README, as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
