//! Stands in for the simulated network in a build without the feature `sim`: no thread runs a
//! simulation.

use std::future::{Future, pending};
use std::time::{Duration, Instant};

/// Returns the real time.
pub fn clock() -> Instant {
    Instant::now()
}

/// Does nothing, because no simulation runs on this thread.
pub fn spawn_beside(_name: &str, _body: impl Future<Output = ()> + 'static) {}

/// Never ends, because no simulated time passes.
pub async fn sleep(_time: Duration) {
    pending().await
}
