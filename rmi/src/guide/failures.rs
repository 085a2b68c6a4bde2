//! What a failed call says.
//!
//! Every [`CallError`](crate::CallError) says by [`outcome`](crate::CallError::outcome) whether the method ran, and what
//! it was is a variant:
//!
//! | outcome | means | for example |
//! |---|---|---|
//! | [`DidNotRun`](crate::Outcome::DidNotRun) | it did not, and will not | the arguments were refused, the object is unknown, the server was busy |
//! | [`MayHaveRun`](crate::Outcome::MayHaveRun) | nobody here can know | the connection was lost, the deadline has passed, the method panicked on its way |
//! | [`Ran`](crate::Outcome::Ran) | it did, and its result is missing | the result was too long to be sent |
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
//! let account = Client::connect(serving.address())?.lookup::<dyn Account>("account")?;
//!
//! // A panic costs its call, and nothing else: neither the connection nor the server.
//! let error = account.withdraw(5).wait().unwrap_err();
//! assert!(matches!(error, CallError::Panicked { .. }));
//! assert_eq!(error.outcome(), Outcome::MayHaveRun);
//! assert!(!error.can_be_repeated());
//! // Its words stay at the server.
//! assert!(!error.to_string().contains("bug"));
//!
//! // Harmless to call again, as its trait says.
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
//! # At most once
//!
//! No call is ever made twice behind the program's back. [`can_be_repeated`](crate::CallError::can_be_repeated) tells
//! when the same call does no harm: its method did not run, or is declared `#[remote(idempotent)]`. Whether it helps is
//! another question: a lost connection stays lost, and the program connects anew.
//!
//! # What does not end a connection
//!
//! Arguments or results that are too long, damaged or refused, unknown methods and panics end their call. A connection
//! ends with its process or network, when a message stands still for too long, and when the peer breaks the protocol.
//!
//! What a peer says of a failure is shown, cut to a length, with nothing that a terminal obeys. No decision rests on it.
