//! Asymmetric barrier between changing the shared state and checking for a sleeper.
//!
//! The ringing thread executes its barrier for each message, the sleeping thread only before it
//! sleeps. If the system has `membarrier`, the sleeping thread makes all processors that run the
//! ringing threads execute a barrier, and the ringing thread needs only a compiler fence.
//!
//! Both are threads of one process. The barrier of the system across processes is not reliable:
//! Linux (6.18 at least) skips a processor on which a thread of the other process has just ended.
//!
//! Decision 036 has the reasons.

use std::sync::atomic::compiler_fence;

use crate::{Ordering, fence};

/// The barriers that the two sides execute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Barriers {
    /// The sleeping thread executes the barrier for all threads of its process (`membarrier`).
    Process,
    /// Each side executes its own barrier.
    Both,
}

impl Barriers {
    /// The barriers of which the ringing thread's costs nothing. The system has them if
    /// [`of_this_process`](Self::of_this_process) returns this value. Models use
    /// [`Both`](Self::Both) for their effect.
    pub const MEMBARRIER: Self = if cfg!(loom) {
        Self::Both
    } else {
        Self::Process
    };

    /// Returns the cheapest kind of barriers that the system offers to the threads of this process.
    #[must_use]
    pub fn of_this_process() -> Self {
        system::of_this_process()
    }

    /// Executes the barrier of the ringing thread.
    #[inline]
    pub fn pass(self) {
        match self {
            // In a model, stands for the effect of the sleeping side's barrier on this side.
            Self::Process if cfg!(loom) => fence(Ordering::SeqCst),
            Self::Process => compiler_fence(Ordering::SeqCst),
            Self::Both => fence(Ordering::SeqCst),
        }
    }

    /// Executes the barrier of the sleeping thread.
    pub fn make_all_pass(self) {
        fence(Ordering::SeqCst);
        system::make_all_pass(self);
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

    pub(super) fn of_this_process() -> Barriers {
        static REGISTERED: OnceLock<Barriers> = OnceLock::new();
        *REGISTERED.get_or_init(|| {
            let registered = membarrier(MembarrierCommand::RegisterPrivateExpedited);
            match registered.and_then(|()| execute(Barriers::Process)) {
                Ok(()) => Barriers::Process,
                Err(_) => Barriers::Both,
            }
        })
    }

    fn execute(barriers: Barriers) -> rustix::io::Result<()> {
        match barriers {
            Barriers::Process => membarrier(MembarrierCommand::PrivateExpedited),
            Barriers::Both => Ok(()),
        }
    }

    pub(super) fn make_all_pass(barriers: Barriers) {
        if execute(barriers).is_err() {
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

    pub(super) fn of_this_process() -> Barriers {
        Barriers::Both
    }

    pub(super) fn make_all_pass(_: Barriers) {}
}
