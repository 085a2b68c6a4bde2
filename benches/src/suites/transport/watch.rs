//! An end for rounds that don't end: a peer that died or stands still must not hang the program.

use std::io::{self, Write};
use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, Once, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::Failure;

/// Nothing that is measured takes nearly so long.
const AT_MOST: Duration = Duration::from_secs(20);
/// How long whoever waited has, once the other side is ended.
const GRACE: Duration = Duration::from_secs(5);

/// What is going on now, and until when.
struct Watched {
    what: String,
    until: Instant,
    other: Option<Pid>,
}

static WATCHED: Mutex<Option<Watched>> = Mutex::new(None);
static GIVEN_UP: AtomicBool = AtomicBool::new(false);
static START: Once = Once::new();

/// Does `f`, and ends `other`, or at last the program, where that takes too long.
pub(in crate::suites) fn during<R>(
    what: &str,
    other: Option<Pid>,
    f: impl FnOnce() -> Result<R, Failure>,
) -> Result<R, Failure> {
    START.call_once(|| {
        // Without the thread nothing ends what hangs, but all else works.
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
        return Err(format!("{what}: no end within {} s", AT_MOST.as_secs()).into());
    }
    result.map_err(|e| format!("{what}: {e}").into())
}

/// Fails once a round took too long; for those who look again and again.
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
            let _ = writeln!(io::stderr(), "error: {}: it does not end", late.what);
            process::exit(1);
        }
        late.until = now + GRACE;
        if let Some(other) = late.other {
            // It may have ended by itself.
            let _ = kill_process(other, Signal::KILL);
        }
    }
}
