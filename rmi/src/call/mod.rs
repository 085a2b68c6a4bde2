//! Layer 7: calls, at their caller (`outgoing`) and at their object (`incoming`).
//!
//! The registry and the reflection are remote traits that every server implements. Only their
//! traits are here.
//!
//! Imports the layers before it, up to `stream`.
//!
//! # Steps of one call
//!
//! A method awaits a call without arguments and result, over `inproc`, and the same thread serves
//! that call. This is the path `null_call_awaited` of `benches/benches/counts`. It takes 13,150
//! instructions. The steps were counted when it took 15,200; since then, steps 4 and 11 have
//! become shorter by 2,000 together:
//!
//! ```text
//!  1 make the header: inherited deadline, clock, metadata              730  OutgoingCall
//!  2 take a place in the peer's window, and send the request           910  Peer::request_with
//!  3 poll the connection of the caller, without result                 650  PollLoop::poll
//!  4 post a receive, and register the task for it                    3,380  PollLoop::attend
//!  5 set the alarm of the deadline                                     300  Alarm
//!  6 poll the connections of the server, and receive the request     1,420  PollLoop::poll_once
//!  7 find the object, and check the limits                             370  incoming::dispatch
//!  8 call the skeleton and the method                                  230  Callee::call
//!  9 send the result, which wakes the task                           1,350  Answer::reply
//! 10 resume the task, and enter the context of its method              850  Task::run
//! 11 poll the connection of the caller, and take the answer          3,100  PollLoop::attend
//! 12 keep the state of the call, and read the result                 1,910  Flight::poll_message
//! ```
//!
//! The answer goes directly to the task that polls for it (11), so it is neither stored in the
//! ledger nor reported by a waker. Steps 4 and 11 are the price of a wait without a thread: a
//! receive is posted, the device is armed, and a completion queue tells the task.

mod incoming;
mod outgoing;
mod reflection;
mod registry;

pub(crate) use self::incoming::{MOST_WAITING, handlers};
pub use self::incoming::{Serves, Skeleton};
pub use self::outgoing::{Call, RemoteCall, Reply};
pub(crate) use self::reflection::paired;
pub use self::reflection::{
    Bound, BoundRef, Described, DescribedTrait, DescribedTraitRef, Description, DescriptionRef,
    Health, Reflection, ReflectionStub, Signature, SignatureRef,
};
pub use self::registry::{
    CallerMethod, CallerVersion, CallerVersionRef, Claimed, Found, FoundVersion, RefusedMethod,
    Registry, RegistryStub,
};
