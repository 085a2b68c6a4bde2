//! Servers that are restarted.
//!
//! A client whose server was restarted goes on. The first call that notices the loss of the
//! connection starts a thread that connects again, with pauses that double and are partly random.
//! Stubs that were looked up by name then find the object that the new server binds to that name.
//!
//! ```
//! use std::sync::Arc;
//!
//! use jstream_rmi::{Client, ConnectionState, Server, Serving, remote};
//!
//! #[remote]
//! trait Orders {
//!     fn submit(&self, amount: u32) -> u64;
//!     #[remote(idempotent)]
//!     fn price(&self) -> u32;
//! }
//!
//! struct Book(u64);
//!
//! impl Orders for Book {
//!     fn submit(&self, amount: u32) -> u64 {
//!         self.0 + u64::from(amount)
//!     }
//!
//!     fn price(&self) -> u32 {
//!         7
//!     }
//! }
//!
//! fn start(first: u64) -> Result<Serving, Box<dyn std::error::Error>> {
//!     let server = Server::default();
//!     server.bind::<dyn Orders>("orders", Arc::new(Book(first)))?;
//!     Ok(server.listen(&"inproc://guide-restarts".parse()?)?)
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let serving = start(100)?;
//! let client = Client::connect(serving.address()).wait()?;
//! let orders = client.lookup::<dyn Orders>("orders").wait()?;
//! assert_eq!(*orders.submit(1).wait()?.get(), 101);
//!
//! serving.stop();
//! let _serving = start(200)?;
//! assert_eq!(*orders.submit(1).wait()?.get(), 201);
//! assert_eq!(client.state(), ConnectionState::Open { reconnects: 1 });
//! # Ok(())
//! # }
//! ```
//!
//! # What becomes of a call
//!
//! | state of the call when the connection is lost | outcome |
//! |---|---|
//! | not sent | it waits for the connection, and is sent |
//! | sent, and returned by a server that is shutting down | the same: the arguments came back |
//! | sent, and may have run | [`CallError::Lost`](crate::CallError::Lost); if the method is `#[remote(idempotent)]`, it is repeated, at most three times |
//! | sent, and known not to have run because the server has shut down in order | [`CallError::Ending`](crate::CallError::Ending), which [can be repeated](crate::CallError::can_be_repeated); repeated if idempotent |
//! | its result is a stream that is [resumed](#streams) | it is called again for the rest of the stream |
//! | otherwise, it passes references or streams, or is one-way | the same errors, never repeated; made after the loss, it fails until the connection is open |
//!
//! A server that [shuts down](crate::Serving::shutdown) tells its clients to move. A client that
//! has looked up a name then makes new calls over a new connection, which may lead to another
//! process at the same address, and lets those in flight end. So a restart in order loses no call.
//!
//! A call waits until its own timeout, and at most for
//! [`Reconnect::patience`](crate::Reconnect::patience). Then it fails with
//! [`CallError::Disconnected`](crate::CallError::Disconnected): it did not run.
//! [`is_disconnected`](crate::CallError::is_disconnected) is true for all errors that another
//! connection may cure.
//!
//! A thread looks at each connection ten times a second. If the process of a server is killed, a
//! call that is sent before that may have run. Idempotent methods hide this.
//!
//! # State
//!
//! The object of the same name may have [another version](super::versions) of the trait, and it may be another one: a counter begins at 0 again. If callers rely on
//! the state of an object, declare its trait `#[remote(stateful)]`. Its calls then fail with
//! [`CallError::ObjectLost`](crate::CallError::ObjectLost) until the program looks it up again.
//!
//! # References
//!
//! References that methods have returned are lost with their connection: later calls fail with
//! [`CallError::ObjectLost`](crate::CallError::ObjectLost), and did not run. No name leads to their
//! objects, so only the program can say how to acquire one again. It can state that once, by a
//! recipe: a call of an object that was found by its name.
//!
//! ```
//! use std::sync::Arc;
//!
//! use jstream_rmi::{CallError, Client, Remote, Server, Serving, WeakServer, remote};
//!
//! #[remote]
//! trait Shop {
//!     fn cart(&self, customer: u64) -> Remote<dyn Cart>;
//! }
//!
//! #[remote]
//! trait Cart {
//!     fn customer(&self) -> u64;
//! }
//!
//! struct Carts(WeakServer);
//!
//! impl Shop for Carts {
//!     fn cart(&self, customer: u64) -> Remote<dyn Cart> {
//!         let server = self.0.upgrade().expect("the server makes this call");
//!         server.export::<dyn Cart>(Arc::new(Plain(customer))).into_remote()
//!     }
//! }
//!
//! struct Plain(u64);
//!
//! impl Cart for Plain {
//!     fn customer(&self) -> u64 {
//!         self.0
//!     }
//! }
//!
//! fn start() -> Result<Serving, Box<dyn std::error::Error>> {
//!     let server = Server::default();
//!     server.bind::<dyn Shop>("shop", Arc::new(Carts(server.downgrade())))?;
//!     Ok(server.listen(&"inproc://guide-restarts-references".parse()?)?)
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let serving = start()?;
//! let client = Client::connect(serving.address()).wait()?;
//! let shop = client.lookup::<dyn Shop>("shop").wait()?;
//! let open = |shop: &ShopStub| shop.cart(7);
//! let lost = open(&shop).wait()?;
//! let kept = open(&shop).wait()?.acquired_by(&shop, open);
//!
//! serving.stop();
//! let _serving = start()?;
//! assert_eq!(*kept.customer().wait()?.get(), 7);
//! let error = lost.customer().wait().unwrap_err();
//! assert!(matches!(error, CallError::ObjectLost { .. }), "{error}");
//! # Ok(())
//! # }
//! ```
//!
//! The recipe runs once for each lost connection, when a call needs the reference; see
//! [`Remote::acquired_by`](crate::Remote::acquired_by). If it fails, the calls fail with
//! [`CallError::NotGiven`](crate::CallError::NotGiven), which says why. The state of the old object
//! is gone, unless the method restores it. A recipe is also used for `#[remote(stateful)]` traits,
//! since the program asks for that.
//!
//! Objects that the client exports have to be passed again, except those of
//! [`export_server`](crate::Client::export_server).
//!
//! # Streams
//!
//! A method that returns a stream can take the number of the first item. `#[remote(resume =
//! "from")]` names that argument, an integer. If the connection is lost in the middle of the
//! stream, the method is called again, at the object of the same name. The argument is then the
//! original one plus the number of the items that the caller has taken, so the stream goes on
//! without a gap.
//!
//! ```
//! use std::sync::Arc;
//! use std::task::{Context, Poll};
//!
//! use jstream_rmi::{Client, Server, Serving, Stream, remote};
//!
//! #[remote]
//! trait Journal {
//!     /// Returns the entries from this number on.
//!     #[remote(resume = "from")]
//!     fn entries(&self, topic: &str, from: u64) -> Stream<u64>;
//! }
//!
//! struct Plain {
//!     /// Number of entries that the server has. Others may come later.
//!     count: u64,
//! }
//!
//! impl Journal for Plain {
//!     fn entries(&self, _topic: &str, from: u64) -> Stream<u64> {
//!         let (mut next, count) = (from, self.count);
//!         Stream::polled(move |_: &mut Context<'_>| match next {
//!             10 => Poll::Ready(None),
//!             number if number < count => {
//!                 next += 1;
//!                 Poll::Ready(Some(number * number))
//!             }
//!             _ => Poll::Pending,
//!         })
//!     }
//! }
//!
//! fn start(count: u64) -> Result<Serving, Box<dyn std::error::Error>> {
//!     let server = Server::default();
//!     server.bind::<dyn Journal>("journal", Arc::new(Plain { count }))?;
//!     Ok(server.listen(&"inproc://guide-restarts-streams".parse()?)?)
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let serving = start(7)?;
//! let client = Client::connect(serving.address()).wait()?;
//! let journal = client.lookup::<dyn Journal>("journal").wait()?;
//! let mut entries = journal.entries("orders", 4);
//! for number in 4..7 {
//!     assert_eq!(*entries.next().wait().unwrap()?.get(), number * number);
//! }
//!
//! serving.stop();
//! let _serving = start(10)?;
//! // This calls the method again, with 7.
//! let rest: Result<Vec<u64>, _> = entries.map(|entry| entry.map(|entry| *entry.get())).collect();
//! assert_eq!(rest?, [49, 64, 81]);
//! # Ok(())
//! # }
//! ```
//!
//! - All servers must have the same items under the same numbers. A method that is resumed may run
//!   more than once, like one that is `#[remote(idempotent)]`.
//! - A stream leaves a server that is [shutting down](crate::Serving::shutdown) as soon as another
//!   one has the object, unless all its items have arrived.
//! - The stream fails if the calls for it fail three times in a row without an item. An item, or a
//!   call that has lasted for `Reconnect::patience`, ends the count. The pauses between connections
//!   grow as always, and a [`ClientSet`](crate::ClientSet) has its budget.
//! - The deadline of the call is that of the whole stream, with all its calls.
//! - A stream that has ended, or whose producer has failed, is not resumed. An error that is part
//!   of
//!   an item is an item.
//! - If the number of the next item is too large for the type of the argument, the stream fails
//!   with
//!   [`StreamError::Unresumable`](crate::StreamError::Unresumable).
//! - The arguments are copied. They can't be references to objects, or streams.
//! - A stream that is passed on to another peer is not resumed.
//!
//! # Observing and ending it
//!
//! [`Client::state`](crate::Client::state) returns the state of the connection, and
//! [`Client::state_changes`](crate::Client::state_changes) its changes.
//! [`Client::connected`](crate::Client::connected) waits for a connection, for example before calls
//! that pass references. With the feature `metrics`, the counters `jstream_client_reconnects` and
//! `jstream_client_connect_failures` have the address as their label. [`Client::close`](crate::Client::close) ends it for good.
//!
//! A service with several servers has a [`ClientSet`](crate::ClientSet); see
//! [`several_servers`](super::several_servers).
//!
//! `ClientOptions::reconnect = None` turns it off: calls fail once the connection is lost.
