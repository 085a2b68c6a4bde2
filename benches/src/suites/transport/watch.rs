//! Watchdog for rounds, so that a peer that has died or hangs does not block the program.

use std::io::{self, Write};
use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, Once, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::Failure;

/// Timeout of a watched step, far more than any measurement takes.
const AT_MOST: Duration = Duration::from_secs(20);
/// Time that the waiting side has to fail after the other side was killed.
const GRACE: Duration = Duration::from_secs(5);

/// The current step and its deadline.
struct Watched {
    what: String,
    until: Instant,
    other: Option<Pid>,
}

static WATCHED: Mutex<Option<Watched>> = Mutex::new(None);
static GIVEN_UP: AtomicBool = AtomicBool::new(false);
static START: Once = Once::new();

/// Runs `f`. After the timeout, kills `other`; if `f` does not end even then, exits the program.
pub(in crate::suites) fn during<R>(
    what: &str,
    other: Option<Pid>,
    f: impl FnOnce() -> Result<R, Failure>,
) -> Result<R, Failure> {
    START.call_once(|| {
        // If the thread cannot be started, there is no watchdog, but everything else works.
        let _ = thread::Builder::new().name("watch".to_owned()).spawn(watch);
    });
    GIVEN_UP.store(false, Ordering::Relaxed);
    set(Some(Watched {
        what: what.to_owned(),
        until: Instant::now() + AT_MOST,
        other,
    }));
    let result = f();
    set(None);
    if GIVEN_UP.load(Ordering::Relaxed) {
        return Err(format!("{what}: timed out after {} s", AT_MOST.as_secs()).into());
    }
    result.map_err(|e| format!("{what}: {e}").into())
}

/// Returns an error once the timeout of a round has passed. Spinning threads call this function.
pub(super) fn go_on() -> Result<(), Failure> {
    if GIVEN_UP.load(Ordering::Relaxed) {
        return Err("the other side does not answer".into());
    }
    Ok(())
}

fn set(watched: Option<Watched>) {
    *WATCHED.lock().unwrap_or_else(PoisonError::into_inner) = watched;
}

fn watch() {
    loop {
        thread::sleep(Duration::from_millis(200));
        let now = Instant::now();
        let mut watched = WATCHED.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(late) = watched.as_mut().filter(|watched| watched.until < now) else {
            continue;
        };
        if GIVEN_UP.swap(true, Ordering::Relaxed) {
            let _ = writeln!(
                io::stderr(),
                "error: {}: no end after the other side was killed",
                late.what
            );
            process::exit(1);
        }
        late.until = now + GRACE;
        if let Some(other) = late.other {
            // The process may have ended already.
            let _ = kill_process(other, Signal::KILL);
        }
    }
}
