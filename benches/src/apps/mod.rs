//! The applications of the papers: each is a sequential kernel with drivers that run it at several
//! nodes.
//!
//! The nodes of an application are the ranks of a [`World`](jstream_transport::rank::world::World):
//! threads, processes, or threads of several processes. An application that communicates by remote
//! calls uses the world to learn the addresses of the other nodes, and for barriers around the
//! measured part.

#![allow(
    clippy::indexing_slicing,
    reason = "kernels index within bounds that they establish before their loops"
)]

mod am_sor;
mod am_tsp;
mod app;
mod apsp;
mod call;
mod clock;
mod comm;
mod costs;
mod em3d;
mod exchange;
mod fft;
mod ida;
mod list_pingpong;
mod mailbox;
mod matmul;
mod mpi_peer;
mod nbody;
mod node;
mod objects;
mod parts;
mod peers;
mod ranks;
mod ring_matmul;
mod setup;
mod shallow_water;
mod size;
mod sor;
mod tree_barrier;
mod tsp;

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use self::app::{Answer, App, Difference};
pub(crate) use self::app::{COPYING, IN_PLACE, RANKS};
use self::call::ArgumentKind;
use self::node::{Profile, Report};
use self::setup::Setup;
pub(crate) use self::size::Size;
use crate::Failure;
use crate::measure;
use crate::progress::Progress;
use crate::suites::{self, Bench, Effort, Outcome};

/// Name of the suite in rows.
pub(crate) const SUITE: &str = "apps";

/// All applications, in the order in which they are run.
const APPS: &[&dyn App] = &[
    &sor::DOUBLES,
    &sor::FLOATS,
    &em3d::LOCAL,
    &em3d::AGGREGATED,
    &em3d::REMOTE,
    &em3d::GHOSTS,
    &em3d::NAIVE,
    &fft::COMPLEX,
    &fft::ARRAYS,
    &matmul::SMALL,
    &matmul::MEDIUM,
    &matmul::LARGE,
    &tree_barrier::Barriers,
    &shallow_water::ShallowWater {
        name: "shallow-water-8",
        side: 8,
    },
    &shallow_water::ShallowWater {
        name: "shallow-water-64",
        side: 64,
    },
    &shallow_water::ShallowWater {
        name: "shallow-water-512",
        side: 512,
    },
    &nbody::NBody,
    &list_pingpong::ListPingPong {
        name: "list-pingpong-1",
        elements: 1,
    },
    &list_pingpong::ListPingPong {
        name: "list-pingpong-64",
        elements: 64,
    },
    &list_pingpong::ListPingPong {
        name: "list-pingpong-4096",
        elements: 4096,
    },
    &ring_matmul::RingMatmul {
        name: "ring-matmul-64",
        side: 64,
    },
    &ring_matmul::RingMatmul {
        name: "ring-matmul-256",
        side: 256,
    },
    &ring_matmul::RingMatmul {
        name: "ring-matmul-1024",
        side: 1024,
    },
    &call::CallWith {
        name: "call-bytes-100",
        kind: ArgumentKind::Bytes,
        elements: 100,
    },
    &call::CallWith {
        name: "call-bytes-500",
        kind: ArgumentKind::Bytes,
        elements: 500,
    },
    &call::CallWith {
        name: "call-doubles-12",
        kind: ArgumentKind::Doubles,
        elements: 12,
    },
    &call::CallWith {
        name: "call-doubles-62",
        kind: ArgumentKind::Doubles,
        elements: 62,
    },
    &call::CallWith {
        name: "call-doubles-500",
        kind: ArgumentKind::Doubles,
        elements: 500,
    },
    &call::CallWith {
        name: "call-complex-100",
        kind: ArgumentKind::Complexes,
        elements: 100,
    },
    &call::CallWith {
        name: "call-list-100",
        kind: ArgumentKind::List,
        elements: 100,
    },
    &tsp::Tsp { preset: false },
    &tsp::Tsp { preset: true },
    &ida::Ida,
    &apsp::Apsp,
    &am_sor::AmSor,
    &am_tsp::AmTsp { fine: false },
    &am_tsp::AmTsp { fine: true },
];

/// Returns the names of all applications.
pub(crate) fn names() -> Vec<&'static str> {
    APPS.iter().map(|app| app.name()).collect()
}

/// Returns a list of the applications for `--help`.
pub(crate) fn help() -> String {
    let mut help = String::from("Applications:\n");
    for app in APPS {
        help.push_str(&format!("  {:<18} {}\n", app.name(), app.about()));
    }
    help
}

