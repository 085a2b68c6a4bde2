//! Remote method invocation whose arguments are plain references into the receive buffer.
//!
//! A trait with [`#[remote]`](remote) can be served by one process and called from another. The
//! server gets its arguments as the Rust references that the trait names, into the buffer that the
//! network filled: nothing is allocated or copied for them.
//!
//! ```
//! use jstream_rmi::{Client, Server, remote};
//! use std::sync::Arc;
//!
//! #[remote]
//! trait Calculator {
//!     fn dot(&self, a: &[f64], b: &[f64]) -> f64;
//! }
//!
//! struct Plain;
//!
//! impl Calculator for Plain {
//!     fn dot(&self, a: &[f64], b: &[f64]) -> f64 {
//!         a.iter().zip(b).map(|(a, b)| a * b).sum()
//!     }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let server = Server::default();
//! server.bind::<dyn Calculator>("calculator", Arc::new(Plain))?;
//! let serving = server.listen(&"tcp://127.0.0.1:0".parse()?)?;
//!
//! let client = Client::connect(serving.address())?;
//! let calculator = client.lookup::<dyn Calculator>("calculator")?;
//! let reply = calculator.dot(&[1.0, 2.0], &[3.0, 4.0]).wait()?;
//! assert_eq!(*reply.get(), 11.0);
//! # Ok(())
//! # }
//! ```
//!
//! The [guide] says all of this at length, with examples.
//!
//! # Arguments and results
//!
//! | in the trait | the stub takes | the server gets |
//! |---|---|---|
//! | `n: u32`, any plain `Copy` type | `u32` | the value |
//! | `a: &[f64]`, `s: &str`, `o: &Order<'_>` | the same | a reference into the receive buffer |
//! | `shape: &dyn Shape`, a transportable trait | the same | the same |
//! | `o: Received<Order<'static>>`, alone | `&Order<'_>` | the receive buffer itself, to keep |
//! | `-> T` | a [`Call<T>`] | |
//!
//! A result may own its parts (`Vec<String>`), be a `Result` with an error of one's own, or borrow from the
//! object; the caller gets it in place, as a [`Reply`]. A stub's method sends its call, and nothing stays
//! borrowed. [`Call::wait`] blocks until the result is there, and the call is a future that needs no
//! runtime. Any number of calls can be on their way.
//!
//! # Methods
//!
//! Methods are `fn` or `async fn`, on `&self` or `&mut self`:
//!
//! - A plain method runs to its end, and the calls of its connection wait meanwhile.
//! - An `async fn` may wait: other calls of the connection run then. `#[remote]` on the `impl` block lets it
//!   be written so there too, and the trait can be used as `dyn` as well. Its arguments stay in the
//!   receive buffer until it ends. A [`Received`] that it keeps over an `.await` stands in a struct of
//!   one's own, which names no lifetime: the compiler does not see through it otherwise.
//! - A method on `&mut self` has the object alone. The server is given such an object in an [`Exclusive`].
//! - `#[remote(one_way)]` says that nobody waits for it. `#[remote(idempotent)]` says that it may run twice,
//!   which [`CallError::can_be_repeated`] tells.
//!
//! A trait with parameters lists its instances, each of which is an interface of its own:
//! `#[remote(instances(Store<u64>, Store<String>))]`. `#[remote(mock)]` makes a [`mock`] for tests.
//!
//! ```
//! use jstream_rmi::{BoxFuture, Client, Server, remote};
//! use std::sync::Arc;
//!
//! #[remote]
//! trait Words {
//!     async fn longest<'a>(&self, of: &'a [&'a str]) -> Option<&'a str>;
//! }
//!
//! struct Plain;
//!
//! #[remote]
//! impl Words for Plain {
//!     async fn longest<'a>(&self, of: &'a [&'a str]) -> Option<&'a str> {
//!         of.iter().copied().max_by_key(|word| word.len())
//!     }
//! }
//!
//! // The trait has objects, whose async methods return boxed futures.
//! fn longest<'a>(words: &'a dyn Words, of: &'a [&'a str]) -> BoxFuture<'a, Option<&'a str>> {
//!     words.longest(of)
//! }
//! # let _ = longest;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let server = Server::default();
//! server.bind::<dyn Words>("words", Arc::new(Plain))?;
//! let serving = server.listen(&"inproc://doc-words".parse()?)?;
//! let words = Client::connect(serving.address())?.lookup::<dyn Words>("words")?;
//! let reply = words.longest(&["a", "long", "one"]).wait()?;
//! assert_eq!(*reply.get(), Some("long"));
//! # Ok(())
//! # }
//! ```
//!
//! # Deadlines, and giving up
//!
//! Each call has a deadline: that of the connection ([`ClientOptions::call_timeout`]), or of the stub
//! ([`Stub::within`]). It travels with the call, a method sees it in its [`context`], and calls that the
//! method makes end no later. A call that is dropped is given up: it does not begin, or its async method
//! ends at the `.await` where it waits; a plain method may ask ([`Context::is_over`]).
//!
//! # Failures
//!
//! Every [`CallError`] says in [`CallError::outcome`] whether the method did not run, ran, or may
//! have run. A panic in a method is an error at its caller, and the server lives on.
#![forbid(unsafe_code)]

mod call;
mod client;
mod context;
mod error;
mod exclusive;
mod exports;
mod frame;
pub mod guide;
mod interface;
pub mod mock;
mod registry;
mod server;
mod session;
mod sync;
mod wait;

pub use call::{Call, Reply};
pub use client::{Client, ClientOptions, Object};
pub use context::{Context, context};
pub use error::{BindError, CallError, ConnectError, LookupError, Outcome, ServeError};
pub use exclusive::{Alone, Exclusive, Shared};
pub use interface::{BoxFuture, Interface, Remotable, Serves, Skeleton, Stub};
pub use jstream::Received;
pub use jstream_derive::remote;
pub use jstream_transport::active::{Guarded, Held, Settings, When};
pub use jstream_transport::{Address, Options};
pub use registry::{Found, Registry, RegistryStub};
pub use server::{Server, ServerOptions, Serving};

/// What generated code uses. Not for others: it may change with any release.
#[doc(hidden)]
pub mod __private {
    pub use crate::interface::Method;
    pub use crate::server::{Answer, Failed, Incoming};
    pub use jstream::__private::list;
}

/// The README's example compiles.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
