//! Asymmetric barrier between changing the shared state and checking for a sleeper.
//!
//! The ringing thread executes its barrier for each message, the sleeping thread only before it
//! sleeps. If the system has `membarrier`, the sleeping thread makes all processors that run this
//! process execute a barrier, and the ringing thread needs only a compiler fence.

#[cfg(not(loom))]
use std::sync::OnceLock;
#[cfg(not(loom))]
use std::sync::atomic::compiler_fence;
#[cfg(not(loom))]
use std::time::Duration;

#[cfg(not(loom))]
use rustix::thread::{MembarrierCommand, membarrier};

use crate::{Ordering, fence};

/// Time after which a store is visible to all processors. Far longer than any store buffer delays a
/// store.
#[cfg(not(loom))]
const SETTLED: Duration = Duration::from_millis(1);

/// The barriers that the two sides execute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Barriers {
    /// The sleeping thread executes the barrier for both sides (`membarrier`).
    #[cfg(not(loom))]
    Sleeper,
    /// Each side executes its own barrier. In models this stands for the effect of `membarrier`
    /// too.
    Both,
}

impl Barriers {
    /// Returns the cheapest kind of barriers that the system offers to this process.
    #[cfg(not(loom))]
    pub fn of_this_process() -> Self {
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
    pub fn of_this_process() -> Self {
        Self::Both
    }

    /// Executes the barrier of the ringing thread.
    #[inline]
    pub fn pass(self) {
        match self {
            #[cfg(not(loom))]
            Self::Sleeper => compiler_fence(Ordering::SeqCst),
            Self::Both => fence(Ordering::SeqCst),
        }
    }

    /// Executes the barrier of the sleeping thread.
    pub fn make_all_pass(self) {
        fence(Ordering::SeqCst);
        #[cfg(not(loom))]
        if self == Self::Sleeper && membarrier(MembarrierCommand::PrivateExpedited).is_err() {
            // `membarrier` worked before, but a seccomp filter installed since may forbid it.
            // Stores that other threads made before they saw no sleeper are visible after this
            // delay.
            std::thread::sleep(SETTLED);
        }
    }
}
