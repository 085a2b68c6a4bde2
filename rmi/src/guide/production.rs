//! Servers that others depend on: limits, who may call, what is seen of it, and how they end.
//!
//! ```
//! use std::sync::Arc;
//! use std::time::Duration;
//!
//! use jstream_rmi::{Client, ClientOptions, Interceptors, Secret, Server, ServerOptions, Traced, remote};
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
//! // From a file that this user alone can read, as a rule.
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
//! let client = Client::connect_with(serving.address(), &options)?;
//! assert_eq!(*client.lookup::<dyn Clock>("clock")?.ticks().wait()?.get(), 7);
//! assert!(client.reflection().health().wait()?.get().serving);
//!
//! let ended = serving.shutdown(Duration::from_secs(10));
//! assert_eq!((ended.cut_off, ended.abandoned), (0, false));
//! # Ok(())
//! # }
//! ```
//!
//! # Limits
//!
//! Each has a default, and says in [`ServerOptions`](crate::ServerOptions) which threat it answers.
//!
//! | of | for one connection | for all |
//! |---|---|---|
//! | connections | | `max_connections`, and `max_greeting`, `max_greeting_per_source` until they have said who they are; `max_failed_connections_per_second` a second that come to nothing |
//! | calls that are not done with | `messages.window_messages` | |
//! | their bytes | `messages.window_bytes` | the limit of `transport.pool`, 1 GiB |
//! | one message | `transport.max_message` | `transport.max_begun_bytes` of those that are not complete |
//! | async methods that wait | `max_waiting` | `max_waiting_in_all`, and one for each |
//! | answers that are not read | `max_backlog` | |
//! | streams | `max_streams`, `stream_items`, `stream_bytes`; as results three quarters of `messages.window_messages` | |
//! | time: to greet, for one message, for room in the pool, until the first call | `handshake_timeout` of `transport` and `messages`, `transport.message_timeout`, `messages.buffer_timeout`, `first_call_timeout` | |
//!
//! Who exceeds a window breaks the rules, and has its connection ended. The calls of who does not read its answers wait until
//! it does, within its window. Who exceeds any other limit is refused as
//! [busy](crate::CallError::Busy), and its connection goes on. A server that is out of file descriptors accepts more slowly.
//!
//! # Who may call
//!
//! With a [`Secret`](crate::Secret) both sides prove that they know it before anything else is said. It neither hides nor
//! protects what is said afterwards.
//!
//! # What is seen
//!
//! An [`Interceptor`](crate::Interceptor) sees each call before and after it, on either side, and may deny it.
//! [`Traced`](crate::Traced) makes spans of calls, and `Metered` (feature `metrics`) counts them. Without interceptors
//! calls cost no more. The server's [`Health`](crate::Health) is an object like others.
//!
//! # The end
//!
//! [`shutdown`](crate::Serving::shutdown) lets run what runs, refuses what comes, and ends what is left when the time
//! is over. Each caller gets a result, or an error whose [`outcome`](crate::CallError::outcome) says whether its method
//! ran. To drop the handle instead ends all connections at once, and waits for the methods that run for as long as they do.
