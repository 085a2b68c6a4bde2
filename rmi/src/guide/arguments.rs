//! What methods take.
//!
//! An argument is anything [`Transportable`](jstream::Transportable): plain values, text, slices, and structs and enums
//! of these, with references between them. The method gets the references that its trait names, and they lead into the
//! buffer that the network filled: nothing was allocated or copied for them.
//!
//! ```
//! use std::sync::Arc;
//!
//! use jstream::Transportable;
//! use jstream_rmi::{Client, Server, remote};
//!
//! #[derive(Transportable)]
//! struct Order<'b> {
//!     id: u64,
//!     symbol: &'b str,
//!     legs: &'b [Leg<'b>],
//! }
//!
//! #[derive(Transportable)]
//! struct Leg<'b> {
//!     quantity: i32,
//!     hedges: Option<&'b Leg<'b>>,
//! }
//!
//! #[remote]
//! trait Desk {
//!     fn exposure(&self, order: &Order<'_>, rates: &[f64], currency: Option<&str>) -> f64;
//! }
//!
//! struct Plain;
//!
//! impl Desk for Plain {
//!     fn exposure(&self, order: &Order<'_>, rates: &[f64], currency: Option<&str>) -> f64 {
//!         assert_eq!((order.id, order.symbol, currency), (7, "SX5E", None));
//!         let open = order.legs.iter().filter(|leg| leg.hedges.is_none());
//!         open.zip(rates).map(|(leg, rate)| f64::from(leg.quantity) * rate).sum()
//!     }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let server = Server::default();
//! # server.bind::<dyn Desk>("desk", Arc::new(Plain))?;
//! # let serving = server.listen(&"inproc://guide-arguments".parse()?)?;
//! let desk = Client::connect(serving.address())?.lookup::<dyn Desk>("desk")?;
//! let first = Leg { quantity: 100, hedges: None };
//! let legs = [Leg { quantity: -50, hedges: Some(&first) }, Leg { quantity: 10, hedges: None }];
//! let order = Order { id: 7, symbol: "SX5E", legs: &legs };
//! // A call borrows its arguments only until it has been sent.
//! let call = desk.exposure(&order, &[1.5, 2.0], None);
//! drop(legs);
//! assert_eq!(*call.wait()?.get(), 15.0);
//! # Ok(())
//! # }
//! ```
//!
//! | in the trait | the stub takes | the method gets |
//! |---|---|---|
//! | `n: u32`, any plain `Copy` type | `u32` | the value |
//! | `a: &[f64]`, `s: &str`, `o: &Order<'_>` | the same | a reference into the receive buffer |
//! | `o: Option<&Order<'_>>`, `all: &[&str]` | the same | the same, all the way down |
//! | `shape: &dyn Shape`, see [`polymorphism`](super::polymorphism) | the same | the same |
//! | `o: Received<Order<'static>>`, alone | `&Order<'_>` | the receive buffer itself |
//!
//! Large plain arrays are sent from where they are. What is received was checked: an argument is a valid object of its
//! type, whatever the bytes were, or the call is refused and the method does not run.
//!
//! # Keeping an argument
//!
//! A reference ends with the method. [`Received`](crate::Received) is the buffer with the object in it, and is kept for
//! as long as the program likes:
//!
//! ```
//! use std::sync::{Arc, Mutex};
//!
//! use jstream_rmi::{Client, Received, Server, remote};
//!
//! #[remote]
//! trait Log {
//!     fn keep(&self, lines: Received<&'static [&'static str]>);
//!     fn longest(&self) -> usize;
//! }
//!
//! #[derive(Default)]
//! struct Memory(Mutex<Vec<Received<&'static [&'static str]>>>);
//!
//! impl Log for Memory {
//!     fn keep(&self, lines: Received<&'static [&'static str]>) {
//!         self.0.lock().unwrap().push(lines);
//!     }
//!
//!     fn longest(&self) -> usize {
//!         let all = self.0.lock().unwrap();
//!         let lines = all.iter().flat_map(|lines| lines.get().iter());
//!         lines.map(|line| line.len()).max().unwrap_or(0)
//!     }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let server = Server::default();
//! # server.bind::<dyn Log>("log", Arc::new(Memory::default()))?;
//! # let serving = server.listen(&"inproc://guide-keeping".parse()?)?;
//! let log = Client::connect(serving.address())?.lookup::<dyn Log>("log")?;
//! log.keep(&["a line", "a longer line"].as_slice()).wait()?;
//! assert_eq!(*log.longest().wait()?.get(), 13);
//! # Ok(())
//! # }
//! ```
//!
//! What is kept is taken from the server's pool ([`ServerOptions::transport`](crate::ServerOptions)), whose size is
//! bounded: a server that keeps much gives it a larger one.
//!
//! # Instances
//!
//! A trait with parameters lists its instances, `#[remote(instances(Store<u64>, Store<String>))]`: each is an interface
//! of its own. Methods have no parameters of their own, but for lifetimes.
