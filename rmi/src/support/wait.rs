//! Checks of blocking waits: a task of tokio must not block its thread.
//!
//! Decision 084 has the reasons.

use std::sync::atomic::{AtomicBool, Ordering};

/// Panics in debug builds if this thread polls a task of tokio, whose runtime `operation` would
/// stop.
#[track_caller]
pub(crate) fn may_block(operation: &str) {
    if cfg!(debug_assertions) && polls_tokio_task() {
        panic!(
            "`{operation}` would block a thread that runs tasks of tokio: use `.await` instead, or \
             call it inside `tokio::task::spawn_blocking` or `tokio::task::block_in_place`"
        );
    }
}

/// Check of the first of many blocking waits, such as those for the items of a stream. A check
/// takes some microseconds.
#[derive(Debug, Default)]
pub(crate) struct FirstWait(AtomicBool);

impl FirstWait {
    /// Panics like [`may_block`], but is called for each wait.
    #[track_caller]
    pub(crate) fn may_block(&self, operation: &str) {
        if cfg!(debug_assertions) && !self.0.load(Ordering::Relaxed) {
            may_block(operation);
            self.0.store(true, Ordering::Relaxed);
        }
    }
}

/// Returns true if this thread polls a task of tokio. Such a task must not block. A closure of
/// `spawn_blocking` or `block_in_place` is not such a task, although a runtime is current there.
#[cfg(feature = "tokio")]
pub(crate) fn polls_tokio_task() -> bool {
    use std::pin::pin;
    use std::task::Context;

    /// More than the number of operations after which tokio makes a task yield, which is 128.
    const MOST: usize = 160;
    if tokio::runtime::Handle::try_current().is_err() {
        return false;
    }
    // Tokio limits the operations of the tasks that it polls, and nothing else.
    let mut context = Context::from_waker(std::task::Waker::noop());
    (0..MOST).any(|_| {
        pin!(tokio::task::coop::consume_budget())
            .poll(&mut context)
            .is_pending()
    })
}

/// Returns false: without the feature `tokio`, runtimes are unknown.
#[cfg(not(feature = "tokio"))]
pub(crate) fn polls_tokio_task() -> bool {
    false
}
