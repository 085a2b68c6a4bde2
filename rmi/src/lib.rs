//! Remote method invocation whose arguments are plain references into the receive buffer.
//!
//! A trait with [`#[remote]`](remote) can be served by one process and called from another. The
//! server passes the arguments as the Rust references that the trait names. The references point
//! into the buffer that the network filled, so the arguments are neither copied nor allocated.
//!
//! ```toml
//! [dependencies]
//! jstream = "0.1"
//! jstream-rmi = "0.1"
//! ```
//!
//! Start with a trait, a [`Server`] and a [`Client`]:
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
//! let client = Client::connect(serving.address()).wait()?;
//! let calculator = client.lookup::<dyn Calculator>("calculator").wait()?;
//! let reply = calculator.dot(&[1.0, 2.0], &[3.0, 4.0]).wait()?;
//! assert_eq!(*reply.get(), 11.0);
//! # Ok(())
//! # }
//! ```
//!
//! The [guide] covers all of this in detail, with examples.
//!
//! # Features
//!
//! | feature | effect |
//! |---|---|
//! | `shm` (default) | calls through memory shared with other processes, `shm://name` |
//! | `uring` (default) | calls over TCP received with io_uring, `uring://host:port` |
//! | `sim` (default) | calls over a simulated network for tests, `sim://name` |
//! | `capture` (default) | a [`Capture`] of the traffic of connections, in files |
//! | `directory` (default) | a registry of several programs, in the module of that name |
//! | `secret` (default) | a [`Secret`] that client and server prove to each other |
//! | `tokio` | methods run in the runtime of tokio in which their server starts |
//! | `tower` | layers of tower around calls, and stubs as services of tower |
//! | `tls` | calls over TLS 1.3, at addresses `tls://host:port` |
//! | `metrics` | publishes the counters of calls through the `metrics` crate |
//! | `cli` | builds the programs `jcall` and `jregistry` |
//!
//! The devices `inproc`, `uds` and `tcp` are always there. With `default-features = false` the
//! others are left out, and programs are smaller and build faster. An address of a device that was
//! left out gives an error that names the feature. In a profile with `lto = "fat"`,
//! `codegen-units = 1` and `opt-level = "s"`, programs have little more than half the size.
//!
//! `cargo install jstream-rmi --features cli` installs `jcall`, which lists what a server has bound
//! and calls it by hand, and `jregistry`, which serves the names of several servers.
//!
//! # Arguments and results
//!
//! | in the trait | the stub takes | the server gets |
//! |---|---|---|
//! | `n: u32`, any plain `Copy` type | `u32` | the value |
//! | `a: &[f64]`, `s: &str`, `o: &Order<'_>` | the same | a reference into the receive buffer |
//! | `u: &UserRef<'_>`, the form of a `User` that owns its parts | `&User` or `&UserRef<'_>` | a reference into the receive buffer |
//! | `shape: &dyn Shape`, a transportable trait | the same | the same |
//! | `o: Received<Order<'static>>`, alone | `&Order<'_>` | the receive buffer, which it may keep |
//! | `-> T` | a [`Call<T>`] | |
//! | `n: Stream<f64>` | a [`Stream<f64>`](Stream) | a stream of the received items |
//! | `-> Stream<T>` | a [`Stream<T>`](Stream) of the received items | |
//!
//! A result may own its parts (`Vec<String>`), be a `Result` with an application error, or borrow
//! from the object. The caller gets it in place, as a [`Reply`]. A stub's method sends its call and
//! keeps no borrow of the arguments. [`Call::wait`] blocks until the result arrives. A call is also
//! a future that needs no runtime. Any number of calls can be in flight.
//!
//! # Methods
//!
//! Methods are `fn` or `async fn`, on `&self` or `&mut self`:
//!
//! - A plain `fn` runs on the thread that received its call. If it runs for more than a
//!   millisecond,
//!   another thread of the server takes over, also for calls of the same connection.
//! - While an `async fn` is suspended at an `.await`, other calls run. With `#[remote]` on the
//!   `impl`
//!   block, the implementation can be written as `async fn` too, and the trait can still be used as
//!   `dyn`. The arguments stay in the receive buffer until the method ends. To keep a [`Received`]
//!   across an `.await`, put it in a struct of your own that names no lifetime; otherwise the
//!   compiler cannot check the lifetimes.
//! - A method on `&mut self` has exclusive access to the object. Pass such an object to the server
//!   in
//!   an [`Exclusive`].
//! - `#[remote(one_way)]` declares that the caller gets no answer. `#[remote(idempotent)]` declares
//!   that the method may run twice, which [`CallError::can_be_repeated`] takes into account.
//! - `#[remote(resume = "from")]` names the argument with which a method is called again after a
//!   [restart](guide::restarts), to go on with the stream that it returns.
//!
//! A generic trait lists its instances, each of which is a separate interface:
//! `#[remote(instances(Store<u64>, Store<String>))]`. `#[remote(mock)]` generates a [`mock`] for
//! tests. `#[remote(stateful)]` declares that the state of an object is lost with its connection.
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
//! // The trait is dyn compatible: through `dyn`, its async methods return boxed futures.
//! fn longest<'a>(words: &'a dyn Words, of: &'a [&'a str]) -> BoxFuture<'a, Option<&'a str>> {
//!     words.longest(of)
//! }
//! # let _ = longest;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let server = Server::default();
//! server.bind::<dyn Words>("words", Arc::new(Plain))?;
//! let serving = server.listen(&"inproc://doc-words".parse()?)?;
//! let words = Client::connect(serving.address()).wait()?.lookup::<dyn Words>("words").wait()?;
//! let reply = words.longest(&["a", "long", "one"]).wait()?;
//! assert_eq!(*reply.get(), Some("long"));
//! # Ok(())
//! # }
//! ```
//!
//! # Streams
//!
//! An argument or the result of a method may be a [`Stream`] of values, for more data than one
//! message holds or for values that are produced over time. Items are sent before the consumer asks
//! for them, up to a flow-control window. The window limits the memory that either side needs.
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
//! let primes = Client::connect(serving.address()).wait()?.lookup::<dyn Primes>("primes").wait()?;
//! let below: Result<Vec<u64>, StreamError> =
//!     primes.below(20).map(|prime| Ok(*prime?.get())).collect();
//! assert_eq!(below?, [2, 3, 5, 7, 11, 13, 17, 19]);
//!
//! // A `Sender` feeds a stream with items that are produced over time.
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
//! # Deadlines and cancellation
//!
//! Each call has a deadline: that of the connection ([`ClientOptions::call_timeout`]) or of the
//! stub ([`Stub::within`]). The deadline travels with the call. A method sees it in its
//! [`context`], and calls that the method makes inherit it. Dropping a call cancels it: a method
//! that has not started does not start, and an async method ends at its current `.await`. A plain
//! method can check for cancellation ([`Context::is_over`]).
//!
//! # Calls in both directions
//!
//! A client may also [export](Client::export) objects, and pass [references](Remote) to them. If it
//! [exports a server](Client::export_server), a method also finds the objects by their names,
//! through its [caller](Context::caller). While a thread waits for a call, it serves calls from the
//! other side, so both sides can call each other back while both wait. The number of threads limits
//! the depth of nested calls. If a call exceeds it, the caller is told that the peer is
//! [busy](CallError::Busy).
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
//!         let judge = context().caller()?.lookup::<dyn Judge>("judge").wait().ok()?;
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
//! let client = Client::connect(serving.address()).wait()?;
//! assert!(client.export_server(&judges));
//! let sorter = client.lookup::<dyn Sorter>("sorter").wait()?;
//! let best = sorter.best(&["a", "long", "one"]).wait()?;
//! assert_eq!(*best.get(), Some("long"));
//! # Ok(())
//! # }
//! ```
//!
//! # Threads
//!
//! A server uses [a few threads](ServerOptions::threads) for all its connections. Async methods
//! that were suspended resume on its [`Workers`]: separate threads, or a runtime. A [`LocalServer`]
//! has no threads of its own: all methods run on the thread that serves. A client has no thread,
//! unless [`Client::start`] starts one.
//!
//! # Failures
//!
//! [`CallError::outcome`] of each [`CallError`] states whether the method did not run, ran, or may
//! have run. A method runs at most once, unless it is declared idempotent. A client whose server is
//! [restarted](guide::restarts) connects again, and repeats calls that did not run. A [`ClientSet`]
//! calls one of [several servers](guide::several_servers). If a method panics, its caller gets an
//! error and the server continues. With `panic = "abort"`, a panic ends the process, and callers
//! see their connections end.
//!
//! After a `fork`, the child process has none of these threads and cannot use the connections of
//! its parent: it must create its own.
#![forbid(unsafe_code)]

