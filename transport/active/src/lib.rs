//! Active messages: each message names the handler that runs when it arrives.
//!
//! Both sides of a connection have [`Handlers`] and [join](Peer::join) the connection, which
//! exchanges the names of the handlers. From then on, both sides send and serve requests at the
//! same time.
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
//!     Peer::join(endpoint, &handlers, Settings::default()).unwrap().serve(None);
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
//! # Handlers run in the receive loop
//!
//! A handler runs in the receive loop of the thread that received the message; no other thread is
//! woken. An `async` handler is polled once in the loop. If it is not ready, it continues later
//! from where it stopped, and the thread receives the next message. So a handler that rarely waits
//! costs as much as a function (optimistic active messages, Hsieh et al.).
//!
//! A handler that can't complete its work immediately has these options:
//!
//! | the handler | effect |
//! |---|---|
//! | awaits | its future resumes when it is woken: after the handler of its own side that woke it, or once after itself; otherwise at the [`Executor`] |
//! | returns [`Outcome::Rerun`] | it runs again with the same request, a little later |
//! | calls [`nack`](Request::nack) | the request is returned, and the sender retries it with backoff |
//!
//! A handler that is known to wait can run [at a worker](Builder::worker) from the start. An
//! `async` handler that computes for a long time should [yield](yield_now) now and then. A handler
//! that waits for a state of an object can use a [`Guarded`] object.
//!
//! A handler that exceeds its [budget](Builder::budget) (default 10 ms) is counted and reported. If
//! a handler panics, its request is returned to the sender; with `panic = "abort"`, the first panic
//! ends the process. After `fork`, the child has no executor threads and no [`Serving`] threads: it
//! must create its own connections and handlers. A request over a connection of the parent fails
//! with [`RequestError::Forked`] and has no effect there.
//!
//! # Flow control
//!
//! A side sends only as much as its peer has granted: a number of messages and a number of bytes
//! that the peer has not completed. A thread that has no credit serves requests until it has. So
//! two sides that send as fast as they can both make progress, and the memory they hold is bounded
//! whatever the peer does. Answers need no credit. Requests of tasks are [queued](Backpressure)
//! instead, or the task [awaits credit](Attendant::ready).
//!
//! A message that can't be delivered is returned with a [`Reason`], and with its payload if the
//! handler had not taken that. A returned request is reported by its ticket; other returned
//! messages go to [`Attendant::take_returned`].

// The modules, from the bottom up. The files of the connection (`link.rs`), the poll group
// (`poll_loop.rs`), the request (`request.rs`) and the handler table (`handlers.rs`) define types
// that refer to one another; the files in their folders add the operations.
//
// | module | contents |
// |---|---|
// | `error`, `settings`, `frame`, `tap` | errors, limits, frames of the protocol, observers |
// | `state`, `poller_lock`, `standby` | state machine of a task; the poller lock and its waiters |
// | `executor`, `drop_reason` | executors and jobs; the reason for a drop in progress |
// | `turn`, `budget`, `pause` | per-thread state of the receive loop; time budgets; yielding |
// | `ledger` | accounting of a connection: windows, credit, open requests of both sides |
// | `handlers`, `request`, `hello` | handler table; received messages; handshake |
// | `link`, `poll_loop` | state of a connection and of a poll group |
// | `blocking` | waits of handlers for credit, which step aside for nested handlers |
// | `link::{joining, sending, arrival, deferred, queue, waiting}` | operations of a connection |
// | `task`, `handler`, `handlers::builder` | futures of handlers; handlers, and their builder |
// | `poll_loop::{members, deferred}` | connections of a group, and its queues of deferred work |
// | `poll_loop::{looks, single_connection, steps, waiting}` | looks, steps and waits of a poller |
// | `poll_loop::direct_answer` | fast path of a thread that waits for an answer |
// | `thread_pool` | threads that serve a group |
// | `peer`, `ticket`, `attendant`, `poll_group`, `guarded` | the public handles |
// | `replicated` | objects with a copy at each of several members |
//
// Of the threads that wait, poll or serve, the one that holds the poller lock receives the messages
// of a group, and it releases the lock before it runs a handler; a standby thread takes over if the
// handler is slow. A future that is not ready continues on a thread of the executor, or after the
// handler that woke it. The lock of `ledger::Accounts` protects the accounting of a connection,
// those of `link::queue::Queue` and `Link::unread` its waiting messages, `Link::moving` and
// `Link::seat` its group, and those in `PollLoop` the members and the deferred work of a group.

mod attendant;
mod blocking;
mod budget;
mod drop_reason;
mod error;
mod executor;
mod frame;
mod guarded;
mod handler;
mod handlers;
mod hello;
mod ledger;
mod link;
mod other_version;
mod pause;
mod peer;
mod poll_group;
mod poll_loop;
mod poller_lock;
mod replicated;
mod request;
mod retry_after;
mod settings;
mod standby;
mod state;
mod tap;
mod task;
mod thread_pool;
mod ticket;
mod turn;

#[cfg(all(test, loom))]
mod models;

pub use self::attendant::{Attendant, WeakPeer};
pub use self::drop_reason::is_given_back;
pub use self::error::{JoinError, LookupError, Reason, RequestError, Returned};
pub use self::executor::{Executor, Job, ThreadPool};
pub use self::guarded::{Guarded, Held, When};
pub use self::handlers::{Builder, Counters, Handlers, Outcome};
pub use self::pause::{Yield, yield_now};
pub use self::peer::{Backpressure, Departure, Function, Handler, Payload, Peer, PeerStatus};
pub use self::poll_group::PollGroup;
pub use self::replicated::{ReplicaError, Replicated, Writing};
pub use self::request::{Mark, Replier, Request, WeakMark};
#[doc(hidden)]
pub use self::retry_after::{MAX_RETRY_AFTER, decode_retry_after, encode_retry_after};
pub use self::settings::Settings;
pub use self::tap::{Tap, Tapped, TappedKind};
pub use self::task::{Began, Tasks};
pub use self::thread_pool::Serving;
pub use self::ticket::{ObjectTicket, Reply, Ticket, WeakTicket};
pub use self::turn::until_waiting;
