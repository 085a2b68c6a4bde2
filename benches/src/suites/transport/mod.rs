//! Messages between two threads or two processes: latency and throughput.

mod active;
mod affinity;
mod case;
pub(crate) mod group;
mod matching;
pub(crate) mod mpi;
mod pair;
mod patterns;
mod raw;
mod side;
mod socket_buffers;
mod subject;
mod trusted;
pub(in crate::suites) mod watch;
mod with_channel;
#[cfg(feature = "peers")]
mod with_iceoryx2;
#[cfg(feature = "peers")]
mod with_ipc_channel;
mod with_jstream;
mod with_objects;
mod with_ranks;
#[cfg(feature = "peers")]
mod with_threads;

use std::sync::OnceLock;

use self::case::{Case, NAMES, Pattern, Way};
use self::mpi::Ranks;
use self::pair::Pair;
pub(in crate::suites) use self::pair::end;
pub(crate) use self::pair::other_process;
use super::{Bench, Effort, Outcome};
use crate::Failure;
use crate::measure::{self, Times};
use crate::progress::Progress;
use crate::suites;

const SUITE: &str = "transport";

/// Number of all cases.
const CASES: usize =
    NAMES.len() + matching::NAMES.len() + affinity::NAMES.len() + active::NAMES.len();

/// Returns the names of all cases, in the order in which they are run.
pub(crate) fn names() -> [&'static str; CASES] {
    let mut all = NAMES
        .into_iter()
        .chain(matching::NAMES)
        .chain(affinity::NAMES)
        .chain(active::NAMES);
    std::array::from_fn(|_| all.next().unwrap_or_default())
}

/// Cores to which the two sides are pinned.
#[derive(Debug, Clone, Copy)]
pub(in crate::suites) struct Cores {
    /// Core of the side that measures the time.
    pub(in crate::suites) first: usize,
    /// Core of the other side.
    pub(in crate::suites) other: usize,
    /// True if the two cores differ.
    pub(in crate::suites) apart: bool,
}

impl Cores {
    /// Selects the last core for the side that measures the time, and the first core for the other
    /// side.
    ///
    /// The first call decides, before any thread is pinned.
    pub(in crate::suites) fn find() -> Self {
        static FOUND: OnceLock<Cores> = OnceLock::new();
        *FOUND.get_or_init(|| {
            let cores = core_affinity::get_core_ids().unwrap_or_default();
            Self {
                first: cores.last().map_or(0, |core| core.id),
                other: cores.first().map_or(0, |core| core.id),
                apart: cores.len() > 1,
            }
        })
    }

    /// Returns the core of a rank, counted from the rank that measures the time. The ranks have the
    /// two cores in turn.
    fn of(self, distance: u32) -> usize {
        if distance % 2 == 0 {
            self.first
        } else {
            self.other
        }
    }

    fn pin_other(self) {
        pin_to(self.other);
    }
}

/// Pins the calling thread. If the system refuses, the thread runs on any core.
fn pin_to(core: usize) {
    core_affinity::set_for_current(core_affinity::CoreId { id: core });
}

/// Runs the cases whose names are `chosen`.
pub(crate) fn run(
    effort: &Effort,
    progress: &mut Progress,
    chosen: impl Fn(&str) -> bool + Sync,
) -> Result<Outcome, Failure> {
    // There are many cases, and their rounds are long.
    let effort = Effort {
        at_most: effort.at_most / 3,
        rounds: effort.rounds / 5,
        ..*effort
    };
    let cores = Cores::find();
    suites::measured(SUITE, &effort, progress, |bench| {
        let names = NAMES.into_iter().filter(|name| chosen(name));
        let cases = names.map(Case::named).collect::<Result<Vec<_>, _>>()?;
        let mut ranks = bench.mpi(&cases, cores);
        for case in &cases {
            bench.exchange(case, cores, &mut ranks)?;
        }
        for name in matching::NAMES.into_iter().filter(|name| chosen(name)) {
            matching::run(bench, name)?;
        }
        for name in affinity::NAMES.into_iter().filter(|name| chosen(name)) {
            affinity::run(bench, name)?;
        }
        for name in active::NAMES.into_iter().filter(|name| chosen(name)) {
            active::run(bench, name, cores)?;
        }
        Ok(())
    })
}

/// A running subject.
enum Subject<'r> {
    /// Two threads or processes of this program.
    Pair {
        name: &'static str,
        pair: Pair,
        /// Allocations of all rounds except the first.
        allocs: usize,
        rounds: usize,
    },
    /// MPI ranks, which are shared by all cases with as many ranks.
    Ranks { case: Case, ranks: &'r mut Ranks },
}

