//! Arguments of methods.
//!
//! An argument can be of any [`Transportable`](jstream::Transportable) type: plain values, text,
//! slices, and structs and enums of these, with references between them. The method gets the
//! references that its trait names. They point into the buffer that the network filled, so the
//! arguments are neither allocated nor copied.
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
//! let desk = Client::connect(serving.address()).wait()?.lookup::<dyn Desk>("desk").wait()?;
//! let first = Leg { quantity: 100, hedges: None };
//! let legs = [Leg { quantity: -50, hedges: Some(&first) }, Leg { quantity: 10, hedges: None }];
//! let order = Order { id: 7, symbol: "SX5E", legs: &legs };
//! // A call borrows its arguments only until they have been sent.
//! let call = desk.exposure(&order, &[1.5, 2.0], None);
//! drop(legs);
//! assert_eq!(*call.wait()?.get(), 15.0);
//! # Ok(())
//! # }
//! ```
//!
//! | in the trait | type in the stub | type in the method |
//! |---|---|---|
//! | `n: u32`, any plain `Copy` type | `u32` | the value |
//! | `a: &[f64]`, `s: &str`, `o: &Order<'_>` | the same | a reference into the receive buffer |
//! | `o: Option<&Order<'_>>`, `all: &[&str]` | the same | the same, with all nested references |
//! | `u: &UserRef<'_>`, `all: &[UserRef<'_>]`, see below | `&User` or `&UserRef<'_>`, or slices of these | a reference into the receive buffer |
//! | `shape: &dyn Shape`, see [`polymorphism`](super::polymorphism) | the same | the same |
//! | `a: NdArray<'_, f64, [usize; 2]>` (with the feature `ndarray` of `jstream`) | the same, by `NdArray::try_from(&array)` | its `view` is an `ArrayView2` of the receive buffer |
//! | `o: Received<Order<'static>>`, as the only argument | `&Order<'_>` | the receive buffer itself |
//!
//! Large plain arrays and long text are sent from their place in memory. Received data is checked
//! before the method runs: an argument is a valid object of its type whatever the bytes were, or
//! the call is refused and the method does not run.
//!
//! # Types that own their parts
//!
//! A type with a `String` or a `Vec` in it arrives as its [form](jstream::guide::owners): a `User`
//! as a `UserRef<'_>`, a `String` as a `&str`, a `Vec<T>` as a slice, and a `HashMap` as a
//! [`HashedMap`](jstream::map::HashedMap). A method takes the form, and callers pass the owner or
//! the form:
//!
//! ```
//! use std::sync::Arc;
//!
//! use jstream::Transportable;
//! use jstream_rmi::{Client, Server, remote};
//!
//! #[derive(Transportable)]
//! struct User {
//!     name: String,
//!     age: u64,
//! }
//!
//! #[remote]
//! trait Users {
//!     fn oldest(&self, users: &[UserRef<'_>], limit: u64) -> Option<String>;
//! }
//!
//! struct Plain;
//!
//! impl Users for Plain {
//!     fn oldest(&self, users: &[UserRef<'_>], limit: u64) -> Option<String> {
//!         let allowed = users.iter().filter(|user| user.age <= limit);
//!         allowed.max_by_key(|user| user.age).map(|user| user.name.to_owned())
//!     }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let server = Server::default();
//! # server.bind::<dyn Users>("users", Arc::new(Plain))?;
//! # let serving = server.listen(&"inproc://guide-owners".parse()?)?;
//! let users = Client::connect(serving.address()).wait()?.lookup::<dyn Users>("users").wait()?;
//! let all = vec![
//!     User { name: "Ada".to_owned(), age: 36 },
//!     User { name: "Grace".to_owned(), age: 85 },
//! ];
//! let oldest = users.oldest(&all, 50).wait()?;
//! assert_eq!(*oldest.get(), Some("Ada"));
//! # Ok(())
//! # }
//! ```
//!
//! If a method takes the owner, as in `user: &User` or `name: String`, the compiler reports at this
//! parameter as what it arrives. Types are recognised as forms by their names: those that end in
//! `Ref`, and the maps and sets of [`jstream::map`].
//!
//! # Keeping an argument
//!
//! A reference is valid until the method returns. A [`Received`](crate::Received) is the buffer
//! together with the object in it, and the program can keep it for any time:
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
//! let log = Client::connect(serving.address()).wait()?.lookup::<dyn Log>("log").wait()?;
//! log.keep(&["a line", "a longer line"].as_slice()).wait()?;
//! assert_eq!(*log.longest().wait()?.get(), 13);
//! # Ok(())
//! # }
//! ```
//!
//! The buffer has all arguments of the call. To keep several, take them as one, as in
//! `Received<(User, u64)>`; the stub then takes a `&(User, u64)`.
//!
//! The memory of kept buffers belongs to the server's pool
//! ([`ServerOptions::transport`](crate::ServerOptions)), which has a limit. A server that keeps
//! many buffers needs a pool with a higher limit.
//!
//! # Generic traits
//!
//! A trait with type parameters lists its instances, `#[remote(instances(Store<u64>,
//! Store<String>))]`. Each of them is a separate interface. Methods can have lifetime parameters,
//! but no other parameters of their own.
