//! Asynchronous interceptors, and layers of tower, around all calls of a client or a server.
//!
//! An [`Interceptor`](crate::Interceptor) is called before and after each call, and can't wait. An
//! [`AsyncInterceptor`](crate::AsyncInterceptor) can: to fetch a token, or to ask a service about
//! one. A layer of tower surrounds each call with a service, such as a timeout or a limit. Both are
//! part of [`Interceptors`](crate::Interceptors), in the options of a client or of a server, and
//! hold for all methods of all objects. They get a [`CallRequest`](crate::CallRequest), which
//! describes the call and does not contain its arguments: these stay borrowed values.
//!
//! # A token for each call
//!
//! The client fetches a token and adds it to the metadata; the server lets another service check
//! it. Here, the services are futures of the program:
//!
//! ```
//! use std::sync::Arc;
//! use std::sync::atomic::{AtomicU64, Ordering};
//!
//! use jstream_rmi::{
//!     AsyncInterceptor, CallRequest, Client, ClientOptions, Denied, Interceptors,
//!     Server, ServerOptions, context, remote,
//! };
//!
//! #[remote]
//! trait Vault {
//!     fn open(&self, number: u64) -> String;
//! }
//!
//! struct Plain;
//!
//! impl Vault for Plain {
//!     fn open(&self, number: u64) -> String {
//!         // An entry of the server's interceptor, which has checked the token.
//!         let user = context().metadata().get("user").unwrap_or_default().to_owned();
//!         format!("{number} for {user}")
//!     }
//! }
//!
//! async fn fetch_token(number: u64) -> String {
//!     format!("token-{number}")
//! }
//!
//! async fn user_of(token: &str) -> Option<String> {
//!     token.strip_prefix("token-").map(|number| format!("user {number}"))
//! }
//!
//! struct AddToken(AtomicU64);
//!
//! impl AsyncInterceptor for AddToken {
//!     async fn before(&self, call: &mut CallRequest) -> Result<(), Denied> {
//!         let token = fetch_token(self.0.fetch_add(1, Ordering::Relaxed)).await;
//!         call.metadata_mut().insert("token", &token)?;
//!         Ok(())
//!     }
//! }
//!
//! struct CheckToken;
//!
//! impl AsyncInterceptor for CheckToken {
//!     async fn before(&self, call: &mut CallRequest) -> Result<(), Denied> {
//!         let token = call.metadata().get("token").unwrap_or_default().to_owned();
//!         let user = user_of(&token).await.ok_or(Denied("the token is not valid".to_owned()))?;
//!         call.metadata_mut().insert("user", &user)?;
//!         Ok(())
//!     }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut options = ServerOptions::default();
//! options.interceptors = Interceptors::default().and_async(CheckToken);
//! let server = Server::new(options);
//! server.bind::<dyn Vault>("vault", Arc::new(Plain))?;
//! let serving = server.listen(&"inproc://doc-layers".parse()?)?;
//!
//! let mut options = ClientOptions::default();
//! options.interceptors = Interceptors::default().and_async(AddToken(AtomicU64::new(1)));
//! let client = Client::connect_with(serving.address(), &options).wait()?;
//! // The lookup is a call as well, and has the first token.
//! let vault = client.lookup::<dyn Vault>("vault").wait()?;
//! assert_eq!(*vault.open(7).wait()?.get(), "7 for user 2");
//!
//! let stranger = Client::connect(serving.address()).wait()?;
//! assert!(stranger.lookup::<dyn Vault>("vault").wait().is_err());
//! # Ok(())
//! # }
//! ```
//!
//! An interceptor that makes calls over its own client intercepts these, too: use another client
//! for them, or let calls of their [interface](crate::CallRequest::interface) pass.
//!
//! # Layers of tower
//!
//! With the feature `tower`, the requests of a service are all calls, and its inner service is
//! `CallService`. The service is made once, so a limit holds for all calls of the client, whatever
//! their methods:
//!
#![cfg_attr(not(all(feature = "tower", feature = "tokio")), doc = "```ignore")]
#![cfg_attr(all(feature = "tower", feature = "tokio"), doc = "```")]
//! use std::sync::Arc;
//! use std::time::Duration;
//!
//! use jstream_rmi::{CallError, Client, ClientOptions, Interceptors, Server, remote};
//! use tower::ServiceBuilder;
//!
//! #[remote]
//! trait Slow {
//!     async fn never(&self);
//!     fn length(&self, text: &str) -> u64;
//! }
//!
//! struct Plain;
//!
//! #[remote]
//! impl Slow for Plain {
//!     async fn never(&self) {
//!         std::future::pending().await
//!     }
//!
//!     fn length(&self, text: &str) -> u64 {
//!         text.len() as u64
//!     }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
//! # runtime.block_on(async {
//! let server = Server::default();
//! server.bind::<dyn Slow>("slow", Arc::new(Plain))?;
//! let serving = server.listen(&"inproc://doc-tower-layers".parse()?)?;
//!
//! let layers = ServiceBuilder::new()
//!     .timeout(Duration::from_millis(50))
//!     .concurrency_limit(8);
//! let mut options = ClientOptions::default();
//! options.interceptors = Interceptors::default().layer(&layers.into_inner());
//! let client = Client::connect_with(serving.address(), &options).await?;
//! let slow = client.lookup::<dyn Slow>("slow").await?;
//!
//! assert_eq!(*slow.length("tower").await?.get(), 5);
//! let late = slow.never().await.unwrap_err();
//! assert!(matches!(late, CallError::Layer { .. }), "{late}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })
//! # }
//! ```
//!
//! # What layers can do
//!
//! | | at the client | at the server |
//! |---|---|---|
//! | deny or delay a call | yes | yes, also of a plain method |
//! | change the metadata | yes | yes: the method reads it |
//! | end a call that runs | yes: it is cancelled | an async method ends at its current `.await`; a plain one can't be ended |
//! | see the outcome | yes, before the caller does | yes, when the result has been sent |
//! | replace the result | no | no |
//! | make the call again | yes, with [`keeping_arguments`](crate::Interceptors::keeping_arguments), if the method did not run or is idempotent | no |
//!
//! - If the layers of a client are ready at once, as an interceptor is that has its token in
//!   memory, the call is sent when it is made, without a copy of the arguments. Else they are
//!   encoded, and the call is sent while a thread or a task waits for it. Pipelined calls of its
//!   result fail until then, and a one-way call fails with
//!   [`CallError::Layer`](crate::CallError::Layer).
//! - The deadline of a call limits its layers. At the server, a call that waits in them counts as a
//!   [suspended method](crate::ServerOptions::max_waiting).
//! - A call that is dropped drops its layers. A panic in one ends that call alone.
//! - Layers surround all attempts of a call that is repeated by its stub, by a client that connects
//!   again, or by a set. An [`Interceptor`](crate::Interceptor) sees each attempt.
//! - Calls of objects of the same program have no layers. Without layers, calls have no additional
//!   cost.
