//! Deadlines of calls, and cancellation.
//!
//! Each call has a deadline. The default is 60 seconds after the call is made. The
//! [client](crate::ClientOptions::call_timeout) can set another timeout for all its calls, and a
//! stub can have [its own](crate::Stub::within). The deadline is sent with the call:
//!
//! ```
//! use std::sync::Arc;
//! use std::time::Duration;
//!
//! use jstream_rmi::{CallError, Client, Guarded, Outcome, Server, Stub, context, remote};
//!
//! #[remote]
//! trait Search {
//!     /// Returns the time in seconds for which the caller still waits.
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
//! let search = Client::connect(serving.address()).wait()?.lookup::<dyn Search>("search").wait()?;
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
//! - The [context](crate::context) of a method returns the remaining time. The time is counted from
//!   when the server took the call from the connection. The clocks of two hosts are never compared.
//! - Calls that a method makes end no later than the method's own call. To pass the deadline to a
//!   thread or task that the method starts, use [`Context::enter`](crate::Context::enter).
//! - If the deadline of an `async` method passes, the method is dropped at the `.await` at which it
//!   is suspended. A plain method runs to its end, but the caller no longer waits for its result.
//! - `Duration::MAX` means no deadline.
//!
//! # Cancellation
//!
//! Dropping a [`Call`](crate::Call) cancels it: the server does not start its method, or drops its
//! `async` method at the `.await` at which it is suspended. A plain method can check
//! [`is_cancelled`](crate::Context::is_cancelled), or [`is_over`](crate::Context::is_over), which
//! also checks the deadline. If a program races two calls, dropping the slower one is enough to
//! cancel it.
//!
//! A cancelled call does not report whether its method had already completed. A program that needs
//! to know has to wait for the result.