fn named(name: &str) -> Result<&'static dyn App, Failure> {
    let found = APPS.iter().find(|app| app.name() == name);
    found
        .copied()
        .ok_or_else(|| format!("no application is named {name}; apps --help lists them").into())
}

/// The applications to run, and how.
#[derive(Debug, Clone)]
pub(crate) struct Options {
    /// Names of the applications; all if empty.
    pub(crate) apps: Vec<String>,
    pub(crate) size: Size,
    /// The arrangements of nodes in which each application runs.
    pub(crate) setups: Setups,
    /// True if each result is compared with that of the sequential version.
    pub(crate) check: bool,
    /// True if the MPI libraries that are installed run the same kernels.
    pub(crate) mpi: bool,
}

/// A choice among the arrangements of nodes of an application.
#[derive(Debug, Clone)]
pub(crate) enum Setups {
    First,
    All,
    /// The arrangements of these names.
    Named(Vec<String>),
}

impl Options {
    /// Returns the applications to run, in order, each with an arrangement of nodes. Those without
    /// a long data set are left out if that is asked for.
    fn chosen(&self) -> impl Iterator<Item = (&'static dyn App, Setup)> {
        let apps = APPS
            .iter()
            .copied()
            .filter(|app| self.apps.is_empty() || self.apps.iter().any(|name| name == app.name()));
        let apps = apps.filter(|app| self.size != Size::Long || app.has_long());
        apps.flat_map(|app| {
            let all = app.setups().iter().copied().enumerate();
            let chosen = all.filter(|(index, setup)| match &self.setups {
                Setups::First => *index == 0,
                Setups::All => true,
                Setups::Named(names) => names.iter().any(|name| name == setup.name),
            });
            chosen.map(move |(_, setup)| (app, setup))
        })
    }
}

/// Returns the names of all arrangements of nodes.
pub(crate) fn setups() -> impl Iterator<Item = &'static str> {
    Setup::all().map(|setup| setup.name)
}

/// Returns the number of cases that [`run`] measures.
pub(crate) fn cases(options: &Options) -> usize {
    options.chosen().count()
}

/// Returns the number of rounds that suits runs of seconds.
fn effort(size: Size) -> Effort {
    let rounds = match size {
        Size::Quick => 1,
        Size::Full | Size::Long => 5,
    };
    Effort {
        rounds,
        fewest: rounds,
        at_most: Duration::ZERO,
    }
}

/// Runs applications.
///
/// # Errors
///
/// Fails if a node fails, if no MPI library is installed but asked for, or if a result is
/// checked and differs from the sequential one.
pub(crate) fn run(options: &Options, progress: &mut Progress) -> Result<Outcome, Failure> {
    let programs = if options.mpi {
        mpi_peer::programs()?
    } else {
        Vec::new()
    };
    suites::on_thread(SUITE, &effort(options.size), progress, |bench| {
        for (app, setup) in options.chosen() {
            bench.application(app, setup, &programs, options)?;
        }
        Ok(())
    })
}

/// Runs the nodes of a started process.
pub(crate) fn other_process(
    app: &str,
    setup: &str,
    subject: &str,
    size: Size,
    check: bool,
) -> Result<(), Failure> {
    let (app, setup) = (named(app)?, Setup::named(setup)?);
    let subject = app.subject(subject)?;
    node::run(app, &setup, subject, size, check).map(drop)
}

/// Name of the subject that runs the sequential version.
pub(crate) const SEQUENTIAL: &str = "sequential";

/// Name of the subject whose threads share memory instead of communicating.
pub(crate) const SHARED_MEMORY: &str = "shared-memory";

