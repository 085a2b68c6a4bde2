//! Services with several servers.
//!
//! A [`ClientSet`](crate::ClientSet) is a client of all servers that have the same objects. Each
//! call of its stubs goes to one of them, its *members*.
//!
//! ```
//! use std::sync::Arc;
//!
//! use jstream_rmi::{AddressList, ClientSet, Server, Serving, remote};
//!
//! #[remote]
//! trait Prices {
//!     #[remote(idempotent)]
//!     fn price(&self, article: u32) -> u32;
//! }
//!
//! struct Table;
//!
//! impl Prices for Table {
//!     fn price(&self, article: u32) -> u32 {
//!         article * 2
//!     }
//! }
//!
//! fn start(address: &str) -> Result<Serving, Box<dyn std::error::Error>> {
//!     let server = Server::default();
//!     server.bind::<dyn Prices>("prices", Arc::new(Table))?;
//!     Ok(server.listen(&address.parse()?)?)
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let first = start("inproc://guide-several-1")?;
//! let second = start("inproc://guide-several-2")?;
//! let addresses = [first.address().clone(), second.address().clone()];
//! let set = ClientSet::open(AddressList::new(addresses)?)?;
//! let prices = set.get::<dyn Prices>("prices");
//! assert_eq!(*prices.price(7).wait()?.get(), 14);
//!
//! // A server that is shut down passes its clients on. No call is lost.
//! first.shutdown(std::time::Duration::from_secs(10)).wait();
//! assert_eq!(*prices.price(8).wait()?.get(), 16);
//! # Ok(())
//! # }
//! ```
//!
//! # Where the members are from
//!
//! | source | members |
//! |---|---|
//! | [`AddressList`](crate::AddressList) | a list of addresses |
//! | [`HostRecords`](crate::HostRecords) | all addresses of a host name, such as that of a headless service of Kubernetes, which is resolved again every ten seconds ([`SetOptions::refresh`](crate::SetOptions::refresh)) |
//! | `RegistryNames` (feature `directory`) | the servers whose names in a [registry](crate::directory) have a prefix, and all servers that [share](crate::directory#names-with-several-servers) such a name; changes take effect at once |
//! | your own [`MemberSource`](crate::MemberSource) | what it returns |
//!
//! If a source fails or returns an empty list, the members stay the same. A member that has left
//! the list gets no more calls. Its connection ends when its calls have ended, and the last
//! reference from it was dropped.
//!
//! # Which member gets a call
//!
//! Of two random members, that with fewer calls in flight and a lower latency. Members whose
//! connection has ended, or whose server is shutting down, get none. A member that has not answered
//! three calls before their deadlines is [`Silent`](crate::MemberState::Silent): it is tested by
//! lookups, and gets calls again when it answers these. If a lookup has no answer within
//! [`Settings::handshake_timeout`](crate::Settings), the member is connected again, since a
//! connection that was cut off for long recovers late. If most members are silent, they get calls
//! all the same.
//!
//! If the source names the [zone](crate::ListedMember::zone) of each member, and
//! [`SetOptions::zone`](crate::SetOptions::zone) that of the program, members of the same zone get
//! all calls. Others are used while these do not answer or have too many calls in flight.
//!
//! With [`SetOptions::breaker`](crate::SetOptions::breaker), a member that fails half of its calls
//! is [`Failing`](crate::MemberState::Failing): it gets no calls for a while, and then one that
//! tests it. Calls fail if they have no answer before their deadlines, are refused because the
//! server is busy, or their methods panic.
//!
//! [`pinned`](crate::ClientSet::pinned) makes a stub whose calls go to the member that a key leads
//! to, for objects with caches. For objects whose state must not be lost unnoticed, declare the
//! trait `#[remote(stateful)]`: the stub then stays at one member, and its calls fail with
//! [`CallError::ObjectLost`](crate::CallError::ObjectLost) when that is gone.
//!
//! # What becomes of a call that fails
//!
//! | failure | the call |
//! |---|---|
//! | it was not sent, or came back from a server that is shutting down | is made at another member, or waits for one, until its timeout or [`Reconnect::patience`](crate::Reconnect::patience) is over |
//! | it came back because the server is busy | is made at others, at most three times |
//! | the server no longer has the object | the same if the method is `#[remote(idempotent)]`; else it fails, since its arguments are gone |
//! | it may have run | is repeated at most three times if the method is `#[remote(idempotent)]`; else it fails with that outcome |
//!
//! The second, third and fourth kind use a budget of a tenth of the calls
//! ([`SetOptions::repetitions`](crate::SetOptions::repetitions)), so that an overloaded service
//! does not get even more calls. Calls that pass references or streams, and one-way calls, are
//! never repeated, and do not wait for a member: wait for
//! [`ClientSet::ready`](crate::ClientSet::ready) first. Streams that are
//! [resumed](super::restarts#streams) go on at another member.
//!
//! # Calls that take long
//!
//! With [`SetOptions::hedging`](crate::SetOptions::hedging), a call of an idempotent method that
//! has no answer after a time in which 95 of 100 calls end is also made at another member. The
//! first result is that of the call, and the other attempt is cancelled. This takes from the same
//! budget. The timeout of a call counts for all its attempts together.
//!
//! # Replacing servers
//!
//! [`Serving::shutdown`](crate::Serving::shutdown) tells the clients to move before it closes their
//! connections. It returns new calls unread, lets those that run end, and waits until each set and
//! each [client that reconnects](super::restarts) has said that no call of it is on its way. So a
//! rolling restart loses no call. The message has no address: a set chooses among its own members.
//!
//! Of a process that is killed, calls may have run. A set looks at each connection ten times a
//! second ([`SetOptions::watch`](crate::SetOptions::watch)), so few calls meet a dead one.
//!
//! # Observing
//!
//! [`ClientSet::members`](crate::ClientSet::members) shows the state of each member, its zone, its
//! calls in flight and its latency. With the feature `metrics`, `jstream_set_hedged_calls` counts
//! second attempts, and `jstream_set_opened_circuits` members that began to fail.
//!
//! # The proof
//!
//! The benchmark program of the repository runs three servers and two clients as processes, and
//! shuts the servers down, replaces them by another version, kills them, stops them, slows them
//! down, cuts off their network, or puts a program in their place that never answers:
//!
//! ```text
//! cargo run --release -p jstream-benches -- services
//! cargo run --release -p jstream-benches -- services --case kill --calls 1000000
//! ```
//!
//! A ledger outside the processes holds which orders were executed, and what their callers were
//! told. The run fails if an answer is wrong, an order was executed twice without being idempotent,
//! or an [outcome](crate::CallError::outcome) is not true. It reports the latencies before and
//! during each fault, and the time until a server that is back answers all clients. With
//! `--features peers`, tonic and tarpc are measured in the same run. The network is cut off by
//! namespaces, which needs root; otherwise, that case is skipped.
