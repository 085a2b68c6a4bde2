//! Cartesian topologies: ranks at the points of a grid.

use std::fmt;
use std::ops::Deref;

use jstream_collective::Collective;

use super::error::Error;
use super::group::digest_of;
use super::member::Rank;
use super::names::{Destination, Source};

/// A dimension of a grid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dimension {
    /// Number of ranks in this dimension.
    pub size: u32,
    /// True if the last rank and the first are neighbours.
    pub is_periodic: bool,
}

impl Dimension {
    /// A dimension with two ends.
    #[must_use]
    pub const fn open(size: u32) -> Self {
        Self {
            size,
            is_periodic: false,
        }
    }

    /// A dimension whose last rank is a neighbour of the first.
    #[must_use]
    pub const fn periodic(size: u32) -> Self {
        Self {
            size,
            is_periodic: true,
        }
    }
}

/// A rank at a point of a grid. The last coordinate varies fastest, as in a row-major array.
///
/// This dereferences to the rank, in a communicator of the ranks of the grid.
///
/// ```
/// use jstream_transport::rank::{self, Cartesian, Dimension};
///
/// # fn main() -> Result<(), rank::Error> {
/// let ranks = rank::threads(4, &rank::Options::default());
/// std::thread::scope(|scope| {
///     for rank in &ranks {
///         scope.spawn(move || -> Result<(), rank::Error> {
///             let sizes = [Dimension::open(2), Dimension::periodic(2)];
///             let grid = Cartesian::new(rank, &sizes)?.unwrap();
///             // Sends a number to the row below; the last row sends to nobody.
///             let (from, to) = grid.shift(0, 1);
///             let (sent, mut received) = ([grid.rank()], [100]);
///             grid.sendrecv(to, 0, &sent, from, 0, &mut received)?;
///             let [row, column] = grid.coordinates()[..] else { panic!() };
///             assert_eq!(received, [if row == 0 { 100 } else { column }]);
///             Ok(())
///         });
///     }
/// });
/// # Ok(())
/// # }
/// ```
pub struct Cartesian {
    rank: Rank,
    dimensions: Vec<Dimension>,
    coordinates: Vec<u32>,
}

/// Returns a digest of the dimensions, to compare them between ranks.
fn digest(dimensions: &[Dimension]) -> u64 {
    let dimensions = dimensions.iter();
    digest_of(dimensions.map(|one| (u64::from(one.size) << 1) | u64::from(one.is_periodic)))
}

impl Cartesian {
    /// Arranges the first ranks of a communicator in a grid. Returns `None` for the ranks that are
    /// not needed.
    ///
    /// This is a collective operation: all members of the communicator have to call it.
    ///
    /// # Errors
    ///
    /// [`Error::TooFewRanks`] if the grid has more points than the communicator has ranks, or none.
    /// [`Error::OtherGrid`] at all members if they give different dimensions.
    /// Otherwise as for [`Rank::split`].
    pub fn new(rank: &Rank, dimensions: &[Dimension]) -> Result<Option<Self>, Error> {
        let sizes = dimensions.iter();
        // A product that saturates is larger than every communicator.
        let points = sizes.fold(1u64, |all, one| all.saturating_mul(u64::from(one.size)));
        if points == 0 || points > u64::from(rank.size()) {
            let size = rank.size();
            // The other members get an error from the comparison, which is this operation.
            rank.refuse(Collective::AllGather);
            return Err(Error::TooFewRanks { points, size });
        }
        if let Some(other) = rank.find_other(digest(dimensions))? {
            return Err(Error::OtherGrid { rank: other });
        }
        let is_needed = u64::from(rank.rank()) < points;
        let Some(rank) = rank.split(is_needed.then_some(0), 0)? else {
            return Ok(None);
        };
        Ok(Some(Self::arranged(rank, dimensions.to_vec())))
    }

    /// Returns the grid of all members of a communicator, which are as many as the points.
    fn arranged(rank: Rank, dimensions: Vec<Dimension>) -> Self {
        let mut rest = rank.rank();
        let mut coordinates = Vec::with_capacity(dimensions.len());
        for dimension in dimensions.iter().rev() {
            coordinates.push(rest.checked_rem(dimension.size).unwrap_or(0));
            rest = rest.checked_div(dimension.size).unwrap_or(0);
        }
        coordinates.reverse();
        Self {
            rank,
            dimensions,
            coordinates,
        }
    }

