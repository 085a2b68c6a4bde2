//! Tests of the suites, as runs of the program.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "test code"
)]

mod profiles;
mod rmi;
mod transport;
