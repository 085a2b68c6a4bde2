//! What is asked of the system: rings, and calls that drive them.

use std::io;
use std::sync::OnceLock;

use io_uring::types::{SubmitArgs, Timespec};
use io_uring::{EnterFlags, IoUring, Probe, opcode};
use rustix::io::Errno;

/// Room for what is submitted at once: a receive or a cancellation, and what a call had no room for.
const SUBMISSIONS: u32 = 16;
/// Room for what is completed and not looked at: more than there are buffers, and ends of operations.
/// The system keeps what is beyond.
const COMPLETIONS: u32 = 256;

/// A ring; that of a single issuer is for this thread alone.
pub(super) fn ring(single_issuer: bool) -> io::Result<IoUring> {
    let mut builder = IoUring::builder();
    builder.setup_cqsize(COMPLETIONS).setup_taskrun_flag();
    if single_issuer {
        builder.setup_single_issuer().setup_defer_taskrun();
    } else {
        builder.setup_coop_taskrun();
    }
    let uring = builder.build(SUBMISSIONS)?;
    check(&uring)?;
    Ok(uring)
}

/// Submits so many operations, and waits until as many are completed as are wanted, or for the
/// time-out.
pub(super) fn enter(
    uring: &IoUring,
    submissions: usize,
    want: u32,
    timeout: Option<&Timespec>,
) -> io::Result<()> {
    let submissions = u32::try_from(submissions).unwrap_or(0);
    let submitter = uring.submitter();
    let called = match timeout {
        Some(timeout) => {
            let args = SubmitArgs::new().timespec(timeout);
            let flags = EnterFlags::GETEVENTS | EnterFlags::EXT_ARG;
            // SAFETY: the flags say that the argument is of this type.
            unsafe { submitter.enter(submissions, want, flags.bits(), Some(&args)) }
        }
        // SAFETY: without an argument, its type says nothing.
        None => unsafe {
            submitter.enter::<()>(submissions, want, EnterFlags::GETEVENTS.bits(), None)
        },
    };
    match called.map_err(|error| Errno::from_io_error(&error).ok_or(error)) {
        // A time-out, a signal; no memory for now, which may be another time.
        Ok(_) | Err(Ok(Errno::TIME | Errno::INTR | Errno::AGAIN | Errno::BUSY)) => Ok(()),
        Err(Ok(errno)) => Err(errno.into()),
        Err(Err(error)) => Err(error),
    }
}

/// Whether the system has all that is needed here.
fn check(uring: &IoUring) -> io::Result<()> {
    static CHECKED: OnceLock<()> = OnceLock::new();

    if CHECKED.get().is_some() {
        return Ok(());
    }
    let mut probe = Probe::new();
    uring.submitter().register_probe(&mut probe)?;
    let operations = [
        opcode::RecvMulti::CODE,
        opcode::AsyncCancel::CODE,
        // Came together with receives that go on, which can't be asked for.
        opcode::SendZc::CODE,
    ];
    let known = operations.iter().all(|code| probe.is_supported(*code));
    if !known || !uring.params().is_feature_ext_arg() || !uring.params().is_feature_nodrop() {
        return Err(io::Error::new(
            io::ErrorKind::Unsupported,
            "it needs Linux 6.0, or 6.1 for a single issuer",
        ));
    }
    let _ = CHECKED.set(());
    Ok(())
}
