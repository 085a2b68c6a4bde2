//! The connection of `jrun` to the agent of a host.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::ops::Range;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags};
use rustix::process::{Signal, getpid, getppid, set_parent_process_death_signal};

use super::protocol::{
    AgentOrder, AgentReport, GREETING, LONGEST_REPORT, MessageReader, PROTOCOL, WINDOW,
};
use super::rendezvous::HostAddresses;
use crate::labels::Lines;
use crate::output::{JobOutput, LabelledOutput};
use crate::signals;

/// Maximum number of bytes before the greeting. The start files of a shell may write some.
const LONGEST_PREFACE: usize = 64 << 10;

/// Maximum number of bytes that wait for a host that does not read. Further signals are dropped.
const LONGEST_QUEUE: usize = 64 << 20;

/// Maximum number of reads in a row, so that one host does not delay the others.
const READS: u32 = 8;

/// Number of looks at a program that has closed its output, and the pause between two.
const LOOKS: u32 = 100;
const PAUSE: Duration = Duration::from_millis(2);

/// The connection to the agent of a host: `ssh`, or the agent itself if it is on this host.
pub(crate) struct HostLink {
    pub(crate) name: String,
    /// The numbers of its processes in the job.
    pub(crate) processes: Range<usize>,
    /// The addresses and the port that the agent has told.
    pub(crate) hello: Option<(HostAddresses, u16)>,
    is_local: bool,
    /// The first word of the command, for messages.
    program: String,
    child: Child,
    to_agent: Option<File>,
    outgoing: Vec<u8>,
    from_agent: Option<File>,
    errors: Option<File>,
    error_lines: Lines,
    reader: MessageReader,
    is_greeted: bool,
    /// Number of bytes of output that were received and not granted again.
    ungranted: u32,
}

impl HostLink {
    /// Starts the command that starts the agent.
    pub(crate) fn start(
        name: &str,
        words: &[OsString],
        processes: Range<usize>,
        is_local: bool,
    ) -> io::Result<Self> {
        let empty = || io::Error::from(ErrorKind::NotFound);
        let (program, arguments) = words.split_first().ok_or_else(empty)?;
        let mut command = Command::new(program);
        // The signals of the terminal do not reach it. If this program runs under `ssh`, that is
        // not the connection of the agent.
        command.args(arguments).process_group(0);
        command.env_remove("SSH_CONNECTION");
        command.stdin(Stdio::piped());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let parent = getpid();
        let prepare = move || {
            signals::unblock_all()?;
            set_parent_process_death_signal(Some(Signal::KILL))?;
            // The parent may have ended before that.
            if getppid() != Some(parent) {
                return Err(io::Error::from_raw_os_error(libc::ESRCH));
            }
            Ok(())
        };
        // SAFETY: The closure runs between fork and exec. It only makes system calls that are
        // async-signal-safe, and does not allocate: errors of the system are plain numbers.
        unsafe { command.pre_exec(prepare) };
        let mut child = command.spawn()?;
        let pipe = |pipe: Option<OwnedFd>| -> io::Result<Option<File>> {
            if let Some(pipe) = &pipe {
                rustix::io::ioctl_fionbio(pipe, true)?;
            }
            Ok(pipe.map(File::from))
        };
        let to_agent = pipe(child.stdin.take().map(OwnedFd::from))?;
        let from_agent = pipe(child.stdout.take().map(OwnedFd::from))?;
        let errors = pipe(child.stderr.take().map(OwnedFd::from))?;
        Ok(Self {
            name: name.to_owned(),
            processes,
            hello: None,
            is_local,
            program: program.to_string_lossy().into_owned(),
            child,
            to_agent,
            outgoing: Vec::new(),
            from_agent,
            errors,
            error_lines: Lines::new(Some(format!("[{name}] "))),
            reader: MessageReader::new(LONGEST_REPORT),
            is_greeted: false,
            ungranted: 0,
        })
    }

