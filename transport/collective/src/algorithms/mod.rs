//! The algorithms: each module makes the schedules of one kind of collective operation.

mod accumulator;
mod all_gather;
mod all_to_all;
mod broadcast;

mod fold;
mod gather;
mod halving;
mod reduce;
mod reduce_scatter;
mod scan;
mod scatter;
mod tree;

use crate::algorithm::{Algorithm, Collective};
use crate::blocks::{Blocks, check_len};
use crate::error::ScheduleError;
use crate::schedule::{Area, Builder, Position, Schedule, Span};

impl Schedule {
    /// Returns the schedule of a barrier: `⌈log n⌉` rounds of empty messages.
    #[must_use]
    pub fn barrier(at: Position) -> Self {
        let Position { rank, size } = at;
        let mut builder = Builder::new(at, 0, 0);
        let nothing = Span::new(Area::Scratch, 0, 0);
        let mut distance = 1;
        while distance < size {
            let to = (rank + distance) % size;
            let from = (rank + size - distance) % size;
            builder.exchange((to, nothing), (from, nothing));
            distance *= 2;
        }
        builder.finish()
    }

    /// Returns the schedule of a broadcast of `count` elements. The elements are in the output,
    /// where the root has put them.
    ///
    /// # Errors
    ///
    /// [`ScheduleError`] of the arguments.
    pub fn broadcast(
        at: Position,
        root: usize,
        count: usize,
        algorithm: Algorithm,
    ) -> Result<Self, ScheduleError> {
        check_algorithm(Collective::Broadcast, algorithm, true)?;
        check_root(at, root)?;
        check_len(count)?;
        let mut builder = Builder::new(at, 0, count);
        match algorithm {
            Algorithm::ScatterRing => broadcast::scatter_ring(&mut builder, at, root),
            Algorithm::Chain => broadcast::chain(&mut builder, at, root),
            _ => broadcast::binomial(&mut builder, at, root),
        }
        Ok(builder.finish())
    }

    /// Returns the schedule of a scatter. The input of the root has all blocks, and the output of
    /// each rank gets its own. For [`Algorithm::Direct`], a rank that is not the root may know its
    /// own count only, and give equal counts.
    ///
    /// # Errors
    ///
    /// [`ScheduleError`] of the arguments.
    pub fn scatter(
        at: Position,
        root: usize,
        blocks: &Blocks,
        algorithm: Algorithm,
    ) -> Result<Self, ScheduleError> {
        check_algorithm(Collective::Scatter, algorithm, true)?;
        check_root(at, root)?;
        blocks.check(at.size)?;
        let input = if at.rank == root { blocks.total() } else { 0 };
        let mut builder = Builder::new(at, input, blocks.len(at.rank));
        if algorithm == Algorithm::Direct {
            scatter::direct(&mut builder, at, root, blocks);
        } else {
            let (input, output) = (builder.input(), builder.output());
            scatter::binomial(&mut builder, at, root, blocks, (input, output));
        }
        Ok(builder.finish())
    }

    /// Returns the schedule of a gather. The input of each rank has its block, and the output of
    /// the root gets all blocks. For [`Algorithm::Direct`], a rank that is not the root may know
    /// its own count only, and give equal counts.
    ///
    /// # Errors
    ///
    /// [`ScheduleError`] of the arguments.
    pub fn gather(
        at: Position,
        root: usize,
        blocks: &Blocks,
        algorithm: Algorithm,
    ) -> Result<Self, ScheduleError> {
        check_algorithm(Collective::Gather, algorithm, true)?;
        check_root(at, root)?;
        blocks.check(at.size)?;
        let output = if at.rank == root { blocks.total() } else { 0 };
        let mut builder = Builder::new(at, blocks.len(at.rank), output);
        if algorithm == Algorithm::Direct {
            gather::direct(&mut builder, at, root, blocks);
        } else {
            gather::binomial(&mut builder, at, root, blocks);
        }
        Ok(builder.finish())
    }

    /// Returns the schedule of an all-gather. The input of each rank has its block, and the output
    /// of each rank gets all blocks.
    ///
    /// # Errors
    ///
    /// [`ScheduleError`] of the arguments.
    pub fn all_gather(
        at: Position,
        blocks: &Blocks,
        algorithm: Algorithm,
    ) -> Result<Self, ScheduleError> {
        check_algorithm(Collective::AllGather, algorithm, true)?;
        blocks.check(at.size)?;
        let mut builder = Builder::new(at, blocks.len(at.rank), blocks.total());
        match algorithm {
            Algorithm::Ring => all_gather::ring(&mut builder, at, blocks),
            Algorithm::RecursiveDoubling if at.size.is_power_of_two() => {
                all_gather::recursive_doubling(&mut builder, at, blocks);
            }
            _ => all_gather::bruck(&mut builder, at, blocks),
        }
        Ok(builder.finish())
    }

    /// Returns the schedule of a reduction of `count` elements to the root. The input of each rank
    /// has its elements, and the output of the root gets the result.
    ///
    /// # Errors
    ///
    /// [`ScheduleError`] of the arguments.
    pub fn reduce(
        at: Position,
        root: usize,
        count: usize,
        is_commutative: bool,
        algorithm: Algorithm,
    ) -> Result<Self, ScheduleError> {
        check_algorithm(Collective::Reduce, algorithm, is_commutative)?;
        check_root(at, root)?;
        check_len(count)?;
        let output = if at.rank == root { count } else { 0 };
        let mut builder = Builder::new(at, count, output);
        match algorithm {
            Algorithm::Halving => reduce::halving(&mut builder, at, root),
            _ => reduce::binomial(&mut builder, at, root, is_commutative),
        }
        Ok(builder.finish())
    }

