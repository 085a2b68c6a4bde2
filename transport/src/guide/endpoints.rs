//! Endpoints: sending and receiving.
//!
//! Listening gives a [`Listener`](crate::Listener), accepting an [`Incoming`](crate::Incoming), which is
//! established or refused. Connecting gives an [`Endpoint`](crate::Endpoint) at once. Clones of it are the same
//! connection; any number of threads use it, in both directions.
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
//!     // Greetings wait for the peer: servers of many establish on another thread than they accept.
//!     let endpoint = listener.accept().unwrap().establish().unwrap();
//!     let mut memory = [0; 64];
//!     // Small messages can be received without a jbuf.
//!     let header = endpoint.recv_into(&mut memory).unwrap();
//!     assert_eq!((header.tag(), &memory[..5]), (7, &b"hello"[..]));
//! });
//!
//! let refused = connect(&address, &Options::default()).unwrap_err();
//! assert!(matches!(refused, ConnectError::Refused { reason, .. } if reason == "not today"));
//! let endpoint = connect(&address, &Options::default())?;
//! // One message of two pieces, which are gathered.
//! let pieces = [IoSlice::new(b"hel"), IoSlice::new(b"lo")];
//! endpoint.send_message(Header::tagged(7), &pieces)?;
//! server.join().unwrap();
//! # Ok(())
//! # }
//! ```
//!
//! A [`Header`](crate::Header) has a kind and three words, of which nothing here makes use. A call that sends
//! returns when the device has taken all of the message: its memory is the program's again, which does not mean
//! that the peer has it. The forms with `try_` never wait, those with `_timeout` so long at most.
//!
//! # Objects
//!
//! [`send`](crate::Endpoint::send) writes an object, and all that it reaches, into the segments that the device
//! takes; large plain arrays are taken from where they are. [`recv`](crate::Endpoint::recv) reads it where it was
//! received. [`send_received`](crate::Endpoint::send_received) sends it on: inside the process it moves, as it
//! is, whatever its size.
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
//! there.send_received(order)?;
//! assert_eq!(here.recv::<Order>()?.get().symbol, "ACME");
//!
//! // Something else than was expected is an error, and the connection goes on.
//! here.send(&1u64)?;
//! assert!(matches!(there.recv::<Order>(), Err(RecvObjectError::Read { .. })));
//! # Ok(())
//! # }
//! ```
//!
//! # Posted operations
//!
//! What is posted gives a ticket, which is waited for, looked at, cancelled, awaited, or dropped. Posting takes
//! the jbuf: a ticket that is leaked leaves no device with freed memory. What was posted goes in order of
//! posting, and before calls that wait.
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
//! let second = there.post_recv_any();
//! assert!(first.wait_timeout(Duration::from_millis(1)).is_none());
//!
//! let jbuf = options.pool.take(5)?.copy_from(b"first")?;
//! let sent = here.post_send(Header::default(), jbuf);
//! // The jbuf comes back once it was sent, unless it has moved to the receiver.
//! assert!(sent.wait()?.is_some());
//! assert_eq!(first.wait()?.payload.as_bytes(), b"first");
//!
//! let cancelled = second.cancel().unwrap_err();
//! assert!(matches!(cancelled.error, RecvError::Cancelled));
//! # Ok(())
//! # }
//! ```
//!
//! A message is never lost by what becomes of a ticket: that of one that is dropped, or cancelled with a part of
//! a message in it, is received next. A send that is dropped is still sent.
//!
//! # Borrowed memory
//!
//! Memory of the program is read by a device only while a call runs that ends when the device is done with it.
//! [`Endpoint::scope`](crate::Endpoint::scope) is such a call for several sends that are posted: see its example.
//!
//! # Puts and gets
//!
//! An endpoint can expose memory, under a key by which its peer puts and gets, within the bounds and rights that
//! it was exposed with. Requests are served by whoever receives on the owner's endpoint, or a
//! [`Progress`](crate::Progress).
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
//! let exposed = there.expose(options.pool.take(256)?, Rights::Both)?;
//! let key = exposed.key();
//! // The key is a plain value, which the program sends.
//! here.put(&key, 100, b"hello")?;
//! assert_eq!(here.get(&key, 100, 5)?.as_bytes(), b"hello");
//! assert!(here.put(&key, 255, b"too long").is_err());
//! # Ok(())
//! # }
//! ```
