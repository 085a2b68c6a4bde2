//! System calls: creating and driving rings.

use std::io;
use std::sync::OnceLock;

use io_uring::types::{SubmitArgs, Timespec};
use io_uring::{EnterFlags, IoUring, Probe, opcode};
use rustix::io::Errno;

/// Size of the submission queue. It has room for a receive or a cancellation, and for operations
/// that an earlier call could not submit.
const SUBMISSIONS: u32 = 16;
/// Size of the completion queue: more than the number of buffers, plus the ends of operations. The
/// kernel keeps completions that do not fit.
const COMPLETIONS: u32 = 256;

/// Creates a ring. A ring with a single issuer can be driven only by this thread.
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

/// Submits `submissions` operations, and blocks until `want` operations have completed or the
/// timeout has expired.
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
            // SAFETY: the flags declare the type of the argument, which lives until the call
            // returns.
            unsafe { submitter.enter(submissions, want, flags.bits(), Some(&args)) }
        }
        // SAFETY: there is no argument, so its type does not matter.
        None => unsafe {
            submitter.enter::<()>(submissions, want, EnterFlags::GETEVENTS.bits(), None)
        },
    };
    match called.map_err(|error| Errno::from_io_error(&error).ok_or(error)) {
        // A timeout, a signal, or a temporary lack of memory.
        Ok(_) | Err(Ok(Errno::TIME | Errno::INTR | Errno::AGAIN | Errno::BUSY)) => Ok(()),
        Err(Ok(errno)) => Err(errno.into()),
        Err(Err(error)) => Err(error),
    }
}

/// Returns an error if the kernel lacks a required feature.
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
        // Multishot receives can't be probed, but appeared in the same kernel version as this
        // operation.
        opcode::SendZc::CODE,
    ];
    let known = operations.iter().all(|code| probe.is_supported(*code));
    if !known || !uring.params().is_feature_ext_arg() || !uring.params().is_feature_nodrop() {
        return Err(io::Error::new(
            io::ErrorKind::Unsupported,
            "io_uring needs Linux 6.0, or 6.1 for a single issuer",
        ));
    }
    let _ = CHECKED.set(());
    Ok(())
}
