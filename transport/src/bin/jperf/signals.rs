//! Signals that ask the program to end.

use std::io;
use std::mem::MaybeUninit;
use std::process;
use std::ptr;
use std::thread;

use libc::{SIG_BLOCK, SIGINT, SIGTERM, c_int, sigset_t};

/// Exit code that shells report for a program that SIGINT ended.
const INTERRUPTED: i32 = 130;

/// Blocks both signals, and calls `stop` when the first one arrives; the second one ends the
/// program. Only the calling thread and threads started later are affected, so this must be called
/// at the start of the program.
pub(crate) fn on_end(stop: impl Fn() + Send + 'static) -> io::Result<()> {
    let both = both();
    // SAFETY: the set is initialised and outlives the call. The old mask is not requested.
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

/// Returns the set of both signals.
fn both() -> sigset_t {
    let mut set = MaybeUninit::uninit();
    // SAFETY: the memory has the size and alignment of a signal set, which the call initialises.
    unsafe { libc::sigemptyset(set.as_mut_ptr()) };
    for signal in [SIGINT, SIGTERM] {
        // SAFETY: the set was initialised, and the signal number is valid.
        unsafe { libc::sigaddset(set.as_mut_ptr(), signal) };
    }
    // SAFETY: `sigemptyset` has initialised the set. It fails only for an invalid pointer.
    unsafe { set.assume_init() }
}

/// Blocks until one of the signals arrives. Returns false if the system call fails.
fn wait(set: &sigset_t) -> bool {
    let mut signal: c_int = 0;
    // SAFETY: both are initialised and outlive the call.
    let refused = unsafe { libc::sigwait(ptr::from_ref(set), &raw mut signal) };
    refused == 0
}
