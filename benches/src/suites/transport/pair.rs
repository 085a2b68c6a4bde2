//! Both sides of a subject: this thread, and another thread or process that follows its commands.

use std::io::{self, BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::process::Pid;

use super::case::{Case, Way, Work};
use super::side::Side;
use super::subject::{join, serve};
use super::{Cores, pin_to, watch, with_ranks};
use crate::{Failure, alloc};

/// Function that creates a side when the other side connects.
type Accept = Box<dyn FnOnce() -> Result<Box<dyn Side>, Failure>>;

/// A side that waits for the other to connect.
pub(super) struct Waiting {
    /// Address to which the other side connects.
    pub(super) address: String,
    accept: Accept,
}

impl Waiting {
    pub(super) fn new(
        address: String,
        accept: impl FnOnce() -> Result<Box<dyn Side>, Failure> + 'static,
    ) -> Self {
        Self {
            address,
            accept: Box::new(accept),
        }
    }
}

/// Stack of the other side in bytes, if it is a thread: peers read long lists recursively.
const STACK: usize = 64 << 20;

/// Message from the other side.
enum Said {
    /// The other side is waiting at this address.
    At(String),
    /// A round is done, with this number of allocations.
    Done(usize),
    Failed(String),
}

/// Both sides of a subject in one case.
pub(super) struct Pair {
    what: String,
    work: Work,
    side: Box<dyn Side>,
    other: Other,
}

impl Pair {
    /// Starts the other side and connects to it.
    pub(super) fn start(case: &Case, subject: &str, cores: Cores) -> Result<Self, Failure> {
        let what = format!("{}, {subject}", case.name);
        if case.way != Way::Inproc && case.shares_cores() {
            let lead = || with_ranks::lead_processes(case, subject, cores);
            return Ok(Self {
                side: watch::during(&what, None, lead)?,
                what,
                work: case.work(),
                other: Other::Members,
            });
        }
        let mut other = if case.way == Way::Inproc {
            Other::thread(case, subject, cores)?
        } else {
            Other::process(case, subject, cores)?
        };
        let id = other.id();
        let side = watch::during(&what, id, || {
            let address = other.address()?;
            join(case, subject, &address)
        })?;
        Ok(Self {
            what,
            work: case.work(),
            side,
            other,
        })
    }

    /// Runs a round on both sides. Returns nanoseconds per message and the number of allocations.
    pub(super) fn round(&mut self) -> Result<(f64, usize), Failure> {
        let id = self.other.id();
        watch::during(&self.what, id, || {
            self.other.go()?;
            let (ns, ours) = alloc::count(|| self.side.lead(&self.work));
            // If both sides failed, the error of the other side says more about the cause, so it is
            // returned first.
            let theirs = self.other.done()?;
            Ok((ns?, ours + theirs))
        })
    }
}

enum Other {
    Thread {
        go: Option<SyncSender<()>>,
        said: Receiver<Said>,
        thread: Option<JoinHandle<()>>,
    },
    Process {
        child: Child,
        go: Option<ChildStdin>,
        said: BufReader<ChildStdout>,
        line: String,
    },
    /// Several processes, which follow this side by its messages.
    Members,
}

impl Other {
    fn thread(case: &Case, subject: &str, cores: Cores) -> Result<Self, Failure> {
        let (go, told) = sync_channel::<()>(1);
        let (say, said) = sync_channel(2);
        let (case, subject) = (*case, subject.to_owned());
        let thread = thread::Builder::new()
            .name("other side".to_owned())
            .stack_size(STACK)
            .spawn(move || {
                cores.pin_other();
                let told = || told.recv().is_ok();
                // Sending fails only if this side has given up.
                follow(&case, &subject, told, |what| {
                    let _ = say.send(what);
                });
            })?;
        Ok(Self::Thread {
            go: Some(go),
            said,
            thread: Some(thread),
        })
    }

    fn process(case: &Case, subject: &str, cores: Cores) -> Result<Self, Failure> {
        let mut child = Command::new(std::env::current_exe()?)
            .args(["transport-peer", case.name, subject])
            .arg(cores.other.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let (go, said) = (child.stdin.take(), child.stdout.take());
        let said = said.ok_or("the process has no standard output")?;
        Ok(Self::Process {
            child,
            go,
            said: BufReader::new(said),
            line: String::with_capacity(256),
        })
    }

    /// Returns the process id, if the other side is a process.
    fn id(&self) -> Option<Pid> {
        match self {
            Self::Thread { .. } | Self::Members => None,
            Self::Process { child, .. } => Some(Pid::from_child(child)),
        }
    }

    fn go(&mut self) -> Result<(), Failure> {
        let gone = "the other side has ended";
        match self {
            Self::Thread { go, .. } => go.as_ref().ok_or(gone)?.send(())?,
            Self::Process { go, .. } => go.as_mut().ok_or(gone)?.write_all(b"go\n")?,
            Self::Members => {}
        }
        Ok(())
    }

    fn said(&mut self) -> Result<Said, Failure> {
        match self {
            Self::Thread { said, .. } => Ok(said.recv()?),
            Self::Process { said, line, .. } => {
                line.clear();
                said.read_line(line)?;
                Said::parse(line.trim_end())
            }
            Self::Members => Ok(Said::Done(0)),
        }
    }

    fn address(&mut self) -> Result<String, Failure> {
        match self.said()? {
            Said::At(address) => Ok(address),
            Said::Done(_) => Err("the other side ended a round before it had started".into()),
            Said::Failed(why) => Err(why.into()),
        }
    }

    /// Waits for the end of the round, and returns the allocations of a process. Those of a thread
    /// are part of this side's count.
    fn done(&mut self) -> Result<usize, Failure> {
        match self.said()? {
            Said::Done(_) if matches!(self, Self::Thread { .. }) => Ok(0),
            Said::Done(allocs) => Ok(allocs),
            Said::At(_) => Err("the other side started twice".into()),
            Said::Failed(why) => Err(why.into()),
        }
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        match self {
            Self::Thread { go, thread, .. } => {
                go.take();
                let thread = thread.take();
                // A thread within a round ends when it notices that the watchdog has given up.
                if let Some(thread) = thread.filter(|_| !thread::panicking()) {
                    let _ = thread.join();
                }
            }
            Self::Process { child, go, .. } => {
                go.take();
                end(child);
            }
            Self::Members => {}
        }
    }
}

/// Waits for a moment for a process that was told to end, and then kills it.
pub(in crate::suites) fn end(child: &mut Child) {
    let until = Instant::now() + Duration::from_secs(1);
    while Instant::now() < until {
        if !matches!(child.try_wait(), Ok(None)) {
            return;
        }
        thread::sleep(Duration::from_millis(1));
    }
    let _ = child.kill();
    let _ = child.wait();
}

impl Said {
    fn parse(line: &str) -> Result<Self, Failure> {
        let (what, rest) = line.split_once(' ').unwrap_or((line, ""));
        match what {
            "at" => Ok(Self::At(rest.to_owned())),
            "done" => Ok(Self::Done(rest.parse()?)),
            "failed" => Ok(Self::Failed(rest.to_owned())),
            "" => Err("the other side has ended".into()),
            _ => Err(format!("unexpected line from the other side: `{line}`").into()),
        }
    }
}

/// Runs the other side: a round for each command, until the commands end.
fn follow(case: &Case, subject: &str, mut told: impl FnMut() -> bool, mut say: impl FnMut(Said)) {
    let mut begin = || -> Result<Box<dyn Side>, Failure> {
        let waiting = serve(case, subject)?;
        say(Said::At(waiting.address));
        (waiting.accept)()
    };
    let mut side = match begin() {
        Ok(side) => side,
        Err(e) => return say(Said::Failed(e.to_string())),
    };
    let work = case.work();
    while told() {
        let (result, allocs) = alloc::count(|| side.follow(&work));
        match result {
            Ok(()) => say(Said::Done(allocs)),
            Err(e) => return say(Said::Failed(e.to_string())),
        }
    }
}

/// Runs the other side in this process.
pub(crate) fn other_process(case: &str, subject: &str, core: usize) -> Result<(), Failure> {
    // If the system refuses, the end of stdin still ends this process between two rounds.
    let _ = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL));
    pin_to(core);
    let case = Case::named(case)?;
    if case.shares_cores() {
        return with_ranks::follow_processes(&case);
    }
    let (mut input, mut output) = (io::stdin().lock(), io::stdout().lock());
    let mut line = String::with_capacity(16);
    let told = || {
        line.clear();
        matches!(input.read_line(&mut line), Ok(count) if count > 0)
    };
    follow(&case, subject, told, |what| {
        // Writing fails only if the parent process has given up.
        let _ = match what {
            Said::At(address) => writeln!(output, "at {address}"),
            Said::Done(allocs) => writeln!(output, "done {allocs}"),
            Said::Failed(why) => writeln!(output, "failed {}", why.replace('\n', " ")),
        }
        .and_then(|()| output.flush());
    });
    Ok(())
}
