//! What methods give.
//!
//! A result is anything [`Transportable`](jstream::Transportable), owned, or borrowed from the object or from the
//! arguments. The caller gets it where it was received, as a [`Reply`](crate::Reply):
//! [`get`](crate::Reply::get) lends it, and [`into_received`](crate::Reply::into_received) gives the buffer away.
//!
//! ```
//! use std::sync::Arc;
//!
//! use jstream::Transportable;
//! use jstream_rmi::{Client, Server, remote};
//!
//! #[derive(Transportable, Debug)]
//! #[transportable(derive(Debug, PartialEq))]
//! enum Refusal {
//!     Unknown(String),
//!     TooMany { wanted: u32, stock: u32 },
//! }
//!
//! #[remote]
//! trait Shop {
//!     /// Borrows from the object.
//!     fn names(&self) -> &[String];
//!     /// Fails in ways of its own.
//!     fn order(&self, name: &str, count: u32) -> Result<f64, Refusal>;
//! }
//!
//! struct Plain {
//!     names: Vec<String>,
//! }
//!
//! impl Shop for Plain {
//!     fn names(&self) -> &[String] {
//!         &self.names
//!     }
//!
//!     fn order(&self, name: &str, count: u32) -> Result<f64, Refusal> {
//!         if !self.names.iter().any(|known| known == name) {
//!             return Err(Refusal::Unknown(name.to_owned()));
//!         }
//!         if count > 5 {
//!             return Err(Refusal::TooMany { wanted: count, stock: 5 });
//!         }
//!         Ok(1.5 * f64::from(count))
//!     }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let server = Server::default();
//! # server.bind::<dyn Shop>("shop", Arc::new(Plain { names: vec!["pear".to_owned(), "plum".to_owned()] }))?;
//! # let serving = server.listen(&"inproc://guide-results".parse()?)?;
//! let shop = Client::connect(serving.address())?.lookup::<dyn Shop>("shop")?;
//! let names = shop.names().wait()?;
//! // A form that stands in the buffer: its texts are `&str`.
//! assert_eq!(*names.get(), ["pear", "plum"]);
//!
//! assert_eq!(*shop.order("plum", 4).wait()?.get(), Ok(6.0));
//! let reply = shop.order("fig", 1).wait()?;
//! assert_eq!(*reply.get(), Err(RefusalRef::Unknown("fig")));
//! # Ok(())
//! # }
//! ```
//!
//! There are two errors, and they are told apart by their places: what the method says stands in the reply, and what
//! prevented the call is the [`CallError`](crate::CallError) of [`wait`](crate::Call::wait), see
//! [`failures`](super::failures).
//!
//! # Owners
//!
//! A type that owns its parts has another form where it is received: the derive makes `RefusalRef` beside `Refusal`,
//! whose `String` is a `&str`. How that leads back to owners, [`jstream::guide::owners`] says.
//!
//! # One way
//!
//! `#[remote(one_way)]` is for methods whose callers do not wait: the stub's method gives `Ok` once the call is sent.
//! That it ran is known from nothing but its effects; calls of one connection begin in the order in which they were
//! sent.
