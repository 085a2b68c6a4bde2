//! Asymmetric barrier between changing the shared state and checking for a sleeper.
//!
//! The ringing thread executes its barrier for each message, the sleeping thread only before it
//! sleeps. If the system has `membarrier`, the sleeping thread makes all processors that run this
//! process execute a barrier, and the ringing thread needs only a compiler fence.

#[cfg(not(loom))]
use std::sync::atomic::compiler_fence;

use crate::{Ordering, fence};

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
    /// The barriers of which the ringing thread's costs nothing. The system has them if
    /// [`of_this_process`](Self::of_this_process) returns this value.
    pub const MEMBARRIER: Self = {
        #[cfg(not(loom))]
        let barriers = Self::Sleeper;
        #[cfg(loom)]
        let barriers = Self::Both;
        barriers
    };

    /// Returns the cheapest kind of barriers that the system offers to this process.
    #[must_use]
    pub fn of_this_process() -> Self {
        system::barriers()
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
        if self == Self::Sleeper {
            system::make_all_pass();
        }
    }
}

#[cfg(all(target_os = "linux", not(loom)))]
mod system {
    use std::sync::OnceLock;
    use std::time::Duration;

    use rustix::thread::{MembarrierCommand, membarrier};

    use super::Barriers;

    /// Time after which a store is visible to all processors. Far longer than any store buffer
    /// delays a store.
    const SETTLED: Duration = Duration::from_millis(1);

    pub(super) fn barriers() -> Barriers {
        static REGISTERED: OnceLock<Barriers> = OnceLock::new();
        *REGISTERED.get_or_init(|| {
            let registered = membarrier(MembarrierCommand::RegisterPrivateExpedited);
            match registered.and_then(|()| membarrier(MembarrierCommand::PrivateExpedited)) {
                Ok(()) => Barriers::Sleeper,
                Err(_) => Barriers::Both,
            }
        })
    }

    pub(super) fn make_all_pass() {
        if membarrier(MembarrierCommand::PrivateExpedited).is_err() {
            // `membarrier` worked before, but a seccomp filter installed since may forbid it.
            // Stores that other threads made before they saw no sleeper are visible after this
            // delay.
            std::thread::sleep(SETTLED);
        }
    }
}

/// Other systems, and models, have no `membarrier`.
#[cfg(any(not(target_os = "linux"), loom))]
mod system {
    use super::Barriers;

    pub(super) fn barriers() -> Barriers {
        Barriers::Both
    }

    #[cfg(not(loom))]
    pub(super) fn make_all_pass() {}
}
