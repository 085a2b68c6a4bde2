//! Migration from tarpc, Cap'n Proto, tonic, or Java RMI.
//!
//! The examples in `rmi/examples/coming_from` are programs of other libraries, written for this
//! one. The lines of code are without comments and blank lines:
//!
//! | original | example | lines there | lines here |
//! |---|---|---|---|
//! | tarpc's `example-service` | `coming_from_hello` (with `--features tokio`) | 123 | 101 |
//! | tarpc's `examples/pubsub.rs` | `coming_from_pubsub` | 287 | 131 |
//! | the calculator of `capnp-rpc` and its schema | `coming_from_calculator` | 507 | 311 |
//! | a service in a program with axum and tokio | `axum`, in the package `examples` (with `--features axum`) | | 78 |
//!
//! They run by `cargo run -p jstream-rmi --example NAME`. The two that are clients and servers can
//! also be started as two programs, as the originals are.
//!
//! # Comparison
//!
//! The column of jstream links to the page whose examples show it.
//!
//! | | jstream | tarpc | tonic | Java RMI |
//! |---|---|---|---|---|
//! | definition of a service | [a Rust trait](super::first_call) | a Rust trait | a `.proto` file | a Java interface |
//! | arguments arrive as | [references into the receive buffer](super::arguments) | new values | new values | new objects |
//! | polymorphic arguments | [`&dyn Trait` of registered classes](super::polymorphism) | enums | `oneof`, `Any` | any class, including loaded ones |
//! | direction of calls | [both](super::callbacks) | client to server | client to server, and streams | both, over a second connection |
//! | callee | objects, by name or [reference](super::references) | one service per connection | services, by name | objects, by name or reference |
//! | changed method | [is a different method; the error shows both, and the field that differs](#changed-methods-and-defaults) | fails to decode, or is misread | is decoded as far as field numbers agree | is a different method |
//! | methods | [`fn` or `async fn`](super::async_methods) | `async fn` | `async fn` | blocking |
//! | runtime | [none required](super::threads); [works with tokio](super::async_methods#calls-in-tasks) | tokio | tokio | the JVM |
//! | transports | threads, shared memory, Unix sockets, TCP, io_uring, TLS (`jstream_transport::guide::devices`) | any tokio transport | HTTP/2 | TCP |
//! | default timeout of a call | [60 s](#changed-methods-and-defaults) | 10 s | none | none |
//! | errors state whether the method ran | [always](super::failures) | no | no | rarely |
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
//! | `max_channels_per_key` | [`max_connections_per_source`](crate::ServerOptions::max_connections_per_source) for the connections of one host; [`max_connections`](crate::ServerOptions::max_connections) for those of all clients together |
//! | `max_concurrent_requests_per_channel` | [`Settings::window_messages`](crate::Settings::window_messages) of [`ServerOptions::messages`](crate::ServerOptions::messages), and [`max_waiting`](crate::ServerOptions::max_waiting) for suspended methods |
//! | `tarpc::transport::channel::unbounded()` in tests | an address `inproc://name`, or a [`mock`](crate::mock) |
//! | `#[derive(Serialize, Deserialize)]` on arguments | `#[derive(Transportable)]` |
//! | `WorldClient::new(config, transport).spawn()` | [`Client::connect`](crate::Client::connect) and [`lookup`](crate::Client::lookup); no task has to be spawned |
//! | `tokio::select!` of two calls | the same: a call that is dropped is [cancelled](super::deadlines#cancellation) |
//! | spans of `tracing` for each call | [`Traced`](crate::Traced), or an [`Interceptor`](crate::Interceptor) of the program, as in `coming_from_hello` |
//! | the server as the client of a connection that it has accepted, as in `pubsub` | the client passes a [`Remote`](crate::Remote) to an object of its own, which it [exports](crate::Client::export) and the server [calls](super::references) |
//! | `futures::future::join_all` of calls | calls that are made before the first is awaited are [in flight together](super::first_call) |
//!
//! Differences: a plain method runs on the thread that received its call. If a method blocks for a
//! long time, make it an `async fn` that awaits, or run it on [workers](super::threads). One
//! address can serve several objects of several traits. A reply is a [`Reply`](crate::Reply) that
//! owns the receive buffer, so references into it end with the reply. When the method of the stub
//! returns, the call is on its way, or [queued](super::async_methods#calls-in-tasks) for lack of
//! credit; it need not be awaited for that.
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
//! let world = Client::connect(serving.address()).wait()?.lookup::<dyn World>("world").wait()?;
//! // Both calls are in flight at the same time.
//! let both = (world.hello("Ann"), world.hello("Bob"));
//! assert_eq!(*both.0.wait()?.get(), "Hello, Ann!");
//! assert_eq!(*both.1.wait()?.get(), "Hello, Bob!");
//! # Ok(())
//! # }
//! ```
//!
//! # From Cap'n Proto
//!
//! The guide of `jstream` compares [the messages](jstream::guide::coming_from#from-capn-proto).
//!
//! | Cap'n Proto | jstream |
//! |---|---|
//! | `interface Function { call @0 (params :List(Float64)) -> (value :Float64); }` and a build script | `#[remote] trait Function { fn call(&self, params: &[f64]) -> f64; }` |
//! | `impl function::Server for Power`, with `CallParams` and `CallResults` | `impl Function for Power`, with the arguments and the result |
//! | `request.get().init_params(2).set(0, 1.0)`, `request.send()` | `function.call(&[1.0, 2.0])` |
//! | the bootstrap interface | any number of objects [with names](crate::Server::bind) |
//! | a capability as a parameter or result | a [`Remote`](crate::Remote), also in `Option`, `Vec` and `Result` |
//! | a struct with capabilities | a struct that derives [`Referring`](type@crate::Referring); parts of a tree are in a `Vec` and named by position, as in `coming_from_calculator` |
//! | `capnp_rpc::new_client(Power)` | [`Client::export`](crate::Client::export), or [`Server::export`](crate::Server::export) |
//! | `evaluate.send().pipeline.get_value().read_request()` | [`evaluate.pipelined().read()`](crate::RemoteCall::pipelined) |
//! | a promise as a parameter of another call | [`Remote::from_stub(evaluate.pipelined())`](crate::RemoteCall::pipelined); the method begins when the object is known |
//! | `RpcSystem`, `tokio::task::LocalSet`, objects in `Rc` | threads of the server and objects in `Arc`, or a [`LocalServer`](crate::LocalServer) on one thread |
//! | a dropped client releases its object | [the same](super::references#lifetime), also if its process is gone |
//! | a capability of a third party (level 3, not implemented in `capnp-rpc`) | [connects to the owner](super::references#references-to-third-parties) |
//! | `Error::failed`, `overloaded`, `disconnected`, `unimplemented` | a `Result` of the method; [`CallError`](crate::CallError), which states whether the method ran |
//! | `-> stream` | [`Stream<T>`](crate::Stream) |
//!
//! Differences: arguments are not read field by field, and each of them was checked before the
//! method runs. Interfaces do not evolve by numbers; a server may
//! [add methods](super::first_call#agreement-of-both-sides). A client that waits for a call serves
//! the calls of the server meanwhile, and needs a [thread](crate::Client::start) for them
//! otherwise.
//!
//! ```
//! use std::sync::Arc;
//!
//! use jstream_rmi::{Client, Remote, Server, WeakServer, remote};
//!
//! #[remote]
//! trait Function {
//!     fn call(&self, of: f64) -> f64;
//! }
//!
//! #[remote]
//! trait Calculator {
//!     fn double(&self) -> Remote<dyn Function>;
//!     fn apply(&self, function: Remote<dyn Function>, to: f64) -> Result<f64, String>;
//! }
//!
//! struct Times(f64);
//!
//! impl Function for Times {
//!     fn call(&self, of: f64) -> f64 {
//!         self.0 * of
//!     }
//! }
//!
//! struct Plain(WeakServer);
//!
//! impl Calculator for Plain {
//!     fn double(&self) -> Remote<dyn Function> {
//!         let server = self.0.upgrade().expect("the server runs its method");
//!         server.export::<dyn Function>(Arc::new(Times(2.0))).into_remote()
//!     }
//!
//!     fn apply(&self, function: Remote<dyn Function>, to: f64) -> Result<f64, String> {
//!         function.call(to).wait().map(|reply| *reply.get()).map_err(|error| error.to_string())
//!     }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let server = Server::default();
//! server.bind::<dyn Calculator>("calculator", Arc::new(Plain(server.downgrade())))?;
//! let serving = server.listen(&"inproc://guide-capabilities".parse()?)?;
//! let client = Client::connect(serving.address()).wait()?;
//! let calculator = client.lookup::<dyn Calculator>("calculator").wait()?;
//!
//! // Both calls take one round trip.
//! let double = calculator.double();
//! assert_eq!(*double.pipelined().call(3.0).wait()?.get(), 6.0);
//!
//! // An object that has not arrived can be passed as well.
//! let under_way = calculator.double();
//! let promise = Remote::from_stub(under_way.pipelined());
//! assert_eq!(*calculator.apply(promise, 4.0).wait()?.get(), Ok(8.0));
//!
//! // The server calls an object of the client.
//! let triple = client.export::<dyn Function>(Arc::new(Times(3.0)));
//! assert_eq!(*calculator.apply(triple.remote(), 4.0).wait()?.get(), Ok(12.0));
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
//! | `max_decoding_message_size` | `max_message` of the receiving side, in its [`transport`](crate::ServerOptions::transport) options; the sending side learns it, and refuses a longer call with both lengths |
//! | `#[derive(prost::Message)]`, fields by number | `#[derive(Transportable)]`, the type itself |
//!
//! Differences: both sides are built from the same trait. There are no numbered fields. If a
//! program has to talk to older programs, it keeps the older trait under another name. A panic of a
//! method is reported as such, and never looks like the end of a stream. There is no HTTP, so
//! proxies and browsers can't be used.
//!
//! ```
//! use std::sync::Arc;
//!
//! use jstream_rmi::{CallError, Client, Server, Stream, StreamError, remote};
//!
//! #[remote]
//! trait Routes {
//!     fn below(&self, limit: u64) -> Stream<u64>;
//!     fn length(&self, of: &str) -> u64;
//! }
//!
//! struct Fragile;
//!
//! impl Routes for Fragile {
//!     fn below(&self, limit: u64) -> Stream<u64> {
//!         Stream::of((0..).inspect(move |n| assert!(*n < limit)))
//!     }
//!
//!     fn length(&self, of: &str) -> u64 {
//!         of.len() as u64 / of.matches('a').count() as u64
//!     }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # std::panic::set_hook(Box::new(|_| {}));
//! let server = Server::default();
//! server.bind::<dyn Routes>("routes", Arc::new(Fragile))?;
//! let serving = server.listen(&"inproc://guide-routes".parse()?)?;
//! let routes = Client::connect(serving.address()).wait()?.lookup::<dyn Routes>("routes").wait()?;
//!
//! // The stream ends with the error.
//! let mut items: Vec<Result<_, StreamError>> = routes.below(2).collect();
//! let last = items.pop().ok_or("the end is silent")?;
//! assert!(matches!(last, Err(StreamError::Call(CallError::Panicked { .. }))), "{last:?}");
//! assert!(items.iter().all(Result::is_ok));
//! assert!(matches!(routes.length("b").wait(), Err(CallError::Panicked { .. })));
//! // The connection is unaffected.
//! assert_eq!(*routes.length("ab").wait()?.get(), 2);
//! # Ok(())
//! # }
//! ```
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
//! | `getClientHost()` | [`Context::peer`](crate::Context::peer): the address, and the user, process or certificate where known |
//! | code from `java.rmi.server.codebase` | none: unknown types are refused |
//!
//! Differences: many calls share one connection, and connections have no threads of their own. An
//! exception of a method is a value of its result; stack traces are not sent. The error of a failed
//! call states whether its method did not run, may have run, or ran. No method runs twice for one
//! call, unless it is declared idempotent and the stub is [`retrying`](crate::Stub::retrying).
//!
//! # Changed methods and defaults
//!
//! ```
//! use std::sync::Arc;
//! use std::time::Duration;
//!
//! use jstream_rmi::{CallError, Client, ClientOptions, Outcome, Server, ServerOptions, remote};
//!
//! mod old {
//!     #[jstream_rmi::remote]
//!     pub trait World {
//!         fn hello(&self, name: &str) -> String;
//!     }
//! }
//!
//! #[remote]
//! trait World {
//!     fn hello(&self, name: &str, times: u32) -> String;
//! }
//!
//! struct Polite;
//!
//! impl World for Polite {
//!     fn hello(&self, name: &str, times: u32) -> String {
//!         format!("Hello, {name}! ").repeat(times as usize)
//!     }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut options = ServerOptions::default();
//! options.transport.max_message = 1 << 20;
//! let server = Server::new(options);
//! server.bind::<dyn World>("world", Arc::new(Polite))?;
//! let serving = server.listen(&"inproc://guide-changed".parse()?)?;
//! let client = Client::connect(serving.address()).wait()?;
//!
//! // A changed method is a different method, and the error shows both.
//! let error = client.lookup::<dyn old::World>("world").wait().unwrap_err().to_string();
//! assert!(error.contains("fn hello(&self, name: &str) -> String"), "{error}");
//! assert!(error.contains("fn hello(&self, name: &str, times: u32) -> String"), "{error}");
//!
//! // The sending side knows the limit of the receiving one.
//! let world = client.lookup::<dyn World>("world").wait()?;
//! let error = world.hello(&"x".repeat(2 << 20), 1).wait().unwrap_err();
//! assert!(matches!(error, CallError::NotSent { .. }), "{error}");
//! assert_eq!(error.outcome(), Outcome::DidNotRun);
//! assert!(error.to_string().contains("limit of 1048576 bytes"), "{error}");
//!
//! assert_eq!(ClientOptions::default().call_timeout, Duration::from_secs(60));
//! assert_eq!(ServerOptions::default().max_connections, 256);
//! # Ok(())
//! # }
//! ```
