//! Delay of the end of the process until connections without an owner have sent everything.
//!
//! A connection whose handles were dropped is kept by a thread of the process while it has messages
//! to send. The end of the process would end that thread, so `exit`, which also the return of
//! `main` calls, waits for these connections first. Their send timeouts limit the time.

use std::process;
use std::sync::{Condvar, Mutex, Once};
use std::thread;
use std::time::{Duration, Instant};

use jstream_base::events::emit;
use jstream_sync::{lock, unpoisoned};
use tracing::Level;

/// Name of the threads that send for connections without an owner.
pub(super) const SENDING_THREAD: &str = "jstream-endpoints";

/// Time beyond the send timeout that a connection may take to end.
const SLACK: Duration = Duration::from_secs(1);

/// Longest send timeout that the end of the process waits for. It stands for those that no
/// `Instant` can express, too, which would otherwise count as none.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 60 * 60);

static UNSENT: Mutex<Unsent> = Mutex::new(Unsent {
    count: 0,
    until: None,
});
static CHANGED: Condvar = Condvar::new();

/// The connections for which the end of the process waits.
struct Unsent {
    count: usize,
    /// Time at which all of them have sent everything or have timed out.
    until: Option<Instant>,
}

/// Guard of a connection for which the end of the process waits.
#[derive(Debug)]
pub(super) struct UnsentConnection(());

impl UnsentConnection {
    /// Makes the end of the process wait until the guard is dropped, or for little longer than
    /// `send_timeout`.
    pub(super) fn new(send_timeout: Duration) -> Self {
        wait_at_exit();
        let until = end_of_wait(Instant::now(), send_timeout);
        let mut unsent = lock(&UNSENT);
        unsent.count = unsent.count.saturating_add(1);
        unsent.until = unsent.until.max(until);
        Self(())
    }
}

/// Returns the time at which a connection has sent everything or has timed out. `None` if the clock
/// is about to end.
fn end_of_wait(now: Instant, send_timeout: Duration) -> Option<Instant> {
    now.checked_add(send_timeout.min(LONGEST).saturating_add(SLACK))
}

impl Drop for UnsentConnection {
    fn drop(&mut self) {
        let mut unsent = lock(&UNSENT);
        unsent.count = unsent.count.saturating_sub(1);
        if unsent.count == 0 {
            unsent.until = None;
            CHANGED.notify_all();
        }
    }
}

/// Registers [`wait`] with the system once. If the system has no memory for it, the process ends
/// without waiting.
fn wait_at_exit() {
    static REGISTERED: Once = Once::new();
    REGISTERED.call_once(|| {
        /// Process that has the threads for which its end waits.
        static PROCESS: Mutex<Option<u32>> = Mutex::new(None);

        extern "C" fn at_exit() {
            // A forked child has no such threads.
            if *lock(&PROCESS) == Some(process::id()) {
                wait();
            }
        }

        *lock(&PROCESS) = Some(process::id());
        // SAFETY: the function may be called at any time until the process ends, and does not
        // unwind, because unwinding out of an `extern "C"` function aborts. It uses only values
        // that are never dropped.
        let _ = unsafe { libc::atexit(at_exit) };
    });
}

/// Blocks until no connection has anything to send, or all have timed out.
fn wait() {
    // A callback of the program on that thread has ended the process.
    if thread::current().name() == Some(SENDING_THREAD) {
        return;
    }
    let mut unsent = lock(&UNSENT);
    while unsent.count > 0 {
        let left = unsent
            .until
            .map(|until| until.saturating_duration_since(Instant::now()));
        let Some(left) = left.filter(|left| !left.is_zero()) else {
            let connections = unsent.count;
            drop(unsent);
            return emit(Level::WARN, move || {
                tracing::warn!(connections, "the process ended before everything was sent");
            });
        };
        unsent = unpoisoned(CHANGED.wait_timeout(unsent, left)).0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endless_send_timeout_is_the_longest() {
        let now = Instant::now();
        let [short, endless] = [Duration::from_secs(60), Duration::MAX]
            .map(|send_timeout| end_of_wait(now, send_timeout));
        assert!(short > Some(now));
        assert!(endless > short);
    }
}
