//! How long calls wait.
//!
//! Each call has a deadline, 60 seconds from when it is made where nothing else is said. The
//! [client](crate::ClientOptions::call_timeout) has one for all its calls, and a stub may have
//! [one of its own](crate::Stub::within). It travels with the call:
//!
//! ```
//! use std::sync::Arc;
//! use std::time::Duration;
//!
//! use jstream_rmi::{CallError, Client, Guarded, Outcome, Server, Stub, context, remote};
//!
//! #[remote]
//! trait Search {
//!     /// For how many seconds the caller still waits.
//!     fn patience(&self) -> Option<u64>;
//!     async fn found(&self) -> u64;
//! }
//!
//! struct Patient {
//!     found: Guarded<Option<u64>>,
//! }
//!
//! #[remote]
//! impl Search for Patient {
//!     fn patience(&self) -> Option<u64> {
//!         context().time_left().map(|left| left.as_secs())
//!     }
//!
//!     async fn found(&self) -> u64 {
//!         let found = self.found.when(Option::is_some).await;
//!         found.unwrap_or_default()
//!     }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let server = Server::default();
//! # server.bind::<dyn Search>("search", Arc::new(Patient { found: Guarded::new(None) }))?;
//! # let serving = server.listen(&"inproc://guide-deadlines".parse()?)?;
//! let search = Client::connect(serving.address())?.lookup::<dyn Search>("search")?;
//! let half = search.within(Duration::from_secs(30));
//! assert!(half.patience().wait()?.get().is_some_and(|left| left < 30));
//!
//! let brief = search.within(Duration::from_millis(20));
//! let error = brief.found().wait().unwrap_err();
//! assert!(matches!(error, CallError::Deadline { .. }));
//! assert_ne!(error.outcome(), Outcome::Ran);
//! # Ok(())
//! # }
//! ```
//!
//! - The [context](crate::context) of a method says how much time is left. The time counts from when the server took
//!   the call; clocks of two hosts are never compared.
//! - Calls that a method makes end no later than its own call. A thread or task that the method starts takes the
//!   deadline along by [`Context::enter`](crate::Context::enter).
//! - An `async` method whose deadline passes is dropped at the `.await` where it waits. A plain one runs to its end, and
//!   its result is not waited for.
//! - `Duration::MAX` is no deadline.
//!
//! # Giving up
//!
//! A [`Call`](crate::Call) that is dropped is given up: the server does not begin it, or ends its `async` method where
//! that waits. A plain method may ask [`is_cancelled`](crate::Context::is_cancelled), or
//! [`is_over`](crate::Context::is_over), which looks at the deadline too. The loser of a race between two calls is so
//! told by nothing but its drop.
//!
//! Nobody is told whether the method had ended before: who has to know waits for the result.
