//! Methods that wait, and calls that are awaited.
//!
//! Methods may be `async`. With `#[remote]` on the `impl` block, they can be written as `async fn`
//! there too, and the trait can still be used as `dyn`.
//!
//! ```
//! use std::sync::Arc;
//!
//! use jstream_rmi::{Client, Server, remote};
//!
//! #[remote]
//! trait Prices {
//!     async fn price(&self, symbol: &str) -> f64;
//! }
//!
//! struct Exchange;
//!
//! #[remote]
//! impl Prices for Exchange {
//!     async fn price(&self, symbol: &str) -> f64 {
//!         symbol.len() as f64
//!     }
//! }
//!
//! /// Forwards calls to another server. The argument stays in the receive buffer meanwhile.
//! struct Proxy {
//!     exchange: PricesStub,
//! }
//!
//! #[remote]
//! impl Prices for Proxy {
//!     async fn price(&self, symbol: &str) -> f64 {
//!         match self.exchange.price(symbol).await {
//!             Ok(price) => *price.get() * 2.0,
//!             Err(_) => f64::NAN,
//!         }
//!     }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let server = Server::default();
//! server.bind::<dyn Prices>("prices", Arc::new(Exchange))?;
//! let exchange = server.listen(&"inproc://guide-exchange".parse()?)?;
//!
//! let client = Client::connect(exchange.address()).wait()?;
//! let exchange = client.lookup::<dyn Prices>("prices").wait()?;
//! let proxy = Proxy { exchange };
//! let server = Server::default();
//! server.bind::<dyn Prices>("prices", Arc::new(proxy))?;
//! let serving = server.listen(&"inproc://guide-proxy".parse()?)?;
//!
//! let prices = Client::connect(serving.address()).wait()?.lookup::<dyn Prices>("prices").wait()?;
//! let (one, two) = (prices.price("SX5E"), prices.price("DAX"));
//! assert_eq!(*one.wait()?.get() + *two.wait()?.get(), 14.0);
//! # Ok(())
//! # }
//! ```
//!
//! If the attribute on the `impl` block is missing, the compiler reports that the method has an
//! incompatible type or other lifetimes than in the trait (E0053, E0195). Without `async fn`, a
//! method can be written by hand as a `fn` that returns a [`BoxFuture`](crate::BoxFuture); its
//! block needs no attribute.
//!
//! A method that does not have to wait runs to its end on the thread that received its call, as a
//! plain method does, at almost the same cost. If a method waits, it is suspended and other calls
//! run. Its arguments stay in the receive buffer until it ends.
//!
//! The future is `Send`, so everything that a method keeps across an `.await` must be `Send` too.
//! A [`Received`](crate::Received) of a type without lifetimes can be kept as it is. If the type
//! has a lifetime, put the `Received` in a struct of your own, because the compiler can't check the
//! lifetime otherwise:
//!
//! ```
//! use jstream::Transportable;
//! use jstream_rmi::{Received, remote};
//!
//! #[derive(Transportable)]
//! struct Owned {
//!     name: String,
//! }
//!
//! #[derive(Transportable)]
//! struct Borrowed<'b> {
//!     name: &'b str,
//! }
//!
//! struct Kept(Received<Borrowed<'static>>);
//!
//! #[remote]
//! trait Names {
//!     async fn owned(&self, of: Received<Owned>) -> u64;
//!     async fn borrowed(&self, of: Received<Borrowed<'static>>) -> u64;
//! }
//!
//! struct Plain;
//!
//! #[remote]
//! impl Names for Plain {
//!     async fn owned(&self, of: Received<Owned>) -> u64 {
//!         std::future::ready(()).await;
//!         of.get().name.len() as u64
//!     }
//!
//!     async fn borrowed(&self, of: Received<Borrowed<'static>>) -> u64 {
//!         let of = Kept(of);
//!         std::future::ready(()).await;
//!         of.0.get().name.len() as u64
//!     }
//! }
//! ```
//!
//! # Plain or async
//!
//! | the method | recommended |
//! |---|---|
//! | computes for some microseconds | plain |
//! | waits for other calls, timers or conditions | `async`, because a plain method that blocks delays the calls behind it |
//! | computes for a long time | plain; check through the [context](crate::context) now and then whether the caller still waits |
//!
//! # Calls in tasks
//!
//! A [`Call`](crate::Call) is a future that needs no runtime and works with any. The call is sent
//! when it is made, not when it is first polled. Dropping the future cancels the call.
//!
//! A server accepts a limited number of calls per connection at once
//! ([`Settings::window_messages`](crate::Settings)). Further calls keep their arguments. They are
//! sent in the order in which they were made, when there is credit, while any call of the
//! connection is waited for or polled. So a task can make thousands of calls on a thread that also
//! serves calls of the server. Two kinds of calls block the thread: calls with arguments of 32 KiB
//! or more, until the connection has accepted the arguments, and calls of one-way methods if there
//! is no credit. To avoid the latter, a task can await [`Client::ready`](crate::Client::ready)
//! first. If the deadline of a call passes before it is sent, its method does not run.