impl Subject<'_> {
    fn name(&self) -> &'static str {
        match self {
            Self::Pair { name, .. } => name,
            Self::Ranks { ranks, .. } => ranks.name(),
        }
    }

    fn round(&mut self) -> Result<f64, Failure> {
        match self {
            Self::Pair {
                pair,
                allocs,
                rounds,
                ..
            } => {
                let (ns, counted) = pair.round()?;
                if *rounds > 0 {
                    *allocs += counted;
                }
                *rounds += 1;
                Ok(ns)
            }
            Self::Ranks { case, ranks } => ranks.round(case),
        }
    }

    /// Returns the allocations of both sides per message. The first round, which allocates reusable
    /// memory, is not counted. Returns `None` if other processes do not report theirs, or if each
    /// round starts threads.
    fn allocs(&self, case: &Case) -> Option<f64> {
        let Self::Pair { allocs, rounds, .. } = self else {
            return None;
        };
        let is_array = matches!(case.pattern, Pattern::Collective(_));
        if case.shares_cores() && (case.way != Way::Inproc || is_array) {
            return None;
        }
        let work = case.work();
        let messages = rounds.saturating_sub(1) * work.exchanges() * work.messages();
        Some(*allocs as f64 / messages as f64)
    }
}

impl Bench<'_> {
    /// Measures all subjects of a case in turn.
    fn exchange(&mut self, case: &Case, cores: Cores, ranks: &mut [Ranks]) -> Result<(), Failure> {
        let suite = self.suite;
        self.progress.step(&format!("{suite} / {}", case.name));
        let mut subjects = Vec::new();
        for name in subject::subjects(case) {
            subjects.push(Box::new(Subject::Pair {
                name,
                pair: Pair::start(case, name, cores)?,
                allocs: 0,
                rounds: 0,
            }));
        }
        let suitable = ranks.iter_mut().filter(|ranks| ranks.can(case));
        subjects.extend(suitable.map(|ranks| Box::new(Subject::Ranks { case: *case, ranks })));
        let effort = self.effort;
        let times = measure::interleave(&mut subjects, &effort, Subject::round)?;
        for (subject, times) in subjects.iter().zip(times) {
            self.figure(case, subject.name(), &times);
        }
        for subject in subjects.iter().filter(|s| s.name().starts_with("jstream")) {
            if let Some(allocs) = subject.allocs(case) {
                self.row(case.name, subject.name(), "allocs", allocs, "count");
            }
        }
        if case.has_socket_buffers() && !socket_buffers::are_settable() {
            let text = "the system does not let a process duplicate its sockets: left out";
            self.note(case.name, text.to_owned());
        }
        if let Pattern::Pairs(pairs) = case.pattern {
            let text =
                format!("{pairs} threads share a core on each side; the first pair is timed");
            self.note(case.name, text);
        }
        if !self.pinned || !cores.apart {
            let text = "the two sides did not have a core each";
            self.note(case.name, text.to_owned());
        }
        Ok(())
    }

    /// Starts the ranks of each MPI library, and of mpi4py, that are installed, for cases with the
    /// same number of ranks. A note on the first of their cases tells which are missing.
    fn mpi(&mut self, cases: &[Case], cores: Cores) -> Vec<Ranks> {
        let mut all = Vec::new();
        if let Some(first) = cases.iter().find(|case| mpi::can(case)) {
            for library in mpi::LIBRARIES {
                let start = || Ranks::start(library, first.ranks, cores);
                all.extend(self.start_ranks(first, library.name, start));
            }
        }
        if let Some(first) = cases.iter().find(|case| mpi::can_objects(case)) {
            let start = || Ranks::start_python(first.ranks, cores);
            all.extend(self.start_ranks(first, mpi::PYTHON, start));
        }
        all
    }

    fn start_ranks(
        &mut self,
        first: &Case,
        name: &str,
        start: impl FnOnce() -> Result<Option<Ranks>, Failure>,
    ) -> Option<Ranks> {
        let suite = self.suite;
        self.progress.step(&format!("{suite}: starting {name}"));
        match start() {
            Ok(Some(ranks)) => return Some(ranks),
            Ok(None) => {
                let text = format!("{name} is not installed: left out");
                self.note(first.name, text);
            }
            Err(e) => self.note(first.name, format!("left out: {e}")),
        }
        None
    }

    /// Records the median of all rounds in the metric of the case.
    fn figure(&mut self, case: &Case, subject: &str, times: &Times) {
        let per_second = 1e9 / times.median;
        let (metric, value, unit) = match case.pattern {
            Pattern::Window(_) if case.has_bandwidth() => {
                ("bandwidth", per_second * case.bytes as f64, "B/s")
            }
            Pattern::Window(_) | Pattern::Connections(_) => ("rate", per_second, "1/s"),
            Pattern::Collective(_) | Pattern::BroadcastObject | Pattern::ScatterObjects => {
                ("total", times.median, "ns")
            }
            Pattern::Tags { .. } => ("recv_p50", times.median, "ns"),
            _ => ("half_rtt_p50", times.median, "ns"),
        };
        self.timed(case.name, subject, metric, value, unit, times);
    }
}
