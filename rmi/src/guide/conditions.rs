//! Methods that wait for a condition.
//!
//! A method waits until its object is in a state, and another method, of whichever caller, brings it there: a buffer is
//! not empty, a job is done, all have arrived. The object keeps that state in a [`Guarded`](crate::Guarded), a lock with
//! [`when`](crate::Guarded::when). This is the `AwaitValue` of optimistic active messages.
//!
//! ```
//! use std::collections::VecDeque;
//! use std::sync::Arc;
//!
//! use jstream_rmi::{Client, Guarded, Server, remote};
//!
//! #[remote]
//! trait Jobs {
//!     async fn put(&self, job: &str);
//!     async fn take(&self) -> String;
//! }
//!
//! /// At most two jobs wait.
//! #[derive(Default)]
//! struct Queue {
//!     jobs: Guarded<VecDeque<String>>,
//! }
//!
//! #[remote]
//! impl Jobs for Queue {
//!     async fn put(&self, job: &str) {
//!         let mut jobs = self.jobs.when(|jobs| jobs.len() < 2).await;
//!         jobs.push_back(job.to_owned());
//!     }
//!
//!     async fn take(&self) -> String {
//!         let mut jobs = self.jobs.when(|jobs| !jobs.is_empty()).await;
//!         jobs.pop_front().unwrap_or_default()
//!     }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let server = Server::default();
//! server.bind::<dyn Jobs>("jobs", Arc::new(Queue::default()))?;
//! let serving = server.listen(&"inproc://guide-conditions".parse()?)?;
//!
//! let worker = Client::connect(serving.address())?.lookup::<dyn Jobs>("jobs")?;
//! let others = Client::connect(serving.address())?.lookup::<dyn Jobs>("jobs")?;
//! // It waits at the server, and holds up nobody.
//! let job = worker.take();
//! let puts = ["one", "two", "three", "four"].map(|job| others.put(job));
//! assert_eq!(*job.wait()?.get(), "one");
//! assert_eq!(*worker.take().wait()?.get(), "two");
//! for put in puts {
//!     put.wait()?;
//! }
//! # Ok(())
//! # }
//! ```
//!
//! The condition is looked at once when the method comes to it, and where it holds the method does not wait at all. Else
//! it is looked at again whenever somebody has changed the object: has borrowed it as `&mut` through a
//! [`Held`](crate::Held), and dropped that. What `when` gives is the object, locked, in the state that was asked for;
//! nobody comes in between.
//!
//! - The lock is held for moments: a method drops it before it waits for anything else. The compiler sees to it in an
//!   `async` method, whose future would not be `Send`.
//! - A change inside a cell, or by another way than the guard, wakes nobody.
//! - Who of several is first is not said. All that wait for an object look again on each change, so where many wait for
//!   different things, several objects are better than one.
//! - A method that waits ends as any other does: with its deadline, or when its caller gives it up. It has taken nothing
//!   then. How many may wait at once for one connection is bounded
//!   ([`ServerOptions::max_waiting`](crate::ServerOptions::max_waiting)).
