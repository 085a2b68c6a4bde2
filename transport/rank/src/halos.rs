//! Exchange of the borders of an array that is distributed over a grid of ranks.

use std::fmt;
use std::ops::Range;

use super::cartesian::Cartesian;
use super::element::Element;
use super::error::Error;
use super::exchange::{Exchange, Operation, PostedExchange};
use super::layout::Layout;
use super::layout::error::LayoutError;

/// The halo exchange of an array that is distributed over the ranks of a grid: each rank has a part
/// of it, surrounded by borders with copies of the elements of its neighbours. See
/// [`Cartesian::halos`].
pub struct Halos<'g, E: Element> {
    grid: &'g Cartesian,
    exchange: Exchange<E>,
}

/// The ranks with which borders are exchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Neighbours {
    /// Ranks at distance 1 in one dimension, for stencils without diagonals: two for each
    /// dimension.
    Faces,
    /// Ranks at distance 1 in any number of dimensions, so that the corners of the borders are
    /// filled, too: 8 in two dimensions and 26 in three.
    All,
}

impl Cartesian {
    /// Prepares the exchange of borders of `width` elements. `shape` is the length of the array of
    /// this rank in each dimension, which includes the borders on both sides. The last dimension
    /// varies fastest, as it does for the ranks of the grid.
    ///
    /// An exchange sends the outermost elements of this rank's own part to its neighbours, and
    /// receives theirs into the borders. At the end of a dimension that is not periodic, the border
    /// is unchanged. Each exchange is a collective operation: all ranks of the grid begin it, in
    /// the same order as other collective operations.
    ///
    /// ```
    /// use jstream_transport::rank::{self, Cartesian, Dimension, Neighbours};
    ///
    /// # fn main() -> Result<(), rank::Error> {
    /// let ranks = rank::threads(3, &rank::Options::default());
    /// std::thread::scope(|scope| {
    ///     for rank in &ranks {
    ///         scope.spawn(move || -> Result<(), rank::Error> {
    ///             let grid = Cartesian::new(rank, &[Dimension::periodic(3)])?.unwrap();
    ///             let halos = grid.halos(&[6], 1, Neighbours::Faces)?;
    ///             let first = 10 * rank.rank();
    ///             let mut part = [0, first, first + 1, first + 2, first + 3, 0];
    ///             halos.exchange(&mut part)?;
    ///             assert_eq!(part[0], (first + 20) % 30 + 3);
    ///             assert_eq!(part[5], (first + 10) % 30);
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
    /// [`Error::Layout`] with [`LayoutError::TooNarrow`] if a dimension is shorter than three times
    /// the width, and with [`LayoutError::TooLarge`] for an array beyond the limits of memory, and
    /// for all neighbours in more than 10 dimensions.
    ///
    /// # Panics
    ///
    /// Panics if `shape` has not as many dimensions as the grid.
    pub fn halos<E: Element>(
        &self,
        shape: &[usize],
        width: usize,
        neighbours: Neighbours,
    ) -> Result<Halos<'_, E>, Error> {
        let (own, given) = (self.dimensions().len(), shape.len());
        assert!(
            own == given,
            "the array has {given} dimensions, but the grid has {own}"
        );
        for (dimension, length) in shape.iter().copied().enumerate() {
            let needed = width.checked_mul(3).ok_or(LayoutError::TooLarge)?;
            if length < needed {
                return Err(Error::Layout(LayoutError::TooNarrow {
                    dimension,
                    length,
                    width,
                    needed,
                }));
            }
        }
        let directions = directions(own, neighbours).ok_or(LayoutError::TooLarge)?;
        // A message has the number of the direction in which it is sent as its tag, because the
        // same rank may be the neighbour in several directions.
        let tag_of = |direction: &[Step]| {
            let mut numbered = (0u64..).zip(&directions);
            let found = numbered.find(|(_, other)| *other == direction);
            found.map_or(0, |(tag, _)| tag)
        };
        let mut exchange = Exchange::new();
        for direction in &directions {
            let coordinates = self.coordinates().iter().zip(direction);
            let point: Vec<_> = coordinates
                .map(|(coordinate, step)| i64::from(*coordinate).saturating_add(step.distance()))
                .collect();
            let Some(rank) = self.rank_at(&point) else {
                continue;
            };
            let part = |range: fn(Step, usize, usize) -> Range<usize>| {
                let dimensions = shape.iter().zip(direction);
                Layout::subarray(
                    dimensions.map(|(length, step)| (*length, range(*step, *length, width))),
                )
            };
            let opposite: Vec<_> = direction.iter().map(|step| step.opposite()).collect();
            exchange = exchange
                .send(rank, tag_of(direction), &part(Step::own)?)?
                .receive(rank, tag_of(&opposite), &part(Step::border)?)?;
        }
        Ok(Halos {
            grid: self,
            exchange,
        })
    }

    /// Exchanges the borders of `elements` with the neighbours at distance 1 in each dimension.
    /// This is [`halos`](Self::halos) for a single exchange.
    ///
    /// # Errors
    ///
    /// As for [`halos`](Self::halos) and [`Halos::exchange`].
    ///
    /// # Panics
    ///
    /// Panics if `shape` has not as many dimensions as the grid.
    pub fn exchange_halos<E: Element>(
        &self,
        elements: &mut [E],
        shape: &[usize],
        width: usize,
    ) -> Result<(), Error> {
        self.halos(shape, width, Neighbours::Faces)?
            .exchange(elements)
    }
}

