//! Migration from tarpc, tonic, or Java RMI.
//!
//! # Comparison
//!
//! | | jstream | tarpc | tonic | Java RMI |
//! |---|---|---|---|---|
//! | definition of a service | a Rust trait | a Rust trait | a `.proto` file | a Java interface |
//! | arguments arrive as | references into the receive buffer | new values | new values | new objects |
//! | polymorphic arguments | `&dyn Trait` of registered classes | enums | `oneof`, `Any` | any class, including loaded ones |
//! | direction of calls | both | client to server | client to server, and streams | both, over a second connection |
//! | callee | objects, by name or reference | one service per connection | services, by name | objects, by name or reference |
//! | changed method | is a different method; the error shows both | fails to decode, or is misread | is decoded as far as field numbers agree | is a different method |
//! | methods | `fn` or `async fn` | `async fn` | `async fn` | blocking |
//! | runtime | none required; works with tokio | tokio | tokio | the JVM |
//! | transports | threads, shared memory, Unix sockets, TCP, io_uring, TLS | any tokio transport | HTTP/2 | TCP |
//! | default timeout of a call | 60 s | 10 s | none | none |
//! | errors state whether the method ran | always | no | no | rarely |
//! | other languages | no | no | many | JVM only |
//!
//! # From tarpc
//!
//! | tarpc | jstream |
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
//! Differences: a plain method runs on the thread that received its call. If a method blocks for a
//! long time, make it an `async fn` that awaits, or run it on [workers](super::threads). One
//! address can serve several objects of several traits. A reply is a [`Reply`](crate::Reply) that
//! owns the receive buffer, so references into it end with the reply. A call is sent when the
//! method of the stub returns, before anything is awaited.
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
//! // Both calls are in flight at the same time.
//! let both = (world.hello("Ann"), world.hello("Bob"));
//! assert_eq!(*both.0.wait()?.get(), "Hello, Ann!");
//! assert_eq!(*both.1.wait()?.get(), "Hello, Bob!");
//! # Ok(())
//! # }
//! ```
//!
//! # From tonic
//!
//! | tonic | jstream |
//! |---|---|
//! | `service Routes { rpc Get(Point) returns (Feature); }` and a build script | `#[remote] trait Routes { fn get(&self, at: &Point) -> Option<Feature>; }` |
//! | `Request<T>`, `Response<T>` | the argument, the result |
//! | `Status`, with a code and a message | `Result<T, E>` with your own `E`; [`CallError`](crate::CallError) for all other failures |
//! | `stream` of requests, of responses | [`Stream<T>`](crate::Stream) as an argument, as the result |
//! | `tonic::transport::Server::builder().add_service(a).add_service(b)` | [`bind`](crate::Server::bind) for each object |
//! | `Request::set_timeout` | [`Stub::within`](crate::Stub::within) |
//! | `max_decoding_message_size` | one limit for messages in both directions, [`Options`](crate::ServerOptions::transport) |
//! | `#[derive(prost::Message)]`, fields by number | `#[derive(Transportable)]`, the type itself |
//!
//! Differences: both sides are built from the same trait. There are no numbered fields. If a
//! program has to talk to older programs, it keeps the older trait under another name. A panic of a
//! method is reported as such, and never looks like the end of a stream. There is no HTTP, so
//! proxies and browsers can't be used.
//!
//! # From Java RMI
//!
//! | Java RMI | jstream |
//! |---|---|
//! | `interface Account extends Remote` | `#[remote] trait Account` |
//! | `throws RemoteException` on each method | a method of the stub returns a [`Call`](crate::Call), whose result states the failure |
//! | `UnicastRemoteObject.exportObject(account, 0)` | [`Server::bind`](crate::Server::bind) |
//! | `LocateRegistry.getRegistry(host).lookup("account")` | [`Client::connect`](crate::Client::connect), then [`lookup`](crate::Client::lookup) |
//! | `rebind`, `unbind`, `list` | [`rebind`](crate::Server::rebind), [`unbind`](crate::Server::unbind), [`RegistryStub::list`](crate::Client::registry) |
//! | arguments that are `Serializable` | `#[derive(Transportable)]` |
//! | `java.rmi.server.hostname` | the address of the connection |
//! | `sun.rmi.transport.tcp.responseTimeout` | [`ClientOptions::call_timeout`](crate::ClientOptions::call_timeout) |
//! | `getClientHost()` | [`Context::caller`](crate::Context::caller) |
//! | code from `java.rmi.server.codebase` | none: unknown types are refused |
//!
//! Differences: many calls share one connection, and connections have no threads of their own. An
//! exception of a method is a value of its result; stack traces are not sent. The error of a failed
//! call states whether its method did not run, may have run, or ran. No method runs twice for one
//! call.
