//! Transfers of messages between two ranks: the state of each message at its sender and at its
//! receiver, without I/O.
//!
//! | module | a state machine for |
//! |---|---|
//! | [`offers`] | a message at its sender, if the peer has to answer it |
//! | [`letter`] | a message at its receiver, until a receive has it |
//! | [`incoming`] | the payload that is arriving, and those that were requested |
//! | [`connection`] | the events of a connection, which these three handle |
//!
//! Each module begins with the table of its transitions. Events come in as calls of methods of the
//! [`RankState`](crate::state::RankState), under the lock of the inbox. Actions come out as results
//! and as [`DeferredWork`](crate::work_queue::DeferredWork): frames to send, bytes to copy,
//! senders to notify. The receive sink, the sinks of sends, and the threads of other ranks carry
//! them out.
//!
//! Decision 122 has the reasons.

pub(crate) mod connection;
pub(crate) mod incoming;
pub(crate) mod letter;
pub(crate) mod offers;
#[cfg(all(test, not(loom)))]
mod tests;

/// A peer has sent a frame that no peer of this protocol sends in this state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Violation;
