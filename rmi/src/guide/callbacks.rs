//! Calls in both directions.
//!
//! A client exports objects too, over the connection that it has made, and a method finds them through the
//! [caller](crate::Context::caller) of its [context](crate::context). No second connection is made, so a client behind a
//! firewall is called as any other.
//!
//! ```
//! use std::sync::Arc;
//!
//! use jstream_rmi::{Client, Server, context, remote};
//!
//! #[remote]
//! trait Report {
//!     fn progress(&self, done: u32) -> bool;
//! }
//!
//! #[remote]
//! trait Work {
//!     fn work(&self, steps: u32) -> u32;
//! }
//!
//! struct Plain;
//!
//! impl Work for Plain {
//!     fn work(&self, steps: u32) -> u32 {
//!         let Some(Ok(report)) = context().caller().map(|caller| caller.lookup::<dyn Report>("report")) else {
//!             return 0;
//!         };
//!         let goes_on = |step: &u32| report.progress(*step).wait().is_ok_and(|reply| *reply.get());
//!         (1..=steps).take_while(goes_on).last().unwrap_or(0)
//!     }
//! }
//!
//! /// Has enough after three.
//! struct Shown;
//!
//! impl Report for Shown {
//!     fn progress(&self, done: u32) -> bool {
//!         done <= 3
//!     }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let server = Server::default();
//! server.bind::<dyn Work>("work", Arc::new(Plain))?;
//! let serving = server.listen(&"inproc://guide-both-ways".parse()?)?;
//!
//! let client = Client::connect(serving.address())?;
//! // What a client exports it binds to names as a server does.
//! let objects = Server::default();
//! objects.bind::<dyn Report>("report", Arc::new(Shown))?;
//! assert!(client.export(&objects));
//! // Whoever waits serves meanwhile.
//! let work = client.lookup::<dyn Work>("work")?;
//! assert_eq!(*work.work(10).wait()?.get(), 3);
//! # Ok(())
//! # }
//! ```
//!
//! Whoever waits for a call serves those of the other side meanwhile. So methods may call each other back, on and on; how
//! deep, [`Settings::nesting`](crate::Settings) says. A client that waits for no call [serves](crate::Client::serve), or
//! has [a thread](crate::Client::start) that does.
