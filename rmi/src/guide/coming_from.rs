//! Coming from tarpc, tonic, or Java RMI.
//!
//! # Side by side
//!
//! | | jstream | tarpc | tonic | Java RMI |
//! |---|---|---|---|---|
//! | a service is | a Rust trait | a Rust trait | a `.proto` file | a Java interface |
//! | arguments arrive as | references into the receive buffer | values, made anew | values, made anew | objects, made anew |
//! | polymorphic arguments | `&dyn Trait` of registered classes | enums | `oneof`, `Any` | any class, also one that is loaded |
//! | who calls | both sides | the client | the client, and streams | both sides, by another connection |
//! | what is called | objects, by name or reference | one service for a connection | services by name | objects, by name or reference |
//! | a changed method | is another method: the error shows both | fails to decode, or worse | is read as far as numbers agree | is another method |
//! | methods are | `fn` or `async fn` | `async fn` | `async fn` | blocking |
//! | a runtime | none; tokio if you want | tokio | tokio | the JVM |
//! | travels over | threads, shared memory, Unix sockets, TCP, io_uring, TLS | anything of tokio's | HTTP/2 | TCP |
//! | calls wait | 60 s unless told otherwise | 10 s | for ever | for ever |
//! | errors say whether the method ran | always | no | no | seldom |
//! | other languages | no | no | many | JVM only |
//!
//! # From tarpc
//!
//! | tarpc | here |
//! |---|---|
//! | `#[tarpc::service] trait World` | `#[remote] trait World` |
//! | `async fn hello(name: String) -> String` | `fn hello(&self, name: &str) -> String`, or `async fn` |
//! | `impl World for Server`, with a [`context`](crate::context) as its first argument | `impl World for Server`; [`context()`](crate::context()) wherever it is needed |
//! | `client.hello(context::current(), name).await?` | `world.hello(&name).await?`, or `.wait()?` |
//! | `context.deadline` | [`Stub::within`](crate::Stub::within), [`Context::time_left`](crate::Context::time_left) |
//! | `BaseChannel::with_defaults(transport).execute(server.serve())` | [`Server::bind`](crate::Server::bind) and [`Server::listen`](crate::Server::listen) |
//! | `max_channels_per_key`, `max_concurrent_requests_per_channel` | the limits of [`ServerOptions`](crate::ServerOptions) |
//! | `tarpc::transport::channel::unbounded()` in tests | an address `inproc://name`, or a [`mock`](crate::mock) |
//! | `#[derive(Serialize, Deserialize)]` on arguments | `#[derive(Transportable)]` |
//!
//! What is different: a plain method runs on the thread that received its call, so one that blocks for long belongs into an
//! `async fn` that waits, or to [workers](super::threads). Several objects, of several traits, are served at one
//! address. A reply is a [`Reply`](crate::Reply) that holds the receive buffer: what it points to ends with it. A call is on its way
//! when the stub's method returns, before anything is awaited.
//!
//! ```
//! use std::sync::Arc;
//!
//! use jstream_rmi::{Client, Server, remote};
//!
//! #[remote]
//! trait World {
//!     async fn hello(&self, name: &str) -> String;
//! }
//!
//! struct Polite;
//!
//! #[remote]
//! impl World for Polite {
//!     async fn hello(&self, name: &str) -> String {
//!         format!("Hello, {name}!")
//!     }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let server = Server::default();
//! server.bind::<dyn World>("world", Arc::new(Polite))?;
//! let serving = server.listen(&"inproc://guide-coming-from".parse()?)?;
//! let world = Client::connect(serving.address())?.lookup::<dyn World>("world")?;
//! // The first is on its way while the second is made.
//! let both = (world.hello("Ann"), world.hello("Bob"));
//! assert_eq!(*both.0.wait()?.get(), "Hello, Ann!");
//! assert_eq!(*both.1.wait()?.get(), "Hello, Bob!");
//! # Ok(())
//! # }
//! ```
//!
//! # From tonic
//!
//! | tonic | here |
//! |---|---|
//! | `service Routes { rpc Get(Point) returns (Feature); }` and a build script | `#[remote] trait Routes { fn get(&self, at: &Point) -> Option<Feature>; }` |
//! | `Request<T>`, `Response<T>` | the argument, the result |
//! | `Status`, with a code and words | `Result<T, E>` with an `E` of your own; [`CallError`](crate::CallError) for what else fails |
//! | `stream` of requests, of responses | [`Stream<T>`](crate::Stream) as an argument, as the result |
//! | `tonic::transport::Server::builder().add_service(a).add_service(b)` | [`bind`](crate::Server::bind) for each object |
//! | `Request::set_timeout` | [`Stub::within`](crate::Stub::within) |
//! | `max_decoding_message_size` | one limit of messages in both directions, [`Options`](crate::ServerOptions::transport) |
//! | `#[derive(prost::Message)]`, fields by number | `#[derive(Transportable)]`, the type itself |
//!
//! What is different: both sides are built from the same trait. There are no numbered fields, so a program that is to talk
//! to older ones keeps the older trait, under another name. A panic of a method is an error that says so, and never
//! looks like the end of a stream. There is no HTTP: proxies and browsers don't understand it.
//!
//! # From Java RMI
//!
//! | Java RMI | here |
//! |---|---|
//! | `interface Account extends Remote` | `#[remote] trait Account` |
//! | `throws RemoteException` on each method | a stub's method returns a [`Call`](crate::Call), whose result says what failed |
//! | `UnicastRemoteObject.exportObject(account, 0)` | [`Server::bind`](crate::Server::bind) |
//! | `LocateRegistry.getRegistry(host).lookup("account")` | [`Client::connect`](crate::Client::connect), then [`lookup`](crate::Client::lookup) |
//! | `rebind`, `unbind`, `list` | [`rebind`](crate::Server::rebind), [`unbind`](crate::Server::unbind), [`RegistryStub::list`](crate::Client::registry) |
//! | arguments that are `Serializable` | `#[derive(Transportable)]` |
//! | `java.rmi.server.hostname` | the address of the connection |
//! | `sun.rmi.transport.tcp.responseTimeout` | [`ClientOptions::call_timeout`](crate::ClientOptions::call_timeout) |
//! | `getClientHost()` | [`Context::caller`](crate::Context::caller) |
//! | code from `java.rmi.server.codebase` | none: types that are not known are refused |
//!
//! What is different: many calls share one connection, and no thread belongs to one. An exception of a method is a value of
//! its result; stack traces don't travel. A call that failed says whether its method did not run, may have run, or ran. No
//! method runs twice for one call.
