//! Methods that wait, and calls that are awaited.
//!
//! Methods may be `async`. `#[remote]` on the `impl` block lets them be written so there, and the trait can be used as
//! `dyn` all the same.
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
//! /// Asks another server, and waits for it; its own caller's text is read where it was received.
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
//! let proxy = Proxy {
//!     exchange: Client::connect(exchange.address())?.lookup::<dyn Prices>("prices")?,
//! };
//! let server = Server::default();
//! server.bind::<dyn Prices>("prices", Arc::new(proxy))?;
//! let serving = server.listen(&"inproc://guide-proxy".parse()?)?;
//!
//! let prices = Client::connect(serving.address())?.lookup::<dyn Prices>("prices")?;
//! let (one, two) = (prices.price("SX5E"), prices.price("DAX"));
//! assert_eq!(*one.wait()?.get() + *two.wait()?.get(), 14.0);
//! # Ok(())
//! # }
//! ```
//!
//! A method that does not have to wait runs to its end where its call arrived, as a plain one does, and costs next to
//! nothing more. One that waits is put aside, and other calls run meanwhile. Its arguments stay in the receive buffer
//! until it ends.
//!
//! The future is `Send`, so what a method holds over an `.await` is too. A [`Received`](crate::Received) that it keeps
//! so stands in a struct of one's own, which names no lifetime: the compiler does not see through it otherwise.
//!
//! # Plain or async
//!
//! | the method | is best |
//! |---|---|
//! | computes for some microseconds | plain |
//! | waits for calls to others, for timers, for conditions | `async`: a plain one that blocks holds up the calls behind it |
//! | computes for long | plain, and asks its [context](crate::context) now and then whether anybody waits still |
//!
//! # Calls in tasks
//!
//! A [`Call`](crate::Call) is a future of any runtime and needs none. It was sent when it was made, not when it is
//! first polled; dropping it gives it up.
//!
//! A server takes so many calls of a connection at once ([`Settings::window_messages`](crate::Settings)). Calls beyond these
//! keep their arguments and go in the order in which they were made, as soon as there is room, while any call of the connection
//! is waited for or polled. So a task may make thousands of calls on a thread that the server calls back. What blocks the
//! thread are arguments of 32 KiB and more, until the connection has taken them, and methods that are one way where there is no
//! room: a task awaits [`Client::ready`](crate::Client::ready) before. A call whose time is over before its turn did not run.
