//! The program that starts the processes of a job on its host, at the order of `jrun`.
//!
//! An agent makes no decisions: it reports how its processes end, and sends them the signals that
//! it is told to send. Only if the connection to `jrun` breaks does it end them by itself.
//!
//! Decision 099 has the reasons.

use std::env;
use std::io;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags};

use super::framed_output::FramedOutput;
use super::input_pipe::InputPipe;
use super::port::PortReservation;
use super::protocol::{
    AgentOrder, AgentReport, GREETING, LONGEST_ORDER, MessageReader, PROTOCOL, StartOrder,
};
use super::rendezvous::HostAddresses;
use crate::binding::Neighbours;
use crate::failure::Failure;
use crate::guard::Guard;
use crate::local::CHUNK;
use crate::mark::Mark;
use crate::members::wait;
use crate::output::JobOutput;
use crate::placement::place_all;
use crate::process::{Launch, Process, ProcessInput};
use crate::start_error::{self, code_of_start};

/// The option with which this program becomes an agent.
pub(crate) const OPTION: &str = "--agent-of-job";

/// Time for which output may arrive after the end of all processes and of what they have started.
const LATE_OUTPUT: Duration = Duration::from_millis(200);

/// Time for which the last messages may take to leave.
const LAST_MESSAGES: Duration = Duration::from_secs(10);

/// Runs an agent until its processes have ended, or the connection to `jrun` breaks.
pub(crate) fn run() -> Result<u8, Failure> {
    let connection = env::var("SSH_CONNECTION").ok();
    let port = PortReservation::new()?;
    let output = FramedOutput::start()?;
    output.write(format!("{GREETING}{PROTOCOL}\n").into_bytes());
    let addresses = HostAddresses::of_this_host(connection.as_deref());
    output.report(&AgentReport::Hello(addresses, port.number()));
    let agent = Agent {
        processes: Vec::new(),
        guard: None,
        _port: port,
        output,
        orders: MessageReader::new(LONGEST_ORDER),
        input: None,
        is_started: false,
        is_connected: true,
        buffer: vec![0; CHUNK],
    };
    agent.run()?;
    Ok(0)
}

/// The fields are dropped in order: the processes before their guard.
struct Agent {
    processes: Vec<Process>,
    guard: Option<Guard>,
    /// The port of rank 0, if it is on this host.
    _port: PortReservation,
    output: FramedOutput,
    orders: MessageReader,
    input: Option<InputPipe>,
    is_started: bool,
    is_connected: bool,
    buffer: Vec<u8>,
}

impl Agent {
    fn run(mut self) -> Result<(), Failure> {
        while self.is_connected && !(self.is_started && self.all_have_ended()) {
            self.sleep(None)?;
            self.advance()?;
        }
        for process in &self.processes {
            process.signal(libc::SIGKILL);
        }
        // The guard kills the processes that have left their groups.
        self.guard = None;
        while self.is_connected && self.has_pipes() {
            let is_full = !self.output.has_room();
            let quiet = Instant::now().checked_add(LATE_OUTPUT);
            let is_silent = self.sleep(quiet)?;
            if !self.advance()? && is_silent && !is_full {
                break;
            }
        }
        if self.is_connected {
            self.output
                .finish(Instant::now().checked_add(LAST_MESSAGES));
        }
        Ok(())
    }

    fn all_have_ended(&self) -> bool {
        let mut running = self.processes.iter().filter_map(Process::running);
        running.next().is_none()
    }

    fn has_pipes(&self) -> bool {
        self.processes
            .iter()
            .flat_map(Process::pipes)
            .next()
            .is_some()
    }

