//! Methods that wait for a condition.
//!
//! A method can wait until its object is in a given state that another method, of any caller,
//! brings about: a buffer is not empty, a job is done, all participants have arrived. The object
//! keeps this state in a [`Guarded`](crate::Guarded), a lock with the method
//! [`when`](crate::Guarded::when). It corresponds to `AwaitValue` of optimistic active messages.
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
//! /// A queue of at most two jobs.
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
//! let worker = Client::connect(serving.address()).wait()?.lookup::<dyn Jobs>("jobs").wait()?;
//! let others = Client::connect(serving.address()).wait()?.lookup::<dyn Jobs>("jobs").wait()?;
//! // The call waits at the server and blocks no other call.
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
//! `when` evaluates the condition once immediately. If it is true, the method does not wait.
//! Otherwise the condition is evaluated again after each change of the object, which means after a
//! [`Held`](crate::Held) that was borrowed as `&mut` is dropped. `when` returns the locked object
//! in the requested state. No other method can change it in between.
//!
//! - Hold the lock only briefly: a method drops it before it waits for anything else. In an `async`
//!   method the compiler enforces this, because the future would not be `Send`.
//! - A change within a cell, or made without the guard, wakes no waiting method.
//! - The order among several waiting methods is not specified. All of them evaluate their condition
//!   after each change. If many methods wait for different conditions, use several objects.
//! - A method that waits ends like any other: at its deadline, or if its caller cancels the call.
//!   In this case it has changed nothing. The number of waiting methods per connection is limited
//!   ([`ServerOptions::max_waiting`](crate::ServerOptions::max_waiting)).
