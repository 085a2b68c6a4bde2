//! Endpoints and devices.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "test code"
)]

mod close;
#[path = "../common/mod.rs"]
mod common;
mod endpoint;
mod futures;
mod inproc;
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