impl Bench<'_> {
    /// Measures all subjects of an application in turn.
    fn application(
        &mut self,
        app: &'static dyn App,
        setup: Setup,
        programs: &[mpi_peer::Program],
        options: &Options,
    ) -> Result<(), Failure> {
        let longer = match options.size {
            Size::Quick | Size::Full => "",
            Size::Long => "-long",
        };
        let case = format!("{}{longer}/{}", app.name(), setup.name);
        let baseline = app.baseline();
        let mut subjects = vec![SEQUENTIAL];
        subjects.extend(baseline.map(|baseline| baseline.name));
        if app.shares_memory() {
            subjects.push(SHARED_MEMORY);
        }
        subjects.extend(app.subjects());
        if app.runs_over_mpi() && setup.is_local() {
            subjects.extend(programs.iter().map(mpi_peer::Program::name));
        }
        let mut subjects: Vec<_> = subjects
            .into_iter()
            .map(|name| {
                Box::new(Subject {
                    name,
                    report: Report::default(),
                    per_unit: Vec::new(),
                })
            })
            .collect();
        let expected = options
            .check
            .then(|| app::sequential(app, options.size))
            .transpose()?;
        let effort = self.effort;
        let progress = &mut *self.progress;
        let times = measure::interleave(&mut subjects, &effort, |subject| {
            progress.step(&format!("{SUITE} / {case}: {}", subject.name));
            let baseline = baseline.filter(|baseline| baseline.name == subject.name);
            let program = programs.iter().find(|peer| peer.name() == subject.name);
            subject.report = match (subject.name, baseline, program) {
                (SEQUENTIAL, ..) => app::sequential(app, options.size)?,
                (SHARED_MEMORY, ..) => app::shared_memory(app, options.size, setup.nodes())?,
                (_, Some(_), _) => app::baseline(app, options.size)?,
                (_, _, Some(peer)) => peer.run(app, &setup, options.size, options.check)?,
                (name, None, None) => node::run(app, &setup, name, options.size, options.check)?,
            };
            if let Some(expected) = &expected {
                let bound = baseline.map_or(app.bound(), |baseline| baseline.bound);
                compare(bound, &case, subject, &expected.answer)?;
            }
            let Report { nanos, work, .. } = subject.report;
            if work > 0 {
                subject.per_unit.push(nanos / work as f64);
            }
            Ok(nanos)
        })?;
        let sequential = times.first().map_or(f64::NAN, |times| times.median);
        for (subject, times) in subjects.iter_mut().zip(times) {
            let total = times.median;
            self.time(&case, subject.name, "total", times);
            let operations = app.operations(options.size);
            if operations > 1 {
                let each = total / operations as f64;
                self.row(&case, subject.name, "each", each, "ns");
            }
            if let Some(nanos) = median(&mut subject.per_unit) {
                self.row(&case, subject.name, "per_unit", nanos, "ns");
            }
            if subject.name != SEQUENTIAL {
                let speedup = sequential / total;
                self.row(&case, subject.name, "speedup", speedup, "ratio");
                self.profile(app, setup, options.size, (&case, subject), total)?;
            }
        }
        Ok(())
    }

    /// Adds the rows of the communication of a subject, whose run took `total` nanoseconds.
    fn profile(
        &mut self,
        app: &dyn App,
        setup: Setup,
        size: Size,
        (case, subject): (&str, &Subject),
        total: f64,
    ) -> Result<(), Failure> {
        let Profile { calls, bytes } = subject.report.profile;
        if calls == 0 {
            return Ok(());
        }
        let (calls, nodes) = (calls as f64, setup.nodes());
        self.row(case, subject.name, "calls", calls, "count");
        let bytes_per_call = bytes as f64 / calls;
        self.row(case, subject.name, "bytes_per_call", bytes_per_call, "B");
        if let Some(cost) = app.serialization(subject.name, size, nodes as usize)? {
            self.row(case, subject.name, "write", cost.write, "ns");
            self.row(case, subject.name, "read", cost.read, "ns");
            // Each node writes its own calls and reads as many of the others, at the same time.
            let at_once = if app.calls_in_turn() { 1 } else { nodes };
            let share = (cost.write + cost.read) * calls / f64::from(at_once) / total;
            self.row(case, subject.name, "serialization", share, "ratio");
        }
        Ok(())
    }
}

/// A subject with the report of its last round.
struct Subject {
    name: &'static str,
    report: Report,
    /// Nanoseconds per unit of work in each round, if the application counts its work.
    per_unit: Vec<f64>,
}

/// Returns the median, or `None` of no values.
fn median(values: &mut [f64]) -> Option<f64> {
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

fn compare(bound: f64, case: &str, subject: &Subject, expected: &Answer) -> Result<(), Failure> {
    match Difference::find(&subject.report.answer, expected, bound) {
        None => Ok(()),
        Some(difference) => Err(format!("{case}, {}: {difference}", subject.name).into()),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_applications_with_more_iterations_run_long() {
        let options = |size| Options {
            apps: Vec::new(),
            size,
            setups: Setups::First,
            check: false,
            mpi: false,
        };
        let long = options(Size::Long);
        let long: Vec<_> = long.chosen().map(|(app, _)| app.name()).collect();
        let expected = [
            "sor",
            "sor-float",
            "em3d-0",
            "em3d",
            "em3d-50",
            "fft-complex",
            "fft-arrays",
            "matmul-1024",
            "shallow-water-512",
            "nbody",
            "ring-matmul-1024",
        ];
        assert_eq!(long, expected);
        assert_eq!(options(Size::Full).chosen().count(), APPS.len());
    }
}
