//! Devices: what carries messages, and when to choose which.
//!
//! A device is chosen by the address. Endpoints are used in the same way over all of them.
//!
//! | address | reaches | a payload is copied | choose it |
//! |---|---|---|---|
//! | `inproc://name` | threads of this process | once; never, if it is sent as a jbuf or as a received object | between threads |
//! | `shm://name` | processes of this host and this user | twice; once from 4 MiB on, where the system lets one process read the other's memory | between processes that the same user runs |
//! | `uds:///path`, `uds://@name` | processes of this host | to the system and back | where users differ, or memory can't be shared |
//! | `tcp://host:port` | other hosts | the same | else |
//! | `uring://host:port` | the same peers as `tcp` | the same, and small ones once more | by name only, where it was measured to be of use |
//! | `tls://host:port` | other hosts | the same, and encrypted | where others may listen on the network, or pretend to be a peer |
//! | `sim://name` | this process | | in tests: see [`sim`](crate::sim) |
//!
//! `uring` is `tcp` on the wire, so each side may use either. A thread that drives several of its connections
//! receives from all of them through one ring of io_uring; for one connection, and for large payloads, it asks
//! the socket, as `tcp` does. What it sends goes straight to the socket; large jbufs that go to other
//! hosts are not copied ([`Options::uring_zero_copy`](crate::Options::uring_zero_copy)). Where the kernel has no io_uring, or
//! not enough of it, it works as `tcp` does, and [`Endpoint::degraded`](crate::Endpoint::degraded) says so.
//!
//! # Encryption
//!
//! `tls` is `tcp` inside TLS 1.3, in programs with the feature `tls`. Both sides show a certificate, and have the other's checked
//! before a message travels: a certificate has to stem from one of the roots that this side trusts, and a server's has to
//! be for the host in the address. What an endpoint does is the same as over any other device.
//!
#![cfg_attr(feature = "tls", doc = "```no_run")]
#![cfg_attr(not(feature = "tls"), doc = "```ignore")]
//! use jstream_transport::tls::Tls;
//! use jstream_transport::{Options, listen};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut options = Options::default();
//! options.tls = Some(Tls::from_pem_files("server.pem", "server.key", "roots.pem")?);
//! let listener = listen(&"tls://0.0.0.0:7000".parse()?, &options)?;
//! # Ok(())
//! # }
//! ```
//!
//! Encryption costs a copy of each byte and some cycles, and each message a record of its own: measure before you send
//! large arrays over it. [`connect_cheapest`](crate::connect_cheapest) tries `tcp` before `tls`, so a listener that
//! is to be reached with encryption alone listens nowhere else.
//!
//! # Several addresses
//!
//! A listener can have several addresses, and a client picks the cheapest that works for it.
//!
//! ```
//! use jstream_transport::{Options, connect_cheapest, listen_all};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let options = Options::default();
//! let shm = format!("shm://guide-devices-{}", std::process::id());
//! let listener = listen_all(&["tcp://127.0.0.1:0".parse()?, shm.parse()?], &options)?;
//! let server = std::thread::spawn(move || {
//!     let addresses = listener.local_addresses().to_vec();
//!     // Telling the client where we are is up to the program.
//!     let client = std::thread::spawn(move || connect_cheapest(&addresses, &Options::default()));
//!     let accepted = listener.accept().unwrap().establish().unwrap();
//!     (accepted, client.join().unwrap().unwrap())
//! });
//! let (accepted, endpoint) = server.join().unwrap();
//! assert_eq!(endpoint.scheme(), "shm");
//! assert_eq!(accepted.address().to_string(), shm);
//! for sentence in endpoint.degraded() {
//!     println!("{sentence}");
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # What a connection can do
//!
//! [`Endpoint::limits`](crate::Endpoint::limits) tells how long payloads may be in each direction, which ones
//! travel with their header, which ones are taken without waiting for the peer, and whether jbufs move. Over
//! `inproc` they do: what was sent is what is received, the same memory.
//!
//! ```
//! use jstream_transport::{Header, Options, connect, listen};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let (address, options) = ("inproc://guide-moves".parse()?, Options::default());
//! let listener = listen(&address, &options)?;
//! let connecting = std::thread::spawn(move || connect(&address, &Options::default()));
//! let there = listener.accept()?.establish()?;
//! let here = connecting.join().unwrap()?;
//! assert!(here.limits().moves);
//!
//! let jbuf = options.pool.take(1 << 20)?.copy_from(&[7; 1 << 20])?;
//! let at = jbuf.as_bytes().as_ptr();
//! here.send_filled(Header::default(), jbuf)?;
//! assert_eq!(there.recv_message()?.payload.as_bytes().as_ptr(), at);
//! # Ok(())
//! # }
//! ```
//!
//! # Shared memory
//!
//! What is received over `shm` was copied to a jbuf of the receiver's before anybody looks at it, and each word
//! of the shared memory that is acted on was read once and checked. So a peer may write whatever it likes,
//! whenever it likes: it gets an error, and its connection ends. Nothing is read in place there, unless both
//! sides say that they trust each other, which is `unsafe`: see [`Options::trust_peer`](crate::Options::trust_peer).
//! Then jbufs of [`Endpoint::take`](crate::Endpoint::take) are read, and objects made native, where the sender wrote
//! them.
//!
//! The memory has no name, and goes with the processes: nothing is left behind by `kill -9`. A connection
//! belongs to the process that made it: in a child of a `fork` it is refused, with an error that says so
//! ([`SendError::Forked`](crate::SendError::Forked)), and the parent goes on with it. What a child has of a
//! [`Listener`](crate::Listener), or of a thread's io_uring, it must not use.
//!
//! Reading a peer's memory is often forbidden, as in containers, and under `ptrace_scope`. It is tried when the
//! connection is made; where it fails, `degraded` says why, and large payloads are copied twice. Whoever may do
//! more than its peers, though it is of the same user, and would not read memory at their word, switches it off:
//! [`Options::remote_reads`](crate::Options::remote_reads).
