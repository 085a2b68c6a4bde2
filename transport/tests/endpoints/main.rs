//! Endpoints, devices, typed channels, and the matcher.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "test code"
)]

mod channels;
mod close;
mod endpoint;
mod features;
mod futures;
mod hostile;
mod inproc;
#[cfg(not(feature = "tls"))]
mod left_out;
mod matching;
mod posted;
mod progress;
mod protocol;
mod queue;
mod queue_tasks;
mod rejected;
mod remote;
mod remote_hostile;
mod ring;
mod sockets;
mod tcp;
mod typed;
mod zero_copy;
