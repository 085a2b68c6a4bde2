//! Clients and servers that have different versions of a trait.
//!
//! Services are upgraded one program at a time, so an old client calls a new server, and a new
//! client an old server. Methods are found by their names, and arguments and results are
//! converted.
//!
//! ```
//! use std::sync::Arc;
//!
//! use jstream_rmi::{Client, Server, remote};
//!
//! mod old {
//!     #[jstream_rmi::remote]
//!     pub trait Orders {
//!         fn submit(&self, amount: u32) -> u64;
//!         fn count(&self) -> u64;
//!     }
//! }
//!
//! #[remote]
//! trait Orders {
//!     fn cancel(&self, id: u64) -> bool;
//!     #[remote(renamed_from = "submit")]
//!     fn place(&self, amount: u64, #[remote(default = 1)] priority: u8) -> u64;
//!     fn count(&self) -> u64;
//! }
//!
//! struct Book;
//!
//! impl Orders for Book {
//!     fn cancel(&self, _: u64) -> bool {
//!         false
//!     }
//!
//!     fn place(&self, amount: u64, priority: u8) -> u64 {
//!         amount * 10 + u64::from(priority)
//!     }
//!
//!     fn count(&self) -> u64 {
//!         2
//!     }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let server = Server::default();
//! server.bind::<dyn Orders>("orders", Arc::new(Book))?;
//! let serving = server.listen(&"inproc://guide-versions".parse()?)?;
//!
//! let client = Client::connect(serving.address()).wait()?;
//! let orders = client.lookup::<dyn old::Orders>("orders").wait()?;
//! assert_eq!(*orders.submit(7).wait()?.get(), 71);
//! assert_eq!(*orders.count().wait()?.get(), 2);
//! # Ok(())
//! # }
//! ```
//!
//! # What may change
//!
//! | change | effect on callers of the other version |
//! |---|---|
//! | a method is added, removed or moved | calls of a method that the object lacks fail; all others go on |
//! | a method, trait or argument is renamed | none, if the newer side has `#[remote(renamed_from = "old")]` |
//! | an argument is added | `#[remote(default = value)]` or `#[remote(default)]` gives its value to calls that lack it; an `Option` is `None` without that |
//! | an argument is removed | the server ignores it |
//! | the type of an argument or result changes | converted by the [rules of messages](jstream::guide::versions): fields are added with a default, removed, renamed, widened |
//! | a class of trait objects changes | the same |
//! | the item of a stream changes | converted by the side that takes the stream |
//! | the trait of a reference changes | all of the above, in calls of the referenced object, whichever side it belongs to |
//! | a method becomes one-way, or no longer is | calls of this method fail |
//!
//! The rules of the side that reads apply: those of the server to arguments, those of the client to
//! results. If an old client must go on, add to what methods return only what old clients may
//! ignore.
//!
//! Arguments whose types have changed are matched by their names. As long as the types are
//! equal, they are matched by their order, so an argument may be renamed if nothing else changes.
//! Do not exchange two arguments of the same type.
//!
//! # Errors
//!
//! A method that can't be called fails with
//! [`CallError::OtherVersion`](crate::CallError::OtherVersion), without a message to the server; it
//! shows both signatures and the difference. A value that can't be converted, such as an unknown
//! variant of an enum, fails its call with [`CallError::Refused`](crate::CallError::Refused) or
//! [`CallError::Result`](crate::CallError::Result). The connection stays open. A lookup fails only if
//! no method can be called.
//!
//! An item that can't be converted ends its stream with
//! [`StreamError::OtherVersion`](crate::StreamError::OtherVersion).
//!
//! A result that contains references is not converted: if its other parts change, calls of the
//! method fail. References to objects of third parties need the same interface at all three.
//!
//! A stub that [goes on after a restart](super::restarts) compares the versions anew, so servers may be
//! replaced by newer or older ones.
//!
//! # Costs
//!
//! If the interfaces are equal and both programs have the same classes of trait objects, none.
//! Otherwise the lookup takes three round trips, and a call of a changed method converts its
//! messages: the bytes are checked against the other version's schema, and written anew. Messages
//! that may have trait objects are converted if the sender has a class that the receiver has not.
//!
//! The server must [allow reflection](crate::ServerOptions::reflects), and the side that converts
//! needs the feature `evolve`, which is on by default. `jcall` shows the versions of the interfaces
//! of a server, as ids, and `jcall compat OLD NEW` says which methods the clients of one server can
//! call at another one.
