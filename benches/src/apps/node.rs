//! Nodes of a running application.

use std::cell::Cell;
use std::process::Command;
use std::time::Duration;

use jstream_transport::rank::operation::Sum;
use jstream_transport::rank::world::World;

use super::app::{Answer, App};
use super::clock::Clock;
use super::setup::Setup;
use super::size::Size;
use crate::Failure;

/// Time that a node waits for the others, far more than any application takes.
pub(super) const TIMEOUT: Duration = Duration::from_secs(120);

/// Calls of an application, as in table 4.5 of the thesis on jstreams.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Profile {
    /// Calls that nodes made to others.
    pub(super) calls: u64,
    /// Bytes of the data in arguments and results.
    pub(super) bytes: u64,
}

/// Result of a run.
#[derive(Debug, Default)]
pub(super) struct Report {
    /// The numbers of all nodes, unless the result is not checked.
    pub(super) answer: Answer,
    /// Length of the measured part in nanoseconds.
    pub(super) nanos: f64,
    /// Calls of all nodes.
    pub(super) profile: Profile,
    /// Units of work of all nodes, as [`Clock::worked`] counts them.
    pub(super) work: u64,
}

impl Report {
    /// Creates the report of a version without nodes.
    pub(super) fn of_one(answer: Answer, clock: &Clock<'_>) -> Result<Self, Failure> {
        Ok(Self {
            answer,
            nanos: clock.nanos()?,
            profile: Profile::default(),
            work: clock.work(),
        })
    }
}

/// A node of a running application.
pub(super) struct Node<'a> {
    pub(super) world: &'a World,
    pub(super) subject: &'static str,
    pub(super) size: Size,
    pub(super) clock: Clock<'a>,
    profile: Cell<Profile>,
}

impl Node<'_> {
    /// Returns the index of this node.
    pub(super) fn index(&self) -> usize {
        self.world.rank() as usize
    }

    /// Returns the number of nodes.
    pub(super) fn count(&self) -> usize {
        self.world.size() as usize
    }

    /// Returns the sum of the values of all nodes, each of which calls this function.
    pub(super) fn sum(&self, value: u64) -> Result<u64, Failure> {
        let mut sum = [0];
        self.world.all_reduce(&[value], &mut sum, &Sum)?;
        Ok(sum[0])
    }

    /// Records a call with data of this many bytes in its arguments and its result.
    pub(super) fn called(&self, bytes: usize) {
        let Profile { calls, bytes: sum } = self.profile.get();
        self.profile.set(Profile {
            calls: calls + 1,
            bytes: sum + bytes as u64,
        });
    }
}

/// Runs an application at all nodes, of which this process has the first ones, or those that its
/// environment says. Returns the report of the first node of this process.
pub(super) fn run(
    app: &dyn App,
    setup: &Setup,
    subject: &'static str,
    size: Size,
    check: bool,
) -> Result<Report, Failure> {
    let program = std::env::current_exe()?;
    let command = |_| {
        let mut command = Command::new(&program);
        command.args(["apps-node", app.name(), setup.name, subject, size.name()]);
        if check {
            command.arg("--check");
        }
        command
    };
    let nodes = (setup.processes, setup.threads);
    let options = Setup::options();
    let reports = World::run_commands(&setup.addresses()?, nodes, &options, command, |world| {
        pin(world.rank());
        one(app, subject, size, check, world).map_err(|e| format!("node {}: {e}", world.rank()))
    })?;
    let mut all = reports
        .into_iter()
        .collect::<Result<Vec<_>, _>>()?
        .into_iter();
    all.next().ok_or_else(|| "this process has no node".into())
}

/// Runs one node.
fn one(
    app: &dyn App,
    subject: &'static str,
    size: Size,
    check: bool,
    world: &World,
) -> Result<Report, Failure> {
    let barrier = || Ok(world.barrier()?);
    let node = Node {
        world,
        subject,
        size,
        clock: Clock::new(&barrier),
        profile: Cell::default(),
    };
    let part = app.node(&node)?;
    let Profile { calls, bytes } = node.profile.get();
    Ok(Report {
        answer: if check {
            collect(world, &part)?
        } else {
            Vec::new()
        },
        nanos: node.clock.nanos()?,
        profile: Profile {
            calls: node.sum(calls)?,
            bytes: node.sum(bytes)?,
        },
        work: node.sum(node.clock.work())?,
    })
}

/// Returns the numbers of all nodes at node 0.
fn collect(world: &World, part: &[f64]) -> Result<Answer, Failure> {
    let mut counts = vec![0u64; world.size() as usize];
    world.all_gather(&[part.len() as u64], &mut counts)?;
    let counts: Vec<_> = counts.into_iter().map(|count| count as usize).collect();
    let mut all = vec![0.0; counts.iter().sum()];
    world.all_gather_v(part, &counts, &mut all)?;
    Ok(all)
}

/// Pins the thread of a node, and the threads that it starts, to a core of their own. If there are
/// more nodes than cores, they share the cores evenly.
fn pin(rank: u32) {
    let cores = core_affinity::get_core_ids().unwrap_or_default();
    if let Some(core) = cores.get(rank as usize % cores.len().max(1)) {
        // If the system refuses, the node runs where the system puts it.
        core_affinity::set_for_current(*core);
    }
}
