//! Groups: ordered sets of ranks, from which communicators are made.

use jstream_collective::Collective;

use super::error::Error;
use super::member::Rank;

/// An ordered set of ranks of a world. No rank is in it twice.
///
/// Groups are values of one rank: to make and combine them, no other rank is needed. The ranks are
/// numbered by their positions in the group. Groups of different communicators of one world can be
/// combined, because a group knows its ranks by their numbers in the world.
///
/// ```
/// use jstream_transport::rank::{self, Group};
///
/// # fn main() -> Result<(), rank::Error> {
/// let ranks = rank::threads(5, &rank::Options::default());
/// std::thread::scope(|scope| {
///     for rank in &ranks {
///         scope.spawn(move || -> Result<(), rank::Error> {
///             let all = Group::of(rank);
///             let even = all.include((0..5).step_by(2))?;
///             let others = all.difference(&even);
///             // The odd ranks come first.
///             let group = others.union(&even);
///             let reordered = group.communicator(rank)?.unwrap();
///             assert_eq!(reordered.rank(), [2, 0, 3, 1, 4][rank.rank() as usize]);
///             // Position 1 is rank 3 in the world.
///             assert_eq!(group.translate(1, &all), Some(3));
///             assert!(even.communicator(rank)?.is_some() == (rank.rank() % 2 == 0));
///             Ok(())
///         });
///     }
/// });
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Group {
    /// The numbers of the ranks in the world.
    ranks: Vec<u32>,
}

impl Group {
    /// Returns the group of all members of a communicator, in their order.
    #[must_use]
    pub fn of(rank: &Rank) -> Self {
        let members = (0..rank.size()).map(|member| rank.members().in_node(member));
        Self {
            ranks: members.collect(),
        }
    }

    /// Returns the number of ranks in the group.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ranks.len()
    }

    /// Returns true if the group has no ranks.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ranks.is_empty()
    }

    /// Returns the position in `other` of the rank at a position of this group. `None` if there is
    /// no such position, or if the rank is not in `other`.
    #[must_use]
    pub fn translate(&self, position: u32, other: &Self) -> Option<u32> {
        let rank = self.ranks.get(usize::try_from(position).ok()?)?;
        let found = (0..).zip(&other.ranks).find(|(_, other)| *other == rank);
        found.map(|(position, _)| position)
    }

    /// Returns true if both groups have the same ranks, in any order.
    #[must_use]
    pub fn is_similar(&self, other: &Self) -> bool {
        sorted(&self.ranks) == sorted(&other.ranks)
    }

    /// Returns the ranks of this group, followed by those that only `other` has.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        let own = sorted(&self.ranks);
        let mut ranks = self.ranks.clone();
        ranks.extend(other.ranks.iter().filter(|rank| !has(&own, **rank)));
        Self { ranks }
    }

    /// Returns the ranks of this group that `other` has, too, in the order of this group.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        let others = sorted(&other.ranks);
        self.filtered(|rank| has(&others, rank))
    }

    /// Returns the ranks of this group that `other` does not have, in the order of this group.
    #[must_use]
    pub fn difference(&self, other: &Self) -> Self {
        let others = sorted(&other.ranks);
        self.filtered(|rank| !has(&others, rank))
    }

    /// Returns the ranks at some positions, in the given order. Ranges with a stride are given by
    /// [`step_by`](Iterator::step_by).
    ///
    /// # Errors
    ///
    /// [`Error::NoRank`] if there is no such position. [`Error::RankTwice`] if a position is given
    /// twice.
    pub fn include(&self, positions: impl IntoIterator<Item = u32>) -> Result<Self, Error> {
        let mut is_taken = vec![false; self.ranks.len()];
        let mut ranks = Vec::new();
        for position in positions {
            let index = usize::try_from(position).unwrap_or(usize::MAX);
            let (Some(rank), Some(is_taken)) = (self.ranks.get(index), is_taken.get_mut(index))
            else {
                return Err(self.no_position(position));
            };
            if std::mem::replace(is_taken, true) {
                return Err(Error::RankTwice { rank: position });
            }
            ranks.push(*rank);
        }
        Ok(Self { ranks })
    }

    /// Returns the group without the ranks at some positions, which may be given in any order and
    /// several times.
    ///
    /// # Errors
    ///
    /// [`Error::NoRank`] if there is no such position.
    pub fn exclude(&self, positions: impl IntoIterator<Item = u32>) -> Result<Self, Error> {
        let mut is_kept = vec![true; self.ranks.len()];
        for position in positions {
            let index = usize::try_from(position).unwrap_or(usize::MAX);
            match is_kept.get_mut(index) {
                Some(is_kept) => *is_kept = false,
                None => return Err(self.no_position(position)),
            }
        }
        let kept = self.ranks.iter().zip(is_kept).filter(|(_, kept)| *kept);
        Ok(Self {
            ranks: kept.map(|(rank, _)| *rank).collect(),
        })
    }

    /// Returns a communicator of the ranks of this group, or `None` if this rank is not in it. The
    /// members have their positions in the group as numbers.
    ///
    /// This is a collective operation: all members of the communicator of `rank` have to call it,
    /// with equal groups.
    ///
    /// # Errors
    ///
    /// [`Error::OtherGroup`] at all members if they give different groups. [`Error::NotMember`] if
    /// the group has a rank that is not in the communicator of `rank`. Otherwise as for
    /// [`Rank::split`].
    pub fn communicator(&self, rank: &Rank) -> Result<Option<Rank>, Error> {
        let foreign = self.ranks.iter().find(|rank_of_world| {
            let member = rank.members().number_of(**rank_of_world);
            member.is_none_or(|member| member >= rank.size())
        });
        if let Some(foreign) = foreign {
            // The other members get an error from the comparison, which is this operation.
            rank.refuse(Collective::AllGather);
            return Err(Error::NotMember { rank: *foreign });
        }
        if let Some(other) = rank.find_other(digest(&self.ranks))? {
            return Err(Error::OtherGroup { rank: other });
        }
        let own = rank.members().in_node(rank.rank());
        let position = (0..).zip(&self.ranks).find(|(_, rank)| **rank == own);
        let (color, key) = position.map_or((None, 0), |(position, _)| (Some(0), position));
        rank.split(color, key)
    }

    fn filtered(&self, is_kept: impl Fn(u32) -> bool) -> Self {
        let ranks = self.ranks.iter().copied();
        Self {
            ranks: ranks.filter(|rank| is_kept(*rank)).collect(),
        }
    }

    #[cold]
    fn no_position(&self, rank: u32) -> Error {
        let size = u32::try_from(self.ranks.len()).unwrap_or(u32::MAX);
        Error::NoRank { rank, size }
    }
}

fn sorted(ranks: &[u32]) -> Vec<u32> {
    let mut sorted = ranks.to_vec();
    sorted.sort_unstable();
    sorted
}

fn has(sorted: &[u32], rank: u32) -> bool {
    sorted.binary_search(&rank).is_ok()
}

/// Returns a digest of the ranks and their order, to compare groups of several ranks.
fn digest(ranks: &[u32]) -> u64 {
    digest_of(ranks.iter().map(|rank| u64::from(*rank)))
}

/// Returns a digest of words in their order: that of FNV-1a, but with words instead of bytes.
pub(super) fn digest_of(words: impl Iterator<Item = u64>) -> u64 {
    words.fold(0xcbf2_9ce4_8422_2325, |digest, word| {
        (digest ^ word).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
