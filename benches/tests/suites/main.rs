//! Tests of the suites, as runs of the program.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "test code"
)]

mod apps;
mod apps_irregular;
mod apps_ranks;
mod counts;
mod evolution;
mod profiles;
mod report;
mod rmi;
mod transport;
