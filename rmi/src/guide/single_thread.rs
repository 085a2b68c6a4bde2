//! Methods on `&mut self`.
//!
//! An object whose methods take `&mut self` is served in an [`Exclusive`](crate::Exclusive). Its
//! calls, from all connections, get access in the order in which they arrived. Calls of methods on
//! `&self` that are next to each other in the queue share access.
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
//! let stub = Client::connect(serving.address()).wait()?.lookup::<dyn Journal>("journal").wait()?;
//! assert_eq!(*stub.add("one").wait()?.get(), 1);
//! // Code of the server itself waits for access in the same queue.
//! journal.with(|memory| memory.0.push("two".to_owned()));
//! assert_eq!(*stub.lines().wait()?.get(), 2);
//! stub.clear().wait()?;
//! assert_eq!(*stub.lines().wait()?.get(), 0);
//! # Ok(())
//! # }
//! ```
//!
//! An `async` method has access until it ends, also while it waits. So it must not wait for
//! anything that requires access to the same object: neither for a call to the object, nor for a
//! condition that another method has to make true. An object with such methods should take `&self`
//! and lock its parts, as in [`conditions`](super::conditions).
//!
//! If a method panics, the object keeps the state that it had at that moment, and the next call
//! gets access.
