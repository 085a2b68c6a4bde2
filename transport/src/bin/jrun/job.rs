//! A running job: starts its processes, passes on their output and signals, and ends them together.
//!
//! Decision 095 has the reasons.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::os::fd::AsFd;
use std::path::Path;
use std::time::{Duration, Instant};

use libc::{SIGHUP, SIGINT, SIGKILL, SIGQUIT, SIGSTOP, SIGTERM, SIGTSTP};
use rustix::event::{PollFd, PollFlags};
use rustix::process::{Signal, getpid, kill_process};

use crate::arguments::Jrun;
use crate::failure::Failure;
use crate::hosts::RemoteProcesses;
use crate::local::LocalProcesses;
use crate::members::{JobEvent, JobProcesses, wait};
use crate::messages::print_error;
use crate::output::{JobOutput, LabelledOutput};
use crate::plan::{Plan, PlannedPlace};
use crate::process::End;
use crate::signals::{Signals, name_of};

/// Exit code if the time is over.
const TIMED_OUT: u8 = 124;
/// Exit code if the reader of the output has closed it: that of a process that SIGPIPE ended.
const CLOSED: u8 = 141;
/// Exit code if the output can't be written.
const UNWRITTEN: u8 = 125;

/// Time between SIGTERM and SIGKILL.
const GRACE: Duration = Duration::from_millis(500);
/// Time between a signal of the user and SIGKILL, after the first process has ended.
const SIGNAL_GRACE: Duration = Duration::from_secs(2);
/// Time for which a process that exits with an error is suspected to have been disturbed by
/// another one that is killed.
const SETTLE: Duration = Duration::from_millis(20);
/// Time for the same purpose if the news come from several hosts.
const REMOTE_SETTLE: Duration = Duration::from_millis(200);
/// Time for which the reader of the output may delay the end of a job that has failed.
const READER: Duration = Duration::from_millis(300);

/// Runs a job. Returns the exit code.
pub(crate) fn run(plan: Plan, arguments: &Jrun) -> Result<u8, Failure> {
    if let (Some(notice), false) = (&plan.notice, arguments.quiet) {
        print_error(notice);
    }
    // Threads that are started later do not get the signals.
    let signals = Signals::block()?;
    let files = match &arguments.output_dir {
        None => Vec::new(),
        Some(folder) => open_files(folder, &plan).map_err(|error| {
            Failure::Usage(format!("--output-dir {}: {error}", folder.display()))
        })?,
    };
    let labels = plan
        .ranks
        .iter()
        .map(|ranks| (!arguments.no_label).then(|| format!("[{ranks}] ")));
    let output = LabelledOutput::new(labels.collect(), files)?;
    let deadline = arguments
        .timeout
        .and_then(|time| Instant::now().checked_add(time));
    let mut hosts = Vec::new();
    let (processes, settle): (Box<dyn JobProcesses>, _) = match plan.place {
        PlannedPlace::Here(processes) => {
            let mut local = LocalProcesses::new(&plan.launch)?;
            local.start_all(&plan.launch, &processes);
            (Box::new(local), SETTLE)
        }
        PlannedPlace::Hosts(planned) => {
            for (host, order) in &planned.hosts {
                hosts.extend(order.ranks.iter().map(|_| host.name.clone()));
            }
            let remote = RemoteProcesses::start(planned).map_err(Failure::Said)?;
            (Box::new(remote), REMOTE_SETTLE)
        }
    };
    let mut hosts = hosts.into_iter();
    let tasks = plan.ranks.into_iter().map(|ranks| JobTask {
        ranks,
        host: hosts.next(),
        id: None,
        end: None,
    });
    let job = Job {
        processes,
        output,
        tasks: tasks.collect(),
        signals,
        quiet: arguments.quiet,
        keep_going: arguments.keep_going,
        deadline,
        settle,
        suspects: None,
        first_code: None,
        asked: None,
        ending: None,
    };
    job.run()
}

/// Opens two files for each process.
fn open_files(folder: &Path, plan: &Plan) -> io::Result<Vec<File>> {
    fs::create_dir_all(folder)?;
    let mut files = Vec::new();
    for ranks in &plan.ranks {
        for kind in ["out", "err"] {
            files.push(File::create(folder.join(format!("rank-{ranks}.{kind}")))?);
        }
    }
    Ok(files)
}

struct Job {
    processes: Box<dyn JobProcesses>,
    output: LabelledOutput,
    tasks: Vec<JobTask>,
    signals: Signals,
    quiet: bool,
    /// The others go on when a process fails.
    keep_going: bool,
    deadline: Option<Instant>,
    /// Time for which a process that exits with an error is suspected only.
    settle: Duration,
    /// Processes that have exited with an error, in order, and the moment of the decision which of
    /// them is to blame.
    suspects: Option<(Vec<usize>, Instant)>,
    /// The code of the first process that has failed while the others went on.
    first_code: Option<u8>,
    /// The signal by which the user has asked the job to end.
    asked: Option<i32>,
    ending: Option<Ending>,
}

