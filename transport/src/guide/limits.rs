//! Limits: what each one stops.
//!
//! Nothing that a peer sends is believed. What it can make this side hold, or wait for, has limits, which are
//! fields of [`Options`](crate::Options). Each side has its own.
//!
//! | limit | default | stops |
//! |---|---|---|
//! | [`max_message`](crate::Options::max_message) | 64 MiB | payloads that are longer; the peer learns it when the connection is made, and fails before it sends |
//! | [`pool`](crate::Options::pool) | a pool of its own | many peers who each stay within their limits |
//! | [`handshake_timeout`](crate::Options::handshake_timeout) | 5 s | peers that connect and say nothing, or a byte now and then; over `tls` it is for the certificates and the greeting together |
//! | [`max_begun_bytes`](crate::Options::max_begun_bytes) | 1 GiB, half of the pool at most | peers that begin many large messages, over all connections |
//! | [`message_timeout`](crate::Options::message_timeout) | 30 s | peers that send a part of a message |
//! | [`send_timeout`](crate::Options::send_timeout) | 30 s | peers that don't read |
//! | [`connect_timeout`](crate::Options::connect_timeout) | 5 s | hosts that don't answer |
//! | [`keepalive`](crate::Options::keepalive) | 60 s | hosts that vanish (`tcp`, `uring`, `tls`) |
//! | [`queue_messages`](crate::Options::queue_messages), [`queue_bytes`](crate::Options::queue_bytes) | 64, 64 MiB | threads that send faster than this one receives (`inproc`) |
//!
//! Over `tls` a peer without a certificate that is trusted gets no further than that (`Options::tls`); what was read or
//! changed on the way, or cut off, is an error and not a message.
//!
//! A sender waits when the other side has no more room, and has its time-out then. What the program itself posts
//! is not limited: each posted operation has its jbuf already, or takes one when its message comes.
//!
//! # When the pool is empty
//!
//! Memory for a message is taken when its length is known and allowed. If the pool gives none, the message stays
//! where it is, receiving fails with [`RecvError::NoBuffer`](crate::RecvError::NoBuffer), and succeeds later. A server
//! of active messages serves its other connections meanwhile, and ends the connection of a message that has waited
//! for [`buffer_timeout`](crate::active::Settings::buffer_timeout). When a connection has ended and little of the
//! pool is in use, the [memory goes back](jstream::buffer::Pool::trim_if_idle) to the system.
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
//! # When time is up
//!
//! Time-outs of calls lose nothing: what had come of a message is kept. A message that its sender does not
//! complete in [`message_timeout`](crate::Options::message_timeout) ends the connection; time in which nobody
//! receives does not count, so a slow receiver does not blame its peer.
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
//! let late = there.recv_message_timeout(Duration::from_millis(1)).unwrap_err();
//! assert!(matches!(late, RecvError::TimedOut { .. }));
//! here.send(&5u64)?;
//! assert_eq!(*there.recv::<u64>()?.get(), 5);
//! # Ok(())
//! # }
//! ```
