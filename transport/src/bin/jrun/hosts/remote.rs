//! The processes of a job on several hosts.

use std::collections::VecDeque;
use std::io::{self, IsTerminal};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use jstream_transport::rank::world::WORLD;
use libc::{SIGHUP, SIGINT, SIGKILL, SIGQUIT, SIGTERM};
use rustix::event::{PollFd, PollFlags};

use super::host_file::HostShare;
use super::link::HostLink;
use super::protocol::{AgentOrder, AgentReport, StartOrder};
use super::rendezvous::{HostAddresses, address_of_first};
use super::shell::RemoteShell;
use crate::local::CHUNK;
use crate::members::{JobEvent, JobProcesses, wait};
use crate::output::{JobOutput, LabelledOutput};
use crate::process::End;
use crate::start_error;
use crate::world_name;

/// Time for which agents may take to kill what their processes have left behind.
const CLEANUP: Duration = Duration::from_secs(2);

/// Time after SIGKILL within which the agents have to report the ends of their processes. The
/// connections of those that do not are closed.
const LAST_REPORTS: Duration = Duration::from_secs(1);

/// Maximum length in bytes of an order of input.
const INPUT: usize = 32 << 10;

/// The hosts of a job.
pub(crate) struct PlannedHosts {
    pub(crate) shell: RemoteShell,
    /// Hosts, and the orders for their agents, which lack the address of rank 0 if it is unknown.
    pub(crate) hosts: Vec<(HostShare, StartOrder)>,
    /// True if the user has set the address of rank 0.
    pub(crate) has_world: bool,
    /// Time within which the agents of all hosts have to answer.
    pub(crate) answer: Duration,
}

/// The processes of a job on several hosts.
pub(crate) struct RemoteProcesses {
    links: Vec<HostLink>,
    /// The orders to start, until all agents have answered.
    orders: Option<Vec<StartOrder>>,
    has_world: bool,
    /// True for each process that has ended.
    ended: Vec<bool>,
    /// Events that `advance` returns next.
    events: VecDeque<JobEvent>,
    input: InputState,
    /// Time within which the agents of all hosts have to answer, and its end.
    answer: Duration,
    answer_by: Option<Instant>,
    /// The moment at which connections to agents with running processes are closed.
    abandon_at: Option<Instant>,
    buffer: Vec<u8>,
}

/// The input of this process, which the first process of the job gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum InputState {
    /// More can be read.
    Ready,
    /// The agent has not taken the last part yet.
    Sent,
    /// There is no input any more, or nothing reads it.
    Ended,
}

impl RemoteProcesses {
    /// Starts the agents.
    pub(crate) fn start(planned: PlannedHosts) -> Result<Self, String> {
        let mut first = 0usize;
        let (mut links, mut orders) = (Vec::new(), Vec::new());
        for (host, order) in planned.hosts {
            let end = first.saturating_add(order.ranks.len());
            let words = planned.shell.command(&host.name);
            let is_local = planned.shell.is_local(&host.name);
            let link = HostLink::start(&host.name, &words, first..end, is_local);
            let link = link.map_err(|error| {
                let program = words.first().map(|word| word.to_string_lossy());
                let program = program.unwrap_or_default();
                format!("host {}: {program} can't be started: {error}", host.name)
            })?;
            links.push(link);
            orders.push(order);
            first = end;
        }
        Ok(Self {
            links,
            orders: Some(orders),
            has_world: planned.has_world,
            ended: vec![false; first],
            events: VecDeque::new(),
            input: match io::stdin().is_terminal() {
                true => InputState::Ended,
                false => InputState::Ready,
            },
            answer: planned.answer,
            answer_by: Instant::now().checked_add(planned.answer),
            abandon_at: None,
            buffer: vec![0; CHUNK],
        })
    }

    /// Orders the agents to start the processes, when all have answered.
    fn start_processes(&mut self) {
        let addresses = self.links.iter().map(HostLink::addresses);
        let Some(addresses) = addresses.collect::<Option<Vec<_>>>() else {
            return;
        };
        let Some(mut orders) = self.orders.take() else {
            return;
        };
        let failed = match self.world(&addresses) {
            Err(reason) => Some(reason),
            Ok(world) => {
                for (link, order) in self.links.iter_mut().zip(&mut orders) {
                    let world = world.clone().map(|world| (WORLD.into(), world.into()));
                    order.environment.extend(world);
                    link.send(&AgentOrder::Start(std::mem::take(order)));
                }
                None
            }
        };
        if let Some(reason) = failed {
            self.events
                .push_back(JobEvent::Failed(start_error::OTHER, reason));
            self.cancel();
        }
    }

