//! Tests of the suites, as runs of the program.
//!
//! Cargo runs them only by name: `cargo test -p jstream-benches --test suites`.
//!
//! Decision 133 has the reasons.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "test code"
)]

mod apps;
mod apps_irregular;
mod apps_ranks;
mod evolution;
mod profiles;
mod report;
mod rmi;
mod services;
mod transport;
