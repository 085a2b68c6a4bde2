//! Tests that need processes: worlds of processes, processes that share memory, forked and
//! interrupted ones, hosts in network namespaces, and the programs of this crate.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "test code"
)]

mod channels;
mod descriptors;
mod features;
#[cfg(target_os = "linux")]
mod forked;
mod growth;
mod hosts;
#[cfg(target_os = "linux")]
mod interrupted;
mod launchers;
mod many;
mod namespaces;
mod netem;
mod strangers;
mod survivors;
mod trusted;
mod worlds;
