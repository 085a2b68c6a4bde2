//! Closing: the end of a connection, crashes of peers, and the meaning of errors.
//!
//! # Clean shutdown
//!
//! A connection closes when the last clone and the last ticket of an endpoint are dropped, or on
//! [`close`](crate::Endpoint::close). [`finish`](crate::Endpoint::finish) ends one direction: the
//! peer receives everything that was sent, and then
//! [`RecvError::Closed`](crate::RecvError::Closed). The peer can still send.
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
//! If a socket is dropped before all arrived data was received, the system may discard data that is
//! still in flight to the peer. To avoid this, call `finish`, and receive until `Closed` before
//! dropping the endpoint.
//!
//! A [`Closer`](crate::Closer) closes an endpoint or a listener from any thread, and keeps neither
//! alive. All threads that wait on it return immediately.
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
//! # When the process ends
//!
//! The return of `main` and `std::process::exit` wait for messages that the background thread of
//! the process sends, at most for their
//! [`Options::send_timeout`](crate::Options::send_timeout). Other messages are not waited for:
//!
//! | message | at the end of the process |
//! |---|---|
//! | of a blocking call that has returned `Ok` | the device has it |
//! | posted, and its ticket or request was dropped | is waited for |
//! | posted, and its ticket still exists: in a static, leaked, or in a function that calls `exit` | is lost, unless the device has it; call [`finish`](crate::Endpoint::finish) |
//! | announced by a [rank](crate::rank), and its payload was not requested | is lost; call [`Rank::finish`](crate::rank::Rank::finish) |
//! | of a process that is killed or aborts | is lost, unless the device has it |
//!
//! # When a peer crashes
//!
//! A crash is distinguished from a clean shutdown: the error is `Lost` instead of `Closed`. If a
//! peer crashes, every pending operation of the connection fails with `Lost`, after the data that
//! had arrived was received. Other connections and the rest of the process are not affected.
//!
//! | event | detected by | when |
//! |---|---|---|
//! | a process of this host was killed | the system closes its sockets; also over `shm` | immediately |
//! | a process of another host was killed | its system closes its sockets | when the notification arrives |
//! | the network or the other host has failed, and no data is in flight | keepalive probes of the system after [`Options::keepalive`](crate::Options::keepalive) | after twice that time |
//! | the same, and data is in flight | missing acknowledgements | after twice that time |
//! | the peer is alive and sends only part of a message | [`Options::message_timeout`](crate::Options::message_timeout) | while a thread receives |
//! | the peer is alive and does not read | [`Options::send_timeout`](crate::Options::send_timeout) | while a thread sends |
//!
//! No device reconnects automatically. Only the program knows how to handle messages whose delivery
//! is unknown.
//!
//! # Errors
//!
//! | error | state of the message | state of the connection |
//! |---|---|---|
//! | [`SendError::WouldBlock`](crate::SendError::WouldBlock), `Cancelled`, `TooLarge`, `NoBuffer`, `TimedOut` | not sent | usable |
//! | [`SendError::Closed`](crate::SendError::Closed), `ClosedLocally` | not sent | closed |
//! | [`SendError::Stalled`](crate::SendError::Stalled) | sent in part; the peer does not accept it as a message | closed by this error |
//! | [`SendError::Lost`](crate::SendError::Lost) | may have arrived | closed |
//! | [`RecvError::Empty`](crate::RecvError::Empty), `TimedOut`, `Cancelled`, `TooSmall`, `NoBuffer`, `Object` | will be received next, or later | usable |
//! | [`RecvError::Closed`](crate::RecvError::Closed) | no more messages | the peer sends no more |
//! | [`RecvError::TooLarge`](crate::RecvError::TooLarge), `Malformed`, `Stalled` | rejected | closed by this error |
//! | [`RecvError::Lost`](crate::RecvError::Lost), `ClosedLocally` | did not arrive | closed |
//!
//! The text of an error says what failed, and includes the text of its cause; printing the error is
//! enough. [`source`](std::error::Error::source) therefore returns `None`, so that a report of the
//! chain shows no text twice. A program that needs the cause finds it in the field `source` of the
//! variant:
//!
//! ```
//! use std::error::Error;
//! use jstream_transport::{ConnectError, Options, connect};
//!
//! # fn main() -> Result<(), Box<dyn Error>> {
//! let nobody = "tcp://127.0.0.1:1".parse()?;
//! let error = connect(&nobody, &Options::default()).unwrap_err();
//! let ConnectError::Unreachable { source, .. } = &error else {
//!     panic!("{error}");
//! };
//! assert!(error.to_string().contains(&source.to_string()));
//! assert!(error.source().is_none());
//! # Ok(())
//! # }
//! ```
//!
//! A buffer that was not sent is returned in [`Unsent`](crate::Unsent). A buffer that was posted
//! for a failed receive is returned in [`Unreceived`](crate::Unreceived).
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
//! let unsent = here.send_buffer(Header::default(), jbuf).unwrap_err();
//! assert!(matches!(unsent.error, SendError::TooLarge { length: 11, max: 10, .. }));
//! assert_eq!(unsent.filled.as_bytes(), b"eleven long");
//! here.send_message(Header::tagged(1), &[])?;
//! assert_eq!(there.recv_message()?.header.tag(), 1);
//! # Ok(())
//! # }
//! ```
//!
//! # Monitoring
//!
//! [`EndpointInfo::counters`](crate::EndpointInfo::counters) counts the messages and bytes of one
//! connection, and [`device_counters`](crate::device_counters) those of all connections of a
//! device. Connections that are made, refused or closed are recorded as `tracing` events of level
//! DEBUG. Messages are recorded as events of level TRACE if
//! [`Options::trace_messages`](crate::Options::trace_messages) is set.
