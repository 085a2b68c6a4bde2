//! Partitions of an array into one block per rank.

use crate::error::ScheduleError;
use crate::schedule::Span;

/// Consecutive blocks of an array, one for each rank of a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blocks {
    partition: Partition,
    size: usize,
    total: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Partition {
    /// Blocks of `len` elements, of which the first `longer` have one more.
    Even { len: usize, longer: usize },
    /// The start of each block.
    Starts(Vec<usize>),
}

impl Blocks {
    /// Returns `size` blocks of `len` elements each.
    ///
    /// # Errors
    ///
    /// [`ScheduleError::TooLong`] if there are more elements than memory can hold.
    pub fn equal(size: usize, len: usize) -> Result<Self, ScheduleError> {
        let total = bounded(len.checked_mul(size))?;
        let partition = Partition::Even { len, longer: 0 };
        Ok(Self {
            partition,
            size,
            total,
        })
    }

    /// Returns `size` blocks of `total` elements together, whose lengths differ by at most one.
    pub(crate) fn split(size: usize, total: usize) -> Self {
        let partition = Partition::Even {
            len: total.checked_div(size).unwrap_or(0),
            longer: total.checked_rem(size).unwrap_or(0),
        };
        Self {
            partition,
            size,
            total,
        }
    }

    /// Returns one block of each of these lengths.
    ///
    /// # Errors
    ///
    /// [`ScheduleError::TooLong`] if there are more elements than memory can hold.
    pub fn of(lengths: impl IntoIterator<Item = usize>) -> Result<Self, ScheduleError> {
        let (mut starts, mut total) = (Vec::new(), 0usize);
        for len in lengths {
            starts.push(total);
            total = bounded(total.checked_add(len))?;
        }
        Ok(Self {
            size: starts.len(),
            partition: Partition::Starts(starts),
            total,
        })
    }

    /// Returns the number of blocks.
    #[must_use]
    pub fn size(&self) -> usize {
        self.size
    }

    /// Returns the number of elements of all blocks.
    #[must_use]
    pub fn total(&self) -> usize {
        self.total
    }

    /// Returns the index of the first element of a block. For the number of blocks, returns the
    /// number of elements.
    #[must_use]
    pub fn start(&self, block: usize) -> usize {
        match &self.partition {
            Partition::Even { len, longer } => block * len + block.min(*longer),
            Partition::Starts(starts) => starts.get(block).copied().unwrap_or(self.total),
        }
    }

    /// Returns the number of elements of a block.
    #[must_use]
    pub fn len(&self, block: usize) -> usize {
        self.start(block + 1) - self.start(block)
    }

    /// Returns the elements of the blocks `first` to `end`, without `end`, in a span of all blocks.
    pub(crate) fn range(&self, all: Span, first: usize, end: usize) -> Span {
        let start = self.start(first);
        all.part(start, self.start(end) - start)
    }

    /// Returns the elements of one block in a span of all blocks.
    pub(crate) fn block(&self, all: Span, block: usize) -> Span {
        self.range(all, block, block + 1)
    }

    /// Returns an error if there is not one block for each of `size` ranks.
    pub(crate) fn check(&self, size: usize) -> Result<(), ScheduleError> {
        let given = self.size;
        if given == size {
            Ok(())
        } else {
            Err(ScheduleError::WrongCounts { given, size })
        }
    }
}

/// Returns the number of elements if a scratch area of several times as many can be addressed.
fn bounded(elements: Option<usize>) -> Result<usize, ScheduleError> {
    let most = usize::MAX >> 8;
    elements
        .filter(|elements| *elements <= most)
        .ok_or(ScheduleError::TooLong)
}

pub(crate) fn check_len(elements: usize) -> Result<(), ScheduleError> {
    bounded(Some(elements)).map(drop)
}
