//! References to objects, callbacks, and leases.
//!
//! If a method has to call an object of its caller, it takes a [`Remote<dyn
//! Trait>`](crate::Remote). If the caller has to call an object of the server, the method returns
//! one. The object itself is not copied. An `Option`, `Vec`, `Box<[T]>`, array or `Result` of a
//! `Remote` can also be passed, and these can be nested. So can a struct or enum with such fields
//! among others: it derives `Referring`, and the method names it as
//! [`Referring<Type>`](type@crate::Referring). A method that keeps none of its arguments can borrow
//! them: `&T`, `&[T]`, `&[&[T]]` and so on are arguments for such a `T`, too. The object has to be
//! exported by a [server](crate::Server::export) or a [client](crate::Client::export), but needs no
//! name.
//!
//! ```
//! use std::sync::{Arc, Mutex};
//!
//! use jstream_rmi::{Client, Remote, Server, WeakServer, remote};
//!
//! #[remote]
//! trait Watcher {
//!     fn changed(&self, key: &str, value: u64);
//! }
//!
//! #[remote]
//! trait Table {
//!     fn watch(&self, watcher: Remote<dyn Watcher>);
//!     fn set(&self, key: &str, value: u64);
//!     fn cell(&self, key: &str) -> Option<Remote<dyn Cell>>;
//! }
//!
//! #[remote]
//! trait Cell {
//!     fn get(&self) -> u64;
//! }
//!
//! struct One(u64);
//!
//! impl Cell for One {
//!     fn get(&self) -> u64 {
//!         self.0
//!     }
//! }
//!
//! struct Plain {
//!     server: WeakServer,
//!     watchers: Mutex<Vec<Remote<dyn Watcher>>>,
//! }
//!
//! impl Table for Plain {
//!     fn watch(&self, watcher: Remote<dyn Watcher>) {
//!         self.watchers.lock().unwrap().push(watcher);
//!     }
//!
//!     fn set(&self, key: &str, value: u64) {
//!         // Calls watchers without holding the lock, and removes those whose calls fail.
//!         let mut all = std::mem::take(&mut *self.watchers.lock().unwrap());
//!         all.retain(|watcher| watcher.changed(key, value).wait().is_ok());
//!         self.watchers.lock().unwrap().extend(all);
//!     }
//!
//!     fn cell(&self, key: &str) -> Option<Remote<dyn Cell>> {
//!         let export = self.server.upgrade()?.export::<dyn Cell>(Arc::new(One(key.len() as u64)));
//!         // The object lives as long as there are references to it.
//!         Some(export.into_remote())
//!     }
//! }
//!
//! struct Heard(Mutex<Vec<u64>>);
//!
//! impl Watcher for Heard {
//!     fn changed(&self, _: &str, value: u64) {
//!         self.0.lock().unwrap().push(value);
//!     }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let server = Server::default();
//! let table = Plain { server: server.downgrade(), watchers: Mutex::default() };
//! server.bind::<dyn Table>("table", Arc::new(table))?;
//! let serving = server.listen(&"inproc://guide-references".parse()?)?;
//!
//! let client = Client::connect(serving.address()).wait()?;
//! let heard = Arc::new(Heard(Mutex::default()));
//! let export = client.export::<dyn Watcher>(heard.clone());
//! let table = client.lookup::<dyn Table>("table").wait()?;
//! table.watch(export.remote()).wait()?;
//! table.set("a", 7).wait()?;
//! assert_eq!(*heard.0.lock().unwrap(), [7]);
//!
//! // A reference that is a result is owned, and is called like a stub.
//! let cell = table.cell("abc").wait()?.ok_or("no cell")?;
//! assert_eq!(*cell.get().wait()?.get(), 3);
//! # Ok(())
//! # }
//! ```
//!
//! # Lifetime
//!
//! An [`Export`](crate::Export) owns the lifetime of the export: when it is dropped, the export
//! ends, and calls by references fail as for an unknown object.
//! [`Export::into_remote`](crate::Export::into_remote) ties the lifetime to the references instead,
//! at this side and at peers. [`Export::when_unreferenced`](crate::Export::when_unreferenced)
//! reports when no peer has a reference any more, and
//! [`Server::references`](crate::Server::references) returns the number of all references.
//!
//! If an object is bound to a [`Server`](crate::Server) and needs it to export other objects, it
//! should hold a [`WeakServer`](crate::WeakServer). Otherwise object and server keep each other
//! alive. The same applies to a [`Client`](crate::Client) and the objects that it
//! [exports](crate::Client::export): they should hold a [`WeakClient`](crate::WeakClient). A
//! reference keeps its connection alive, and the connection keeps the bound objects alive. So
//! before its server can end, an object that holds references of its callers has to drop those
//! whose calls fail, or has to be unbound.
//!
//! If a reference returns to the program that exports the object, it refers to the object itself:
//! calls need no connection, and [`Remote::local`](crate::Remote::local) returns the exported
//! object. References are equal, and have the same hash, if they refer to one object over one
//! connection.
//!
//! Only the side to which a reference was passed can use it, and only over that connection. Numbers
//! of other connections, or invented ones, refer to no object.
//!
//! # Pipelined calls
//!
//! The result of a call can be called before it has arrived.
//! [`RemoteCall::pipelined`](crate::RemoteCall::pipelined) returns a stub whose calls are sent
//! immediately. The server holds them until the first call has ended, so a chain of calls takes a
//! single round trip. The held calls begin in the order in which they were made. They do not run if
//! the first call does not return an object of the server.
//!
//! Such a stub can also be an argument of another call over the same connection:
//! `shop.keep(Remote::from_stub(make.pipelined()))`. The server holds that call, too, and its
//! method gets an ordinary reference. A call passes the results of at most 16 calls in flight.
//!
//! # Leases
//!
//! A program that holds a reference need not do anything to keep it. A passed reference has a lease
//! of [`ServerOptions::lease`](crate::ServerOptions::lease). The connection renews all its leases
//! with one message after half of that time. The thread with the timers of the process sends it,
//! also while the program computes. The owner learns that a reference is gone as follows:
//!
//! - If the last clone is dropped, the owner is notified a few milliseconds later, together with
//!   other dropped references.
//! - If the connection closes, the owner knows immediately.
//! - If the peer is silent although the connection stays open, the lease expires.
//!
//! A thread that serves handles all these events. If a client has passed references and waits for
//! no call, it can [start a thread](crate::Client::start) that serves. Otherwise it handles them
//! during its next call.
//!
//! In [tests](super::testing#time), a paused [`Clock`](crate::Clock) stands still until the test
//! advances it.
//!
//! # References to third parties
//!
//! A client that has a reference to an object of one server can pass it to another server. The
//! receiver then connects to the owner and claims the object by a key that is valid for one claim.
//! The key is not sent to the owner's address: both prove that they know it. A receiver on another
//! host gets the address by which the sender reached the owner, or, if that is a loopback address,
//! the host of the sender. Until then the owner keeps the object, for at most the time of a lease.
//! This makes a server connect to an address that a client supplies, so it has to be
//! [permitted](crate::ServerOptions::third_parties) at the server. Clients [permit
//! it](crate::ClientOptions::third_parties) by default. The thread that reads the reference blocks
//! until the owner has answered. An object of a program that does not listen can't be passed on.
//!
//! # Registry of several servers
//!
//! A [registry of several servers](crate::directory), which the program `jregistry` serves,
//! contains the names that they have bound. [`Names::bind`](crate::directory::Names::bind)
//! registers a name for as long as the process lives,
//! [`Names::lookup`](crate::directory::Names::lookup) connects to the server of a name, and
//! [`Names::watch`](crate::directory::Names::watch) reports names that are added and removed.