/// A process of a job, as far as decisions about the job need it.
struct JobTask {
    /// The ranks of the process: `3` or `4-7`.
    ranks: String,
    /// The host, if it may be another one.
    host: Option<String>,
    /// The process id on its host, once it has started.
    id: Option<u32>,
    end: Option<End>,
}

impl JobTask {
    /// Returns the name of the process for messages.
    fn name(&self) -> String {
        let host = self.host.as_ref().map(|host| format!(" on {host}"));
        let id = self.id.map(|id| format!(" (process {id})"));
        let (host, id) = (host.unwrap_or_default(), id.unwrap_or_default());
        format!("rank {}{host}{id}", self.ranks)
    }
}

/// The end of a job before all of its processes have ended by themselves.
struct Ending {
    code: u8,
    kill_at: Instant,
    is_killed: bool,
}

impl Job {
    fn run(mut self) -> Result<u8, Failure> {
        let mut events = Vec::new();
        while self.tasks.iter().any(|task| task.end.is_none()) {
            self.sleep()?;
            while let Some(signal) = self.signals.next() {
                self.pass_on(signal);
            }
            self.processes.advance(&mut self.output, &mut events);
            if let Some(error) = self.output.failure() {
                self.output_failed(&error);
            }
            for event in events.drain(..) {
                self.handle(event);
            }
            self.decide();
            self.check_time();
        }
        // The last processes may have ended in the same moment.
        if let Some((_, decision)) = &mut self.suspects {
            *decision = Instant::now();
        }
        self.decide();
        self.finish()
    }

    /// Waits for the next event.
    fn sleep(&self) -> io::Result<()> {
        let flags = PollFlags::IN;
        let mut fds = vec![
            PollFd::from_borrowed_fd(self.signals.as_fd(), flags),
            PollFd::from_borrowed_fd(self.output.changed(), flags),
        ];
        self.processes
            .add_descriptors(self.output.has_room(), &mut fds);
        let decision = self.suspects.as_ref().map(|(_, decision)| *decision);
        let kill = self.ending.as_ref().filter(|ending| !ending.is_killed);
        let kill = kill.map(|ending| ending.kill_at);
        let deadline = self.deadline.filter(|_| self.ending.is_none());
        let events = self.processes.wakes_at();
        let next = [decision, kill, deadline, events]
            .into_iter()
            .flatten()
            .min();
        wait(&mut fds, next)
    }

    /// Handles an event of the processes.
    fn handle(&mut self, event: JobEvent) {
        match event {
            JobEvent::Started(number, id) => {
                if let Some(task) = self.tasks.get_mut(number) {
                    task.id = Some(id);
                }
            }
            JobEvent::NotStarted(number, code, reason) => {
                if let Some(task) = self.tasks.get_mut(number) {
                    task.end = Some(End::NotStarted);
                    let name = task.name();
                    self.fail(code, &format!("{name}: {reason}"));
                }
            }
            JobEvent::Ended(number, end) => self.note_end(number, end),
            JobEvent::Notice(text) if self.quiet => drop(text),
            JobEvent::Notice(text) => print_error(&text),
            JobEvent::Failed(code, reason) => self.fail(code, &reason),
        }
    }

    /// Ends the job, because it can't go on.
    fn fail(&mut self, code: u8, reason: &str) {
        if self.ending.is_none() {
            print_error(reason);
        }
        self.begin_end(GRACE, code);
    }

    /// Forwards a signal.
    fn pass_on(&mut self, signal: i32) {
        let is_end = [SIGHUP, SIGINT, SIGQUIT, SIGTERM].contains(&signal);
        if is_end && self.asked.is_some() && signal != SIGHUP {
            self.begin_end(Duration::ZERO, code_of(signal));
            if let Some(ending) = &mut self.ending {
                ending.kill_at = Instant::now();
            }
            return;
        }
        self.processes.signal(signal);
        if is_end {
            self.asked = Some(signal);
        }
        if signal == SIGTSTP {
            // This program stops, too, until it is continued.
            if let Some(stop) = Signal::from_named_raw(SIGSTOP) {
                let _ = kill_process(getpid(), stop);
            }
        }
    }

    /// Notes that a process has ended.
    fn note_end(&mut self, number: usize, end: End) {
        let Some(task) = self.tasks.get_mut(number).filter(|task| task.end.is_none()) else {
            return;
        };
        task.end = Some(end);
        if self.ending.is_some() || end.is_success() {
            return;
        }
        match self.asked {
            Some(signal) => self.begin_end(SIGNAL_GRACE, code_of(signal)),
            None if self.keep_going => {
                self.say_end(number, end);
                self.first_code.get_or_insert(end.code());
            }
            None => {
                let decision = Instant::now().checked_add(self.settle);
                let decision = decision.unwrap_or_else(Instant::now);
                let suspects = self.suspects.get_or_insert((Vec::new(), decision));
                suspects.0.push(number);
            }
        }
    }

