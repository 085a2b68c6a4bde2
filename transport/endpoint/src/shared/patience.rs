//! Time that a call may wait.

use std::time::Duration;

use jstream_device::deadline::Deadline;

/// Time that a call may wait.
#[derive(Debug, Clone, Copy)]
pub enum Patience {
    /// No waiting.
    None,
    /// At most this long.
    For(Duration),
    /// Until the connection ends.
    Endless,
}

impl Patience {
    /// Returns the patience of a call with a timeout. A call with a timeout of zero does not wait
    /// and does not read the clock.
    #[inline]
    pub(crate) fn within(timeout: Duration) -> Self {
        if timeout.is_zero() {
            Self::None
        } else {
            Self::For(timeout)
        }
    }

    pub(crate) fn deadline(self) -> Deadline {
        match self {
            Self::None => Deadline::after(Duration::ZERO),
            Self::For(timeout) => Deadline::after(timeout),
            Self::Endless => Deadline::NEVER,
        }
    }
}