    /// Returns the schedule of a reduction of `count` elements to all ranks.
    ///
    /// # Errors
    ///
    /// [`ScheduleError`] of the arguments.
    pub fn all_reduce(
        at: Position,
        count: usize,
        is_commutative: bool,
        algorithm: Algorithm,
    ) -> Result<Self, ScheduleError> {
        check_algorithm(Collective::AllReduce, algorithm, is_commutative)?;
        check_len(count)?;
        let mut builder = Builder::new(at, count, count);
        match algorithm {
            Algorithm::Halving => reduce::all_halving(&mut builder, at),
            Algorithm::Ring => reduce::all_ring(&mut builder, at),
            _ => reduce::all_recursive_doubling(&mut builder, at),
        }
        Ok(builder.finish())
    }

    /// Returns the schedule of a scan of `count` elements: the output of each rank gets the
    /// combination of the inputs of the ranks up to itself.
    ///
    /// # Errors
    ///
    /// [`ScheduleError`] of the arguments.
    pub fn scan(at: Position, count: usize) -> Result<Self, ScheduleError> {
        check_len(count)?;
        let mut builder = Builder::new(at, count, count);
        scan::inclusive(&mut builder, at);
        Ok(builder.finish())
    }

    /// Returns the schedule of an exclusive scan of `count` elements: the output of each rank gets
    /// the combination of the inputs of the ranks before it. The output of rank 0 stays as it is.
    ///
    /// # Errors
    ///
    /// [`ScheduleError`] of the arguments.
    pub fn exclusive_scan(at: Position, count: usize) -> Result<Self, ScheduleError> {
        check_len(count)?;
        let mut builder = Builder::new(at, count, count);
        scan::exclusive(&mut builder, at);
        Ok(builder.finish())
    }

    /// Returns the schedule of a reduction whose result is scattered. The input of each rank has
    /// all blocks, and the output of each rank gets its own block of the result.
    ///
    /// # Errors
    ///
    /// [`ScheduleError`] of the arguments.
    pub fn reduce_scatter(
        at: Position,
        blocks: &Blocks,
        is_commutative: bool,
        algorithm: Algorithm,
    ) -> Result<Self, ScheduleError> {
        check_algorithm(Collective::ReduceScatter, algorithm, is_commutative)?;
        blocks.check(at.size)?;
        let mut builder = Builder::new(at, blocks.total(), blocks.len(at.rank));
        match algorithm {
            Algorithm::Halving => reduce_scatter::halving(&mut builder, at, blocks),
            Algorithm::Pairwise => reduce_scatter::pairwise(&mut builder, at, blocks),
            _ => reduce_scatter::direct(&mut builder, at, blocks),
        }
        Ok(builder.finish())
    }

    /// Returns the schedule of an exchange of one block between each two ranks. The input of each
    /// rank has the blocks `sent`, one for each rank, and the output gets the blocks `received`,
    /// one of each rank. [`Algorithm::Bruck`] needs equal counts.
    ///
    /// # Errors
    ///
    /// [`ScheduleError`] of the arguments.
    pub fn all_to_all(
        at: Position,
        sent: &Blocks,
        received: &Blocks,
        algorithm: Algorithm,
    ) -> Result<Self, ScheduleError> {
        check_algorithm(Collective::AllToAll, algorithm, true)?;
        sent.check(at.size)?;
        received.check(at.size)?;
        let mut builder = Builder::new(at, sent.total(), received.total());
        match algorithm {
            Algorithm::Bruck => {
                let len = sent.len(0);
                let is_equal = |blocks: &Blocks| (0..at.size).all(|block| blocks.len(block) == len);
                if !is_equal(sent) || !is_equal(received) {
                    return Err(ScheduleError::UnequalCounts {
                        collective: Collective::AllToAll,
                        algorithm,
                    });
                }
                all_to_all::bruck(&mut builder, at, len);
            }
            Algorithm::Pairwise => all_to_all::pairwise(&mut builder, at, sent, received),
            _ => all_to_all::direct(&mut builder, at, sent, received),
        }
        Ok(builder.finish())
    }
}

fn check_root(at: Position, root: usize) -> Result<(), ScheduleError> {
    let size = at.size;
    if root < size {
        Ok(())
    } else {
        Err(ScheduleError::NoRoot { root, size })
    }
}

/// Returns an error if the operation does not have the algorithm, or if the algorithm does not keep
/// the order of the operands and that matters.
pub(crate) fn check_algorithm(
    collective: Collective,
    algorithm: Algorithm,
    is_commutative: bool,
) -> Result<(), ScheduleError> {
    if !collective.algorithms().contains(&algorithm) {
        return Err(ScheduleError::NoAlgorithm {
            collective,
            algorithm,
        });
    }
    match collective.ordered() {
        Some(instead) if !is_commutative && algorithm != instead => {
            Err(ScheduleError::NotCommutative {
                collective,
                algorithm,
                instead,
            })
        }
        _ => Ok(()),
    }
}
