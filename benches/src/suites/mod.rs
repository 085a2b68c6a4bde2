//! The benchmark suites and their common parts.

pub(crate) mod buffers;
pub(crate) mod evolution;
pub(crate) mod rmi;
pub(crate) mod serialization;
pub(crate) mod services;
pub(crate) mod transport;

use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use crate::Failure;
use crate::environment::Run;
use crate::measure::{self, Times};
use crate::progress::Progress;
use crate::row::{self, Row};

/// Length of a measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Effort {
    /// Number of rounds of each subject.
    pub(crate) rounds: usize,
    /// Number of rounds that even the slowest case gets.
    pub(crate) fewest: usize,
    /// Time limit of a metric. After it, the metric ends with fewer rounds, but with at least
    /// [`fewest`](Self::fewest).
    pub(crate) at_most: Duration,
}

impl Effort {
    /// Number of rounds that even the slowest case of a short operation gets.
    pub(crate) const FEWEST: usize = 20;

    /// Returns the effort for figures that can be compared.
    pub(crate) const fn full() -> Self {
        Self {
            rounds: 2_000,
            fewest: Self::FEWEST,
            at_most: Duration::from_secs(10),
        }
    }

    /// Returns the effort for checking that everything works.
    pub(crate) const fn quick() -> Self {
        Self {
            rounds: 50,
            fewest: Self::FEWEST,
            at_most: Duration::from_secs(1),
        }
    }
}

/// Information that is necessary to interpret the figures of a case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Note {
    pub(crate) suite: String,
    pub(crate) case: String,
    pub(crate) text: String,
}

impl Note {
    /// Returns true if the note is about the case of `row`.
    pub(crate) fn is_of(&self, row: &Row) -> bool {
        self.suite == row.suite && self.case == row.case
    }
}

/// Results of a suite.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    pub(crate) rows: Vec<Row>,
    pub(crate) notes: Vec<Note>,
}

impl Outcome {
    /// Loads the rows of all files, in order. Unless `force`, files of different machines are an
    /// error.
    pub(crate) fn from_files(paths: &[PathBuf], force: bool) -> Result<Self, Failure> {
        let mut outcome = Self::default();
        for path in paths {
            outcome.rows.extend(row::load(path)?);
        }
        if paths.len() > 1 && !force {
            row::check_one_machine(&outcome.rows)?;
        }
        Ok(outcome)
    }

    /// Appends the results of another suite.
    pub(crate) fn add(&mut self, other: Self) {
        self.rows.extend(other.rows);
        self.notes.extend(other.notes);
    }
}

/// Stack size of the measuring thread in bytes. rkyv's serialization and validation recurse over
/// the value; an unused stack costs only address space.
const STACK: usize = 256 << 20;

/// Runs the cases of a suite on a new thread that is pinned to one core.
fn measured(
    suite: &'static str,
    effort: &Effort,
    progress: &mut Progress,
    cases: impl FnOnce(&mut Bench<'_>) -> Result<(), Failure> + Send,
) -> Result<Outcome, Failure> {
    on_thread(suite, effort, progress, |bench| {
        bench.pinned = measure::pin();
        cases(bench)
    })
}

/// Runs the cases of a suite on a new thread, which may use all cores.
pub(crate) fn on_thread(
    suite: &'static str,
    effort: &Effort,
    progress: &mut Progress,
    cases: impl FnOnce(&mut Bench<'_>) -> Result<(), Failure> + Send,
) -> Result<Outcome, Failure> {
    let mut outcome = Outcome::default();
    thread::scope(|scope| {
        let measuring = thread::Builder::new()
            .name(suite.to_owned())
            .stack_size(STACK)
            .spawn_scoped(scope, || {
                cases(&mut Bench {
                    suite,
                    effort: *effort,
                    pinned: false,
                    progress,
                    outcome: &mut outcome,
                })
            })?;
        measuring
            .join()
            .unwrap_or_else(|_| Err("the measuring thread panicked".into()))
    })?;
    Ok(outcome)
}

/// A running suite. The results of its cases are added to the outcome.
pub(crate) struct Bench<'a> {
    suite: &'static str,
    pub(crate) effort: Effort,
    /// True if the thread is pinned to one core.
    pinned: bool,
    pub(crate) progress: &'a mut Progress,
    outcome: &'a mut Outcome,
}

impl Bench<'_> {
    /// Records the fastest round as `metric`.
    pub(crate) fn time(&mut self, case: &str, subject: &str, metric: &str, times: Times) {
        self.timed(case, subject, metric, times.min, "ns", &times);
    }

    /// Records a figure that was computed from `times`, with their distribution.
    pub(crate) fn timed(
        &mut self,
        case: &str,
        subject: &str,
        metric: &str,
        value: f64,
        unit: &str,
        times: &Times,
    ) {
        self.row(case, subject, metric, value, unit);
        if let Some(row) = self.outcome.rows.last_mut() {
            row.times.clone_from(&times.distribution);
        }
    }

    /// Records a figure that has no distribution.
    pub(crate) fn row(&mut self, case: &str, subject: &str, metric: &str, value: f64, unit: &str) {
        self.outcome.rows.push(Row {
            suite: self.suite.to_owned(),
            case: case.to_owned(),
            subject: subject.to_owned(),
            metric: metric.to_owned(),
            value,
            unit: unit.to_owned(),
            times: None,
            run: Some(Run::current()),
        });
    }

    fn note(&mut self, case: &str, text: String) {
        self.outcome.notes.push(Note {
            suite: self.suite.to_owned(),
            case: case.to_owned(),
            text,
        });
    }
}
