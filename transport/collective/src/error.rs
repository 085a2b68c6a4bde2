//! Errors of arguments from which no schedule can be made.

use crate::algorithm::{Algorithm, Collective};

/// The reason why there is no schedule for the arguments of a collective operation.
#[derive(jstream_derive::ErrorDebug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ScheduleError {
    /// The root is no rank of the group.
    #[error("the root {root} is no rank of a group of {size} ranks")]
    NoRoot {
        /// The root that was named.
        root: usize,
        /// Number of ranks.
        size: usize,
    },
    /// A list of counts does not have one entry for each rank.
    #[error("{given} counts were given for a group of {size} ranks: give one for each rank")]
    WrongCounts {
        /// Number of counts.
        given: usize,
        /// Number of ranks.
        size: usize,
    },
    /// The counts add up to more elements than memory can hold.
    #[error("the counts of all ranks add up to more elements than memory can hold")]
    TooLong,
    /// The operation has no such algorithm.
    #[error(
        "{collective} has no algorithm `{algorithm}`; it has {}",
        List(collective.algorithms())
    )]
    NoAlgorithm {
        /// The operation.
        collective: Collective,
        /// The algorithm that was chosen.
        algorithm: Algorithm,
    },
    /// The algorithm changes the order of operands, and the operation is not commutative.
    #[error("`{algorithm}` of {collective} needs a commutative operation; choose `{instead}`")]
    NotCommutative {
        /// The operation.
        collective: Collective,
        /// The algorithm that was chosen.
        algorithm: Algorithm,
        /// An algorithm that keeps the order.
        instead: Algorithm,
    },
    /// The algorithm needs to know the counts of all ranks.
    #[error("`{algorithm}` of {collective} needs equal counts at all ranks; choose `direct`")]
    UnequalCounts {
        /// The operation.
        collective: Collective,
        /// The algorithm that was chosen.
        algorithm: Algorithm,
    },
}

struct List(&'static [Algorithm]);

impl std::fmt::Display for List {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (index, algorithm) in self.0.iter().enumerate() {
            let separator = if index == 0 { "" } else { ", " };
            write!(f, "{separator}`{algorithm}`")?;
        }
        Ok(())
    }
}
