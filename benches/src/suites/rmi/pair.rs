//! Both sides of a subject: this thread calls, and another thread or process serves.

use std::any::Any;
use std::io::{self, BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use rustix::process::{Pid, Signal, kill_process};

use super::address::SPIN;
use super::case::{Case, Way};
use super::scenes;
use super::subject::{Caller, Figure, join, serve};
use crate::suites::transport::{Cores, end, watch};
use crate::{Failure, alloc};

/// A running server, in threads of its own.
pub(super) struct Serving {
    /// Address of the server.
    address: String,
    /// Handle whose drop stops the server, unless the server ends with its connection.
    _server: Box<dyn Any>,
}

impl Serving {
    pub(super) fn new(address: String, server: impl Any) -> Self {
        Self {
            address,
            _server: Box::new(server),
        }
    }
}

/// Allocations of each side, or of both sides together if they share one process.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Allocs {
    pub(super) ours: usize,
    pub(super) server: Option<usize>,
}

/// Both sides of a subject in one case. Between rounds the server process is stopped, so that the
/// servers of other subjects have the processor.
pub(super) struct Pair {
    what: String,
    /// True if waiting threads spin.
    spins: bool,
    // Dropped before its server.
    caller: Box<dyn Caller>,
    server: Server,
}

impl Pair {
    /// Starts the server and connects to it.
    pub(super) fn start(case: &Case, subject: &str, cores: Cores) -> Result<Self, Failure> {
        let what = format!("{}, {subject}", case.name);
        let core = if case.one_cpu {
            cores.first
        } else {
            cores.other
        };
        let mut server = if case.way == Way::Inproc {
            Server::thread(*case, subject, core)?
        } else {
            Server::process(case.name, subject, core)?
        };
        let id = server.id();
        let caller = watch::during(&what, id, || join(case, subject, &server.address()?))?;
        server.pause();
        Ok(Self {
            what,
            spins: case.spins(),
            caller,
            server,
        })
    }

    /// Runs a round of calls, and returns its result with the numbers of allocations.
    pub(super) fn round<R>(
        &mut self,
        calls: impl FnOnce(&mut dyn Caller) -> Result<R, Failure>,
    ) -> Result<(R, Allocs), Failure> {
        let id = self.server.id();
        if self.spins && id.is_none() {
            // By then the threads of other subjects have stopped spinning.
            thread::sleep(2 * SPIN);
        }
        self.server.resume();
        let round = watch::during(&self.what, id, || {
            self.server.count()?;
            let (result, ours) = alloc::count(|| calls(&mut *self.caller));
            let server = self.server.counted()?;
            Ok((result?, Allocs { ours, server }))
        });
        self.server.pause();
        round
    }

    /// Returns additional figures of the calling side.
    pub(super) fn more(&mut self) -> Result<Vec<Figure>, Failure> {
        let id = self.server.id();
        self.server.resume();
        watch::during(&self.what, id, || self.caller.more())
    }
}

impl Drop for Pair {
    /// Resumes the server, since the caller may need the server to close its connection.
    fn drop(&mut self) {
        self.server.resume();
    }
}

/// Server of a subject, in a thread or in a process.
pub(super) enum Server {
    Thread {
        address: String,
        /// Sender whose drop ends the server thread.
        until: Option<SyncSender<()>>,
        thread: Option<JoinHandle<()>>,
    },
    Process {
        child: Child,
        told: Option<ChildStdin>,
        said: BufReader<ChildStdout>,
        line: String,
    },
}

impl Server {
    fn thread(case: Case, subject: &str, core: usize) -> Result<Self, Failure> {
        let subject = subject.to_owned();
        let (until, told) = sync_channel::<()>(0);
        let (say, said) = sync_channel(1);
        // The server's threads inherit the core of the thread that starts them.
        let thread = thread::Builder::new().name("server".to_owned());
        let thread = thread.spawn(move || {
            core_affinity::set_for_current(core_affinity::CoreId { id: core });
            let serving = serve(&case, &subject);
            let address = serving.as_ref().map(|serving| serving.address.clone());
            // Sending fails only if the starting thread has given up.
            let _ = say.send(address.map_err(ToString::to_string));
            let _ = told.recv();
        })?;
        Ok(Self::Thread {
            address: said.recv()??,
            until: Some(until),
            thread: Some(thread),
        })
    }

