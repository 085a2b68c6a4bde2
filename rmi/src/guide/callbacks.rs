//! Calls in both directions.
//!
//! A client can also [export](crate::Client::export) objects, over its connection to the server. It
//! passes [references](super::references) to them as arguments, and the server calls these. No
//! second connection is needed, so clients behind a firewall can be called.
//!
//! ```
//! use std::sync::Arc;
//!
//! use jstream_rmi::{Client, Remote, Server, remote};
//!
//! #[remote]
//! trait Report {
//!     fn progress(&self, done: u32) -> bool;
//! }
//!
//! #[remote]
//! trait Work {
//!     fn work(&self, steps: u32, report: Remote<dyn Report>) -> u32;
//! }
//!
//! struct Plain;
//!
//! impl Work for Plain {
//!     fn work(&self, steps: u32, report: Remote<dyn Report>) -> u32 {
//!         let goes_on = |step: &u32| report.progress(*step).wait().is_ok_and(|reply| *reply.get());
//!         (1..=steps).take_while(goes_on).last().unwrap_or(0)
//!     }
//! }
//!
//! /// Stops the work after three steps.
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
//! let serving = server.listen(&"inproc://guide-callbacks".parse()?)?;
//!
//! let client = Client::connect(serving.address()).wait()?;
//! let work = client.lookup::<dyn Work>("work").wait()?;
//! let report = client.export::<dyn Report>(Arc::new(Shown));
//! // While this thread waits for its call, it serves calls of the server.
//! assert_eq!(*work.work(10, report.remote()).wait()?.get(), 3);
//! # Ok(())
//! # }
//! ```
//!
//! # Objects with names
//!
//! A client can also [export a server](crate::Client::export_server). A method then finds the
//! objects by their names, through the [caller](crate::Context::caller) of its
//! [context](crate::context).
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
//!         let Some(caller) = context().caller() else {
//!             return 0;
//!         };
//!         let Ok(report) = caller.lookup::<dyn Report>("report").wait() else {
//!             return 0;
//!         };
//!         let goes_on = |step: &u32| report.progress(*step).wait().is_ok_and(|reply| *reply.get());
//!         (1..=steps).take_while(goes_on).last().unwrap_or(0)
//!     }
//! }
//!
//! /// Stops the work after three steps.
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
//! let client = Client::connect(serving.address()).wait()?;
//! // A client binds names to its exported objects as a server does.
//! let objects = Server::default();
//! objects.bind::<dyn Report>("report", Arc::new(Shown))?;
//! assert!(client.export_server(&objects));
//! // While this thread waits for its call, it serves calls of the server.
//! let work = client.lookup::<dyn Work>("work").wait()?;
//! assert_eq!(*work.work(10).wait()?.get(), 3);
//! # Ok(())
//! # }
//! ```
//!
//! # Threads
//!
//! A thread that waits for a call serves the calls of the other side meanwhile. So methods can call
//! each other back repeatedly, up to the depth in [`Settings::nesting`](crate::Settings). A client
//! that waits for no call has to [serve](crate::Client::serve), or to [start a
//! thread](crate::Client::start) that serves.
