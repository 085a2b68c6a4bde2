//! Testing.
//!
//! A remote trait is a trait: what implements it is tested by plain calls, with no server.
//!
//! # Mocks
//!
//! Whoever calls is tested against a [`mock`](crate::mock), which `#[remote(mock)]` makes:
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
//! /// What is tested: asks only for what it has to.
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
//! // The whole way of a call, inside the test's process.
//! let server = Server::default();
//! server.bind::<dyn Rates>("rates", mock.clone())?;
//! let serving = server.listen(&"inproc://guide-testing".parse()?)?;
//! let rates = Client::connect(serving.address())?.lookup::<dyn Rates>("rates")?;
//!
//! assert_eq!(convert(&rates, 2.0, "EUR", "EUR")?, Some(2.0));
//! assert_eq!(convert(&rates, 2.0, "EUR", "SEK")?, Some(3.0));
//! assert_eq!(convert(&rates, 2.0, "DEM", "SEK")?, None);
//! mock.check();
//! # Ok(())
//! # }
//! ```
//!
//! A method of which the test says nothing panics, which its caller gets as
//! [`CallError::Panicked`](crate::CallError::Panicked); so does a call more than was expected.
//! `RatesMock` implements the trait, so it also stands in where the program takes a `&dyn Rates`.
//!
//! # Servers in a test
//!
//! An address of `inproc` is a name in the process, which tests that run side by side choose apart. Nothing leaves the
//! process, and all else is as over any device: arguments are written, checked, and read in place. A test that wants a
//! socket listens at `tcp://127.0.0.1:0` and asks for the [address](crate::Serving::address).
//!
//! So everything can be tested in one process: references, calls back, streams, leases, limits, interceptors, the registry and
//! [reflection](crate::Client::reflection). A server that is gone is a [`Serving`](crate::Serving) that was dropped, and one
//! that is slow a mock whose answer sleeps, or waits, with a stub that is [brief](crate::Stub::within).
//!
//! # Time
//!
//! A [`Clock`](crate::Clock) that is paused stands until the test moves it on. By it go, of a
//! [server](crate::ServerOptions::clock), leases, methods that wait and connections that are not used, and of a
//! [client](crate::ClientOptions::clock) its calls, streams and leases. A test so takes no longer than what it does, and no
//! deadline passes because the machine is slow.
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
//! let client = Client::connect(serving.address())?;
//! let queue = client.lookup::<dyn Queue>("queue")?;
//! let patient = queue.within(Duration::from_secs(3600)).next();
//! while client.reflection().health().wait()?.get().waiting == 0 {
//!     std::thread::yield_now();
//! }
//! // An hour later, at once.
//! clock.advance(Duration::from_secs(3600));
//! let error = patient.wait().unwrap_err();
//! assert!(matches!(error, CallError::Deadline { .. }));
//! # Ok(())
//! # }
//! ```
