//! Processes that come and go, and storms of calls between them.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "test code"
)]

mod pipelining_storms;
mod registry_restarts;
mod restart;
mod servers;
mod stream_processes;
#[path = "../until/mod.rs"]
mod until;
