//! Arrangements of nodes in threads and processes.

use jstream_transport::Address;
use jstream_transport::rank::world::WorldOptions;

use crate::Failure;

/// An arrangement of nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Setup {
    /// Name in cases and on the command line.
    pub(super) name: &'static str,
    pub(super) processes: u32,
    /// Nodes of each process, which are threads.
    pub(super) threads: u32,
    /// Device between processes.
    scheme: Scheme,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scheme {
    Shm,
    Tcp,
}

impl Setup {
    /// The arrangements of most applications.
    pub(super) const USUAL: [Self; 4] = [
        Self::new("threads-2", 1, 2, Scheme::Shm),
        Self::new("procs-2", 2, 1, Scheme::Shm),
        Self::new("procs-2-tcp", 2, 1, Scheme::Tcp),
        Self::new("mixed-4", 2, 2, Scheme::Shm),
    ];

    /// Arrangements of two nodes.
    pub(super) const PAIRS: [Self; 3] = {
        let [threads, processes, tcp, _] = Self::USUAL;
        [threads, processes, tcp]
    };

    /// Arrangements for a master and two workers.
    pub(super) const MASTER_AND_TWO: [Self; 3] = [
        Self::new("threads-3", 1, 3, Scheme::Shm),
        Self::new("procs-3", 3, 1, Scheme::Shm),
        Self::new("procs-3-tcp", 3, 1, Scheme::Tcp),
    ];

    /// The usual arrangements, and one with eight nodes.
    pub(super) const WITH_EIGHT: [Self; 5] = {
        let [first, second, third, fourth] = Self::USUAL;
        let eight = Self::new("threads-8", 1, 8, Scheme::Shm);
        [first, second, third, fourth, eight]
    };

    const fn new(name: &'static str, processes: u32, threads: u32, scheme: Scheme) -> Self {
        Self {
            name,
            processes,
            threads,
            scheme,
        }
    }

    /// Returns all arrangements.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        Self::WITH_EIGHT.into_iter().chain(Self::MASTER_AND_TWO)
    }

    /// Returns the arrangement of this name.
    pub(super) fn named(name: &str) -> Result<Self, Failure> {
        let found = Self::all().find(|setup| setup.name == name);
        found.ok_or_else(|| format!("no arrangement of nodes is named {name}").into())
    }

    pub(super) fn nodes(&self) -> u32 {
        self.processes * self.threads
    }

    /// Returns true if the processes communicate by shared memory or not at all.
    pub(super) fn is_local(&self) -> bool {
        self.scheme == Scheme::Shm
    }

    /// Returns where the processes meet.
    pub(super) fn addresses(&self) -> Result<Vec<Address>, Failure> {
        let address = match self.scheme {
            Scheme::Shm => format!("shm://apps-{}", std::process::id()),
            Scheme::Tcp => "tcp://127.0.0.1:0".to_owned(),
        };
        Ok(vec![address.parse()?])
    }

    /// Returns options for runs of seconds, in which a node may wait long for the others.
    pub(super) fn options() -> WorldOptions {
        let mut options = WorldOptions::default();
        options.rank.collective_timeout = super::node::TIMEOUT;
        // Lists are read in loops, and have more elements than the default permits.
        options.rank.object_limits.depth = None;
        options
    }
}
