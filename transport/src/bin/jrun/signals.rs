//! Signals that are forwarded to the processes.

use std::fs::File;
use std::io::{self, Read};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, FromRawFd, OwnedFd};
use std::ptr;

use libc::{
    SFD_CLOEXEC, SFD_NONBLOCK, SIG_BLOCK, SIG_SETMASK, SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM,
    SIGTSTP, SIGUSR1, SIGUSR2, SIGXFSZ, c_int, signalfd_siginfo, sigset_t,
};

/// The signals that are forwarded.
const FORWARDED: [c_int; 8] = [
    SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT,
];

/// A descriptor from which the forwarded signals are read, because they are blocked.
pub(crate) struct Signals(File);

impl Signals {
    /// Blocks the signals in this thread, and in threads that it starts later. A write beyond the
    /// limit of file sizes (`RLIMIT_FSIZE`) is an error then, as on a full disk, instead of the end
    /// of this program.
    pub(crate) fn block() -> io::Result<Self> {
        let set = set_of(&FORWARDED);
        mask(SIG_BLOCK, &set)?;
        mask(SIG_BLOCK, &set_of(&[SIGXFSZ]))?;
        // SAFETY: The set is initialised and outlives the call; -1 asks for a new descriptor.
        let descriptor = unsafe { libc::signalfd(-1, &raw const set, SFD_NONBLOCK | SFD_CLOEXEC) };
        if descriptor < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: The call has returned a new descriptor, which nothing else owns.
        Ok(Self(unsafe { OwnedFd::from_raw_fd(descriptor) }.into()))
    }

    /// Returns the next signal that has arrived.
    pub(crate) fn next(&mut self) -> Option<c_int> {
        let mut information = [0; size_of::<signalfd_siginfo>()];
        self.0.read_exact(&mut information).ok()?;
        // The number is the first field.
        let number = information.first_chunk().copied().map(u32::from_ne_bytes)?;
        c_int::try_from(number).ok()
    }
}

impl AsFd for Signals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Unblocks all signals. Async-signal-safe.
pub(crate) fn unblock_all() -> io::Result<()> {
    mask(SIG_SETMASK, &set_of(&[]))
}

fn mask(how: c_int, set: &sigset_t) -> io::Result<()> {
    // SAFETY: The set is initialised and outlives the call. The old mask is not requested.
    match unsafe { libc::pthread_sigmask(how, ptr::from_ref(set), ptr::null_mut()) } {
        0 => Ok(()),
        error => Err(io::Error::from_raw_os_error(error)),
    }
}

fn set_of(signals: &[c_int]) -> sigset_t {
    let mut set = MaybeUninit::uninit();
    // SAFETY: The memory has the size and alignment of a signal set, which the call initialises.
    unsafe { libc::sigemptyset(set.as_mut_ptr()) };
    for signal in signals {
        // SAFETY: The set was initialised, and the signal number is valid.
        unsafe { libc::sigaddset(set.as_mut_ptr(), *signal) };
    }
    // SAFETY: `sigemptyset` has initialised the set. It fails only for an invalid pointer.
    unsafe { set.assume_init() }
}

/// Returns the name of a signal, or its number.
pub(crate) fn name_of(signal: c_int) -> String {
    let name = match signal {
        libc::SIGHUP => "SIGHUP",
        libc::SIGINT => "SIGINT",
        libc::SIGQUIT => "SIGQUIT",
        libc::SIGILL => "SIGILL",
        libc::SIGTRAP => "SIGTRAP",
        libc::SIGABRT => "SIGABRT",
        libc::SIGBUS => "SIGBUS",
        libc::SIGFPE => "SIGFPE",
        libc::SIGKILL => "SIGKILL",
        libc::SIGUSR1 => "SIGUSR1",
        libc::SIGSEGV => "SIGSEGV",
        libc::SIGUSR2 => "SIGUSR2",
        libc::SIGPIPE => "SIGPIPE",
        libc::SIGALRM => "SIGALRM",
        libc::SIGTERM => "SIGTERM",
        libc::SIGXCPU => "SIGXCPU",
        SIGXFSZ => "SIGXFSZ",
        libc::SIGSYS => "SIGSYS",
        _ => return format!("signal {signal}"),
    };
    format!("signal {signal} ({name})")
}
