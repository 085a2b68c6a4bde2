//! The scenarios: three servers and two clients, and a fault in their midst.

use std::net::TcpListener;
use std::thread;
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use tempfile::TempDir;

use super::calls::{Period, first_answer, load, present_line};
use super::ledger::{self, CallCounts};
use super::network::Network;
use super::process::{Part, Process, Version};
use super::{SERVERS, Subject};
use crate::Failure;

/// Number of client processes.
const CLIENTS: u16 = 2;

/// The server that has the fault.
const FAULTY: usize = 1;

/// Time of each call at the slow server.
const SLOW: Duration = Duration::from_millis(20);

/// Events that happen to the servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scenario {
    Undisturbed,
    /// Each server is shut down and started again, in turn.
    Restart,
    /// Each server is replaced by one of the other version, in turn.
    Versions,
    /// One server is killed, and started again.
    Kill,
    /// The network of one server is cut off, and mended.
    Partition,
    /// One server is stopped (SIGSTOP), and resumed.
    Stopped,
    /// One server takes long for each call.
    Slow,
    /// One server is killed, and a program listens at its address that accepts connections and
    /// never answers. Then the server is started again.
    Mute,
}

impl Scenario {
    pub(super) const ALL: [Self; 8] = [
        Self::Undisturbed,
        Self::Restart,
        Self::Versions,
        Self::Kill,
        Self::Partition,
        Self::Stopped,
        Self::Slow,
        Self::Mute,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Undisturbed => "undisturbed",
            Self::Restart => "restart",
            Self::Versions => "versions",
            Self::Kill => "kill",
            Self::Partition => "partition",
            Self::Stopped => "stopped",
            Self::Slow => "slow",
            Self::Mute => "mute",
        }
    }

    /// Returns true if a subject can take part.
    pub(super) fn suits(self, subject: Subject) -> bool {
        match self {
            Self::Versions => subject.has_versions(),
            Self::Partition => !subject.is_local(),
            _ => true,
        }
    }

    /// Returns true if no call may fail.
    pub(super) fn spares_calls(self) -> bool {
        matches!(self, Self::Undisturbed | Self::Restart | Self::Versions)
    }
}

/// The load of a run.
#[derive(Debug, Clone, Copy)]
pub(super) struct Load {
    /// Duration of the period before the fault, and of the fault.
    pub(super) span: Duration,
    /// Pause of each lane after a call.
    pub(super) pause: Duration,
    /// Number of calls that each client makes at the same time.
    pub(super) lanes: u16,
}

/// Figures of a run.
#[derive(Debug)]
pub(super) struct RunFigures {
    pub(super) counts: CallCounts,
    /// Latencies before the fault in nanoseconds.
    pub(super) undisturbed: Histogram<u64>,
    /// Latencies during the fault, at the other servers.
    pub(super) fault: Histogram<u64>,
    /// The time from the return of a server until it has answered each client: the longest one.
    pub(super) recovery: Option<Duration>,
}

/// A running service with its clients.
struct Service {
    subject: Subject,
    // Dropped first.
    clients: Vec<Process>,
    servers: Vec<Option<Process>>,
    addresses: Vec<String>,
    versions: [Version; SERVERS],
    folder: TempDir,
    network: Option<Network>,
    /// Number of the present phase.
    phase: usize,
}

/// Runs a scenario once.
///
/// # Errors
///
/// The failure of a step, or the first call that has a wrong end.
pub(super) fn run(scenario: Scenario, subject: Subject, load: Load) -> Result<RunFigures, Failure> {
    let network = match scenario {
        Scenario::Partition => Some(Network::new()?),
        _ => None,
    };
    let mut service = Service::start(subject, network)?;
    service.start_clients(scenario, load)?;
    thread::sleep(load.span / 4);
    service.begin_phase(Period::Undisturbed, None)?;
    thread::sleep(load.span);
    let recovery = service.disturb(scenario, load.span)?;
    thread::sleep(load.span / 4);
    service.end(load.lanes, recovery)
}

impl Service {
    fn start(subject: Subject, network: Option<Network>) -> Result<Self, Failure> {
        let folder = tempfile::tempdir()?;
        let mut listeners = Vec::new();
        let mut addresses = Vec::new();
        for server in 0..SERVERS {
            let host = match &network {
                Some(_) => Network::server(server),
                None => "127.0.0.1".to_owned(),
            };
            // All at once, so that they differ. The ports are free again when they are dropped.
            let listener = TcpListener::bind("127.0.0.1:0")?;
            let port = listener.local_addr()?.port();
            listeners.push(listener);
            let path = folder.path().join(format!("server-{server}"));
            addresses.push(match subject {
                Subject::Jstream => format!("tcp://{host}:{port}"),
                Subject::JstreamUds => format!("uds://{}", path.display()),
                #[cfg(feature = "peers")]
                Subject::Tonic | Subject::Tarpc => format!("{host}:{port}"),
            });
        }
        drop(listeners);
        let mut service = Self {
            subject,
            clients: Vec::new(),
            servers: (0..SERVERS).map(|_| None).collect(),
            addresses,
            versions: [Version::First; SERVERS],
            folder,
            network,
            phase: 0,
        };
        for server in 0..SERVERS {
            service.start_server(server)?;
        }
        Ok(service)
    }

