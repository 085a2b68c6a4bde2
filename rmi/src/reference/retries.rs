//! Number and pacing of retries.

use std::time::Duration;

/// Number and pacing of retries; see [`Stub::retrying`](crate::Stub::retrying).
///
/// If a method is [busy](crate::CallError::Busy), the transport resends the request
/// [`Settings::retries`](crate::Settings::retries) times before the call fails. Those attempts do
/// not count here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Retries {
    /// Maximum number of retries (default 3).
    pub most: u32,
    /// Pause before the first retry (default 10 ms). Each further pause is twice as long.
    pub pause: Duration,
    /// Maximum pause (default 1 s).
    pub longest_pause: Duration,
}

impl Default for Retries {
    fn default() -> Self {
        Self {
            most: 3,
            pause: Duration::from_millis(10),
            longest_pause: Duration::from_secs(1),
        }
    }
}
