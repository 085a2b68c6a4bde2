//! State of the gathered messages.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Waker;

use crate::timer::Timer;
use jstream_device::connection::{Incoming, Outgoing};

/// State of the gathered messages that is known without a lock.
#[derive(Default)]
pub(super) struct Gathering {
    /// True if the device gathers messages.
    pub(super) is_used: bool,
    /// True if messages may be gathered.
    pub(super) holds: AtomicBool,
    /// True if a whole message has arrived that was not received yet.
    pub(super) has_more: AtomicBool,
    /// True if the timer is set.
    pub(super) is_set: AtomicBool,
    pub(super) timer: OnceLock<Option<(Timer, Waker)>>,
}

impl Gathering {
    /// Creates the state. A simulated network never gathers, because timers do not follow its
    /// clock.
    pub(super) fn new(half: &dyn Outgoing, scheme: &str) -> Self {
        Self {
            is_used: half.gathers() && scheme != "sim",
            ..Self::default()
        }
    }

    /// Records whether another whole message has arrived. `is_received` is true if one was just
    /// received.
    #[inline]
    pub(super) fn record_more(&self, is_received: bool, half: Option<&dyn Incoming>) {
        if self.is_used {
            let has_more = is_received && half.is_some_and(Incoming::has_whole);
            self.has_more.store(has_more, Ordering::Relaxed);
        }
    }
}
