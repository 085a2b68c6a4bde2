//! Waiting for what another thread or process does.

use std::thread;
use std::time::{Duration, Instant};

const LONG: Duration = Duration::from_secs(120);

/// Returns when it holds. What never does fails the test where it waits, instead of holding up all of them.
#[track_caller]
pub(crate) fn until(mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < LONG, "this never holds");
        thread::sleep(Duration::from_millis(1));
    }
}
