//! Active messages: messages that name the handler which runs when they arrive.
//!
//! Each side of a connection has [`Handlers`], and [joins](Peer::join) the other one: both tell the names. From then on
//! both request and serve, at the same time.
//!
//! ```
//! use jstream::Received;
//! use jstream_transport::active::{Handlers, Peer, Settings};
//! use jstream_transport::{Options, connect, listen};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let address = "inproc://active".parse()?;
//! let listener = listen(&address, &Options::default())?;
//! let server = std::thread::spawn(move || {
//!     let handlers = Handlers::builder()
//!         .on("double", |request| {
//!             let doubled = request.word() * 2;
//!             request.reply(doubled, b"done");
//!         })
//!         .function("sum", |numbers: Received<Vec<f64>>| numbers.get().iter().sum::<f64>())
//!         .build();
//!     let endpoint = listener.accept().unwrap().establish().unwrap();
//!     Peer::join(endpoint, &handlers, Settings::default()).unwrap().serve();
//! });
//!
//! let endpoint = connect(&address, &Options::default())?;
//! let peer = Peer::join(endpoint, &Handlers::none(), Settings::default())?;
//! let double = peer.handler("double")?;
//! let reply = peer.request(double, 21, b"")?.wait()?;
//! assert_eq!((reply.word, reply.payload.as_bytes()), (42, &b"done"[..]));
//! let sum = peer.function::<Vec<f64>, f64>("sum")?;
//! assert_eq!(*peer.call(&sum, &vec![1.0, 2.5])?.wait()?.get(), 3.5);
//! # drop(peer);
//! # server.join().unwrap();
//! # Ok(())
//! # }
//! ```
//!
//! # Handlers run where they are received
//!
//! A handler runs in the receive loop of whoever receives: no thread is woken for it. If it is `async`, its future is
//! polled there once; when that has to wait, it goes on later as it is, and whoever receives goes on at once. So a
//! handler that seldom waits costs what a function does (optimistic active messages, Hsieh et al.).
//!
//! What a handler can do that can't do its work now:
//!
//! | | what happens |
//! |---|---|
//! | it awaits | its future goes on when it is woken: behind the handler of its side that woke it, or behind itself once, else at the [`Executor`] |
//! | it returns [`Outcome::Rerun`] | it is run again with the same request, a little later |
//! | it [nacks](Request::nack) | the request goes back, and its sender sends it again after a pause |
//!
//! A handler that is known to wait runs [at a worker](Builder::worker) at once. An `async` one that computes for long
//! [makes way](yield_now) now and then. One that waits for a state of an object asks a [`Guarded`] one.
//!
//! A handler that runs for more than 10 ms, or another [budget](Builder::budget), is counted and reported. One that
//! panics has its request come back; where panics abort, the process ends with the first of them. After `fork` the
//! child has no thread of an executor, nor of a [`Serving`]: it uses connections that it makes itself, with handlers
//! of its own. What it asks over one of its parent is [`RequestError::Forked`], and changes nothing there.
//!
//! # Credit
//!
//! A side sends only as much as the other one has said that it takes: so many messages and so many bytes that are not
//! done with. Who may send nothing serves until it may. So two sides that send as fast as they can both go on, and what
//! is held is bounded whatever the peer does. Answers need no credit. Tasks [await their turn](Peer::ready) instead.
//!
//! What can't be delivered comes back with a [`Reason`], and with what was sent where the handler had not taken
//! it: to the ticket of a request, and else to [`Peer::take_returned`].

mod attendant;
mod budget;
mod bundle;
mod crew;
mod driving;
mod error;
mod executor;
mod frame;
mod guarded;
mod handlers;
mod hello;
mod ledger;
mod link;
pub(crate) mod parker;
mod pause;
mod peer;
mod request;
mod role;
mod runs;
mod settings;
mod state;
mod sync;
mod tap;
mod task;
mod ticket;
mod turn;
mod watch;

#[cfg(all(test, loom))]
mod models;

pub use self::attendant::{Attendant, WeakPeer};
pub use self::bundle::{Bundle, Serving};
pub use self::error::{JoinError, LookupError, Reason, RequestError, Returned};
pub use self::executor::{Executor, Job, ThreadPool};
pub use self::guarded::{Guarded, Held, When};
pub use self::handlers::{Builder, Counters, Handlers, Outcome};
pub use self::pause::{Yield, yield_now};
pub use self::peer::{Departure, Function, Handler, Peer, Ready};
pub use self::request::{Mark, Replier, Request, WeakMark};
pub use self::settings::Settings;
pub use self::tap::{Tap, Tapped, TappedKind};
pub use self::task::{Began, Tasks, is_given_back};
pub use self::ticket::{ObjectTicket, Reply, Ticket};
pub use self::turn::until_waiting;
