//! Errors of calls.
//!
//! [`outcome`](crate::CallError::outcome) of every [`CallError`](crate::CallError) states whether
//! the method ran. The variant states the cause:
//!
//! | outcome | meaning | examples |
//! |---|---|---|
//! | [`DidNotRun`](crate::Outcome::DidNotRun) | the method did not run and will not | the arguments were refused, the object is unknown, the server was busy |
//! | [`MayHaveRun`](crate::Outcome::MayHaveRun) | unknown at this side | the connection was lost, the deadline passed, the method panicked while it ran |
//! | [`Ran`](crate::Outcome::Ran) | the method ran, but its result is missing | the result was too long to be sent |
//!
//! ```
//! use std::sync::Arc;
//!
//! use jstream_rmi::{CallError, Client, Outcome, Server, remote};
//!
//! #[remote]
//! trait Account {
//!     fn withdraw(&self, amount: u32) -> u32;
//!     #[remote(idempotent)]
//!     fn balance(&self) -> u32;
//! }
//!
//! struct Fragile;
//!
//! impl Account for Fragile {
//!     fn withdraw(&self, _: u32) -> u32 {
//!         panic!("a bug of the server")
//!     }
//!
//!     fn balance(&self) -> u32 {
//!         panic!("another one")
//!     }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # std::panic::set_hook(Box::new(|_| {}));
//! let server = Server::default();
//! server.bind::<dyn Account>("account", Arc::new(Fragile))?;
//! let serving = server.listen(&"inproc://guide-failures".parse()?)?;
//! let client = Client::connect(serving.address()).wait()?;
//! let account = client.lookup::<dyn Account>("account").wait()?;
//!
//! // If a method panics, only its call fails. The connection and the server continue.
//! let error = account.withdraw(5).wait().unwrap_err();
//! assert!(matches!(error, CallError::Panicked { .. }));
//! assert_eq!(error.outcome(), Outcome::MayHaveRun);
//! assert!(!error.can_be_repeated());
//! // The panic message is not sent to the client.
//! assert!(!error.to_string().contains("bug"));
//!
//! // The trait declares that this method can be repeated.
//! assert!(account.balance().wait().unwrap_err().can_be_repeated());
//!
//! assert!(server.unbind("account"));
//! let error = account.balance().wait().unwrap_err();
//! assert!(matches!(error, CallError::UnknownObject { .. }));
//! assert_eq!(error.outcome(), Outcome::DidNotRun);
//! # Ok(())
//! # }
//! ```
//!
//! The text of an error includes that of its cause, with the limit that was exceeded and the option
//! that sets it. [`source`](std::error::Error::source) therefore returns `None`; the cause is a
//! field of the variant.
//!
//! # At most once
//!
//! A call that may have run is repeated only if its method is declared `#[remote(idempotent)]`:
//! over another connection if this one was [lost](super::restarts), or by a stub that is
//! [`retrying`](crate::Stub::retrying). A call that did not run, such as one that an
//! [overloaded](super::production#overload) server has refused, is safe to repeat.
//! [`can_be_repeated`](crate::CallError::can_be_repeated) returns true if repeating the call is
//! safe, because its method did not run or is declared idempotent.
//!
//! # Servers that shut down
//!
//! While a server [shuts down](crate::Serving::shutdown), it returns calls, which did not run. The
//! client repeats them at the server that it [connects to next](super::restarts). A client that does
//! not reconnect gets [`CallError::Ending`](crate::CallError::Ending). If the server was killed, or calls were cut off, calls
//! in flight fail with [`CallError::Lost`](crate::CallError::Lost), and may have run.
//!
//! ```
//! use std::sync::Arc;
//! use std::time::Duration;
//!
//! use jstream_rmi::{CallError, Client, ClientOptions, Outcome, Server, remote};
//!
//! #[remote]
//! trait Greeter {
//!     fn hello(&self, name: &str) -> String;
//! }
//!
//! struct Polite;
//!
//! impl Greeter for Polite {
//!     fn hello(&self, name: &str) -> String {
//!         format!("hello {name}")
//!     }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let server = Server::default();
//! server.bind::<dyn Greeter>("greeter", Arc::new(Polite))?;
//! let serving = server.listen(&"inproc://guide-shut-down".parse()?)?;
//! let mut options = ClientOptions::default();
//! options.reconnect = None;
//! let client = Client::connect_with(serving.address(), &options).wait()?;
//! let greeter = client.lookup::<dyn Greeter>("greeter").wait()?;
//! assert_eq!(*greeter.hello("Ada").wait()?.get(), "hello Ada");
//!
//! assert_eq!(serving.shutdown(Duration::from_secs(10)).wait().cut_off, 0);
//! let error = greeter.hello("Ada").wait().unwrap_err();
//! assert!(matches!(error, CallError::Ending { .. }));
//! assert_eq!(error.outcome(), Outcome::DidNotRun);
//! # Ok(())
//! # }
//! ```
//!
//! # Errors that keep the connection open
//!
//! If arguments or results are too long, damaged or refused, if a method is unknown, or if it
//! panics, only that call fails. The connection closes if the process of the peer ends, if the
//! network fails, if a message makes no progress for too long, or if the peer violates the
//! protocol.
//!
//! Error texts of a peer are truncated to a maximum length, and control characters that a terminal
//! would interpret are escaped. They are only displayed; the library makes no decision based on
//! them.
