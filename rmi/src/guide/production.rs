//! Servers in production: limits, overload, sockets from outside, authentication, monitoring, and
//! shutdown.
//!
//! ```
//! use std::sync::Arc;
//! use std::time::Duration;
//!
//! use jstream_rmi::{Client, ClientOptions, Interceptors, Secret, Server, ServerOptions, Traced,
//! remote};
//!
//! #[remote]
//! trait Clock {
//!     fn ticks(&self) -> u64;
//! }
//!
//! struct Plain;
//!
//! impl Clock for Plain {
//!     fn ticks(&self) -> u64 {
//!         7
//!     }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // Usually read from a file that only this user can read.
//! let secret = Secret::new(b"32 random bytes, base64 or as is")?;
//! let mut options = ServerOptions::default();
//! options.secret = Some(secret.clone());
//! options.max_connections = 1000;
//! options.interceptors = Interceptors::default().and(Traced);
//! let server = Server::new(options);
//! server.bind::<dyn Clock>("clock", Arc::new(Plain))?;
//! let serving = server.listen_all(&["tcp://127.0.0.1:0".parse()?, "inproc://clock".parse()?])?;
//!
//! let mut options = ClientOptions::default();
//! options.secret = Some(secret);
//! let client = Client::connect_with(serving.address(), &options).wait()?;
//! assert_eq!(*client.lookup::<dyn Clock>("clock").wait()?.ticks().wait()?.get(), 7);
//! assert!(client.reflection().health().wait()?.get().serving);
//!
//! let ended = serving.shutdown(Duration::from_secs(10)).wait();
//! assert_eq!((ended.cut_off, ended.abandoned), (0, false));
//! # Ok(())
//! # }
//! ```
//!
//! # Limits
//!
//! Each limit has a default. [`ServerOptions`](crate::ServerOptions) documents the threat against
//! which it protects.
//!
//! | resource | limit per connection | limit over all connections |
//! |---|---|---|
//! | connections | | `max_connections`, `max_connections_per_source`; `max_greeting` during the handshake |
//! | unprocessed calls | `messages.window_messages` | |
//! | bytes of unprocessed calls | `messages.window_bytes` | the limit of `transport.pool`, 1 GiB |
//! | size of a message | `transport.max_message` | `transport.max_begun_bytes` for incomplete messages |
//! | suspended async methods | `max_waiting` | `max_waiting_in_all`, plus one for each connection |
//! | bytes of unread answers | `max_backlog` | `messages.max_backlog_in_all` |
//! | running and queued calls | for each caller: `admission.max_running_per_caller`, `admission.calls_per_second` | `admission.max_running`, `admission.max_queued` |
//! | streams | `max_streams`, `stream_items`, `stream_bytes`; streams as results: three quarters of `messages.window_messages` | |
//! | time: for the handshake, for one message, for room in the pool, until the first call | `handshake_timeout` of `transport` and `messages`, `transport.message_timeout`, `messages.buffer_timeout`, `first_call_timeout` | |
//!
//! If a client exceeds a flow-control window, it violates the protocol and its connection is
//! closed. If a client does not read its answers, its calls are deferred until it does, within its
//! window. If the unread answers of all clients take too much memory, the connection of the client
//! that reads them most slowly is ended. If a client exceeds any other limit, its call is refused
//! as [busy](crate::CallError::Busy), and the connection stays open. If the server is out of file
//! descriptors, it accepts connections more slowly.
//!
//! # Overload
//!
//! The limits above protect the memory of a server. The options of the
//! [admission](crate::AdmissionOptions) protect its time. They are off by default.
//!
//! ```
//! use std::time::Duration;
//!
//! use jstream_rmi::{Server, ServerOptions};
//!
//! let mut options = ServerOptions::default();
//! // At least 8 and at most 200 calls run at once.
//! options.admission.min_running = 8;
//! options.admission.max_running = 200;
//! // Others wait for up to 500 ms.
//! options.admission.max_queued = 1000;
//! options.admission.max_queue_time = Duration::from_millis(500);
//! // Each caller has a quota, whatever the number of its connections.
//! options.admission.calls_per_second = 500;
//! options.admission.burst = 50;
//! options.admission.max_running_per_caller = 100;
//! let server = Server::new(options);
//! assert_eq!(server.admission().running, 0);
//! ```
//!
//! - **Limit.** The number of calls that run at once adapts to their latency: it grows while it is
//!   reached, and shrinks while most calls take more than twice as long as calls of their methods
//!   usually do. Suspended async methods count. Plain methods occupy threads of the server
//!   ([`ServerOptions::threads`](crate::ServerOptions::threads)), so a limit above the number of
//!   threads concerns async methods only.
//! - **Queue.** Calls beyond the limit wait, and the callers get their turns one after the other. A
//!   call whose deadline passes meanwhile never runs.
//! - **Quotas.** Each caller has a number of calls per second, and of calls at once. A caller is a
//!   TLS certificate, a user of the host, or an address.
//! - **Refusal.** A call that is refused did not run. Its error is
//!   [`CallError::Busy`](crate::CallError::Busy) with the time after which it may be repeated.
//!   Stubs that are [`retrying`](crate::Stub::retrying) and stubs of clients that
//!   [reconnect](super::restarts) wait for that time, if the deadline of the call permits. Stubs of
//!   a [set](super::several_servers) call another server.
//!
//! [`Server::admission`](crate::Server::admission) returns the present limit, the numbers of
//! running and queued calls, and the refused calls by their reasons. Lookups and the reflection
//! work while the limit is reached; only the quotas apply to them.
//!
//! # Sockets from outside
//!
//! [`Server::listen_activated`](crate::Server::listen_activated) listens at the sockets of a socket
//! unit of systemd. They stay open while the server is replaced, so no connection is refused:
//!
//! ```text
//! # place.socket
//! [Socket]
//! ListenStream=7000
//! FileDescriptorName=place
//! ```
//!
//! With [`Options::reuse_port`](crate::Options::reuse_port), several processes listen at one port,
//! among which the kernel distributes the connections.
//!
//! # Authentication
//!
//! With a [`Secret`](crate::Secret), client and server prove to each other that they know it before
//! they exchange anything else. The secret neither encrypts nor authenticates the messages that
//! follow.
//!
//! The [peer](crate::Context::peer) of a call is known as far as its connection tells: over `uds`
//! and `shm`, the operating system reports user, group and process, and over `tls`, the peer has
//! shown a certificate. An [`Interceptor`](crate::Interceptor) can decide by it:
//!
//! ```
//! use jstream_rmi::{CallInfo, Denied, Interceptor, Watch};
//!
//! /// Serves the processes of one user.
//! struct OneUser(u32);
//!
//! impl Interceptor for OneUser {
//!     fn before(&self, call: &CallInfo) -> Result<Box<dyn Watch>, Denied> {
//!         match call.peer.user {
//!             Some(user) if user == self.0 => Ok(Box::new(())),
//!             _ => Err(Denied(format!("{} may not call {}", call.peer, call.method))),
//!         }
//!     }
//! }
//! ```
//!
//! # Monitoring
//!
//! An [`Interceptor`](crate::Interceptor) is called before and after each call, at either side, and
//! can deny the call. [`Traced`](crate::Traced) creates a span for each call, and `Metered`
//! (feature `metrics`) counts the calls. Without interceptors, calls have no additional cost.
//! Interceptors that wait, and layers of tower, have a [page](crate::guide::layers) of their own.
//! The [`Health`](crate::Health) of a server is an ordinary remote object.
//!
//! # Shutdown
//!
//! [`shutdown`](crate::Serving::shutdown), which is waited for or awaited, lets running methods
//! finish, refuses new calls, and ends the remaining methods when the timeout has passed. Each
//! caller gets a result, or an error whose [`outcome`](crate::CallError::outcome) states whether
//! its method ran. If the handle is dropped instead, all connections close immediately. The drop
//! then blocks until all running methods have ended, without a timeout.
