//! A server with many objects, many clients, or clients that attack it.

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

/// The names of those that are not attacks, in the order in which they are run.
const OTHERS: [&str; 3] = [
    "tcp/two-cpus/leases-1000000",
    "tcp/two-cpus/idle-10000",
    "tcp/two-cpus/active-1000",
];

/// The names of all, in the order in which they are run.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    OTHERS.into_iter().chain(attack::names())
}

/// Runs the scene of that name.
pub(super) fn run(bench: &mut Bench<'_>, name: &'static str, cores: Cores) -> Result<(), Failure> {
    raise_descriptors();
    match name {
        "tcp/two-cpus/leases-1000000" => leases::run(bench, name, cores),
        "tcp/two-cpus/idle-10000" => idle::run(bench, name, cores),
        "tcp/two-cpus/active-1000" => active::run(bench, name, cores),
        _ => attack::run(bench, name, cores),
    }
}

/// The server of a scene.
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

/// As many as the system lets us have.
fn raise_descriptors() {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    // With fewer, connecting says so.
    let _ = setrlimit(Resource::Nofile, limit);
}

/// A server in a process of its own, and what its clients are made with.
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

    /// Does `f`, with an end where it has none.
    fn during<R>(&self, f: impl FnOnce() -> Result<R, Failure>) -> Result<R, Failure> {
        watch::during(&self.what, self.id(), f)
    }

    /// One more client, which has looked something up.
    fn client(&self) -> Result<(Client, ServiceStub), Failure> {
        let client = Client::connect_with(&self.address, &self.options)?;
        let service = client.lookup::<dyn Service>(NAME)?;
        Ok((client, service))
    }

    /// So many of them.
    fn clients(&self, count: usize) -> Result<Vec<(Client, ServiceStub)>, Failure> {
        /// So few that connecting them does not take long.
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

/// Whether figures in seconds are wanted.
fn is_quick(bench: &Bench<'_>) -> bool {
    bench.effort.at_most < Effort::full().at_most / 4
}
