//! The processes of a run: servers, clients, and servers that never answer.

use std::io::{self, BufRead, BufReader, Write};
use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde::{Deserialize, Serialize};

use super::Subject;
use crate::Failure;

/// Time that a process has for each step. Only a hang reaches it.
const LONG: Duration = Duration::from_secs(60);

/// Part that a process plays in a run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum Part {
    Server {
        subject: Subject,
        version: Version,
        /// Number of the server in its service.
        index: usize,
        address: String,
        folder: PathBuf,
    },
    Client {
        subject: Subject,
        version: Version,
        addresses: Vec<String>,
        /// The first lane, and the number of lanes.
        lanes: (u16, u16),
        folder: PathBuf,
        /// Pause of each lane after a call, in microseconds.
        pause_us: u64,
    },
    /// Accepts connections, and never answers.
    Mute { address: String },
}

/// Version of the interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Version {
    First,
    Second,
}

impl Version {
    pub(super) fn other(self) -> Self {
        match self {
            Self::First => Self::Second,
            Self::Second => Self::First,
        }
    }
}

/// A child process, which ends when its input does. Dropping the handle kills it.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<(Instant, String)>,
}

impl Process {
    /// Starts a process, which the command `before` executes, if there is one.
    pub(super) fn start(part: &Part, before: Option<&[String]>) -> Result<Self, Failure> {
        let program = std::env::current_exe()?;
        let mut command = match before.and_then(<[String]>::split_first) {
            Some((first, rest)) => {
                let mut command = Command::new(first);
                command.args(rest).arg(program);
                command
            }
            None => Command::new(program),
        };
        let mut child = command
            .arg("services-peer")
            .arg(serde_json::to_string(part)?)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let output = child.stdout.take().ok_or("the process has no output")?;
        let (said, lines) = channel();
        thread::Builder::new().spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if said.send((Instant::now(), line)).is_err() {
                    break;
                }
            }
        })?;
        Ok(Self {
            input: child.stdin.take(),
            child,
            lines,
        })
    }

    /// Waits for a line, and returns the time at which it was written.
    pub(super) fn expect(&self, expected: &str) -> Result<Instant, Failure> {
        let until = Instant::now() + LONG;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            match self.lines.recv_timeout(left) {
                Ok((time, line)) if line == expected => return Ok(time),
                Ok((_, line)) if line.starts_with("failed ") => return Err(line.into()),
                Ok(_) => {}
                Err(RecvTimeoutError::Timeout) => {
                    return Err(format!("a process has not said {expected:?} in {LONG:?}").into());
                }
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(format!("a process has ended and not said {expected:?}").into());
                }
            }
        }
    }

    /// Writes a line to the input of the process.
    pub(super) fn say(&mut self, line: &str) -> Result<(), Failure> {
        let input = self.input.as_mut().ok_or("the process has no input")?;
        writeln!(input, "{line}")?;
        Ok(())
    }

    /// Ends the process in order, and waits for that.
    pub(super) fn end(mut self) -> Result<(), Failure> {
        drop(self.input.take());
        let until = Instant::now() + LONG;
        while Instant::now() < until {
            match self.child.try_wait()? {
                Some(status) if status.success() => return Ok(()),
                Some(status) => return Err(format!("a process has ended with {status}").into()),
                None => thread::sleep(Duration::from_millis(1)),
            }
        }
        Err(format!("a process has not ended in {LONG:?}").into())
    }

    /// Stops the process until it is resumed.
    pub(super) fn stop(&self) -> io::Result<()> {
        self.signal(Signal::STOP)
    }

    pub(super) fn resume(&self) -> io::Result<()> {
        self.signal(Signal::CONT)
    }

    fn signal(&self, signal: Signal) -> io::Result<()> {
        Ok(kill_process(Pid::from_child(&self.child), signal)?)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // After `end`, the process is gone.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Writes a line to the standard output at once.
pub(super) fn tell(line: &str) -> io::Result<()> {
    let mut output = io::stdout().lock();
    writeln!(output, "{line}")?;
    output.flush()
}

/// Calls `act` with each line of the standard input until it ends.
pub(super) fn each_line(mut act: impl FnMut(&str)) {
    io::stdin()
        .lock()
        .lines()
        .map_while(Result::ok)
        .for_each(|line| act(&line));
}

/// Accepts connections and never answers, until the standard input ends.
pub(super) fn be_mute(address: &str) -> Result<(), Failure> {
    let address = address.to_owned();
    let path = address.strip_prefix("uds://").map(str::to_owned);
    if let Some(path) = path {
        let _ = std::fs::remove_file(&path);
        let listener = UnixListener::bind(path)?;
        keep_all(move || Ok(listener.accept()?.0))?;
    } else {
        let listener = TcpListener::bind(address.trim_start_matches("tcp://"))?;
        keep_all(move || Ok(listener.accept()?.0))?;
    }
    tell("ready")?;
    each_line(|_| ());
    Ok(())
}

/// Accepts and keeps connections on a thread that ends with the process.
fn keep_all<S: Send + 'static>(
    accept: impl Fn() -> io::Result<S> + Send + 'static,
) -> io::Result<()> {
    let keep = move || {
        let mut kept = Vec::new();
        while let Ok(socket) = accept() {
            kept.push(socket);
        }
    };
    thread::Builder::new().spawn(keep).map(drop)
}
