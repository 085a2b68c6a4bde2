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
//! # Arguments and results
//!
//! | in the trait | the stub takes | the server gets |
//! |---|---|---|
//! | `n: u32`, any plain `Copy` type | `u32` | the value |
//! | `a: &[f64]`, `s: &str`, `o: &Order<'_>` | the same | a reference into the receive buffer |
//! | `o: Received<Order<'static>>`, alone | `&Order<'_>` | the receive buffer itself, to keep |
//! | `-> T` | a [`Call<T>`] | |
//!
//! A result may own its parts (`Vec<String>`), be a `Result`, or borrow from the object; the caller
//! gets it in place, as a [`Reply`]. A stub's method sends its call; [`Call::wait`] waits for the
//! result. Several calls can be on their way; those of one connection run one after another.
//!
//! # Failures
//!
//! Every [`CallError`] says in [`CallError::outcome`] whether the method did not run, ran, or may
//! have run. A panic in a method is an error at its caller, and the server lives on.
#![forbid(unsafe_code)]

mod call;
mod client;
mod connection;
mod context;
mod error;
mod exclusive;
mod exports;
mod frame;
mod interface;
pub mod mock;
mod registry;
mod server;
mod wait;

pub use call::{Call, Reply};
pub use client::{Client, ClientOptions, Object};
pub use context::{Context, context};
pub use error::{BindError, CallError, LookupError, Outcome, ServeError};
pub use exclusive::{Alone, Exclusive, Shared};
pub use interface::{BoxFuture, Interface, Remotable, Serves, Skeleton, Stub};
pub use jstream::Received;
pub use jstream_derive::remote;
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