    /// Starts a process that serves the case `name` for `subject`, pinned to `core`.
    pub(super) fn process(name: &str, subject: &str, core: usize) -> Result<Self, Failure> {
        let mut command = Command::new(std::env::current_exe()?);
        #[cfg(feature = "tls")]
        if name.starts_with("tls/") {
            super::certificates::Certificates::of_run()?.leave_to(&mut command);
        }
        let mut child = command
            .args(["rmi-peer", name, subject])
            .arg(core.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let (told, said) = (child.stdin.take(), child.stdout.take());
        let said = said.ok_or("the process has no standard output")?;
        Ok(Self::Process {
            child,
            told,
            said: BufReader::new(said),
            line: String::with_capacity(256),
        })
    }

    /// Returns the process id, if the server is a process.
    pub(super) fn id(&self) -> Option<Pid> {
        match self {
            Self::Thread { .. } => None,
            Self::Process { child, .. } => Some(Pid::from_child(child)),
        }
    }

    /// Stops a server process until it is resumed. A spinning server would take processor time from
    /// the subject that is being measured.
    fn pause(&self) {
        self.signal(Signal::STOP);
    }

    fn resume(&self) {
        self.signal(Signal::CONT);
    }

    fn signal(&self, signal: Signal) {
        if let Some(id) = self.id() {
            // If the process has ended, the next request to it reports that.
            let _ = kill_process(id, signal);
        }
    }

    /// Returns the address of the server.
    pub(super) fn address(&mut self) -> Result<String, Failure> {
        match self {
            Self::Thread { address, .. } => Ok(address.clone()),
            Self::Process { .. } => Ok(self.said("at ")?.to_owned()),
        }
    }

    /// Starts counting the allocations of a server process.
    fn count(&mut self) -> Result<(), Failure> {
        self.tell(b"count\n")?;
        if let Self::Process { .. } = self {
            self.said("counting")?;
        }
        Ok(())
    }

    /// Returns the allocations of a server process since counting began. Those of a server thread
    /// are part of the caller's count.
    fn counted(&mut self) -> Result<Option<usize>, Failure> {
        self.tell(b"counted\n")?;
        match self {
            Self::Thread { .. } => Ok(None),
            Self::Process { .. } => Ok(Some(self.said("allocs ")?.parse()?)),
        }
    }

    fn tell(&mut self, line: &[u8]) -> Result<(), Failure> {
        if let Self::Process { told, .. } = self {
            let told = told.as_mut().ok_or("the server has ended")?;
            told.write_all(line)?;
        }
        Ok(())
    }

    /// Reads the next line of the process, and returns the part after the prefix `begin`.
    fn said(&mut self, begin: &str) -> Result<&str, Failure> {
        let Self::Process { said, line, .. } = self else {
            return Err("a server thread has no standard output".into());
        };
        line.clear();
        said.read_line(line)?;
        let line = line.trim_end();
        line.strip_prefix(begin).ok_or_else(|| match line {
            "" => "the server has ended".into(),
            _ => line.strip_prefix("failed ").unwrap_or(line).into(),
        })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        match self {
            Self::Thread { until, thread, .. } => {
                until.take();
                let thread = thread.take();
                if let Some(thread) = thread.filter(|_| !thread::panicking()) {
                    let _ = thread.join();
                }
            }
            Self::Process { child, told, .. } => {
                told.take();
                end(child);
            }
        }
    }
}

/// Runs a server process: counts its allocations on request, until stdin is closed.
pub(crate) fn other_process(case: &str, subject: &str, core: usize) -> Result<(), Failure> {
    // If the system refuses, the end of stdin still ends this process.
    let _ = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL));
    core_affinity::set_for_current(core_affinity::CoreId { id: core });
    let (mut input, mut output) = (io::stdin().lock(), io::stdout().lock());
    let serving = if scenes::names().any(|scene| scene == case) {
        scenes::serve(case)
    } else {
        Case::named(case).and_then(|case| serve(&case, subject))
    };
    let serving = match serving {
        Ok(serving) => serving,
        Err(e) => {
            writeln!(output, "failed {}", e.to_string().replace('\n', " "))?;
            return Ok(());
        }
    };
    writeln!(output, "at {}", serving.address)?;
    output.flush()?;
    let mut line = String::with_capacity(16);
    let mut next = || -> io::Result<bool> {
        line.clear();
        Ok(input.read_line(&mut line)? > 0)
    };
    while next()? {
        let (told, allocs) = alloc::count(|| -> io::Result<bool> {
            output.write_all(b"counting\n")?;
            output.flush()?;
            next()
        });
        if !told? {
            break;
        }
        writeln!(output, "allocs {allocs}")?;
        output.flush()?;
    }
    Ok(())
}
