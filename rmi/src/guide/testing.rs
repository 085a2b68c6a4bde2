//! Testing: mocks, servers within a test, and control of time.
//!
//! A remote trait is an ordinary trait, so an implementation can be tested with plain calls and
//! without a server.
//!
//! # Mocks
//!
//! Callers can be tested with a [`mock`](crate::mock), which `#[remote(mock)]` generates:
//!
//! ```
//! use std::sync::Arc;
//!
//! use jstream_rmi::{CallError, Client, Server, remote};
//!
//! #[remote(mock)]
//! trait Rates {
//!     fn rate(&self, from: &str, to: &str) -> Option<f64>;
//! }
//!
//! /// The function under test. It calls the server only if it has to.
//! fn convert(rates: &RatesStub, amount: f64, from: &str, to: &str) -> Result<Option<f64>, CallError> {
//!     if from == to {
//!         return Ok(Some(amount));
//!     }
//!     let rate = rates.rate(from, to).wait()?;
//!     Ok(rate.get().map(|rate| amount * rate))
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mock = Arc::new(RatesMock::default());
//! mock.expect_rate(|from, _| (from == "EUR").then_some(1.5)).times(2);
//!
//! // A complete remote call, within the process of the test.
//! let server = Server::default();
//! server.bind::<dyn Rates>("rates", mock.clone())?;
//! let serving = server.listen(&"inproc://guide-testing".parse()?)?;
//! let rates = Client::connect(serving.address()).wait()?.lookup::<dyn Rates>("rates").wait()?;
//!
//! assert_eq!(convert(&rates, 2.0, "EUR", "EUR")?, Some(2.0));
//! assert_eq!(convert(&rates, 2.0, "EUR", "SEK")?, Some(3.0));
//! assert_eq!(convert(&rates, 2.0, "DEM", "SEK")?, None);
//! mock.check();
//! # Ok(())
//! # }
//! ```
//!
//! A call of a method without an expectation panics, which the caller gets as
//! [`CallError::Panicked`](crate::CallError::Panicked). So does a call beyond the expected number.
//! `RatesMock` implements the trait, so it can also replace a `&dyn Rates`.
//!
//! # Servers in a test
//!
//! An `inproc` address is a name within the process, so tests that run in parallel need different
//! names. No data leaves the process, but everything else works as over any device: arguments are
//! written, checked, and read in place. If a test needs a socket, it can listen at
//! `tcp://127.0.0.1:0` and use the [address](crate::Serving::address) of the server.
//!
//! So everything can be tested within one process: references, callbacks, streams, leases, limits,
//! interceptors, the registry and [reflection](crate::Client::reflection). To simulate a crashed
//! server, drop its [`Serving`](crate::Serving). To simulate a slow server, let a mock sleep or
//! wait, and set a short [timeout](crate::Stub::within) on the stub.
//!
//! # Time
//!
//! A paused [`Clock`](crate::Clock) stands still until the test advances it. At a
//! [server](crate::ServerOptions::clock), it controls leases, the deadlines of methods, and idle
//! connections. At a [client](crate::ClientOptions::clock), it controls calls, streams and leases.
//! So a test need not wait for real time, and no deadline passes because the machine is slow.
//!
//! ```
//! use std::sync::Arc;
//! use std::time::Duration;
//!
//! use jstream_rmi::{CallError, Client, Clock, Guarded, Server, ServerOptions, Stub, remote};
//!
//! #[remote]
//! trait Queue {
//!     async fn next(&self) -> u64;
//! }
//!
//! struct Empty(Guarded<Option<u64>>);
//!
//! #[remote]
//! impl Queue for Empty {
//!     async fn next(&self) -> u64 {
//!         self.0.when(Option::is_some).await.unwrap_or_default()
//!     }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let clock = Clock::paused();
//! let mut options = ServerOptions::default();
//! options.clock = clock.clone();
//! let server = Server::new(options);
//! server.bind::<dyn Queue>("queue", Arc::new(Empty(Guarded::new(None))))?;
//! let serving = server.listen(&"inproc://guide-time".parse()?)?;
//!
//! let client = Client::connect(serving.address()).wait()?;
//! let queue = client.lookup::<dyn Queue>("queue").wait()?;
//! let patient = queue.within(Duration::from_secs(3600)).next();
//! while client.reflection().health().wait()?.get().waiting == 0 {
//!     std::thread::yield_now();
//! }
//! // Advances the clock by an hour, without waiting.
//! clock.advance(Duration::from_secs(3600));
//! let error = patient.wait().unwrap_err();
//! assert!(matches!(error, CallError::Deadline { .. }));
//! # Ok(())
//! # }
//! ```