    /// Returns the grid of the dimensions that `is_kept` selects: of the ranks that have the same
    /// coordinates as this one in all other dimensions, such as a row or a column. Missing values
    /// of `is_kept` are false.
    ///
    /// This is a collective operation: all ranks of the grid have to call it, with the same
    /// dimensions.
    ///
    /// ```
    /// use jstream_transport::rank::{self, Cartesian, Dimension};
    /// use jstream_transport::rank::operation::Sum;
    ///
    /// # fn main() -> Result<(), rank::Error> {
    /// let ranks = rank::threads(6, &rank::Options::default());
    /// std::thread::scope(|scope| {
    ///     for rank in &ranks {
    ///         scope.spawn(move || -> Result<(), rank::Error> {
    ///             let grid = Cartesian::new(rank, &[Dimension::open(2), Dimension::open(3)])?;
    ///             let row = grid.unwrap().subgrid(&[false, true])?;
    ///             let mut sum = [0];
    ///             row.all_reduce(&[rank.rank()], &mut sum, &Sum)?;
    ///             // Ranks 0, 1 and 2, or 3, 4 and 5.
    ///             assert_eq!(sum, [if rank.rank() < 3 { 3 } else { 12 }]);
    ///             Ok(())
    ///         });
    ///     }
    /// });
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::OtherGrid`] at all members if they give different dimensions. Otherwise as for
    /// [`Rank::split`].
    pub fn subgrid(&self, is_kept: &[bool]) -> Result<Self, Error> {
        let is_kept = |dimension: usize| is_kept.get(dimension).copied().unwrap_or(false);
        let kept = (0..self.dimensions.len()).map(|at| u64::from(is_kept(at)));
        if let Some(other) = self.rank.find_other(digest_of(kept))? {
            return Err(Error::OtherGrid { rank: other });
        }
        // The point of the subgrid with the coordinates 0 has the least number of its ranks.
        let mut first = 0u32;
        let mut dimensions = Vec::new();
        let each = self.dimensions.iter().zip(&self.coordinates).enumerate();
        for (at, (dimension, coordinate)) in each {
            let coordinate = if is_kept(at) {
                dimensions.push(*dimension);
                0
            } else {
                *coordinate
            };
            // At most the number of this rank.
            first = first
                .saturating_mul(dimension.size)
                .saturating_add(coordinate);
        }
        match self.rank.split(Some(first), self.rank.rank())? {
            Some(rank) => Ok(Self::arranged(rank, dimensions)),
            None => unreachable!("each rank is in the communicator of its color"),
        }
    }

    /// Returns the dimensions of the grid.
    #[must_use]
    pub fn dimensions(&self) -> &[Dimension] {
        &self.dimensions
    }

    /// Returns the coordinates of this rank, one for each dimension.
    #[must_use]
    pub fn coordinates(&self) -> &[u32] {
        &self.coordinates
    }

    /// Returns the rank at a point, or `None` if the point is outside of the grid. Coordinates of
    /// periodic dimensions are taken modulo their size.
    #[must_use]
    pub fn rank_at(&self, point: &[i64]) -> Option<u32> {
        if point.len() != self.dimensions.len() {
            return None;
        }
        let mut rank = 0i64;
        for (coordinate, dimension) in point.iter().zip(&self.dimensions) {
            let size = i64::from(dimension.size);
            let inside = if dimension.is_periodic {
                coordinate.checked_rem_euclid(size)?
            } else {
                Some(*coordinate).filter(|coordinate| (0..size).contains(coordinate))?
            };
            rank = rank.checked_mul(size)?.checked_add(inside)?;
        }
        u32::try_from(rank).ok()
    }

    /// Returns the rank at a distance in one dimension, or `None` outside of the grid.
    ///
    /// # Panics
    ///
    /// Panics if the grid does not have that dimension.
    #[must_use]
    pub fn neighbour(&self, dimension: usize, distance: i64) -> Option<u32> {
        let count = self.dimensions.len();
        let mut point: Vec<_> = self.coordinates.iter().copied().map(i64::from).collect();
        let Some(coordinate) = point.get_mut(dimension) else {
            panic!("the grid has {count} dimensions, and no dimension {dimension}")
        };
        *coordinate = coordinate.saturating_add(distance);
        self.rank_at(&point)
    }

    /// Returns whom this rank receives from and sends to, if all ranks send over this distance in
    /// one dimension. Outside of the grid, these are [`Source::Null`] and [`Destination::Null`].
    ///
    /// # Panics
    ///
    /// Panics if the grid does not have that dimension.
    #[must_use]
    pub fn shift(&self, dimension: usize, distance: i64) -> (Source, Destination) {
        let from = self.neighbour(dimension, distance.saturating_neg());
        let to = self.neighbour(dimension, distance);
        (
            from.map_or(Source::Null, Source::Rank),
            to.map_or(Destination::Null, Destination::Rank),
        )
    }

    /// Returns the ranks at distance 1 in each dimension, below and above. `None` outside of the
    /// grid.
    pub fn neighbours(&self) -> impl Iterator<Item = [Option<u32>; 2]> + '_ {
        let dimensions = 0..self.dimensions.len();
        dimensions.map(|dimension| [-1, 1].map(|distance| self.neighbour(dimension, distance)))
    }
}

impl Deref for Cartesian {
    type Target = Rank;

    fn deref(&self) -> &Rank {
        &self.rank
    }
}

impl fmt::Debug for Cartesian {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cartesian")
            .field("rank", &self.rank())
            .field("coordinates", &self.coordinates)
            .field("dimensions", &self.dimensions)
            .finish()
    }
}
