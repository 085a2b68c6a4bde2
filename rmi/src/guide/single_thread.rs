//! Methods on `&mut self`.
//!
//! An object whose methods take `&mut self` is served in an [`Exclusive`](crate::Exclusive): its calls take turns, from
//! all connections, in the order in which they came. Those of methods on `&self` share a turn.
//!
//! ```
//! use jstream_rmi::{Client, Exclusive, Server, remote};
//!
//! #[remote]
//! trait Journal {
//!     fn add(&mut self, line: &str) -> usize;
//!     async fn clear(&mut self);
//!     fn lines(&self) -> usize;
//! }
//!
//! #[derive(Default)]
//! struct Memory(Vec<String>);
//!
//! #[remote]
//! impl Journal for Memory {
//!     fn add(&mut self, line: &str) -> usize {
//!         self.0.push(line.to_owned());
//!         self.0.len()
//!     }
//!
//!     async fn clear(&mut self) {
//!         self.0.clear();
//!     }
//!
//!     fn lines(&self) -> usize {
//!         self.0.len()
//!     }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let journal = Exclusive::new(Memory::default());
//! let server = Server::default();
//! server.bind::<dyn Journal>("journal", journal.clone())?;
//! let serving = server.listen(&"inproc://guide-alone".parse()?)?;
//!
//! let stub = Client::connect(serving.address())?.lookup::<dyn Journal>("journal")?;
//! assert_eq!(*stub.add("one").wait()?.get(), 1);
//! // The server's own code takes turns too.
//! journal.with(|memory| memory.0.push("two".to_owned()));
//! assert_eq!(*stub.lines().wait()?.get(), 2);
//! stub.clear().wait()?;
//! assert_eq!(*stub.lines().wait()?.get(), 0);
//! # Ok(())
//! # }
//! ```
//!
//! An `async` method has its turn until it ends, also while it waits. So it must not wait for what needs a turn of the
//! same object: not for a call to itself, nor for a condition that another method would bring about. An object with
//! such methods takes `&self`, and locks its parts, as in [`conditions`](super::conditions).
//!
//! A method that panics leaves the object as it is at that moment, and the next has its turn.
