//! Ends: who ends how, and what errors mean.
//!
//! # Ending properly
//!
//! A connection ends when the last clone and the last ticket of an endpoint is gone, or by
//! [`close`](crate::Endpoint::close). [`finish`](crate::Endpoint::finish) ends one direction: the peer receives
//! all that was sent, and then [`RecvError::Closed`](crate::RecvError::Closed), while it can still send.
//!
//! ```
//! use jstream_transport::{Header, Options, RecvError, connect, listen};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let (address, options) = ("inproc://guide-ends".parse()?, Options::default());
//! # let listener = listen(&address, &options)?;
//! # let connecting = std::thread::spawn(move || connect(&address, &Options::default()));
//! # let there = listener.accept()?.establish()?;
//! # let here = connecting.join().unwrap()?;
//! here.send_message(Header::tagged(1), &[])?;
//! here.finish()?;
//! assert_eq!(there.recv_message()?.header.tag(), 1);
//! assert!(matches!(there.recv_message(), Err(RecvError::Closed { .. })));
//! there.send_message(Header::tagged(2), &[])?;
//! assert_eq!(here.recv_message()?.header.tag(), 2);
//! # Ok(())
//! # }
//! ```
//!
//! Over sockets the system may throw away what is still on its way to the peer when a connection is dropped
//! before all that came was received. Where that matters, finish, and receive until `Closed` before dropping.
//!
//! A [`Closer`](crate::Closer) ends an endpoint or a listener from any thread, and keeps neither. All who wait on
//! it return at once.
//!
//! ```
//! use jstream_transport::{Options, RecvError, connect, listen};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let (address, options) = ("inproc://guide-closer".parse()?, Options::default());
//! # let listener = listen(&address, &options)?;
//! # let connecting = std::thread::spawn(move || connect(&address, &Options::default()));
//! # let there = listener.accept()?.establish()?;
//! # let _here = connecting.join().unwrap()?;
//! let closer = there.closer();
//! let waiting = std::thread::spawn(move || there.recv_message());
//! closer.close();
//! assert!(matches!(waiting.join().unwrap(), Err(RecvError::ClosedLocally { .. })));
//! # Ok(())
//! # }
//! ```
//!
//! # When a peer dies
//!
//! A peer that was killed is told from one that ended: `Lost` is not `Closed`. Every operation of the connection
//! that is pending ends with it, after what had arrived before was received; other connections and the rest of
//! the process go on.
//!
//! | what happened | is noticed by | when |
//! |---|---|---|
//! | a process of this host was killed | the system hangs up its sockets; over `shm` too | at once |
//! | a process of another host was killed | its system does the same | when that is heard |
//! | the network or the other host is gone, nothing was on its way | the system asks after [`Options::keepalive`](crate::Options::keepalive) | after twice that time |
//! | the same, and bytes were on their way | nobody acknowledges them | the same |
//! | the peer is there, and sends half a message | [`Options::message_timeout`](crate::Options::message_timeout) | while somebody receives |
//! | the peer is there, and does not read | [`Options::send_timeout`](crate::Options::send_timeout) | while somebody sends |
//!
//! No device connects again by itself. What to do about messages of which it is not known whether they came is
//! known to the program alone.
//!
//! # Errors
//!
//! | error | the message | the connection |
//! |---|---|---|
//! | [`SendError::WouldBlock`](crate::SendError::WouldBlock), `Cancelled`, `TooLarge`, `NoBuffer`, `TimedOut` | was not sent | can be used |
//! | [`SendError::Closed`](crate::SendError::Closed), `ClosedLocally` | was not sent | has ended |
//! | [`SendError::Stalled`](crate::SendError::Stalled) | was sent in part, which the peer does not take for one | was ended |
//! | [`SendError::Lost`](crate::SendError::Lost) | may have come | has ended |
//! | [`RecvError::Empty`](crate::RecvError::Empty), `TimedOut`, `Cancelled`, `TooSmall`, `NoBuffer`, `Object` | comes next, or later | can be used |
//! | [`RecvError::Closed`](crate::RecvError::Closed) | there is none any more | the peer sends nothing more |
//! | [`RecvError::TooLarge`](crate::RecvError::TooLarge), `Malformed`, `Stalled` | is not believed | was ended |
//! | [`RecvError::Lost`](crate::RecvError::Lost), `ClosedLocally` | did not come | has ended |
//!
//! A jbuf that was not sent comes back in [`Unsent`](crate::Unsent), one that was posted for receiving in
//! [`Unreceived`](crate::Unreceived).
//!
//! ```
//! use jstream_transport::{Header, Options, SendError, connect, listen};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let address = "inproc://guide-unsent".parse()?;
//! let mut small = Options::default();
//! small.max_message = 10;
//! let listener = listen(&address, &small)?;
//! let connecting = std::thread::spawn(move || connect(&address, &Options::default()));
//! let there = listener.accept()?.establish()?;
//! let here = connecting.join().unwrap()?;
//!
//! let jbuf = small.pool.take(11)?.copy_from(b"eleven long")?;
//! let unsent = here.send_filled(Header::default(), jbuf).unwrap_err();
//! assert!(matches!(unsent.error, SendError::TooLarge { length: 11, max: 10, .. }));
//! assert_eq!(unsent.filled.as_bytes(), b"eleven long");
//! here.send_message(Header::tagged(1), &[])?;
//! assert_eq!(there.recv_message()?.header.tag(), 1);
//! # Ok(())
//! # }
//! ```
//!
//! # Looking on
//!
//! [`Endpoint::counters`](crate::Endpoint::counters) has what one connection has sent and received,
//! [`device_counters`](crate::device_counters) the same of all connections of a device. Connections that are
//! made, refused, or end are events of `tracing` of level DEBUG; messages are, of level TRACE, where
//! [`Options::trace_messages`](crate::Options::trace_messages) asks for them.
