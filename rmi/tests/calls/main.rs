//! Calls of all kinds, over several devices.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "test code"
)]

mod async_methods;
mod both_ways;
mod capture;
mod clock;
mod conditions;
mod deadlines;
mod generated;
mod inline;
mod interceptors;
mod limits;
mod macros;
mod much;
mod odd_uses;
mod panics;
mod pipelining;
mod plain;
mod reflection;
mod secrets;
mod shutdown;
mod stream_relays;
mod streams;
#[path = "../tasks/mod.rs"]
mod tasks;
mod turns;
#[path = "../until/mod.rs"]
mod until;
#[path = "../words/mod.rs"]
mod words;
mod workers;
