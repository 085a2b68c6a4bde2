//! The processes of a job on this host.

use std::io;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags};

use crate::guard::Guard;
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
    /// Events that `advance` returns next.
    events: Vec<JobEvent>,
    buffer: Vec<u8>,
}

impl LocalProcesses {
    pub(crate) fn new(launch: &Launch) -> io::Result<Self> {
        Ok(Self {
            processes: Vec::new(),
            guard: Some(Guard::start(&launch.mark)?),
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
}

impl JobProcesses for LocalProcesses {
    fn add_descriptors<'p>(&'p self, has_room: bool, fds: &mut Vec<PollFd<'p>>) {
        for process in &self.processes {
            let pipes = process.pipes().filter(|_| has_room);
            let all = process.running().into_iter().chain(pipes);
            fds.extend(all.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)));
        }
    }

    fn wakes_at(&self) -> Option<Instant> {
        (!self.events.is_empty()).then(Instant::now)
    }

    fn advance(&mut self, output: &mut LabelledOutput, events: &mut Vec<JobEvent>) -> bool {
        let mut any = false;
        events.append(&mut self.events);
        for (number, process) in self.processes.iter_mut().enumerate() {
            any |= process.pass_on(output, &mut self.buffer);
            if let (true, Some(end)) = (process.look(), process.end) {
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
