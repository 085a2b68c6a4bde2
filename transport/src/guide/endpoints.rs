//! Endpoints: sending and receiving.
//!
//! [`listen`](crate::listen) returns a [`Listener`](crate::Listener). Accepting a connection
//! returns an [`Incoming`](crate::Incoming), which the program establishes or refuses.
//! [`connect`](crate::connect) returns an [`Endpoint`](crate::Endpoint) directly. Clones of an
//! endpoint share one connection, and any number of threads can use it in both directions.
//!
//! ```
//! use std::io::IoSlice;
//!
//! use jstream_transport::{ConnectError, Header, Options, connect, listen};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let listener = listen(&"tcp://127.0.0.1:0".parse()?, &Options::default())?;
//! let address = listener.local_address().clone();
//! let server = std::thread::spawn(move || {
//!     listener.accept().unwrap().refuse("not today");
//!     // Establishing waits for the handshake. A server should do it in another thread.
//!     let endpoint = listener.accept().unwrap().establish().unwrap();
//!     let mut memory = [0; 64];
//!     // Small messages can be received without a pool buffer.
//!     let header = endpoint.recv_into(&mut memory).unwrap();
//!     assert_eq!((header.tag(), &memory[..5]), (7, &b"hello"[..]));
//! });
//!
//! let refused = connect(&address, &Options::default()).unwrap_err();
//! assert!(matches!(refused, ConnectError::Refused { reason, .. } if reason == "not today"));
//! let endpoint = connect(&address, &Options::default())?;
//! // One message that is gathered from two pieces.
//! let pieces = [IoSlice::new(b"hel"), IoSlice::new(b"lo")];
//! endpoint.send_message(Header::tagged(7), &pieces)?;
//! server.join().unwrap();
//! # Ok(())
//! # }
//! ```
//!
//! A [`Header`](crate::Header) has a kind and three words, which the transport does not interpret.
//! A blocking send returns when the device has accepted the whole message. The program can then
//! reuse the memory, but the peer may not have received the message yet. The `try_` variants never
//! block, and the `_timeout` variants block for a limited time.
//!
//! # Objects
//!
//! [`send`](crate::Endpoint::send) writes an object, and everything that it points to, to the
//! segments of a message. Large plain arrays and long text are sent from their place in memory.
//! [`recv`](crate::Endpoint::recv) reads the object in place in the receive buffer.
//! [`send_received`](crate::Endpoint::send_received) forwards a received object. Within a process
//! it is moved as it is, whatever its size.
//!
//! ```
//! use jstream::Transportable;
//! use jstream_transport::{Options, RecvObjectError, connect, listen};
//!
//! #[derive(Transportable)]
//! struct Order {
//!     symbol: String,
//!     legs: Vec<f64>,
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let (address, options) = ("inproc://guide-objects".parse()?, Options::default());
//! let listener = listen(&address, &options)?;
//! let connecting = std::thread::spawn(move || connect(&address, &Options::default()));
//! let there = listener.accept()?.establish()?;
//! let here = connecting.join().unwrap()?;
//!
//! here.send(&Order { symbol: "ACME".to_owned(), legs: vec![99.5, 2.0] })?;
//! let order = there.recv::<Order>()?;
//! assert_eq!((order.get().symbol, order.get().legs), ("ACME", &[99.5, 2.0][..]));
//! there.send_received(0, order)?;
//! assert_eq!(here.recv::<Order>()?.get().symbol, "ACME");
//!
//! // A message of another type is an error, and the connection can still be used.
//! here.send(&1u64)?;
//! assert!(matches!(there.recv::<Order>(), Err(RecvObjectError::Read { .. })));
//! # Ok(())
//! # }
//! ```
//!
//! # Posted operations
//!
//! Posting an operation returns a ticket. The program can block on it, check it, cancel it, await
//! it, or drop it. The operation owns its buffer, so a leaked ticket never leaves the device with
//! freed memory. Posted operations are executed in the order in which they were posted, and before
//! blocking calls.
//!
//! ```
//! use std::time::Duration;
//!
//! use jstream_transport::{Header, Options, RecvError, connect, listen};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let options = Options::default();
//! let listener = listen(&"tcp://127.0.0.1:0".parse()?, &options)?;
//! # let address = listener.local_address().clone();
//! # let connecting = std::thread::spawn(move || connect(&address, &Options::default()));
//! # let there = listener.accept()?.establish()?;
//! # let here = connecting.join().unwrap()?;
//! let mut first = there.post_recv(options.pool.take(1000)?);
//! let second = there.post_recv(None);
//! assert!(first.wait_timeout(Duration::from_millis(1)).is_none());
//!
//! let jbuf = options.pool.take(5)?.copy_from(b"first")?;
//! let sent = here.post_send(Header::default(), jbuf);
//! // The buffer is returned when it was sent, unless it was moved to the receiver.
//! assert!(sent.wait()?.is_some());
//! assert_eq!(first.wait()?.payload.as_bytes(), b"first");
//!
//! let cancelled = second.cancel().unwrap_err();
//! assert!(matches!(cancelled.error, RecvError::Cancelled));
//! # Ok(())
//! # }
//! ```
//!
//! A ticket never loses a message. If a ticket is dropped, or is cancelled when part of its message
//! has arrived, the next receive gets that message. If the ticket of a send is dropped, the message
//! is still sent.
//!
//! # Borrowed memory
//!
//! A device reads borrowed memory only during a call, which returns when the device has finished
//! with the memory. [`Endpoint::scope`](crate::Endpoint::scope) is such a call for several posted
//! sends; see its example.
//!
//! # Puts and gets
//!
//! An endpoint can expose memory to its peer under a key. With the key, the peer puts and gets
//! bytes, within the bounds and the rights of the exposure. Requests are served by any thread that
//! receives on the owner's endpoint, or by a [`Progress`](crate::Progress).
//!
//! ```
//! use jstream_transport::{Options, Progress, Rights, connect, listen};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let options = Options::default();
//! # let listener = listen(&"tcp://127.0.0.1:0".parse()?, &options)?;
//! # let address = listener.local_address().clone();
//! # let connecting = std::thread::spawn(move || connect(&address, &Options::default()));
//! # let there = listener.accept()?.establish()?;
//! # let here = connecting.join().unwrap()?;
//! let serving = Progress::start()?;
//! serving.attach(&there);
//! let exposed = there.remote().expose(options.pool.take(256)?, Rights::Both)?;
//! let key = exposed.key();
//! // The key is a plain value, which the program has to send to the peer.
//! here.remote().put(&key, 100, b"hello")?;
//! assert_eq!(here.remote().get(&key, 100, 5)?.as_bytes(), b"hello");
//! assert!(here.remote().put(&key, 255, b"too long").is_err());
//! # Ok(())
//! # }
//! ```
