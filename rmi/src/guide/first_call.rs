//! The first remote trait.
//!
//! A trait with [`#[remote]`](crate::remote) stays the trait that it is: it is implemented and used in the program as
//! before. Besides, the macro makes what the two sides of a call need, among it a stub, here `GreeterStub`.
//!
//! ```
//! use std::sync::Arc;
//!
//! use jstream_rmi::{Client, Server, remote};
//!
//! #[remote]
//! trait Greeter {
//!     fn greet(&self, name: &str) -> String;
//! }
//!
//! struct Polite;
//!
//! impl Greeter for Polite {
//!     fn greet(&self, name: &str) -> String {
//!         format!("Good morning, {name}")
//!     }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // The server: objects by name, at as many addresses as it likes.
//! let server = Server::default();
//! server.bind::<dyn Greeter>("greeter", Arc::new(Polite))?;
//! let serving = server.listen(&"tcp://127.0.0.1:0".parse()?)?;
//!
//! // The client, which is another process as a rule.
//! let client = Client::connect(serving.address())?;
//! let greeter = client.lookup::<dyn Greeter>("greeter")?;
//! let reply = greeter.greet("Ada").wait()?;
//! assert_eq!(*reply.get(), "Good morning, Ada");
//! # Ok(())
//! # }
//! ```
//!
//! A stub's method sends its call and gives a [`Call`](crate::Call) at once. [`wait`](crate::Call::wait) blocks until
//! the result is there, and `.await` waits in a task of any runtime. Calls that are made before the first is waited
//! for are on their way together:
//!
//! ```
//! # use std::sync::Arc;
//! # use jstream_rmi::{Call, Client, Server, remote};
//! #[remote]
//! trait Squares {
//!     fn square(&self, n: u64) -> u64;
//! }
//! # struct Plain;
//! # impl Squares for Plain {
//! #     fn square(&self, n: u64) -> u64 { n * n }
//! # }
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let server = Server::default();
//! # server.bind::<dyn Squares>("squares", Arc::new(Plain))?;
//! # let serving = server.listen(&"inproc://guide-first".parse()?)?;
//! # let squares = Client::connect(serving.address())?.lookup::<dyn Squares>("squares")?;
//! let calls: Vec<Call<u64>> = (0..100).map(|n| squares.square(n)).collect();
//! let mut sum = 0;
//! for call in calls {
//!     sum += *call.wait()?.get();
//! }
//! assert_eq!(sum, 328_350);
//! # Ok(())
//! # }
//! ```
//!
//! # Which address
//!
//! | address | is for |
//! |---|---|
//! | `tcp://host:port` | other hosts; `tcp://127.0.0.1:0` takes a free port, which [`address`](crate::Serving::address) tells |
//! | `uds:///path`, `uds://@name` | processes of one host |
//! | `shm://name` | the same, by shared memory |
//! | `inproc://name` | threads of one process, and tests |
//!
//! Nothing but the address differs. [`jstream_transport::guide::devices`] says when to choose which.
//!
//! # Both sides agree
//!
//! A client finds an object by its name and its interface: the names and signatures of all methods of the trait, with
//! the structure of all types in them. Where one side was built from another definition,
//! [`lookup`](crate::Client::lookup) fails, and shows the methods that differ. The trait had best be in a crate, or
//! module, that both programs use.
