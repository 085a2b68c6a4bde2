//! The barrier between changing something and looking who sleeps.
//!
//! Whoever rings passes one with each message, and whoever sleeps with each sleep. So where the system
//! has `membarrier`, the sleeper's makes all processors that run this process pass one, and the other's
//! is for the compiler alone.

#[cfg(not(loom))]
use std::sync::OnceLock;
#[cfg(not(loom))]
use std::sync::atomic::compiler_fence;
#[cfg(not(loom))]
use std::time::Duration;

#[cfg(not(loom))]
use rustix::thread::{MembarrierCommand, membarrier};

use super::sync::{Ordering, fence};

/// After how long what a processor has stored is seen by all others: far longer than any holds it
/// back.
#[cfg(not(loom))]
const SETTLED: Duration = Duration::from_millis(1);

/// Which barriers both sides use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Barriers {
    /// The sleeper's is for both.
    #[cfg(not(loom))]
    Sleeper,
    /// Each has its own: in a model, what the sleeper's does to the other side.
    Both,
}

impl Barriers {
    /// What the system offers to this process.
    #[cfg(not(loom))]
    pub(crate) fn of_this_process() -> Self {
        static REGISTERED: OnceLock<Barriers> = OnceLock::new();
        *REGISTERED.get_or_init(|| {
            let registered = membarrier(MembarrierCommand::RegisterPrivateExpedited);
            match registered.and_then(|()| membarrier(MembarrierCommand::PrivateExpedited)) {
                Ok(()) => Self::Sleeper,
                Err(_) => Self::Both,
            }
        })
    }

    #[cfg(loom)]
    pub(crate) fn of_this_process() -> Self {
        Self::Both
    }

    /// The barrier of who rings.
    #[inline]
    pub(crate) fn pass(self) {
        match self {
            #[cfg(not(loom))]
            Self::Sleeper => compiler_fence(Ordering::SeqCst),
            Self::Both => fence(Ordering::SeqCst),
        }
    }

    /// The barrier of who sleeps.
    pub(crate) fn make_all_pass(self) {
        fence(Ordering::SeqCst);
        #[cfg(not(loom))]
        if self == Self::Sleeper && membarrier(MembarrierCommand::PrivateExpedited).is_err() {
            // It worked before, but a filter that the process has got since may forbid it. What others
            // had stored before they saw nobody sleep is here after a while.
            std::thread::sleep(SETTLED);
        }
    }
}
