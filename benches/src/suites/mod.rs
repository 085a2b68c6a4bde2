//! The suites, and what they have in common.

pub(crate) mod buffers;
pub(crate) mod rmi;
pub(crate) mod serialization;
pub(crate) mod transport;

use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use crate::Failure;
use crate::measure::{self, Times};
use crate::progress::Progress;
use crate::row::{self, Row};

/// How long to measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Effort {
    /// How often each subject gets its turn.
    pub(crate) rounds: usize,
    /// After so long a metric ends with fewer rounds, but not before [`FEWEST`](Self::FEWEST).
    pub(crate) at_most: Duration,
}

impl Effort {
    /// The rounds that even the slowest case gets.
    pub(crate) const FEWEST: usize = 20;

    /// For figures to compare.
    pub(crate) const fn full() -> Self {
        Self {
            rounds: 2_000,
            at_most: Duration::from_secs(10),
        }
    }

    /// To see that everything works.
    pub(crate) const fn quick() -> Self {
        Self {
            rounds: 50,
            at_most: Duration::from_secs(1),
        }
    }
}

/// What must be known to read a case's figures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Note {
    pub(crate) suite: String,
    pub(crate) case: String,
    pub(crate) text: String,
}

impl Note {
    /// Whether it is about the case of `row`.
    pub(crate) fn is_of(&self, row: &Row) -> bool {
        self.suite == row.suite && self.case == row.case
    }
}

/// What a suite found.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    pub(crate) rows: Vec<Row>,
    pub(crate) notes: Vec<Note>,
}

impl Outcome {
    /// The rows of all files, in order.
    pub(crate) fn from_files(paths: &[PathBuf]) -> Result<Self, Failure> {
        let mut outcome = Self::default();
        for path in paths {
            outcome.rows.extend(row::load(path)?);
        }
        Ok(outcome)
    }

    /// Puts what another suite found behind this.
    pub(crate) fn add(&mut self, other: Self) {
        self.rows.extend(other.rows);
        self.notes.extend(other.notes);
    }
}

/// rkyv's serialization and its check recurse over what they work on; address space is all that an
/// unused stack costs.
const STACK: usize = 256 << 20;

/// Runs the cases of a suite on a thread of its own, which stays on one core.
fn measured(
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
                    pinned: measure::pin(),
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

/// A suite at work: what its cases find goes into the outcome.
struct Bench<'a> {
    suite: &'static str,
    effort: Effort,
    /// Whether the thread stays on one core.
    pinned: bool,
    progress: &'a mut Progress,
    outcome: &'a mut Outcome,
}

impl Bench<'_> {
    fn time(&mut self, case: &str, subject: &str, metric: &str, times: Times) {
        self.row(case, subject, metric, times.min, "ns");
        if let Some(row) = self.outcome.rows.last_mut() {
            row.median = Some(times.median);
        }
    }

    fn row(&mut self, case: &str, subject: &str, metric: &str, value: f64, unit: &str) {
        self.outcome.rows.push(Row {
            suite: self.suite.to_owned(),
            case: case.to_owned(),
            subject: subject.to_owned(),
            metric: metric.to_owned(),
            value,
            unit: unit.to_owned(),
            median: None,
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
