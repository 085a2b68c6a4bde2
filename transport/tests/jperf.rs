//! Tests of the `jperf` program, run as a child process.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "test code"
)]

#[path = "jperf/common.rs"]
mod common;
#[path = "jperf/run.rs"]
mod run;
#[path = "jperf/serve.rs"]
mod serve;
#[path = "jperf/tune.rs"]
mod tune;
