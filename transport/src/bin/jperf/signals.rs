//! The signals that ask the program to end.

use std::io;
use std::mem::MaybeUninit;
use std::process;
use std::ptr;
use std::thread;

use libc::{SIG_BLOCK, SIGINT, SIGTERM, c_int, sigset_t};

/// What a shell says of a program that SIGINT ended.
const INTERRUPTED: i32 = 130;

/// Keeps both signals from ending the program, and calls `stop` when the first one comes; the second one ends
/// it. Threads that are there already are not asked: this is for the beginning of a program.
pub(crate) fn on_end(stop: impl Fn() + Send + 'static) -> io::Result<()> {
    let both = both();
    // SAFETY: the set is initialised and outlives the call, and the old mask is not asked for.
    let refused = unsafe { libc::pthread_sigmask(SIG_BLOCK, &raw const both, ptr::null_mut()) };
    if refused != 0 {
        return Err(io::Error::from_raw_os_error(refused));
    }
    let waiting = thread::Builder::new().name("signals".to_owned());
    waiting.spawn(move || {
        if wait(&both) {
            stop();
        }
        if wait(&both) {
            process::exit(INTERRUPTED);
        }
    })?;
    Ok(())
}

/// The set of both signals.
fn both() -> sigset_t {
    let mut set = MaybeUninit::uninit();
    // SAFETY: the memory is that of a set, which the call initialises.
    unsafe { libc::sigemptyset(set.as_mut_ptr()) };
    for signal in [SIGINT, SIGTERM] {
        // SAFETY: the set was initialised, and the signal is one.
        unsafe { libc::sigaddset(set.as_mut_ptr(), signal) };
    }
    // SAFETY: `sigemptyset` has initialised it; it fails only for a set that is not there.
    unsafe { set.assume_init() }
}

/// Sleeps until one of them is here; false where the system won't.
fn wait(set: &sigset_t) -> bool {
    let mut signal: c_int = 0;
    // SAFETY: both are initialised and outlive the call.
    let refused = unsafe { libc::sigwait(ptr::from_ref(set), &raw mut signal) };
    refused == 0
}
