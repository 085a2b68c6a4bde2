//! Waiting for the effects of other threads and processes.

use std::thread;
use std::time::{Duration, Instant};

const LONG: Duration = Duration::from_secs(120);

/// Blocks until `holds` returns true. Panics after two minutes at the caller's location, so that
/// the test fails instead of hanging.
#[track_caller]
pub(crate) fn until(mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < LONG, "condition not met in time");
        thread::sleep(Duration::from_millis(1));
    }
}