    /// Starts a server. Returns the time at which it was ready.
    fn start_server(&mut self, server: usize) -> Result<Instant, Failure> {
        let part = Part::Server {
            subject: self.subject,
            version: self.versions.get(server).copied().unwrap_or(Version::First),
            index: server,
            address: self.address(server),
            folder: self.folder.path().to_owned(),
        };
        let before = self.network.as_ref().map(|network| network.command(server));
        let process = Process::start(&part, before.as_deref())?;
        let ready = process.expect("ready")?;
        if let Some(place) = self.servers.get_mut(server) {
            *place = Some(process);
        }
        Ok(ready)
    }

    fn start_clients(&mut self, scenario: Scenario, load: Load) -> Result<(), Failure> {
        let mut version = Version::First;
        for client in 0..CLIENTS {
            let part = Part::Client {
                subject: self.subject,
                version,
                addresses: self.addresses.clone(),
                lanes: (client * load.lanes, load.lanes),
                folder: self.folder.path().to_owned(),
                pause_us: load.pause.as_micros() as u64,
            };
            self.clients.push(Process::start(&part, None)?);
            if scenario == Scenario::Versions {
                version = version.other();
            }
        }
        self.clients
            .iter()
            .try_for_each(|client| client.expect("ready").map(drop))
    }

    fn address(&self, server: usize) -> String {
        self.addresses.get(server).cloned().unwrap_or_default()
    }

    fn server(&mut self, server: usize) -> Result<&mut Process, Failure> {
        let place = self.servers.get_mut(server).and_then(Option::as_mut);
        place.ok_or_else(|| "there is no such server".into())
    }

    fn take_server(&mut self, server: usize) -> Result<Process, Failure> {
        let place = self.servers.get_mut(server).and_then(Option::take);
        place.ok_or_else(|| "there is no such server".into())
    }

    /// Begins the next phase.
    fn begin_phase(&mut self, period: Period, faulty: Option<usize>) -> Result<(), Failure> {
        self.phase += 1;
        let line = present_line(self.phase, period, faulty);
        self.clients
            .iter_mut()
            .try_for_each(|client| client.say(&line))
    }

    /// Begins a phase in which a server is back, and waits until it has answered all clients.
    /// Returns the time since it came back.
    fn recover(
        &mut self,
        server: usize,
        returned: Instant,
        period: Period,
    ) -> Result<Duration, Failure> {
        self.begin_phase(period, None)?;
        let line = first_answer(self.phase, server);
        let mut last = returned;
        for client in &self.clients {
            last = last.max(client.expect(&line)?);
        }
        Ok(last.saturating_duration_since(returned))
    }

    /// Lets the fault happen for a time, and ends it. Returns the time of the recovery.
    fn disturb(&mut self, scenario: Scenario, span: Duration) -> Result<Option<Duration>, Failure> {
        let warm_up = Period::WarmUp;
        match scenario {
            Scenario::Undisturbed => {
                self.begin_phase(Period::Fault, None)?;
                thread::sleep(span);
                self.begin_phase(warm_up, None)?;
                return Ok(None);
            }
            Scenario::Restart | Scenario::Versions => {
                self.begin_phase(Period::Fault, None)?;
                let mut longest = Duration::ZERO;
                for server in 0..SERVERS {
                    self.take_server(server)?.end()?;
                    if let (Scenario::Versions, Some(version)) =
                        (scenario, self.versions.get_mut(server))
                    {
                        *version = version.other();
                    }
                    let ready = self.start_server(server)?;
                    longest = longest.max(self.recover(server, ready, Period::Fault)?);
                    thread::sleep(span / 3);
                }
                self.begin_phase(warm_up, None)?;
                return Ok(Some(longest));
            }
            _ => {}
        }
        self.begin_phase(Period::Fault, Some(FAULTY))?;
        let returned = match scenario {
            Scenario::Kill => {
                drop(self.take_server(FAULTY)?);
                thread::sleep(span);
                self.start_server(FAULTY)?
            }
            Scenario::Stopped => {
                self.server(FAULTY)?.stop()?;
                thread::sleep(span);
                let now = Instant::now();
                self.server(FAULTY)?.resume()?;
                now
            }
            Scenario::Slow => {
                self.server(FAULTY)?.say(&SLOW.as_micros().to_string())?;
                thread::sleep(span);
                let now = Instant::now();
                self.server(FAULTY)?.say("0")?;
                now
            }
            Scenario::Partition => {
                let network = self.network.as_ref().ok_or("there is no network")?;
                network.cut(FAULTY)?;
                thread::sleep(span);
                let now = Instant::now();
                network.mend(FAULTY)?;
                now
            }
            _ => {
                drop(self.take_server(FAULTY)?);
                let address = self.address(FAULTY);
                let mute = Process::start(&Part::Mute { address }, None)?;
                mute.expect("ready")?;
                thread::sleep(span);
                drop(mute);
                self.start_server(FAULTY)?
            }
        };
        self.recover(FAULTY, returned, warm_up).map(Some)
    }

    /// Ends the clients and then the servers, and checks the ledger.
    fn end(mut self, lanes: u16, recovery: Option<Duration>) -> Result<RunFigures, Failure> {
        for client in self.clients.drain(..) {
            client.end()?;
        }
        for server in self.servers.drain(..).flatten() {
            server.end()?;
        }
        let folder = self.folder.path();
        let first_lanes = || (0..CLIENTS).map(|client| client * lanes);
        Ok(RunFigures {
            counts: ledger::check(folder, SERVERS, CLIENTS * lanes)?,
            undisturbed: load(folder, first_lanes(), Period::Undisturbed)?,
            fault: load(folder, first_lanes(), Period::Fault)?,
            recovery,
        })
    }
}
