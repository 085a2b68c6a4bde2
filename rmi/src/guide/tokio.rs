//! Clients and servers in a program that uses tokio.
//!
//! The futures of this crate need no runtime. With the feature `tokio`, methods run in the runtime
//! of the program, so that they may use its timers, sockets and tasks.
//!
//! ```
//! use std::sync::Arc;
//! use std::time::Duration;
//!
//! use jstream_rmi::{Client, Server, Stub, remote};
//!
//! #[remote]
//! trait Quotes {
//!     async fn quote(&self, symbol: &str) -> f64;
//! }
//!
//! struct Exchange;
//!
//! #[remote]
//! impl Quotes for Exchange {
//!     async fn quote(&self, symbol: &str) -> f64 {
//!         tokio::time::sleep(Duration::from_millis(2)).await;
//!         symbol.len() as f64
//!     }
//! }
//!
//! async fn program() -> Result<(), Box<dyn std::error::Error>> {
//!     // The methods run in the runtime in which the server starts to listen.
//!     let server = Server::default();
//!     server.bind::<dyn Quotes>("quotes", Arc::new(Exchange))?;
//!     let serving = server.listen(&"tcp://127.0.0.1:0".parse()?)?;
//!
//!     let client = Client::connect(serving.address()).await?;
//!     let quotes = client.lookup::<dyn Quotes>("quotes").await?;
//!     assert_eq!(*quotes.quote("DAX").await?.get(), 3.0);
//!
//!     // Stubs are cheap to clone, and tasks share the connection.
//!     let tasks: Vec<_> = ["DAX", "SX5E"]
//!         .map(|symbol| {
//!             let quotes = quotes.clone();
//!             tokio::spawn(async move { Ok(*quotes.quote(symbol).await?.get()) })
//!         })
//!         .into();
//!     let mut sum = 0.0;
//!     for task in tasks {
//!         let quote: Result<f64, jstream_rmi::CallError> = task.await?;
//!         sum += quote?;
//!     }
//!     assert_eq!(sum, 7.0);
//!
//!     // This deadline travels with the call, and ends the method at its `.await`. A future that
//!     // is dropped, as by `tokio::time::timeout`, cancels its call as well.
//!     let hasty = quotes.within(Duration::from_micros(500));
//!     assert!(hasty.quote("DAX").await.is_err());
//!
//!     // A program waits here, for example for `tokio::signal::ctrl_c()`.
//!     let ended = serving.shutdown(Duration::from_secs(10)).await;
//!     assert_eq!((ended.cut_off, ended.abandoned), (0, false));
//!     Ok(())
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
//! runtime.block_on(program())
//! # }
//! ```
//!
//! # Await, do not wait
//!
//! | in a thread | in a task |
//! |---|---|
//! | `Client::connect(address).wait()?` | `Client::connect(address).await?` |
//! | `client.lookup::<dyn Quotes>("quotes").wait()?` | `client.lookup::<dyn Quotes>("quotes").await?` |
//! | `quotes.quote("DAX").wait()?` | `quotes.quote("DAX").await?` |
//! | `for item in stream`, `stream.next().wait()` | `stream.next().await` |
//! | `sender.send(item).wait()?` | `sender.send(item).await?` |
//! | `serving.shutdown(time).wait()` | `serving.shutdown(time).await` |
//! | `client.serve()` | `client.start()?`, which starts a thread |
//! | `serving.wait()` | keep `serving`, and await its shutdown |
//!
//! A thread that waits stops all tasks that its runtime would run on it, perhaps the one for which
//! it waits. In debug builds with the feature `tokio`, such a wait therefore panics at once.
//! Threads may wait inside `tokio::task::spawn_blocking` and `tokio::task::block_in_place`, and
//! threads of the program may always wait. Calls with large arguments and one-way calls are sent by
//! the task itself, which may block it; see [calls in tasks](super::async_methods#calls-in-tasks).
//! So is the connection to the owner of a reference, if the peer passes an object of a third party.
//!
//! [`Server::listen`](crate::Server::listen) does not block, and accepts connections on a thread of
//! its own. A handle of a server that a task drops ends its connections without waiting for its
//! methods.
//!
//! # Threads of methods
//!
//! The threads of the server receive calls and run methods up to their first suspension, inside the
//! runtime. An async method resumes as a task of the runtime. A plain method may block, because its
//! thread runs no tasks; an async method that has been suspended must not.
//!
//! [`ServerOptions::workers`](crate::ServerOptions::workers) chooses another runtime
//! ([`Workers::tokio`](crate::Workers::tokio)) or none
//! ([`Workers::threads`](crate::Workers::threads)). If a server starts outside of all runtimes,
//! its methods have none. A method that needs one then panics, and the
//! [error](crate::CallError::Panicked) of its caller says what to change.
//!
//! # With axum
//!
//! A handler awaits calls of a stub in the state of the router. When the program is told to end,
//! the web server stops first, because its handlers make calls; then the server of the objects
//! shuts down. The example `axum` of the repository is a complete program: `cargo run -p examples
//! --features axum --example axum`.
//!
//! # With tower
//!
//! With the feature `tower`, `StubService` makes a `tower::Service` of a stub, for middleware such
//! as limits of the rate and of concurrent calls. On the side of the server, use an
//! [`Interceptor`](crate::Interceptor).
