//! A process of the job.
//!
//! Decision 095 has the reasons.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use rustix::process::{
    Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, getpid, getppid, kill_process_group,
    pidfd_open, set_parent_process_death_signal, waitid,
};
use rustix::thread::{CpuSet, sched_setaffinity};

use crate::mark::Mark;
use crate::output::JobOutput;
use crate::signals;

/// The end of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Code(i32),
    Signal(i32),
    /// The connection to its host was lost.
    Lost,
    /// The job ended before the process was started.
    NotStarted,
}

impl End {
    pub(crate) fn is_success(self) -> bool {
        self == Self::Code(0)
    }

    /// Returns the exit code that stands for this.
    pub(crate) fn code(self) -> u8 {
        let code = match self {
            Self::Code(code) => code,
            Self::Signal(signal) => signal.saturating_add(128),
            Self::Lost | Self::NotStarted => 125,
        };
        u8::try_from(code).unwrap_or(u8::MAX)
    }
}

/// Properties that the processes of a host share.
pub(crate) struct Launch {
    /// Program and arguments.
    pub(crate) command: Vec<OsString>,
    /// Working folder. `None` for that of this process.
    pub(crate) folder: Option<PathBuf>,
    pub(crate) mark: Mark,
}

/// Properties of a process that is to be started.
pub(crate) struct ProcessLaunch {
    /// Number of the process among those of this host.
    pub(crate) number: usize,
    pub(crate) environment: Vec<(OsString, OsString)>,
    /// The hardware threads on which it may run. `None` for all.
    pub(crate) set: Option<CpuSet>,
    pub(crate) input: ProcessInput,
}

/// The standard input of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProcessInput {
    Empty,
    /// The input of this process.
    Inherited,
    /// A pipe.
    Piped,
}

/// A process that was started, the leader of its own group. It is reaped when this is dropped, so
/// that its number stays that of its group until then.
pub(crate) struct Process {
    pub(crate) end: Option<End>,
    number: usize,
    child: Child,
    pid: Pid,
    descriptor: OwnedFd,
    /// The pipes of output and errors, until their ends.
    pipes: [Option<File>; 2],
}

impl Process {
    /// Starts a process. The kernel kills it when this thread ends. Returns the pipe of its input,
    /// too, if there is one.
    pub(crate) fn start(
        launch: &Launch,
        process: &ProcessLaunch,
    ) -> io::Result<(Self, Option<OwnedFd>)> {
        let missing = || io::Error::from(io::ErrorKind::NotFound);
        let (program, arguments) = launch.command.split_first().ok_or_else(missing)?;
        let mut command = Command::new(program);
        command.args(arguments).process_group(0);
        if let Some(folder) = &launch.folder {
            command.current_dir(folder);
        }
        for (name, value) in &process.environment {
            command.env(name, value);
        }
        command.env(Mark::VARIABLE, launch.mark.value());
        // The parent need not be the one that a world around this job has told.
        command.env_remove(jstream_transport::rank::world::PARENT);
        command.stdin(match process.input {
            ProcessInput::Empty => Stdio::null(),
            ProcessInput::Inherited => Stdio::inherit(),
            ProcessInput::Piped => Stdio::piped(),
        });
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let (parent, set) = (getpid(), process.set);
        let prepare = move || {
            signals::unblock_all()?;
            set_parent_process_death_signal(Some(Signal::KILL))?;
            // The parent may have ended before that.
            if getppid() != Some(parent) {
                return Err(io::Error::from_raw_os_error(libc::ESRCH));
            }
            if let Some(set) = &set {
                sched_setaffinity(None, set)?;
            }
            Ok(())
        };
        // SAFETY: The closure runs between fork and exec. It only makes system calls that are
        // async-signal-safe, and does not allocate: errors of the system are plain numbers.
        unsafe { command.pre_exec(prepare) };
        let mut child = command.spawn()?;
        let number = i32::try_from(child.id()).ok();
        let pid = number.and_then(Pid::from_raw).ok_or_else(missing)?;
        let descriptor = pidfd_open(pid, PidfdFlags::empty())?;
        let pipes = [
            child.stdout.take().map(OwnedFd::from),
            child.stderr.take().map(OwnedFd::from),
        ];
        for pipe in pipes.iter().flatten() {
            rustix::io::ioctl_fionbio(pipe, true)?;
        }
        let input = child.stdin.take().map(OwnedFd::from);
        let started = Self {
            end: None,
            number: process.number,
            child,
            pid,
            descriptor,
            pipes: pipes.map(|pipe| pipe.map(File::from)),
        };
        Ok((started, input))
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Returns the descriptor that becomes readable when the process ends, unless it has.
    pub(crate) fn running(&self) -> Option<BorrowedFd<'_>> {
        self.end.is_none().then(|| self.descriptor.as_fd())
    }

    /// Returns the pipes that may have output.
    pub(crate) fn pipes(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.pipes.iter().flatten().map(File::as_fd)
    }

    /// Looks whether the process has ended, without reaping it. Returns true if it ended now.
    pub(crate) fn check_end(&mut self) -> bool {
        if self.end.is_some() {
            return false;
        }
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        if let Ok(Some(status)) = waitid(WaitId::Pid(self.pid), options) {
            self.end = status.terminating_signal().map(End::Signal);
            self.end = self.end.or(status.exit_status().map(End::Code));
        }
        self.end.is_some()
    }

    /// Sends a signal to the group of the process.
    pub(crate) fn signal(&self, signal: i32) {
        if let Some(signal) = Signal::from_named_raw(signal) {
            // The group may have no members any more except the leader that is not reaped yet.
            let _ = kill_process_group(self.pid, signal);
        }
    }

    /// Passes on the output that has arrived, as far as there is room. Returns true if there was
    /// any, or a stream ended.
    pub(crate) fn pass_on(&mut self, output: &mut dyn JobOutput, buffer: &mut [u8]) -> bool {
        let mut any = false;
        let first = self.number.saturating_mul(2);
        for (stream, slot) in (first..).zip(&mut self.pipes) {
            let Some(pipe) = slot else {
                continue;
            };
            if !output.has_room() {
                return any;
            }
            match pipe.read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => any = true,
                Ok(count) if count > 0 => {
                    output.push(stream, buffer.get(..count).unwrap_or_default());
                    any = true;
                }
                Ok(_) | Err(_) => {
                    *slot = None;
                    output.end(stream);
                    any = true;
                }
            }
        }
        any
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.signal(libc::SIGKILL);
        let _ = self.child.wait();
    }
}
