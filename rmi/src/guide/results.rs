//! Results of methods.
//!
//! A result can be of any [`Transportable`](jstream::Transportable) type. It can be owned, or
//! borrowed from the object or from the arguments. The caller gets it in the receive buffer, as a
//! [`Reply`](crate::Reply): [`get`](crate::Reply::get) borrows it, and
//! [`into_received`](crate::Reply::into_received) returns the buffer.
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
//!     /// Returns an error of its own type.
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
//! let shop = Client::connect(serving.address()).wait()?.lookup::<dyn Shop>("shop").wait()?;
//! let names = shop.names().wait()?;
//! // The reply is accessed in place in the buffer: its texts are `&str`.
//! assert_eq!(*names.get(), ["pear", "plum"]);
//!
//! assert_eq!(*shop.order("plum", 4).wait()?.get(), Ok(6.0));
//! let reply = shop.order("fig", 1).wait()?;
//! assert_eq!(*reply.get(), Err(RefusalRef::Unknown("fig")));
//! # Ok(())
//! # }
//! ```
//!
//! There are two kinds of errors. The error of the method is part of the reply. If the call itself
//! failed, [`wait`](crate::Call::wait) returns a [`CallError`](crate::CallError); see
//! [`failures`](super::failures).
//!
//! # Types that own their parts
//!
//! A type that owns its parts has a different type in the receive buffer: the derive generates
//! `RefusalRef` for `Refusal`, in which the `String` is a `&str`. [`jstream::guide::owners`]
//! explains how to convert it to an owned value.
//!
//! # One-way methods
//!
//! `#[remote(one_way)]` is for methods whose callers need no answer: the method of the stub returns
//! `Ok` once the call was sent. The caller can see only from its effects that the method ran. Calls
//! of one connection begin in the order in which they were sent.
