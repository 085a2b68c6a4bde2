//! The first remote trait.
//!
//! A trait with [`#[remote]`](crate::remote) remains an ordinary trait: the program implements and
//! uses it as before. In addition, the macro generates the code for both sides of a call. Part of
//! it is a stub, here `GreeterStub`.
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
//! // The server: objects with names, at any number of addresses.
//! let server = Server::default();
//! server.bind::<dyn Greeter>("greeter", Arc::new(Polite))?;
//! let serving = server.listen(&"tcp://127.0.0.1:0".parse()?)?;
//!
//! // The client, which is usually another process.
//! let client = Client::connect(serving.address()).wait()?;
//! let greeter = client.lookup::<dyn Greeter>("greeter").wait()?;
//! let reply = greeter.greet("Ada").wait()?;
//! assert_eq!(*reply.get(), "Good morning, Ada");
//! # Ok(())
//! # }
//! ```
//!
//! A method of a stub sends its call and immediately returns a [`Call`](crate::Call).
//! [`wait`](crate::Call::wait) blocks until the result has arrived, and `.await` waits in a task of
//! any runtime. All calls that are made before the first wait are in flight at the same time:
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
//! # let client = Client::connect(serving.address()).wait()?;
//! # let squares = client.lookup::<dyn Squares>("squares").wait()?;
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
//! # Choosing the address
//!
//! | address | use |
//! |---|---|
//! | `tcp://host:port` | other hosts; `tcp://127.0.0.1:0` selects a free port, which [`address`](crate::Serving::address) returns |
//! | `uds:///path`, `uds://@name` | processes of one host |
//! | `shm://name` | processes of one host, over shared memory |
//! | `inproc://name` | threads of one process, and tests |
//!
//! Only the address differs; the rest of the program is the same.
//! The guide of `jstream-transport` explains how to choose (`jstream_transport::guide::devices`).
//!
//! # Agreement of both sides
//!
//! A client finds an object by its name and its interface. The interface includes the names and
//! signatures of all methods of the trait, and the structure of all types in them. If the two sides
//! were built from different definitions, [`lookup`](crate::Client::lookup) fails and shows the
//! methods that differ, and the field. Put the trait in a crate or module that both programs use. A
//! server may add methods behind the others: clients with the older trait still find its objects,
//! unless its methods have streams or references.