    /// Returns the addresses of rank 0, unless the user has set them.
    fn world(&self, addresses: &[HostAddresses]) -> Result<Option<String>, String> {
        if self.has_world {
            return Ok(None);
        }
        let name = world_name::random().map_err(|error| error.to_string())?;
        let [first, _, ..] = self.links.as_slice() else {
            return Ok(Some(world_name::addresses_on_one_host(&name)));
        };
        let port = first.hello.as_ref().map_or(0, |(_, port)| *port);
        let ip = address_of_first(addresses).ok_or_else(|| {
            format!(
                "host {} does not know its address in the network; name one with --world \
                 'tcp://ADDRESS:PORT'",
                first.name
            )
        })?;
        let world = world_name::addresses_on_hosts(&name, ip, port);
        world.map(Some).map_err(|error| error.to_string())
    }

    /// Ends the job if agents have not answered in time, and names their hosts.
    fn check_answers(&mut self) {
        let is_late = self
            .answer_by
            .is_some_and(|moment| Instant::now() >= moment);
        if self.orders.is_none() || !is_late {
            return;
        }
        let silent = self.links.iter().filter(|link| link.hello.is_none());
        let texts: Vec<_> = silent.map(|link| link.silence(self.answer)).collect();
        self.events
            .push_back(JobEvent::Failed(start_error::OTHER, texts.join("; ")));
        self.cancel();
    }

    /// Closes the connections before the processes are started.
    fn cancel(&mut self) {
        self.orders = None;
        for link in &mut self.links {
            link.close();
        }
        for number in 0..self.ended.len() {
            self.end(number, End::NotStarted);
        }
    }

    /// Notes the end of a process, unless it is known.
    fn end(&mut self, number: usize, end: End) {
        if let Some(ended) = self.ended.get_mut(number).filter(|ended| !**ended) {
            *ended = true;
            self.events.push_back(JobEvent::Ended(number, end));
        }
    }

    /// Handles the end of a connection, or of its use.
    fn lose(&mut self, place: usize, reason: Option<String>) {
        let Some(link) = self.links.get_mut(place) else {
            return;
        };
        let (name, processes) = (link.name.clone(), link.processes.clone());
        if self.orders.is_some() {
            let reason = reason.unwrap_or_else(|| link.reason());
            let text = format!("host {name}: {reason}");
            self.events
                .push_back(JobEvent::Failed(start_error::OTHER, text));
            self.cancel();
            return;
        }
        link.close();
        if let Some(reason) = reason {
            self.events
                .push_back(JobEvent::Notice(format!("host {name}: {reason}")));
        }
        for number in processes {
            self.end(number, End::Lost);
        }
    }

    /// Handles a message of an agent.
    fn handle(
        &mut self,
        place: usize,
        report: AgentReport,
        output: &mut LabelledOutput,
    ) -> Result<(), String> {
        let Some(link) = self.links.get_mut(place) else {
            return Ok(());
        };
        let (first, range) = (link.processes.start, link.processes.clone());
        let number = |process: u32| {
            let number = first.checked_add(usize::try_from(process).ok()?)?;
            range.contains(&number).then_some(number)
        };
        match report {
            AgentReport::Hello(addresses, port) => link.hello = Some((addresses, port)),
            AgentReport::Notice(text) => {
                let text = format!("host {}: {text}", link.name);
                self.events.push_back(JobEvent::Notice(text));
            }
            AgentReport::Started(process, id) => {
                let started = number(process).map(|number| JobEvent::Started(number, id));
                self.events.extend(started);
            }
            AgentReport::NotStarted(process, code, reason) => {
                if let Some(number) = number(process) {
                    self.events
                        .push_back(JobEvent::NotStarted(number, code, reason));
                    for number in number..range.end {
                        self.end(number, End::NotStarted);
                    }
                }
            }
            AgentReport::Output(stream, bytes) => {
                link.count_output(bytes.len())?;
                let offset = usize::try_from(stream & 1).unwrap_or(0);
                if let Some(number) = number(stream >> 1) {
                    let stream = number.saturating_mul(2).saturating_add(offset);
                    match bytes.as_slice() {
                        [] => output.end(stream),
                        bytes => output.push(stream, bytes),
                    }
                }
            }
            AgentReport::Ended(process, end) => {
                if let Some(number) = number(process) {
                    self.end(number, end);
                }
            }
            AgentReport::InputTaken(is_read) => {
                if place == 0 && self.input == InputState::Sent {
                    self.input = match is_read {
                        true => InputState::Ready,
                        false => InputState::Ended,
                    };
                }
            }
        }
        Ok(())
    }

