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
//! | it passes references or streams, or is one-way | the same errors, never repeated; made after the loss, it fails until the connection is open |
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
//! References that methods have returned stay lost: acquire them again, by the methods that return
//! them. Objects that the client exports have to be passed again, except those of
//! [`export_server`](crate::Client::export_server).
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
