//! Messages between two threads or two processes: latency and throughput.

mod active;
mod case;
pub(crate) mod group;
mod matching;
mod mpi;
mod pair;
mod raw;
mod side;
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

use self::case::{Case, NAMES, Pattern};
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

/// Returns the names of all cases, in the order in which they are run.
pub(crate) fn names() -> [&'static str; NAMES.len() + matching::NAMES.len() + active::NAMES.len()] {
    let mut all = NAMES
        .into_iter()
        .chain(matching::NAMES)
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
    pub(in crate::suites) fn find() -> Self {
        let cores = core_affinity::get_core_ids().unwrap_or_default();
        Self {
            first: cores.last().map_or(0, |core| core.id),
            other: cores.first().map_or(0, |core| core.id),
            apart: cores.len() > 1,
        }
    }

    fn pin_other(self) {
        core_affinity::set_for_current(core_affinity::CoreId { id: self.other });
    }
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
    /// Two MPI ranks, which are shared by all cases.
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
    /// memory, is not counted.
    fn allocs(&self, case: &Case) -> Option<f64> {
        let Self::Pair { allocs, rounds, .. } = self else {
            return None;
        };
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
        if mpi::can(case) {
            let ranks = ranks.iter_mut();
            subjects.extend(ranks.map(|ranks| Box::new(Subject::Ranks { case: *case, ranks })));
        }
        let effort = self.effort;
        let times = measure::interleave(&mut subjects, &effort, Subject::round)?;
        for (subject, times) in subjects.iter().zip(times) {
            self.figure(case, subject.name(), times);
        }
        for subject in subjects.iter().filter(|s| s.name().starts_with("jstream")) {
            if let Some(allocs) = subject.allocs(case) {
                self.row(case.name, subject.name(), "allocs", allocs, "count");
            }
        }
        if !self.pinned || !cores.apart {
            let text = "the two sides did not have a core each";
            self.note(case.name, text.to_owned());
        }
        Ok(())
    }

    /// Starts the MPI libraries that are installed. A note on the first of their cases tells which
    /// are missing.
    fn mpi(&mut self, cases: &[Case], cores: Cores) -> Vec<Ranks> {
        let Some(first) = cases.iter().find(|case| mpi::can(case)) else {
            return Vec::new();
        };
        let mut all = Vec::new();
        for library in mpi::LIBRARIES {
            let suite = self.suite;
            self.progress
                .step(&format!("{suite}: starting {}", library.name));
            match Ranks::start(library, cores) {
                Ok(Some(ranks)) => all.push(ranks),
                Ok(None) => {
                    let text = format!("{} is not installed: left out", library.name);
                    self.note(first.name, text);
                }
                Err(e) => self.note(first.name, format!("left out: {e}")),
            }
        }
        all
    }

    /// Records the median of all rounds in the metric of the case.
    fn figure(&mut self, case: &Case, subject: &str, times: Times) {
        let per_second = 1e9 / times.median;
        let (metric, value, unit) = match case.pattern {
            Pattern::Window(_) if case.name.contains("/bandwidth/") => {
                ("bandwidth", per_second * case.bytes as f64, "B/s")
            }
            Pattern::Window(_) | Pattern::Connections(_) => ("rate", per_second, "1/s"),
            Pattern::Collective(_) | Pattern::BroadcastObject | Pattern::ScatterObjects => {
                ("total", times.median, "ns")
            }
            _ => ("half_rtt_p50", times.median, "ns"),
        };
        self.row(case.name, subject, metric, value, unit);
    }
}
