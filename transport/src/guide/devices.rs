//! Devices: the mechanisms that carry messages, and how to choose one.
//!
//! The address selects the device. Endpoints are used in the same way over all of them.
//!
//! | address | reaches | copies of a payload | use |
//! |---|---|---|---|
//! | `inproc://name` | threads of this process | one; none for a pool buffer or a received object | between threads |
//! | `shm://name` | processes of this host and this user | two; one for 4 MiB or more, or 32 KiB in an exchange between ranks, if the system permits reading the memory of the other process | between processes of one user |
//! | `shm:///path` | processes of this host that may connect to the file at the path, also of other users and in other containers | two; between processes of one user that see each other's process ids, as for `shm://name` | between containers and users |
//! | `uds:///path`, `uds://@name` | processes of this host | to the kernel and back | between different users, or if memory can't be shared |
//! | `tcp://host:port` | other hosts | as for `uds` | in all other cases |
//! | `uring://host:port` | the same peers as `tcp` | as for `tcp`, and one more for small payloads | if a measurement shows a benefit; never selected automatically |
//! | `tls://host:port` | other hosts | as for `tcp`, plus encryption | if others may read the network traffic or impersonate a peer |
//! | `sim://name` | this process | | in tests: see [`sim`](crate::sim) |
//!
//! `uring` uses the wire format of `tcp`, so each side can use either. A thread that drives several
//! `uring` connections receives from all of them through one io_uring instance. For a single
//! connection, and for large payloads, it reads from the socket as `tcp` does. Data is sent
//! directly to the socket, and large buffers that are sent to other hosts are not copied
//! ([`Options::uring_zero_copy`](crate::Options::uring_zero_copy)). If the kernel has no io_uring
//! or lacks a required feature, `uring` behaves as `tcp`, and
//! [`EndpointInfo::degraded`](crate::EndpointInfo::degraded) reports this.
//!
//! # Containers and users
//!
//! A name (`shm://bus`, `uds://@bus`) is found in one network namespace only, and an `shm` name by
//! one user only. Containers usually have a network namespace each. To connect containers or users
//! through shared memory, let them share a folder, as a volume that is mounted into each of them,
//! and listen at a path in it: `shm:///run/app/bus`.
//!
//! [`Options::socket_mode`](crate::Options::socket_mode) says who may connect: `0o600`, the
//! default, is for the user of the listener, `0o660` also for the group of its file, and `0o666`
//! for all that may enter the folder. A listener that closes removes its file. A new listener
//! replaces the file of one that was killed. The programs still do not trust each other: messages
//! are copied before they are read. Large messages are copied twice between users, and between
//! containers with separate process ids.
//!
//! # Encryption
//!
//! `tls` is `tcp` inside TLS 1.3, and requires the feature `tls`. Each side presents a certificate,
//! and verifies that of the other side before any message is exchanged: a certificate must be
//! issued by one of the roots that the side trusts, and the certificate of a server must be valid
//! for the host in the address. Otherwise, endpoints behave as over any other device.
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
//! Encryption adds a copy of each byte, processor time, and a TLS record per message. Measure
//! before sending large arrays over it. [`connect_cheapest`](crate::connect_cheapest) tries `tcp`
//! before `tls`, so a listener that accepts only encrypted connections must not listen over other
//! devices.
//!
//! # Several addresses
//!
//! A listener can have several addresses. A client selects the cheapest one that works for it.
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
//!     // The program itself has to send the addresses to the client.
//!     let client = std::thread::spawn(move || connect_cheapest(&addresses, &Options::default()));
//!     let accepted = listener.accept().unwrap().establish().unwrap();
//!     (accepted, client.join().unwrap().unwrap())
//! });
//! let (accepted, endpoint) = server.join().unwrap();
//! assert_eq!(endpoint.info().scheme, "shm");
//! assert_eq!(accepted.info().address.to_string(), shm);
//! for sentence in endpoint.info().degraded {
//!     println!("{sentence}");
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # Capabilities of a connection
//!
//! [`EndpointInfo::limits`](crate::EndpointInfo::limits) reports the maximum payload length in each
//! direction, the maximum length of payloads that are sent together with their header, the maximum
//! length of payloads that are sent without waiting for the peer, and whether buffers are moved.
//! Over `inproc` they are: the receiver gets the sender's memory itself.
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
//! assert!(here.info().limits.moves);
//!
//! let jbuf = options.pool.take(1 << 20)?.copy_from(&[7; 1 << 20])?;
//! let at = jbuf.as_bytes().as_ptr();
//! here.send_buffer(Header::default(), jbuf)?;
//! assert_eq!(there.recv_message()?.payload.as_bytes().as_ptr(), at);
//! # Ok(())
//! # }
//! ```
//!
//! # Shared memory
//!
//! The receiver copies data from shared memory to one of its own buffers before it is interpreted.
//! Each word of shared memory that controls the protocol is read once and checked. So a peer may
//! write arbitrary data at any time: the effect is an error, and the connection is closed. Messages
//! are read in place only if both sides declare that they trust each other, which is `unsafe`: see
//! [`Options::trust_peer`](crate::Options::trust_peer). In this case, buffers of
//! [`Endpoint::take`](crate::Endpoint::take) are read, and objects are made native, in the memory
//! of the sender.
//!
//! The shared memory has no name and is released when the processes end, even after `kill -9`. A
//! connection belongs to the process that created it. In a forked child, operations on it fail with
//! an error ([`SendError::Forked`](crate::SendError::Forked)), and the parent continues to use it.
//! The child must not use an inherited [`Listener`](crate::Listener), or the io_uring instance of a
//! thread.
//!
//! Reading the memory of a peer is often forbidden, for example in containers or by `ptrace_scope`.
//! The read is tried when the connection is made. If it fails, `degraded` reports the reason, and
//! large payloads are copied twice. If a process has more privileges than its peers of the same
//! user, it should not read memory at addresses that they supply: disable this with
//! [`Options::remote_reads`](crate::Options::remote_reads).
