//! The processes of a job on this host.

use std::io;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags};

use crate::guard::Guard;
use crate::mark::Mark;
use crate::members::{JobEvent, JobProcesses};
use crate::output::LabelledOutput;
use crate::process::{End, Launch, Process, ProcessLaunch};
use crate::start_error::{self, code_of_start};

/// Time for which output may arrive after the end of all processes: those that have left their
/// groups may hold the pipes until the guard kills them.
const LATE_OUTPUT: Duration = Duration::from_millis(200);

/// Size in bytes of a read.
pub(crate) const CHUNK: usize = 64 << 10;

/// The processes of a job on this host. The fields are dropped in order: the processes before their
/// guard.
pub(crate) struct LocalProcesses {
    processes: Vec<Process>,
    guard: Option<Guard>,
    /// The mark of the processes, for another guard.
    mark: Mark,
    /// Events that `advance` returns next.
    events: Vec<JobEvent>,
    buffer: Vec<u8>,
}

impl LocalProcesses {
    pub(crate) fn new(launch: &Launch) -> io::Result<Self> {
        Ok(Self {
            processes: Vec::new(),
            guard: Some(Guard::start(&launch.mark)?),
            mark: launch.mark.clone(),
            events: Vec::new(),
            buffer: vec![0; CHUNK],
        })
    }

    /// Starts processes until one can't be started.
    pub(crate) fn start_all(&mut self, launch: &Launch, processes: &[ProcessLaunch]) {
        for (number, process) in processes.iter().enumerate() {
            match Process::start(launch, process) {
                Ok((process, _)) => {
                    self.events.push(JobEvent::Started(number, process.id()));
                    self.processes.push(process);
                }
                Err(error) => {
                    let reason = start_error::describe(&launch.command, &error);
                    let code = code_of_start(&error);
                    self.events.push(JobEvent::NotStarted(number, code, reason));
                    let others = number..processes.len();
                    let others = others.map(|number| JobEvent::Ended(number, End::NotStarted));
                    self.events.extend(others);
                    return;
                }
            }
        }
    }

    /// Replaces a guard that was killed. Without one, processes outlive `jrun` if it is killed.
    fn watch_guard(&mut self) {
        let Some(status) = self.guard.as_mut().and_then(Guard::end) else {
            return;
        };
        let text = match Guard::start(&self.mark) {
            Ok(guard) => {
                self.guard = Some(guard);
                format!("the guard of the job ended ({status}), and was started again")
            }
            Err(error) => {
                self.guard = None;
                format!(
                    "the guard of the job ended ({status}) and can't be started again ({error}): if \
                     jrun is killed, the processes of the job are left behind"
                )
            }
        };
        self.events.push(JobEvent::Notice(text));
    }
}

impl JobProcesses for LocalProcesses {
    fn add_descriptors<'p>(&'p self, has_room: bool, fds: &mut Vec<PollFd<'p>>) {
        for process in &self.processes {
            let pipes = process.pipes().filter(|_| has_room);
            let all = process.running().into_iter().chain(pipes);
            fds.extend(all.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)));
        }
        // Errors are reported in any case.
        let guard = self.guard.as_ref().and_then(Guard::ended);
        fds.extend(guard.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::empty())));
    }

    fn wakes_at(&self) -> Option<Instant> {
        (!self.events.is_empty()).then(Instant::now)
    }

    fn advance(&mut self, output: &mut LabelledOutput, events: &mut Vec<JobEvent>) -> bool {
        let mut any = false;
        self.watch_guard();
        events.append(&mut self.events);
        for (number, process) in self.processes.iter_mut().enumerate() {
            any |= process.pass_on(output, &mut self.buffer);
            if let (true, Some(end)) = (process.check_end(), process.end) {
                events.push(JobEvent::Ended(number, end));
            }
        }
        any
    }

    fn signal(&mut self, signal: i32) {
        for process in &self.processes {
            if process.running().is_some() {
                process.signal(signal);
            }
        }
    }

    fn clean(&mut self) {
        for process in &self.processes {
            process.signal(libc::SIGKILL);
        }
        // Processes that have left their groups may hold the pipes.
        self.guard = None;
    }

    fn is_silent(&self) -> bool {
        self.processes
            .iter()
            .flat_map(Process::pipes)
            .next()
            .is_none()
    }

    fn patience(&self) -> Duration {
        LATE_OUTPUT
    }
}
