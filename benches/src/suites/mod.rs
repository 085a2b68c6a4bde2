//! The suites, and what they have in common.

pub(crate) mod serialization;

use std::path::PathBuf;
use std::time::Duration;

use crate::Failure;
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
}
