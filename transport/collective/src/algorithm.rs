//! The collective operations and their algorithms, and the choice among these.

use std::fmt;
use std::str::FromStr;

/// Declares an enum of names, as they are written in text.
macro_rules! names {
    ($(#[$docs:meta])* $enum:ident, $noun:literal: $($(#[$variant_docs:meta])* $variant:ident = $name:literal,)*) => {
        $(#[$docs])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum $enum {
            $($(#[$variant_docs])* $variant,)*
        }

        impl $enum {
            /// All values.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// Returns the name, as it is written in settings.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }
        }

        impl fmt::Display for $enum {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.name())
            }
        }

        impl FromStr for $enum {
            type Err = UnknownName;

            fn from_str(name: &str) -> Result<Self, UnknownName> {
                let known = Self::ALL.iter().copied();
                known.into_iter().find(|known| known.name() == name).ok_or_else(|| UnknownName {
                    noun: $noun,
                    name: name.to_owned(),
                    known: Self::ALL.iter().map(|known| known.name()).collect(),
                })
            }
        }
    };
}

/// A name that is not known.
#[derive(jstream_derive::ErrorDebug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no {noun} `{name}`; there are {}", known.join(", "))]
pub struct UnknownName {
    noun: &'static str,
    name: String,
    known: Vec<&'static str>,
}

names! {
    /// A collective operation.
    Collective, "collective operation":
    /// No rank passes before all have arrived.
    Barrier = "barrier",
    /// The elements of the root go to all ranks.
    Broadcast = "broadcast",
    /// One block of the root's elements goes to each rank.
    Scatter = "scatter",
    /// One block of each rank goes to the root.
    Gather = "gather",
    /// One block of each rank goes to all ranks.
    AllGather = "all_gather",
    /// The root gets the combination of the elements of all ranks.
    Reduce = "reduce",
    /// All ranks get the combination of the elements of all ranks.
    AllReduce = "all_reduce",
    /// Each rank gets the combination of the elements of the ranks up to itself.
    Scan = "scan",
    /// Each rank gets the combination of the elements of the ranks before it.
    ExclusiveScan = "exclusive_scan",
    /// Each rank gets one block of the combination of the elements of all ranks.
    ReduceScatter = "reduce_scatter",
    /// One block of each rank goes to each rank.
    AllToAll = "all_to_all",
}

names! {
    /// An algorithm of a collective operation. The costs in the descriptions are for `n` ranks, `m`
    /// elements at each rank, a latency `α` of a message, and a time `β` to send one element.
    Algorithm, "algorithm":
    /// A tree in which the rank at distance `2^k` from its parent has the ranks up to `2^k` further
    /// on below it. `log n` messages follow one another.
    Binomial = "binomial",
    /// The ranks send directly to each other, all at once, without intermediate ranks.
    Direct = "direct",
    /// In round `k`, each rank sends to the rank at distance `2^k`. For scans, the received
    /// elements are combined with the own ones.
    Dissemination = "dissemination",
    /// In round `k`, pairs at distance `2^k` exchange all that they have: `log n (α + mβ)` for a
    /// reduction.
    RecursiveDoubling = "recursive_doubling",
    /// Blocks go around a ring: `(n-1) α + (n-1)/n mβ` for each of reduction and distribution.
    Ring = "ring",
    /// Rabenseifner's algorithm: pairs exchange halves of decreasing size, each combines one block,
    /// and the blocks are collected on the way back: `2 log n α + 2 (n-1)/n mβ`.
    Halving = "halving",
    /// Bruck's algorithm: in round `k`, blocks go to the rank at distance `2^k`, several in one
    /// message. `log n` messages for any number of ranks, at the cost of copies.
    Bruck = "bruck",
    /// In round `k`, each rank exchanges one block with the rank at distance `k`.
    Pairwise = "pairwise",
    /// A broadcast of long messages: the blocks are scattered by a binomial tree, and collected
    /// around a ring: `(log n + n - 1) α + 2 (n-1)/n mβ`.
    ScatterRing = "scatter_ring",
    /// A broadcast of long messages: segments go from rank to rank in a chain.
    Chain = "chain",
}

/// Length in bytes up to which latency matters more than bandwidth.
const SHORT: usize = 8 << 10;

/// Length in bytes from which each element should be sent as rarely as possible.
const LONG: usize = 128 << 10;

impl Collective {
    /// Returns the algorithms of the operation.
    #[must_use]
    pub const fn algorithms(self) -> &'static [Algorithm] {
        use Algorithm::{
            Binomial, Bruck, Chain, Direct, Dissemination, Halving, Pairwise, RecursiveDoubling,
            Ring, ScatterRing,
        };
        match self {
            Self::Barrier | Self::Scan | Self::ExclusiveScan => &[Dissemination],
            Self::Broadcast => &[Binomial, ScatterRing, Chain],
            Self::Scatter | Self::Gather => &[Binomial, Direct],
            Self::AllGather => &[Bruck, RecursiveDoubling, Ring],
            Self::Reduce => &[Binomial, Halving],
            Self::AllReduce => &[RecursiveDoubling, Halving, Ring],
            Self::ReduceScatter => &[Halving, Pairwise, Direct],
            Self::AllToAll => &[Bruck, Pairwise, Direct],
        }
    }

    /// Chooses an algorithm for `size` ranks, and `bytes` that each rank contributes or gets,
    /// whichever is more. All ranks choose the same if they agree in the arguments.
    #[must_use]
    pub fn choose(self, size: usize, bytes: usize, is_commutative: bool) -> Algorithm {
        use Algorithm::{
            Binomial, Bruck, Chain, Direct, Dissemination, Halving, Pairwise, RecursiveDoubling,
            Ring, ScatterRing,
        };
        let block = bytes.checked_div(size).unwrap_or(0);
        match self {
            Self::Barrier | Self::Scan | Self::ExclusiveScan => Dissemination,
            Self::Broadcast if size <= 2 || bytes <= SHORT => Binomial,
            Self::Broadcast if size <= 4 && bytes > LONG => Chain,
            Self::Broadcast => ScatterRing,
            Self::Scatter | Self::Gather if block <= SHORT => Binomial,
            Self::Scatter | Self::Gather => Direct,
            Self::AllGather if bytes <= SHORT && size.is_power_of_two() => RecursiveDoubling,
            Self::AllGather if bytes <= SHORT => Bruck,
            Self::AllGather => Ring,
            Self::Reduce if !is_commutative || size <= 2 || bytes <= SHORT => Binomial,
            Self::Reduce => Halving,
            Self::AllReduce if !is_commutative || size <= 2 || bytes <= SHORT => RecursiveDoubling,
            Self::AllReduce if bytes <= LONG || block <= SHORT => Halving,
            Self::AllReduce => Ring,
            Self::ReduceScatter if !is_commutative => Direct,
            Self::ReduceScatter if bytes <= LONG => Halving,
            Self::ReduceScatter => Pairwise,
            Self::AllToAll if block <= 256 && size >= 8 => Bruck,
            Self::AllToAll if size <= 8 => Direct,
            Self::AllToAll => Pairwise,
        }
    }

    /// Returns true if the operation has the algorithm, and if the algorithm keeps the order of the
    /// operands or the order does not matter.
    #[must_use]
    pub fn suits(self, algorithm: Algorithm, is_commutative: bool) -> bool {
        let keeps_order = is_commutative || self.ordered().is_none_or(|other| algorithm == other);
        self.algorithms().contains(&algorithm) && keeps_order
    }

    /// Returns the only algorithm of a reduction that keeps the order of the operands. `None` for
    /// operations whose algorithms all do.
    pub(crate) const fn ordered(self) -> Option<Algorithm> {
        match self {
            Self::Reduce => Some(Algorithm::Binomial),
            Self::AllReduce => Some(Algorithm::RecursiveDoubling),
            Self::ReduceScatter => Some(Algorithm::Direct),
            _ => None,
        }
    }
}