impl<E: Element> Halos<'_, E> {
    /// Exchanges the borders of `elements`, the array of this rank. Blocks until those of all
    /// neighbours have arrived.
    ///
    /// # Errors
    ///
    /// As for [`Layouts::exchange`](super::Layouts::exchange). [`Error::TooShort`] and
    /// [`Error::Truncated`] if a neighbour has an array or a width that does not fit.
    pub fn exchange(&self, elements: &mut [E]) -> Result<(), Error> {
        self.begin(elements)?.wait(elements)
    }

    /// Sends the outermost elements of this rank's part, and posts the receives. The elements can
    /// be read and changed until the program [waits](PostedExchange::wait), which fills the
    /// borders: so the inner elements can be computed meanwhile.
    ///
    /// # Errors
    ///
    /// [`Error::Layout`] if `elements` is shorter than the array.
    pub fn begin(&self, elements: &[E]) -> Result<PostedExchange<'_, E>, Error> {
        let operation = Operation::next(self.grid);
        self.exchange.post(self.grid, Some(operation), elements)
    }
}

impl<E: Element> fmt::Debug for Halos<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Halos")
            .field("grid", self.grid)
            .field("exchange", &self.exchange)
            .finish()
    }
}

/// The position of a neighbour in one dimension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Down,
    Same,
    Up,
}

impl Step {
    const ALL: [Self; 3] = [Self::Down, Self::Same, Self::Up];

    fn distance(self) -> i64 {
        match self {
            Self::Down => -1,
            Self::Same => 0,
            Self::Up => 1,
        }
    }

    fn opposite(self) -> Self {
        match self {
            Self::Down => Self::Up,
            Self::Same => Self::Same,
            Self::Up => Self::Down,
        }
    }

    /// Returns the elements that are sent to the neighbour.
    fn own(self, length: usize, width: usize) -> Range<usize> {
        let behind = length.saturating_sub(width);
        match self {
            Self::Down => width..width.saturating_mul(2),
            Self::Same => width..behind,
            Self::Up => behind.saturating_sub(width)..behind,
        }
    }

    /// Returns the elements that are received from the neighbour.
    fn border(self, length: usize, width: usize) -> Range<usize> {
        let behind = length.saturating_sub(width);
        match self {
            Self::Down => 0..width,
            Self::Same => width..behind,
            Self::Up => behind..length,
        }
    }
}

/// Returns the directions of the neighbours in this number of dimensions, or `None` if there are
/// more than an exchange has tags.
fn directions(dimensions: usize, neighbours: Neighbours) -> Option<Vec<Vec<Step>>> {
    let count = match neighbours {
        Neighbours::Faces => dimensions.checked_mul(2)?,
        Neighbours::All => 3usize.checked_pow(u32::try_from(dimensions).ok()?)?,
    };
    if count as u64 > Operation::MAX_TAG {
        return None;
    }
    let center = vec![Step::Same; dimensions];
    Some(match neighbours {
        Neighbours::Faces => {
            let both = |dimension: usize| {
                [Step::Down, Step::Up].map(|step| {
                    let mut direction = center.clone();
                    if let Some(place) = direction.get_mut(dimension) {
                        *place = step;
                    }
                    direction
                })
            };
            (0..dimensions).flat_map(both).collect()
        }
        Neighbours::All => {
            let longer = |all: Vec<Vec<Step>>, _| {
                let each = all.into_iter();
                each.flat_map(|one| Step::ALL.map(|step| [&one[..], &[step]].concat()))
                    .collect()
            };
            let mut all: Vec<Vec<Step>> = (0..dimensions).fold(vec![Vec::new()], longer);
            all.retain(|direction| *direction != center);
            all
        }
    })
}