mod call;
mod client;
mod client_set;
#[cfg(feature = "directory")]
pub mod directory;
mod frame;
pub mod guide;
mod interface;
pub mod mock;
mod reference;
mod server;
mod session;
mod stream;
mod support;

pub use call::{
    Bound, BoundRef, Call, CallerMethod, CallerVersion, CallerVersionRef, Claimed, Described,
    DescribedTrait, DescribedTraitRef, Description, DescriptionRef, Found, FoundVersion, Health,
    Reflection, ReflectionStub, RefusedMethod, Registry, RegistryStub, RemoteCall, Reply, Serves,
    Signature, SignatureRef, Skeleton,
};
#[cfg(feature = "tower")]
pub use client::StubService;
pub use client::{Client, ClientOptions, ConnectionState, Reconnect, StateChanges, WeakClient};
#[cfg(feature = "directory")]
pub use client_set::RegistryNames;
pub use client_set::{
    AddressList, ClientSet, Hedging, HostRecords, ListedMember, MemberInfo, MemberSource,
    MemberState, SetOptions,
};
pub use frame::Metadata;
pub use interface::{Alone, BoxFuture, Exclusive, Interface, SentAs, Shared};
pub use jstream::Received;
pub use jstream_active::{Guarded, Held, Serving as ServingThread, Settings, When};
#[cfg(feature = "tls")]
pub use jstream_base::tls;
pub use jstream_base::{Address, Options};
pub use jstream_derive::{Referring, remote};
pub use reference::{
    CircuitBreaker, Export, Leads, Object, Passed, ReferenceCounts, Referring, Remotable, Remote,
    Retries, Stub,
};
pub use server::{Ended, Local, LocalServer, Server, ServerOptions, Serving, WeakServer, Workers};
#[cfg(feature = "tower")]
pub use session::CallService;
#[cfg(feature = "capture")]
pub use session::CaptureOptions;
#[cfg(feature = "metrics")]
pub use session::Metered;
#[cfg(feature = "secret")]
pub use session::SecretTooShort;
pub use session::{
    AdmissionOptions, AdmissionStatus, AsyncInterceptor, CallEnd, CallInfo, CallRequest,
    CallResponse, Capture, Clock, Context, Denied, Interceptor, Interceptors, PeerInfo,
    RefusalCounts, Secret, Side, Traced, Watch, context,
};
pub use stream::{Item, Next, Sender, Sending, Stream, StreamError, Unwanted, stream};
pub use support::{
    AuthError, BindError, CallError, ConnectError, LookupError, MetadataError, Operation, Outcome,
    ServeError,
};

/// Items used by generated code. Not part of the public API: they may change in any release.
#[doc(hidden)]
pub mod __private {
    pub use jstream::__private::{check_type_of, core, list, shield, std};

    pub use crate::frame::metadata_of;
    pub use crate::interface::{
        Argument, ItemNumber, Method, Parameter, ParameterTarget, argument, is_same_name, no_result,
    };
    pub use crate::reference::{
        Form, Giving, Taking, Unfit, each, lend, lend_slice, owned, slices,
    };
    pub use crate::session::{Answer, Failed, Incoming};
    pub use crate::stream::{Carried, Taken};
}

/// Compiles the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;

/// The examples of the crate's README, as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct CrateReadme;
