//! Helpers of the tests of several crates.
//!
//! A helper panics where the condition that it checks does not hold, so that the test fails.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "test code"
)]

pub mod allocator;
pub mod callbacks;
#[cfg(feature = "certificates")]
pub mod certificates;
pub mod frames;
pub mod patterns;
pub mod process;
#[cfg(feature = "strangers")]
pub mod strangers;
pub mod tasks;
#[cfg(feature = "transport")]
pub mod transport;

use std::thread;
use std::time::{Duration, Instant};

/// A timeout longer than any operation of the tests, so that a hang becomes a failure.
pub const LONG: Duration = Duration::from_secs(120);

/// A delay long enough to be noticed and short enough to wait for.
pub const SHORT: Duration = Duration::from_millis(200);

/// Returns the factor by which long tests repeat more than by default: the environment variable
/// `JSTREAM_EFFORT`, or 1.
pub fn effort() -> u32 {
    match std::env::var("JSTREAM_EFFORT") {
        Ok(factor) => factor.parse().unwrap(),
        Err(_) => 1,
    }
}

/// Blocks until `holds` returns true. Panics after [`LONG`] at the caller's location, so that the
/// test fails instead of hanging.
#[track_caller]
pub fn until(mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < LONG, "condition not met in time");
        thread::sleep(Duration::from_millis(1));
    }
}
