//! Pipelined calls: calls of objects that other calls, still in flight, will return.
//!
//! The caller numbers the calls that return a reference. The server holds a call that names such a
//! call until the named call has ended, and then starts it with the returned object. The server
//! remembers the most recent results by call number for a while, because the caller may not have
//! read the answers yet.
//!
//! A call can also have such results among its arguments. It is held in the queue of its object,
//! and then in the queue of one argument after the other. If an argument is known, the call does
//! not wait for its turn in that queue. Meanwhile it keeps the turn for its own object.
//!
//! Calls are numbered and held in order of arrival, before another thread takes over receiving.
//! Among the calls that name the same call, each starts when the previous one has ended or is
//! suspended. They therefore start in the order in which they were made, regardless of the number
//! of serving threads. A held call keeps its place in the peer's flow-control window, and counts as
//! a waiting call. If the limit of waiting calls is reached, a call is held as well, and starts
//! when there is room: if it were returned, its retry would arrive behind later calls. Such calls,
//! and those that name a call which has not arrived, take at most half of the window, so that the
//! calls on which they depend have room to arrive. A call beyond that fails as busy.

mod admission;
mod promises;
mod queues;
mod turn;

pub(crate) use self::promises::Promises;
pub(crate) use self::turn::{Aim, Named, Promise, PromisedArguments, Turn};
