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
//! | `n: Stream<f64>` | a [`Stream<f64>`](Stream) | a stream of what comes |
//! | `-> Stream<T>` | a [`Stream<T>`](Stream) of what comes | |
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
//! - A plain method runs where its call is received. One that takes more than a millisecond holds up nobody: another
//!   thread of the server goes on meanwhile, also with calls of the same connection.
//! - An `async fn` may wait: other calls run then. `#[remote]` on the `impl` block lets it
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
//! # Streams
//!
//! An argument or the result of a method may be a [`Stream`] of values: of more than one message holds, or of
//! what comes bit by bit. Items go ahead of who takes them, but no further than a window allows, so that neither
//! side holds more than that.
//!
//! ```
//! use jstream_rmi::{Client, Server, Stream, StreamError, remote};
//! use std::sync::Arc;
//!
//! #[remote]
//! trait Primes {
//!     fn below(&self, most: u64) -> Stream<u64>;
//!     fn largest(&self, of: Stream<u64>) -> Option<u64>;
//! }
//!
//! struct Plain;
//!
//! impl Primes for Plain {
//!     fn below(&self, most: u64) -> Stream<u64> {
//!         Stream::of((2..most).filter(|n| (2..*n).all(|d| n % d != 0)))
//!     }
//!
//!     fn largest(&self, of: Stream<u64>) -> Option<u64> {
//!         of.map_while(Result::ok).map(|n| *n.get()).max()
//!     }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let server = Server::default();
//! server.bind::<dyn Primes>("primes", Arc::new(Plain))?;
//! let serving = server.listen(&"inproc://doc-primes".parse()?)?;
//! let primes = Client::connect(serving.address())?.lookup::<dyn Primes>("primes")?;
//! let below: Result<Vec<u64>, StreamError> =
//!     primes.below(20).map(|prime| Ok(*prime?.get())).collect();
//! assert_eq!(below?, [2, 3, 5, 7, 11, 13, 17, 19]);
//!
//! // Items that come when they come are sent from where they are.
//! let (sender, numbers) = jstream_rmi::stream(16);
//! let largest = primes.largest(numbers);
//! for number in [3, 9, 4] {
//!     sender.send(number).wait()?;
//! }
//! drop(sender);
//! assert_eq!(*largest.wait()?.get(), Some(9));
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
//! # Both ways
//!
//! A client may [export](Client::export) objects, too, and a method finds them through its
//! [caller](Context::caller). Whoever waits for a call serves those of the other side meanwhile, so the two may call
//! each other back, also while both wait; how deep, the number of threads bounds, and who goes further is told that the
//! other side is [busy](CallError::Busy).
//!
//! ```
//! use jstream_rmi::{Client, Server, context, remote};
//! use std::sync::Arc;
//!
//! #[remote]
//! trait Judge {
//!     fn better(&self, a: &str, b: &str) -> bool;
//! }
//!
//! #[remote]
//! trait Sorter {
//!     /// Asks its caller which of two comes first.
//!     fn best(&self, of: &[&str]) -> Option<String>;
//! }
//!
//! struct Plain;
//!
//! impl Sorter for Plain {
//!     fn best(&self, of: &[&str]) -> Option<String> {
//!         let judge = context().caller()?.lookup::<dyn Judge>("judge").ok()?;
//!         let better = |a: &str, b: &str| judge.better(a, b).wait().is_ok_and(|a| *a.get());
//!         let best = of.iter().copied().reduce(|a, b| if better(b, a) { b } else { a });
//!         best.map(str::to_owned)
//!     }
//! }
//!
//! struct Longer;
//!
//! impl Judge for Longer {
//!     fn better(&self, a: &str, b: &str) -> bool {
//!         a.len() > b.len()
//!     }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let server = Server::default();
//! server.bind::<dyn Sorter>("sorter", Arc::new(Plain))?;
//! let serving = server.listen(&"inproc://doc-both-ways".parse()?)?;
//!
//! let judges = Server::default();
//! judges.bind::<dyn Judge>("judge", Arc::new(Longer))?;
//! let client = Client::connect(serving.address())?;
//! assert!(client.export(&judges));
//! let sorter = client.lookup::<dyn Sorter>("sorter")?;
//! let best = sorter.best(&["a", "long", "one"]).wait()?;
//! assert_eq!(*best.get(), Some("long"));
//! # Ok(())
//! # }
//! ```
//!
//! # Threads
//!
//! A server has [a few threads](ServerOptions::threads) for all its connections, and methods that have waited go on at its
//! [`Workers`]: a few threads of their own, or a runtime. A [`LocalServer`] has none: all methods run on the thread that
//! serves. A client has no thread at all, unless it is [told](Client::start) to.
//!
//! # Failures
//!
//! Every [`CallError`] says in [`CallError::outcome`] whether the method did not run, ran, or may
//! have run. A method runs at most once, unless it is declared idempotent and its stub is told to
//! [call again](Stub::retrying). A panic in a method is an error at its caller, and the server lives on; under
//! `panic = "abort"` it ends the process, which its callers see as the end of their connections.
//!
//! Behind a `fork` the child has none of the threads, and the connections of its parent are refused there: it makes its own.
#![forbid(unsafe_code)]

mod again;
mod auth;
mod call;
mod capture;
mod client;
mod clock;
mod context;
pub mod directory;
mod error;
mod exclusive;
mod exports;
mod frame;
pub mod guide;
mod here;
mod intercept;
mod interface;
mod lease;
mod local;
mod message;
pub mod mock;
mod object;
mod promise;
mod reference;
mod reflection;
mod registry;
mod seldom;
mod server;
mod session;
mod stream;
mod sync;
mod wait;
mod workers;

pub use again::Retries;
pub use auth::{AuthError, Secret, SecretTooShort};
pub use call::{Call, RemoteCall, Reply};
pub use capture::{Capture, CaptureOptions};
pub use client::{Client, ClientOptions, WeakClient};
pub use clock::Clock;
pub use context::{Context, context};
pub use error::{BindError, CallError, ConnectError, LookupError, Outcome, ServeError};
pub use exclusive::{Alone, Exclusive, Shared};
#[cfg(feature = "metrics")]
pub use intercept::Metered;
pub use intercept::{CallEnd, CallInfo, Denied, Interceptor, Interceptors, Side, Traced, Watch};
pub use interface::{BoxFuture, Interface, Remotable, Serves, Skeleton, Stub};
pub use jstream::Received;
pub use jstream_derive::{Referring, remote};
pub use jstream_transport::active::{Guarded, Held, Settings, When};
pub use jstream_transport::{Address, Options};
pub use local::{Local, LocalServer};
pub use object::Object;
pub use reference::{Export, Leads, Passed, ReferenceCounts, Referring, Remote};
pub use reflection::{
    Bound, BoundRef, Described, Description, DescriptionRef, Health, Reflection, ReflectionStub,
    Signature, SignatureRef,
};
pub use registry::{Found, Registry, RegistryStub};
pub use server::{Ended, Server, ServerOptions, Serving, WeakServer};
pub use stream::{Item, Next, Sender, Sending, Stream, StreamError, Unwanted, stream};
pub use workers::Workers;

/// What generated code uses. Not for others: it may change with any release.
#[doc(hidden)]
pub mod __private {
    pub use crate::interface::Method;
    pub use crate::reference::{Form, Giving, Taking, Unfit, owned};
    pub use crate::server::{Answer, Failed, Incoming};
    pub use crate::stream::{Carried, Taken};
    pub use jstream::__private::list;
}

/// The README's example compiles.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
