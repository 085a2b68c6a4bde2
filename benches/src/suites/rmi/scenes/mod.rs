//! Scenes: a server with many objects, with many clients, or under attack.

mod active;
mod attack;
mod idle;
mod leases;

use std::time::Duration;

use jstream_rmi::{Client, ClientOptions, ServerOptions};
use jstream_transport::Address;
use rustix::process::{Pid, Resource, getrlimit, setrlimit};

use super::pair::{Server, Serving};
use super::with_objects::{NAME, Service, ServiceStub, exporting};
use crate::Failure;
use crate::suites::transport::{Cores, watch};
use crate::suites::{Bench, Effort};

/// Names of the scenes that are not attacks, in the order in which they are run.
const OTHERS: [&str; 3] = [
    "tcp/two-cpus/idle-10000",
    "tcp/two-cpus/active-1000",
    "tcp/two-cpus/leases-1000000",
];

/// Returns the names of all scenes, in the order in which they are run.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    OTHERS.into_iter().chain(attack::names())
}

/// Runs the scene `name`.
pub(super) fn run(bench: &mut Bench<'_>, name: &'static str, cores: Cores) -> Result<(), Failure> {
    raise_descriptors();
    match name {
        "tcp/two-cpus/leases-1000000" => leases::run(bench, name, cores),
        "tcp/two-cpus/idle-10000" => idle::run(bench, name, cores),
        "tcp/two-cpus/active-1000" => active::run(bench, name, cores),
        _ => attack::run(bench, name, cores),
    }
}

/// Starts the server of a scene.
pub(super) fn serve(name: &str) -> Result<Serving, Failure> {
    raise_descriptors();
    if attack::names().any(|attack| attack == name) {
        return attack::serve(name);
    }
    let mut settings = ServerOptions::default();
    settings.transport.spin = Duration::ZERO;
    settings.max_connections = usize::MAX;
    settings.max_references = usize::MAX;
    let mut count = 0;
    if name == "tcp/two-cpus/leases-1000000" {
        settings.lease = leases::LEASE;
        count = leases::COUNT;
    }
    let server = exporting(settings, count)?;
    let serving = server.listen(&Address::tcp("127.0.0.1", 0)?)?;
    Ok(Serving::new(serving.address().to_string(), serving))
}

/// Raises the limit of open file descriptors to the maximum.
fn raise_descriptors() {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    // If the limit stays too low, connecting reports it.
    let _ = setrlimit(Resource::Nofile, limit);
}

/// A server in its own process, and the options of its clients.
struct Scene {
    what: String,
    server: Server,
    address: Address,
    options: ClientOptions,
}

impl Scene {
    fn start(name: &str, core: usize) -> Result<Self, Failure> {
        let mut server = Server::process(name, "jstream", core)?;
        let address = watch::during(name, server.id(), || Ok(server.address()?.parse()?))?;
        let mut options = ClientOptions::default();
        options.transport.spin = Duration::ZERO;
        options.max_references = usize::MAX;
        Ok(Self {
            what: name.to_owned(),
            server,
            address,
            options,
        })
    }

    fn id(&self) -> Option<Pid> {
        self.server.id()
    }

    /// Runs `f` under the watchdog.
    fn during<R>(&self, f: impl FnOnce() -> Result<R, Failure>) -> Result<R, Failure> {
        watch::during(&self.what, self.id(), f)
    }

    /// Connects another client, and looks up the service.
    fn client(&self) -> Result<(Client, ServiceStub), Failure> {
        let client = Client::connect_with(&self.address, &self.options).wait()?;
        let service = client.lookup::<dyn Service>(NAME).wait()?;
        Ok((client, service))
    }

    /// Connects `count` clients.
    fn clients(&self, count: usize) -> Result<Vec<(Client, ServiceStub)>, Failure> {
        /// Number of clients connected under one watchdog timeout.
        const AT_ONCE: usize = 500;
        let mut all = Vec::with_capacity(count);
        while all.len() < count {
            self.during(|| {
                for _ in all.len()..count.min(all.len() + AT_ONCE) {
                    all.push(self.client()?);
                }
                Ok(())
            })?;
        }
        Ok(all)
    }
}

/// Returns true if the run is a quick one.
fn is_quick(bench: &Bench<'_>) -> bool {
    bench.effort.at_most < Effort::full().at_most / 4
}
