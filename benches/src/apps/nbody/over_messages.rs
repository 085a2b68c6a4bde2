//! Each rank has all bodies, computes the steps of a part of them, and gets the others from the
//! other ranks.

use super::galaxies::{Galaxies, Moved, Problem};
use crate::Failure;
use crate::apps::clock::Clock;
use crate::apps::comm::{Comm, all_gather};

/// The exchange of moved bodies, after which all ranks have those of all. The first argument has
/// those of this rank, and the second the number of bodies of each rank.
pub(in crate::apps) type Exchange<'a> =
    dyn FnMut(&[Moved], &[usize], &mut [Moved]) -> Result<(), Failure> + 'a;

/// Computes all time steps. Returns the positions at the first rank, and nothing at others.
pub(in crate::apps) fn run(
    comm: &dyn Comm,
    exchange: &mut Exchange<'_>,
    clock: &Clock<'_>,
    problem: Problem,
) -> Result<Vec<f64>, Failure> {
    let mut galaxies = Galaxies::new(problem);
    clock.measure(|| {
        let mut all = vec![[0.0; 7]; problem.bodies];
        for _ in 0..problem.steps {
            let tree = galaxies.tree();
            let parts = galaxies.parts(&tree, comm.size());
            let own = galaxies.advance(&tree, &parts[comm.rank()]);
            let counts: Vec<_> = parts.iter().map(|part| tree.bodies(part).len()).collect();
            exchange(&own, &counts, &mut all)?;
            galaxies.place(&tree, &(0..tree.leaves()), &all);
        }
        Ok(())
    })?;
    Ok(if comm.rank() == 0 {
        galaxies.into_numbers()
    } else {
        Vec::new()
    })
}

/// Computes all time steps with collective operations on plain numbers.
pub(in crate::apps) fn run_plain(
    comm: &dyn Comm,
    clock: &Clock<'_>,
    problem: Problem,
) -> Result<Vec<f64>, Failure> {
    let mut exchange =
        |own: &[Moved], counts: &[usize], all: &mut [Moved]| all_gather(comm, own, counts, all);
    run(comm, &mut exchange, clock, problem)
}
