//! References to objects, calls back, and leases.
//!
//! A method takes a [`Remote<dyn Trait>`](crate::Remote) where it is to call an object that stays where it is, and gives one
//! where its caller is to. An `Option`, `Vec` or `Result` of it may be passed too, and a struct that has such fields
//! beside others, which derives `Referring` and is named as [`Referring<Struct>`](type@crate::Referring) in the method. What is
//! passed is [exported](crate::Server::export), and needs no name.
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
//!         // No lock is held while others are called. Who is gone is forgotten.
//!         let mut all = std::mem::take(&mut *self.watchers.lock().unwrap());
//!         all.retain(|watcher| watcher.changed(key, value).wait().is_ok());
//!         self.watchers.lock().unwrap().extend(all);
//!     }
//!
//!     fn cell(&self, key: &str) -> Option<Remote<dyn Cell>> {
//!         let export = self.server.upgrade()?.export::<dyn Cell>(Arc::new(One(key.len() as u64)));
//!         // It lives as long as somebody has a reference.
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
//! let own = Server::default();
//! let heard = Arc::new(Heard(Mutex::default()));
//! let export = own.export::<dyn Watcher>(heard.clone());
//! let client = Client::connect(serving.address())?;
//! let table = client.lookup::<dyn Table>("table")?;
//! table.watch(export.remote()).wait()?;
//! table.set("a", 7).wait()?;
//! assert_eq!(*heard.0.lock().unwrap(), [7]);
//!
//! // A result that is a reference is called as a stub, and owned.
//! let cell = table.cell("abc").wait()?.ok_or("no cell")?;
//! assert_eq!(*cell.get().wait()?.get(), 3);
//! # Ok(())
//! # }
//! ```
//!
//! # Whose life it is
//!
//! An [`Export`](crate::Export) owns the life of its object: dropped, it ends, and calls by references fail as if
//! there were no such object. [`Export::into_remote`](crate::Export::into_remote) leaves it to the references, here and
//! elsewhere. [`Export::when_unreferenced`](crate::Export::when_unreferenced) tells when nobody else has one any more, and
//! [`Server::references`](crate::Server::references) how many there are of all.
//!
//! An object that has its [`Server`](crate::Server), to export others, and is bound there would keep that, and be kept by it:
//! it has a [`WeakServer`](crate::WeakServer) instead. The same holds for a [`Client`](crate::Client) and the objects that it
//! [exports](crate::Client::export), with [`WeakClient`](crate::WeakClient). A reference keeps its connection, and that what is
//! bound: an object that keeps references of its callers drops those whose calls fail, or is unbound, before its server can end.
//!
//! A reference that comes back to the program that exports the object is the object: calls need no connection, and
//! [`Remote::local`](crate::Remote::local) has what was exported. References are equal, and hash the same, when they lead
//! to one object by one connection.
//!
//! A reference may be called by the side that it was passed to, over that connection, and by nobody else: numbers of other
//! connections, or invented ones, are no objects.
//!
//! # Without waiting for the reference
//!
//! What a call will give can be called before it has: [`RemoteCall::pipelined`](crate::RemoteCall::pipelined) is a stub whose calls are
//! sent at once, and held by the server until the first one is over, so that a chain of calls takes one round trip.
//! They begin in the order in which they were made, and do not run where that gives no object of the server.
//!
//! # Leases
//!
//! Who has a reference need not do anything to keep it. What was passed is leased, for
//! [`ServerOptions::lease`](crate::ServerOptions::lease); the connection says at half time, by one message for all, that
//! it is there, from the thread that keeps the process's timers, also while the program computes. When the last clone is
//! dropped the owner is told, together with others, a few milliseconds later; when a connection ends it knows at once; and
//! of a peer whose connection stays without a word, when the lease is over.
//!
//! Whoever serves hears all that. A client that has passed references and waits for nothing has [a
//! thread](crate::Client::start) that does, or learns of it with its next call.
//!
//! For [tests](super::testing#time) a [`Clock`](crate::Clock) stands until it is moved on.
//!
//! # References to third parties
//!
//! A client that has a reference to an object of one server may pass it to another one. The receiver connects to the owner
//! then, and claims the object by a key that is good for one claim; the owner keeps the object for it meanwhile, for the
//! time of a lease. As that has a server connect to where a client says, it is
//! [to be allowed](crate::ServerOptions::third_parties) there; clients [do so](crate::ClientOptions::third_parties) unless
//! told otherwise. It blocks the thread that reads the reference until the owner has answered. An object of a program that
//! does not listen can't be passed on.
//!
//! # Servers that are found by name
//!
//! A [registry of several servers](crate::directory), which the program `jregistry` serves, has the names of what they
//! have bound: [`Names::bind`](crate::directory::Names::bind) puts one there for as long as the process lasts,
//! [`Names::lookup`](crate::directory::Names::lookup) connects to its server, and
//! [`Names::watch`](crate::directory::Names::watch) tells who comes and goes.