    /// Adds the descriptors that are to be polled.
    pub(crate) fn add_descriptors<'p>(&'p self, has_room: bool, fds: &mut Vec<PollFd<'p>>) {
        let errors = self.errors.as_ref().filter(|_| has_room);
        let pipes = self.from_agent.iter().chain(errors);
        fds.extend(pipes.map(|pipe| PollFd::from_borrowed_fd(pipe.as_fd(), PollFlags::IN)));
        let to_agent = self.to_agent.as_ref().filter(|_| !self.outgoing.is_empty());
        let to_agent = to_agent.map(File::as_fd);
        fds.extend(to_agent.map(|pipe| PollFd::from_borrowed_fd(pipe, PollFlags::OUT)));
    }

    /// Returns false if the connection has ended.
    pub(crate) fn is_open(&self) -> bool {
        self.from_agent.is_some()
    }

    /// Returns the addresses of the host, once the agent has told them.
    pub(crate) fn addresses(&self) -> Option<HostAddresses> {
        let (mut addresses, _) = self.hello.clone()?;
        if self.is_local {
            addresses.set_beside_jrun();
        }
        Some(addresses)
    }

    /// Sends an order, or queues it until the host reads.
    pub(crate) fn send(&mut self, order: &AgentOrder) {
        if self.to_agent.is_some() && self.outgoing.len() <= LONGEST_QUEUE {
            self.outgoing.extend_from_slice(&order.to_bytes());
            self.flush();
        }
    }

    /// Writes queued orders, as far as the host reads.
    pub(crate) fn flush(&mut self) {
        let Some(pipe) = &mut self.to_agent else {
            return;
        };
        let mut written = 0;
        while let Some(rest) = self.outgoing.get(written..).filter(|rest| !rest.is_empty()) {
            match pipe.write(rest) {
                Ok(count) => written = written.saturating_add(count),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(_) => {
                    // The end of the output tells that the connection is lost.
                    self.to_agent = None;
                    self.outgoing.clear();
                    return;
                }
            }
        }
        self.outgoing.drain(..written.min(self.outgoing.len()));
    }

    /// Grants the agent as much output as was received.
    pub(crate) fn grant(&mut self) {
        let bytes = std::mem::take(&mut self.ungranted);
        if bytes > 0 {
            self.send(&AgentOrder::Grant(bytes));
        }
    }

    /// Counts output that was received. An error if it is more than was granted.
    pub(crate) fn count_output(&mut self, bytes: usize) -> Result<(), String> {
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        self.ungranted = self.ungranted.saturating_add(bytes);
        // The last read of an agent may exceed its credit.
        let limit = WINDOW.saturating_mul(2);
        if self.ungranted <= limit {
            return Ok(());
        }
        Err(format!(
            "its agent sent more than the {limit} bytes of output that were granted"
        ))
    }

    /// Returns the messages that have arrived. An error if something else has. At the end of the
    /// connection, [`is_open`](Self::is_open) returns false.
    pub(crate) fn receive(&mut self, buffer: &mut [u8]) -> Result<Vec<AgentReport>, String> {
        for _ in 0..READS {
            let Some(pipe) = &mut self.from_agent else {
                break;
            };
            match pipe.read(buffer) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Ok(count) if count > 0 => {
                    self.reader.push(buffer.get(..count).unwrap_or_default());
                }
                Ok(_) | Err(_) => self.from_agent = None,
            }
        }
        let mut reports = Vec::new();
        if !self.is_greeted && !self.greet()? {
            return Ok(reports);
        }
        while let Some(message) = self.reader.next()? {
            let report = AgentReport::from_message(message);
            reports.push(report.ok_or("the agent sent an unknown message")?);
        }
        Ok(reports)
    }

    /// Looks for the greeting of the agent. Returns true if it has come.
    fn greet(&mut self) -> Result<bool, String> {
        let rest = self.reader.rest();
        let windows = rest.windows(GREETING.len());
        let start = windows
            .enumerate()
            .find(|(_, window)| *window == GREETING.as_bytes());
        let line = start.and_then(|(start, _)| rest.get(start.saturating_add(GREETING.len())..));
        let number = line.and_then(|line| {
            let end = line.iter().position(|byte| *byte == b'\n')?;
            line.get(..end)
        });
        let Some(((start, _), number)) = start.zip(number) else {
            if rest.len() > LONGEST_PREFACE {
                return Err(format!(
                    "no agent answered, but something that wrote more than {LONGEST_PREFACE} bytes"
                ));
            }
            return Ok(false);
        };
        if number != PROTOCOL.as_bytes() {
            let shown = String::from_utf8_lossy(number.get(..16).unwrap_or(number)).into_owned();
            return Err(format!(
                "its jrun has protocol {}, and this one {PROTOCOL}; install the same version on \
                 all hosts",
                shown.escape_debug()
            ));
        }
        let length = start
            .saturating_add(GREETING.len())
            .saturating_add(number.len());
        self.reader.skip(length.saturating_add(1));
        self.is_greeted = true;
        Ok(true)
    }

    /// Passes on errors of `ssh`, as far as there is room. Returns true if there were any.
    pub(crate) fn pass_on_errors(
        &mut self,
        output: &mut LabelledOutput,
        buffer: &mut [u8],
    ) -> bool {
        let Some(pipe) = self.errors.as_mut().filter(|_| output.has_room()) else {
            return false;
        };
        let lines = match pipe.read(buffer) {
            Err(error)
                if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) =>
            {
                return false;
            }
            Ok(count) if count > 0 => self
                .error_lines
                .push(buffer.get(..count).unwrap_or_default()),
            Ok(_) | Err(_) => {
                self.errors = None;
                self.error_lines.end()
            }
        };
        output.write_errors(lines);
        true
    }

    /// Returns the text for a host whose agent has not answered for this time.
    pub(crate) fn silence(&self, time: Duration) -> String {
        let Self { name, program, .. } = self;
        let text =
            format!("host {name}: its agent did not answer within {time:?} (--host-timeout)");
        match self.is_local {
            true => text,
            false => {
                format!("{text}; check that `{program} {name} true` ends and asks no question")
            }
        }
    }

    /// Returns the reason why the connection has ended before the agent answered.
    pub(crate) fn reason(&mut self) -> String {
        let mut status = None;
        for _ in 0..LOOKS {
            status = self.child.try_wait().ok().flatten();
            if status.is_some() {
                break;
            }
            thread::sleep(PAUSE);
        }
        let program = &self.program;
        let ended = match status {
            None => format!("{program} closed its output"),
            Some(status) => format!("{program} ended ({status})"),
        };
        match status.as_ref().and_then(ExitStatus::code) {
            Some(126 | 127) => format!(
                "{ended}: its jrun was not found or can't be executed; install the same version, and \
                 name it with --remote-jrun"
            ),
            _ if self.is_local => ended,
            _ => format!(
                "{ended}; check that `{program} {} true` asks no question",
                self.name
            ),
        }
    }

    /// Closes the connection, whereupon the agent kills its processes.
    pub(crate) fn close(&mut self) {
        self.to_agent = None;
        self.outgoing.clear();
        self.from_agent = None;
        let _ = self.child.kill();
    }
}

impl Drop for HostLink {
    fn drop(&mut self) {
        self.close();
        let _ = self.child.wait();
    }
}
