//! Metadata: string keys and values that travel with a call.
//!
//! [`Metadata`](crate::Metadata) is for what concerns all calls and no method: the trace of a
//! request, its tenant, its priority. What a method needs is an argument.
//!
//! - A stub [with metadata](crate::Stub::with_metadata) sends it with each of its calls.
//! - A method reads it from its [context](crate::Context::metadata).
//! - Calls that the method makes inherit it, across `.await` as well, so it travels through all
//!   servers behind the first one. Values of the stub replace inherited ones. Calls inherit nothing
//!   that start in [`enter`](crate::Context::enter) of a context whose metadata was
//!   [replaced](crate::Context::with_metadata) by none. A thread or task that the method starts
//!   inherits within `enter` only.
//! - [Interceptors](crate::Interceptor) see it, and those of the caller can [change
//!   it](crate::Watch::add_metadata).
//!
//! The limits are [32 entries](crate::Metadata::MAX_ENTRIES) and
//! [4 KiB](crate::Metadata::MAX_BYTES). A call that would have more is not sent. Metadata comes
//! from the peer: check it as you check arguments, and let it reach peers outside of your system
//! only if it may. A call without metadata costs nothing.
//!
//! # Trace context
//!
//! An interceptor carries the [trace context of W3C](https://www.w3.org/TR/trace-context/) between
//! the spans of a tracing library. Each call gets an id of its own, within the trace of the method
//! that makes it, or within a new one. `tracestate` is inherited as it is:
//!
//! ```
//! use std::sync::Arc;
//! use std::sync::atomic::{AtomicU64, Ordering};
//!
//! use jstream_rmi::{
//!     CallInfo, Client, ClientOptions, Denied, Interceptor, Interceptors, Metadata, Server, Watch,
//!     context, remote,
//! };
//!
//! #[remote]
//! trait Shop {
//!     fn order(&self, what: &str) -> String;
//! }
//!
//! struct Plain;
//!
//! impl Shop for Plain {
//!     fn order(&self, _: &str) -> String {
//!         context().metadata().get("traceparent").unwrap_or_default().to_owned()
//!     }
//! }
//!
//! struct TraceContext;
//!
//! impl Interceptor for TraceContext {
//!     fn before(&self, _: &CallInfo) -> Result<Box<dyn Watch>, Denied> {
//!         static NEXT: AtomicU64 = AtomicU64::new(1);
//!         // A tracing library opens a span here, which ends in `after`.
//!         Ok(Box::new(Span(NEXT.fetch_add(1, Ordering::Relaxed))))
//!     }
//! }
//!
//! struct Span(u64);
//!
//! impl Watch for Span {
//!     fn add_metadata(&self, metadata: &mut Metadata) -> Result<(), Denied> {
//!         let parent = metadata.get("traceparent").unwrap_or_default();
//!         let trace = match parent.split('-').nth(1) {
//!             Some(trace) => trace.to_owned(),
//!             None => format!("{:032x}", 0x4bf9_2f35_77b3_4da6_u64),
//!         };
//!         metadata.insert("traceparent", &format!("00-{trace}-{:016x}-01", self.0))?;
//!         Ok(())
//!     }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let server = Server::default();
//! server.bind::<dyn Shop>("shop", Arc::new(Plain))?;
//! let serving = server.listen(&"inproc://doc-metadata".parse()?)?;
//!
//! let mut options = ClientOptions::default();
//! options.interceptors = Interceptors::default().and(TraceContext);
//! let client = Client::connect_with(serving.address(), &options).wait()?;
//! let shop = client.lookup::<dyn Shop>("shop").wait()?;
//! let seen = shop.order("tea").wait()?;
//! assert!(seen.get().starts_with("00-00000000000000004bf92f3577b34da6-"));
//! # Ok(())
//! # }
//! ```
//!
//! An [asynchronous interceptor](crate::guide::layers) fetches a token before each call.
//!
//! A [`StubService`](https://docs.rs/jstream-rmi/latest/jstream_rmi/struct.StubService.html) of
//! tower sets metadata in the function that makes the call, from the request that it gets:
//! `stub.with_metadata(request.metadata).order(&request.what)`.
