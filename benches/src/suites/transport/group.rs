//! The suite `group`: collective operations of two, four and eight ranks, which are threads or
//! processes. Four and eight ranks share two cores.

use super::Cores;
use super::case::{Case, GROUP_NAMES};
use crate::Failure;
use crate::progress::Progress;
use crate::suites::{self, Effort, Outcome};

/// Returns the names of all cases, in the order in which they are run.
pub(crate) fn names() -> [&'static str; GROUP_NAMES.len()] {
    GROUP_NAMES
}

/// Runs the cases whose names are `chosen`.
pub(crate) fn run(
    effort: &Effort,
    progress: &mut Progress,
    chosen: impl Fn(&str) -> bool + Sync,
) -> Result<Outcome, Failure> {
    // The rounds are as long as those of the transport suite.
    let effort = Effort {
        at_most: effort.at_most / 3,
        rounds: effort.rounds / 5,
        ..*effort
    };
    let cores = Cores::find();
    suites::measured("group", &effort, progress, |bench| {
        let names = GROUP_NAMES.into_iter().filter(|name| chosen(name));
        let cases = names.map(Case::named).collect::<Result<Vec<_>, _>>()?;
        for cases in cases.chunk_by(|one, next| one.ranks == next.ranks) {
            let mut ranks = bench.mpi(cases, cores);
            for case in cases {
                bench.exchange(case, cores, &mut ranks)?;
            }
        }
        Ok(())
    })
}
