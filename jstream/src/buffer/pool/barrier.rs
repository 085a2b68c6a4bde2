//! A memory barrier for all processors that run this process (`membarrier`), if the system has one.

#[cfg(all(target_os = "linux", not(loom)))]
mod system {
    use std::sync::OnceLock;
    use std::sync::atomic::{Ordering, compiler_fence, fence};
    use std::thread;
    use std::time::Duration;

    use rustix::thread::{MembarrierCommand, membarrier};

    /// Time after which a store of one processor is visible to all others. Far longer than any
    /// processor delays a store.
    const SETTLED: Duration = Duration::from_millis(1);

    /// Returns true if the system has such a barrier.
    pub(in crate::buffer::pool) fn is_there() -> bool {
        static REGISTERED: OnceLock<bool> = OnceLock::new();
        *REGISTERED.get_or_init(|| {
            let registered = membarrier(MembarrierCommand::RegisterPrivateExpedited);
            registered
                .and_then(|()| membarrier(MembarrierCommand::PrivateExpedited))
                .is_ok()
        })
    }

    /// Executes the cheap side of the barrier, which only restrains the compiler.
    #[inline]
    pub(in crate::buffer::pool) fn pass() {
        compiler_fence(Ordering::SeqCst);
    }

    /// Executes the expensive side of the barrier: makes all processors execute a memory barrier.
    pub(in crate::buffer::pool) fn make_all_pass() {
        fence(Ordering::SeqCst);
        if is_there() && membarrier(MembarrierCommand::PrivateExpedited).is_err() {
            // The call succeeded before, but a system call filter that was installed later may
            // forbid it. If another thread has not seen the store of this thread, its own earlier
            // stores are visible here after this delay.
            thread::sleep(SETTLED);
        }
    }
}

/// Other systems have no such barrier, and nothing relies on `pass` there. In a loom model, both
/// sides execute a fence.
#[cfg(any(not(target_os = "linux"), loom))]
mod system {
    #[cfg(loom)]
    use loom::sync::atomic::fence;
    use std::sync::atomic::Ordering;
    #[cfg(not(loom))]
    use std::sync::atomic::fence;

    pub(in crate::buffer::pool) fn is_there() -> bool {
        cfg!(loom)
    }

    #[inline]
    pub(in crate::buffer::pool) fn pass() {
        if cfg!(loom) {
            fence(Ordering::SeqCst);
        }
    }

    pub(in crate::buffer::pool) fn make_all_pass() {
        fence(Ordering::SeqCst);
    }
}

pub(super) use system::{is_there, make_all_pass, pass};
