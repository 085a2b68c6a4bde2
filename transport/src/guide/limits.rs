//! Limits: the threat against which each limit protects.
//!
//! Data from a peer is not trusted. The resources that a peer can occupy, and the time for which it
//! can delay this side, are limited by fields of [`Options`](crate::Options). Each side has its own
//! options.
//!
//! | limit | default | protects against |
//! |---|---|---|
//! | [`max_message`](crate::Options::max_message) | 64 MiB | longer payloads; the peer learns the limit when the connection is made, and its send fails before any data is sent; between ranks, see [below](#messages-between-ranks) |
//! | [`pool`](crate::Options::pool) | a separate pool | many peers that each stay within their own limits |
//! | [`handshake_timeout`](crate::Options::handshake_timeout) | 5 s | peers that connect and send nothing, or single bytes at long intervals; over `tls`, it limits the TLS handshake and the handshake of the transport together |
//! | [`max_begun_bytes`](crate::Options::max_begun_bytes) | 1 GiB, at most half of the pool | peers that begin many large messages, over all connections |
//! | [`message_timeout`](crate::Options::message_timeout) | 30 s | peers that send only part of a message |
//! | [`send_timeout`](crate::Options::send_timeout) | 30 s | peers that do not read |
//! | [`connect_timeout`](crate::Options::connect_timeout) | 5 s | hosts that do not respond |
//! | [`keepalive`](crate::Options::keepalive) | 60 s | hosts that vanish (`tcp`, `uring`, `tls`) |
//! | [`queue_messages`](crate::Options::queue_messages), [`queue_bytes`](crate::Options::queue_bytes) | 64, 64 MiB | threads that send faster than this side receives (`inproc`) |
//!
//! Over `tls`, a peer without a trusted certificate is rejected before its messages are read
//! (`Options::tls`). Data that was modified or truncated in transit is reported as an error and
//! never as a message.
//!
//! If the other side has no room, a send waits, at most for its timeout. The operations that the
//! program itself posts are not limited: each of them owns a buffer, or takes one when its message
//! arrives.
//!
//! # Messages between ranks
//!
//! The limits are the same whether the ranks are threads or processes. `max_message` is not one of
//! them: a message that is longer than an [eager](crate::rank::Rank::eager) one is announced, and
//! stays with its sender until a receive asks for it.
//!
//! A receive that gives its own memory takes every message that fits, however long: `recv`,
//! `recv_timeout`, receives in a scope, and collective operations on slices. If the library
//! allocates the memory (`recv_vec`, `recv_buffer`, objects), the limit is `bytes` in
//! [`object_limits`](crate::rank::Options::object_limits) of the receiver: 4 GiB by default. A
//! longer message is not transferred, and no memory is allocated for it: the receive fails with
//! [`OverLimit`](crate::rank::Error::OverLimit) and the send with
//! [`TooLong`](crate::rank::Error::TooLong). Both have the length and the limit. An object that is
//! longer than the same limit of its sender is not written.
//!
//! # When the pool is empty
//!
//! Memory for a message is allocated when the length of the message is known and permitted. If the
//! pool is full, the message stays in the connection and receiving fails with
//! [`RecvError::NoBuffer`](crate::RecvError::NoBuffer). A later receive gets the message. A server
//! of active messages serves its other connections meanwhile. It closes the connection if the
//! message has waited for [`buffer_timeout`](crate::active::Settings::buffer_timeout). When a
//! connection has closed, or has had no large message for some seconds, and little of the pool is
//! in use, the [memory is returned](jstream::buffer::Pool::trim_if_idle) to the system.
//!
//! A message that arrives in part reserves at most 1/512 of the pool, until that much of it is
//! there. If messages that arrive slowly take all of
//! [`max_begun_bytes`](crate::Options::max_begun_bytes), the connection of the slowest is ended as
//! soon as another message needs the room.
//!
//! ```
//! use jstream::Pool;
//! use jstream::buffer::PoolOptions;
//! use jstream_transport::{Header, Options, RecvError, connect, listen};
//! use std::io::IoSlice;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut room = PoolOptions::default();
//! room.max_mapped = 1 << 20;
//! let options = Options::new(Pool::new(room));
//! let listener = listen(&"tcp://127.0.0.1:0".parse()?, &options)?;
//! # let address = listener.local_address().clone();
//! # let connecting = std::thread::spawn(move || connect(&address, &Options::default()));
//! # let there = listener.accept()?.establish()?;
//! # let here = connecting.join().unwrap()?;
//! let all = options.pool.take(1 << 20)?;
//! here.send_message(Header::default(), &[IoSlice::new(&[7; 1000])])?;
//! assert!(matches!(there.recv_message(), Err(RecvError::NoBuffer { .. })));
//! drop(all);
//! assert_eq!(there.recv_message()?.payload.len(), 1000);
//! # Ok(())
//! # }
//! ```
//!
//! # Timeouts
//!
//! If a call times out, no data is lost: the part of a message that has arrived is kept. If the
//! sender does not complete a message within [`message_timeout`](crate::Options::message_timeout),
//! the connection is closed. Time during which no thread receives does not count, so that a slow
//! receiver does not blame its peer.
//!
//! ```
//! use std::time::Duration;
//!
//! use jstream_transport::{Options, RecvError, connect, listen};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let (address, options) = ("inproc://guide-time".parse()?, Options::default());
//! # let listener = listen(&address, &options)?;
//! # let connecting = std::thread::spawn(move || connect(&address, &Options::default()));
//! # let there = listener.accept()?.establish()?;
//! # let here = connecting.join().unwrap()?;
//! let late = there.recv_message_within(Duration::from_millis(1)).unwrap_err();
//! assert!(matches!(late, RecvError::TimedOut { .. }));
//! here.send(&5u64)?;
//! assert_eq!(*there.recv::<u64>()?.get(), 5);
//! # Ok(())
//! # }
//! ```