    /// Ends the job if a process has failed. A process that was killed is to blame for those that
    /// have exited because of it.
    fn decide(&mut self) {
        let Some((suspects, decision)) = &self.suspects else {
            return;
        };
        let mut suspects = suspects.iter().filter_map(|number| {
            let end = self.tasks.get(*number)?.end?;
            Some((*number, end))
        });
        let mut killed = suspects
            .clone()
            .filter(|(_, end)| matches!(end, End::Signal(_) | End::Lost));
        let first = match killed.next() {
            None if Instant::now() < *decision => return,
            None => suspects.next(),
            killed => killed,
        };
        let Some((number, end)) = first else {
            return;
        };
        self.say_end(number, end);
        self.suspects = None;
        self.begin_end(GRACE, end.code());
    }

    /// Says how a process has failed, unless the job is ending anyway.
    fn say_end(&self, number: usize, end: End) {
        let Some(task) = self.tasks.get(number) else {
            return;
        };
        let outcome = match end {
            End::Code(code) => format!("exited with code {code}"),
            End::Signal(signal) => format!("was killed by {}", name_of(signal)),
            End::Lost => "was lost with the connection to its host".to_owned(),
            End::NotStarted => "was not started".to_owned(),
        };
        if !self.quiet && self.ending.is_none() {
            print_error(&format!("{} {outcome}", task.name()));
        }
    }

    fn check_time(&mut self) {
        let now = Instant::now();
        if self.deadline.is_some_and(|deadline| now >= deadline) && self.ending.is_none() {
            if !self.quiet {
                let running = self.tasks.iter().filter(|task| task.end.is_none());
                let ranks: Vec<_> = running.map(|task| &*task.ranks).take(10).collect();
                print_error(&format!(
                    "the time is over; still running: rank {}",
                    ranks.join(", ")
                ));
            }
            self.begin_end(GRACE, TIMED_OUT);
        }
        let kills = self.ending.as_mut().filter(|ending| now >= ending.kill_at);
        if let Some(ending) = kills.filter(|ending| !ending.is_killed) {
            ending.is_killed = true;
            self.processes.signal(SIGKILL);
        }
    }

    fn output_failed(&mut self, error: &io::Error) {
        let code = match error.kind() {
            ErrorKind::BrokenPipe => CLOSED,
            _ => UNWRITTEN,
        };
        if code != CLOSED && !self.quiet {
            print_error(&format!("the output can't be written: {error}"));
        }
        self.begin_end(GRACE, code);
    }

    /// Asks all processes to end, and kills them when `grace` is over.
    fn begin_end(&mut self, grace: Duration, code: u8) {
        if self.ending.is_some() {
            return;
        }
        self.processes.signal(SIGTERM);
        let now = Instant::now();
        self.ending = Some(Ending {
            code,
            kill_at: now.checked_add(grace).unwrap_or(now),
            is_killed: false,
        });
    }

    /// Kills what the processes have left behind, and writes the rest of the output.
    fn finish(mut self) -> Result<u8, Failure> {
        self.processes.clean();
        let reader = READER.max(self.processes.patience());
        let failed_until = self
            .ending
            .as_ref()
            .and_then(|_| Instant::now().checked_add(reader));
        let mut events = Vec::new();
        loop {
            let any = self.processes.advance(&mut self.output, &mut events);
            // All ends are known.
            events.clear();
            if any {
                continue;
            }
            let is_full = !self.output.has_room();
            if self.processes.is_silent() && !is_full {
                break;
            }
            let mut fds = Vec::new();
            self.processes.add_descriptors(!is_full, &mut fds);
            fds.push(PollFd::from_borrowed_fd(
                self.output.changed(),
                PollFlags::IN,
            ));
            let quiet = Instant::now().checked_add(self.processes.patience());
            let until = if is_full { failed_until } else { quiet };
            wait(&mut fds, until)?;
            let is_quiet = fds.iter().all(|fd| fd.revents().is_empty());
            let is_late = failed_until.is_some_and(|until| Instant::now() >= until);
            if is_quiet || is_late || self.output.failure().is_some() {
                break;
            }
        }
        let succeeded = |task: &JobTask| task.end.is_some_and(End::is_success);
        let mut code = match (&self.ending, self.asked, self.first_code) {
            (Some(ending), ..) => ending.code,
            (None, Some(signal), _) if !self.tasks.iter().all(succeeded) => code_of(signal),
            (None, None, Some(first)) if !self.tasks.iter().any(succeeded) => first,
            _ => 0,
        };
        let written = self.output.finish(failed_until);
        if code == 0 {
            code = match written {
                None => 0,
                Some(error) if error.kind() == ErrorKind::BrokenPipe => CLOSED,
                Some(error) => {
                    print_error(&format!("the output can't be written: {error}"));
                    UNWRITTEN
                }
            };
        }
        Ok(code)
    }
}

/// Returns the exit code that stands for a signal.
fn code_of(signal: i32) -> u8 {
    End::Signal(signal).code()
}