    /// Returns true if input can be passed on.
    fn takes_input(&self) -> bool {
        let is_open = self.links.first().is_some_and(HostLink::is_open);
        let is_running = self.ended.first().is_some_and(|ended| !ended);
        self.input == InputState::Ready && self.orders.is_none() && is_open && is_running
    }

    /// Passes on input, if there is any.
    fn pass_on_input(&mut self) -> io::Result<()> {
        if !self.takes_input() {
            return Ok(());
        }
        let stdin = io::stdin();
        let mut ready = [PollFd::from_borrowed_fd(stdin.as_fd(), PollFlags::IN)];
        wait(&mut ready, Some(Instant::now()))?;
        if ready.iter().all(|fd| fd.revents().is_empty()) {
            return Ok(());
        }
        let mut bytes = vec![0; INPUT];
        let count = match rustix::io::read(stdin.as_fd(), &mut bytes) {
            Ok(count) => count,
            Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => return Ok(()),
            // Input that can't be read ends.
            Err(_) => 0,
        };
        bytes.truncate(count);
        self.input = match count {
            0 => InputState::Ended,
            _ => InputState::Sent,
        };
        if let Some(link) = self.links.first_mut() {
            link.send(&AgentOrder::Input(bytes));
        }
        Ok(())
    }
}

impl JobProcesses for RemoteProcesses {
    fn add_descriptors<'p>(&'p self, has_room: bool, fds: &mut Vec<PollFd<'p>>) {
        for link in &self.links {
            link.add_descriptors(has_room, fds);
        }
        if self.takes_input() {
            fds.push(PollFd::from_borrowed_fd(
                rustix::stdio::stdin(),
                PollFlags::IN,
            ));
        }
    }

    fn wakes_at(&self) -> Option<Instant> {
        let answer_by = self.answer_by.filter(|_| self.orders.is_some());
        match self.events.is_empty() {
            true => answer_by.into_iter().chain(self.abandon_at).min(),
            false => Some(Instant::now()),
        }
    }

    fn advance(&mut self, output: &mut LabelledOutput, events: &mut Vec<JobEvent>) -> bool {
        let mut any = false;
        let mut buffer = std::mem::take(&mut self.buffer);
        for place in 0..self.links.len() {
            let Some(link) = self.links.get_mut(place) else {
                break;
            };
            let was_open = link.is_open();
            any |= link.pass_on_errors(output, &mut buffer);
            link.flush();
            if !was_open {
                continue;
            }
            let received = link.receive(&mut buffer);
            let is_open = link.is_open();
            if !is_open || received.is_err() {
                // The last errors of `ssh` explain more.
                any |= link.pass_on_errors(output, &mut buffer);
            }
            let handled = received.and_then(|reports| {
                any |= !reports.is_empty();
                let mut reports = reports.into_iter();
                reports.try_for_each(|report| self.handle(place, report, output))
            });
            match handled {
                Err(reason) => self.lose(place, Some(reason)),
                Ok(()) if !is_open => self.lose(place, None),
                Ok(()) => {}
            }
        }
        self.buffer = buffer;
        self.start_processes();
        self.check_answers();
        if output.has_room() {
            self.links.iter_mut().for_each(HostLink::grant);
        }
        if self.pass_on_input().is_err() {
            self.input = InputState::Ended;
        }
        if self
            .abandon_at
            .is_some_and(|moment| Instant::now() >= moment)
        {
            self.abandon_at = None;
            for place in 0..self.links.len() {
                let link = self.links.get(place);
                let mut processes = link.map(|link| link.processes.clone()).unwrap_or_default();
                if processes.any(|number| self.ended.get(number) == Some(&false)) {
                    self.lose(place, Some("its agent did not answer in time".to_owned()));
                }
            }
        }
        events.extend(self.events.drain(..));
        any
    }

    fn signal(&mut self, signal: i32) {
        if self.orders.is_some() {
            if [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGKILL].contains(&signal) {
                self.cancel();
            }
            return;
        }
        for link in &mut self.links {
            let mut running = link.processes.clone();
            if running.any(|number| self.ended.get(number) == Some(&false)) {
                link.send(&AgentOrder::Signal(signal));
            }
        }
        if signal == SIGKILL {
            self.abandon_at = Instant::now().checked_add(LAST_REPORTS);
        }
    }

    fn clean(&mut self) {
        // The agents do this when their processes have ended.
    }

    fn is_silent(&self) -> bool {
        !self.links.iter().any(HostLink::is_open)
    }

    fn patience(&self) -> Duration {
        CLEANUP
    }
}
