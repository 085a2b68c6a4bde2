//! A process that outlives `jrun`, and then kills what is left of the job.
//!
//! Decision 095 has the reasons.

use std::env;
use std::io::{self, BufRead, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};

use crate::descendants;
use crate::failure::Failure;
use crate::mark::Mark;

/// The option with which this program becomes a guard.
pub(crate) const OPTION: &str = "--guard-of-job";

/// A running guard.
pub(crate) struct Guard(Child);

impl Guard {
    /// Starts the guard of the processes with this mark.
    pub(crate) fn start(mark: &Mark) -> io::Result<Self> {
        let mut command = Command::new(env::current_exe()?);
        // The signals of the terminal do not reach it. It has no mark, so another guard does not
        // kill it if this is a job in a job.
        command
            .arg(OPTION)
            .env_remove(Mark::VARIABLE)
            .process_group(0);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let mut child = command.spawn()?;
        if let Some(stdin) = &mut child.stdin {
            match writeln!(stdin, "{}", mark.value()) {
                // It was killed already, which `end` reports.
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
                written => written?,
            }
        }
        Ok(Self(child))
    }

    /// Returns how the guard has ended, if it has, although this program still runs.
    pub(crate) fn end(&mut self) -> Option<ExitStatus> {
        self.0.try_wait().ok().flatten()
    }

    /// Returns a descriptor that has an error when the guard has ended.
    pub(crate) fn ended(&self) -> Option<BorrowedFd<'_>> {
        self.0.stdin.as_ref().map(AsFd::as_fd)
    }
}

impl Drop for Guard {
    /// Lets the guard kill what is left, and waits for its end.
    fn drop(&mut self) {
        self.0.stdin = None;
        let _ = self.0.wait();
    }
}

/// Runs the guard: waits until `jrun` has ended in any way.
pub(crate) fn run() -> Result<u8, Failure> {
    let mut input = io::stdin().lock();
    let mut value = String::new();
    input.read_line(&mut value)?;
    let mut rest = [0; 64];
    while input.read(&mut rest)? > 0 {}
    if let Some(mark) = Mark::of_value(value.trim_end()) {
        descendants::kill_all(&mark);
    }
    Ok(0)
}
