//! Applications, their sizes, and the comparison of their results.

use std::fmt;

use super::clock::Clock;
use super::costs::Cost;
use super::node::{Node, Report};
use super::setup::Setup;
use super::size::Size;
use crate::Failure;

impl clap::ValueEnum for Size {
    fn value_variants<'a>() -> &'a [Self] {
        &Self::ALL
    }

    fn to_possible_value(&self) -> Option<clap::builder::PossibleValue> {
        Some(self.name().into())
    }
}

/// Name of the driver that reads objects where they arrive.
pub(crate) const IN_PLACE: &str = "jstream";

/// Name of the driver that copies objects out of the messages.
pub(crate) const COPYING: &str = "jstream-copying";

/// Name of the driver that exchanges plain arrays between ranks.
pub(crate) const RANKS: &str = "jstream-ranks";

/// The result of an application as numbers. The results of the nodes, one after the other in the
/// order of the nodes, are the result of the application.
pub(super) type Answer = Vec<f64>;

/// A library whose version of a sequential kernel is measured beside it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Baseline {
    pub(super) name: &'static str,
    /// Largest permitted difference between its result and the sequential one; see [`App::bound`].
    pub(super) bound: f64,
}

/// An application: a sequential kernel, and drivers that run it at several nodes.
pub(super) trait App: Sync {
    /// Returns the name that cases and the command line use.
    fn name(&self) -> &'static str;

    /// Returns one line for `--help`.
    fn about(&self) -> &'static str;

    /// Returns the names of the drivers.
    fn subjects(&self) -> &'static [&'static str];

    /// Returns the arrangements of nodes in which the application runs.
    fn setups(&self) -> &'static [Setup] {
        &Setup::USUAL
    }

    /// Returns the number of operations that the measured part repeats. If there are several, the
    /// time of one is reported, too.
    fn operations(&self, size: Size) -> usize {
        let _ = size;
        1
    }

    /// Returns true if [`Size::Long`] has more iterations than [`Size::Full`].
    fn has_long(&self) -> bool {
        false
    }

    /// Returns the largest permitted difference between a number of a parallel result and the
    /// sequential one, relative to the larger of 1 and the sequential one. If 0, both are equal.
    fn bound(&self) -> f64 {
        0.0
    }

    /// Runs the sequential version. [`Clock::measure`] runs the part that is measured.
    fn sequential(&self, size: Size, clock: &Clock<'_>) -> Result<Answer, Failure>;

    /// Returns the library that has the kernel, too, if it is measured beside the sequential
    /// version.
    fn baseline(&self) -> Option<Baseline> {
        None
    }

    /// Runs the version of the [`baseline`](Self::baseline), as [`sequential`](Self::sequential)
    /// does.
    fn run_baseline(&self, size: Size, clock: &Clock<'_>) -> Result<Answer, Failure> {
        let _ = (size, clock);
        Err(format!("{} has no baseline", self.name()).into())
    }

    /// Returns true if there is a version for threads that share memory.
    fn shares_memory(&self) -> bool {
        false
    }

    /// Runs the kernel at `threads` threads that share memory, which is the best that nodes without
    /// costs of communication could reach.
    fn shared_memory(
        &self,
        size: Size,
        threads: u32,
        clock: &Clock<'_>,
    ) -> Result<Answer, Failure> {
        let _ = (size, threads, clock);
        Err(format!("{} has no version for shared memory", self.name()).into())
    }

    /// Runs the part of this node with the driver [`Node::subject`]. Returns its part of the
    /// result.
    fn node(&self, node: &Node<'_>) -> Result<Answer, Failure>;

    /// Returns true if the package `mpi-peer` has the application.
    fn runs_over_mpi(&self) -> bool {
        false
    }

    /// Returns the times that writing and reading the arguments and results of an average call of
    /// one of `nodes` nodes takes with this driver, or `None` if the application makes no calls.
    fn serialization(
        &self,
        subject: &str,
        size: Size,
        nodes: usize,
    ) -> Result<Option<Cost>, Failure> {
        let _ = (subject, size, nodes);
        Ok(None)
    }

    /// Returns true if the nodes call one another in turn, and not at the same time, so that each
    /// call's serialization takes a part of the total time.
    fn calls_in_turn(&self) -> bool {
        false
    }
}

impl dyn App {
    /// Returns the driver of this name.
    pub(super) fn subject(&self, name: &str) -> Result<&'static str, Failure> {
        let mut names = self.subjects().iter();
        names
            .find(|known| **known == name)
            .copied()
            .ok_or_else(|| format!("{} has no driver {name}", self.name()).into())
    }
}

/// Runs the sequential version of an application.
pub(super) fn sequential(app: &dyn App, size: Size) -> Result<Report, Failure> {
    let clock = Clock::alone();
    let answer = app.sequential(size, &clock)?;
    Report::of_one(answer, &clock)
}

/// Runs the version of the application's baseline.
pub(super) fn baseline(app: &dyn App, size: Size) -> Result<Report, Failure> {
    let clock = Clock::alone();
    let answer = app.run_baseline(size, &clock)?;
    Report::of_one(answer, &clock)
}

/// Runs the version for threads that share memory.
pub(super) fn shared_memory(app: &dyn App, size: Size, threads: u32) -> Result<Report, Failure> {
    let clock = Clock::alone();
    let answer = app.shared_memory(size, threads, &clock)?;
    Report::of_one(answer, &clock)
}

/// The first difference between two results.
#[derive(Debug, PartialEq)]
pub(super) enum Difference {
    Length {
        found: usize,
        expected: usize,
    },
    Number {
        index: usize,
        found: f64,
        expected: f64,
        bound: f64,
    },
}

impl Difference {
    /// Returns the first difference that exceeds `bound`, as [`App::bound`] defines it.
    pub(super) fn find(found: &[f64], expected: &[f64], bound: f64) -> Option<Self> {
        if found.len() != expected.len() {
            return Some(Self::Length {
                found: found.len(),
                expected: expected.len(),
            });
        }
        let pairs = found.iter().copied().zip(expected.iter().copied());
        pairs.enumerate().find_map(|(index, (found, expected))| {
            let permitted = bound * expected.abs().max(1.0);
            // A comparison with NaN is false, so a result of NaN differs.
            let near = found == expected || (found - expected).abs() <= permitted;
            (!near).then_some(Self::Number {
                index,
                found,
                expected,
                bound,
            })
        })
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Length { found, expected } => write!(
                f,
                "the result has {found} numbers, the sequential one has {expected}"
            ),
            Self::Number {
                index,
                found,
                expected,
                bound,
            } => write!(
                f,
                "number {index} of the result is {found}, that of the sequential one is \
                 {expected}; the relative bound is {bound}"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_results_have_no_difference() {
        assert_eq!(Difference::find(&[1.0, 2.0], &[1.0, 2.0], 0.0), None);
        assert_eq!(
            Difference::find(&[1.0, 2.0e6], &[1.0, 2.000001e6], 1e-6),
            None
        );
    }

    #[test]
    fn the_first_number_beyond_the_bound_is_found() {
        let difference = Difference::find(&[1.0, 2.1, 9.0], &[1.0, 2.0, 3.0], 0.01);
        assert!(matches!(
            difference,
            Some(Difference::Number { index: 1, .. })
        ));
        assert!(Difference::find(&[f64::NAN], &[1.0], 0.5).is_some());
    }

    #[test]
    fn a_missing_part_is_found() {
        let difference = Difference::find(&[1.0], &[1.0, 2.0], 1.0).unwrap();
        assert!(difference.to_string().contains("has 1 numbers"));
    }
}
