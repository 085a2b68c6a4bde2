//! A barrier that all processors pass which run this process, where the system has one (`membarrier`).

#[cfg(all(target_os = "linux", not(loom)))]
mod system {
    use std::sync::OnceLock;
    use std::sync::atomic::{Ordering, compiler_fence, fence};
    use std::thread;
    use std::time::Duration;

    use rustix::thread::{MembarrierCommand, membarrier};

    /// After how long what a processor has stored is seen by all others: far longer than any holds it
    /// back.
    const SETTLED: Duration = Duration::from_millis(1);

    /// Whether there is one.
    pub(in crate::buffer::pool) fn is_there() -> bool {
        static REGISTERED: OnceLock<bool> = OnceLock::new();
        *REGISTERED.get_or_init(|| {
            let registered = membarrier(MembarrierCommand::RegisterPrivateExpedited);
            registered
                .and_then(|()| membarrier(MembarrierCommand::PrivateExpedited))
                .is_ok()
        })
    }

    /// The side that costs nothing.
    #[inline]
    pub(in crate::buffer::pool) fn pass() {
        compiler_fence(Ordering::SeqCst);
    }

    /// The side that pays for both.
    pub(in crate::buffer::pool) fn make_all_pass() {
        fence(Ordering::SeqCst);
        if is_there() && membarrier(MembarrierCommand::PrivateExpedited).is_err() {
            // It worked before, but a filter that the process has got since may forbid it. What others
            // had stored before they saw nothing of this is here after a while.
            thread::sleep(SETTLED);
        }
    }
}

/// Nowhere else is there one, and then nobody relies on `pass`; in a model both sides have their own.
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
