//! Processes that come and go, storms of calls between them, and the programs of this crate.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "test code"
)]

mod activated;
mod chaos;
mod features;
mod pipelining_storms;
mod registry_restarts;
mod restart;
mod rolling_versions;
mod servers;
mod storms;
mod stream_processes;