    /// Waits for the next event, at most until a moment. Returns true if there was none.
    fn sleep(&self, until: Option<Instant>) -> io::Result<bool> {
        let stdin = io::stdin();
        let (flags, has_room) = (PollFlags::IN, self.output.has_room());
        let mut fds = vec![
            PollFd::from_borrowed_fd(stdin.as_fd(), flags),
            PollFd::from_borrowed_fd(self.output.changed(), flags),
        ];
        for process in &self.processes {
            let pipes = process.pipes().filter(|_| has_room);
            let all = process.running().into_iter().chain(pipes);
            fds.extend(all.map(|fd| PollFd::from_borrowed_fd(fd, flags)));
        }
        let input = self.input.as_ref().and_then(InputPipe::waiting);
        fds.extend(input.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::OUT)));
        wait(&mut fds, until)?;
        Ok(fds.iter().all(|fd| fd.revents().is_empty()))
    }

    /// Executes orders, and reports what has happened. Returns true if there was any output.
    fn advance(&mut self) -> Result<bool, Failure> {
        if self.output.has_failed() {
            self.is_connected = false;
            return Ok(false);
        }
        self.read_orders()?;
        if self
            .input
            .as_ref()
            .is_some_and(|input| input.waiting().is_some())
        {
            self.write_input();
        }
        let mut any = false;
        for (number, process) in (0u32..).zip(&mut self.processes) {
            any |= process.pass_on(&mut self.output, &mut self.buffer);
            if let (true, Some(end)) = (process.check_end(), process.end) {
                self.output.report(&AgentReport::Ended(number, end));
            }
        }
        Ok(any)
    }

    /// Reads and executes orders, if there are any.
    fn read_orders(&mut self) -> Result<(), Failure> {
        // The input may be the same open file as the output, so it can't be made non-blocking.
        let stdin = io::stdin();
        let mut ready = [PollFd::from_borrowed_fd(stdin.as_fd(), PollFlags::IN)];
        wait(&mut ready, Some(Instant::now()))?;
        if ready.iter().all(|fd| fd.revents().is_empty()) {
            return Ok(());
        }
        match rustix::io::read(stdin.as_fd(), &mut self.buffer) {
            Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => {}
            Ok(0) | Err(_) => self.is_connected = false,
            Ok(count) => self
                .orders
                .push(self.buffer.get(..count).unwrap_or_default()),
        }
        while let Some(message) = self.orders.next().map_err(Failure::Said)? {
            let unknown = || Failure::Said("jrun sent an unknown order to this agent".to_owned());
            match AgentOrder::from_message(message).ok_or_else(unknown)? {
                AgentOrder::Start(order) if !self.is_started => self.start(&order)?,
                AgentOrder::Start(_) => return Err(unknown()),
                AgentOrder::Signal(signal) => {
                    let running = self.processes.iter();
                    for process in running.filter(|process| process.running().is_some()) {
                        process.signal(signal);
                    }
                }
                AgentOrder::Grant(bytes) => self.output.grant(bytes),
                AgentOrder::Input(bytes) => {
                    if let Some(input) = &mut self.input {
                        input.push(&bytes);
                    }
                    self.write_input();
                }
            }
        }
        Ok(())
    }

    /// Writes input to the first process, and reports when more can be taken.
    fn write_input(&mut self) {
        let written = match &mut self.input {
            Some(input) => input.write(),
            None => Some(false),
        };
        if let Some(is_read) = written {
            self.output.report(&AgentReport::InputTaken(is_read));
        }
    }

    /// Starts the processes.
    fn start(&mut self, order: &StartOrder) -> Result<(), Failure> {
        self.is_started = true;
        if let Err(error) = env::set_current_dir(&order.folder) {
            let folder = order.folder.display();
            let reason = format!("can't use the working folder {folder} (--wdir): {error}");
            let refused = AgentReport::NotStarted(0, start_error::OTHER, reason);
            self.output.report(&refused);
            return Ok(());
        }
        let launch = Launch {
            command: order.command.clone(),
            folder: None,
            mark: Mark::new()?,
        };
        self.guard = Some(Guard::start(&launch.mark)?);
        let neighbours = Neighbours {
            processes: u32::try_from(order.ranks.len()).unwrap_or(u32::MAX),
            threads: order.threads,
            bind: order.bind,
        };
        let (mut processes, notice) = place_all(&order.ranks, neighbours, &order.environment);
        if let (Some(first), true) = (processes.first_mut(), order.has_input) {
            first.input = ProcessInput::Piped;
        }
        if let Some(notice) = notice {
            self.output.report(&AgentReport::Notice(notice));
        }
        for (number, planned) in (0u32..).zip(&processes) {
            let started = Process::start(&launch, planned).and_then(|(process, input)| {
                let input = input.map(InputPipe::new).transpose()?;
                Ok((process, input))
            });
            match started {
                Ok((process, input)) => {
                    self.output
                        .report(&AgentReport::Started(number, process.id()));
                    self.processes.push(process);
                    self.input = self.input.take().or(input);
                }
                Err(error) => {
                    let reason = start_error::describe(&launch.command, &error);
                    let code = code_of_start(&error);
                    self.output
                        .report(&AgentReport::NotStarted(number, code, reason));
                    break;
                }
            }
        }
        Ok(())
    }
}
