//! Sizes of data sets.

/// Size of the data set of an application.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Size {
    /// A small data set that takes at most about a tenth of a second sequentially.
    Quick,
    /// The data set of the paper.
    Full,
    /// The data set of the paper with more iterations, so that the sequential version takes some
    /// two seconds. The start of the nodes then counts for little in a speed-up.
    Long,
}

impl Size {
    /// All sizes.
    pub(crate) const ALL: [Self; 3] = [Self::Quick, Self::Full, Self::Long];

    /// Returns the name on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Quick => "quick",
            Self::Full => "full",
            Self::Long => "long",
        }
    }

    /// Returns `quick` or `full`.
    pub(in crate::apps) fn pick<T>(self, quick: T, full: T) -> T {
        match self {
            Self::Quick => quick,
            Self::Full | Self::Long => full,
        }
    }

    /// Returns a number of iterations: `quick`, `full`, or `times` as many as `full`.
    pub(in crate::apps) fn iterations(self, quick: usize, full: usize, times: usize) -> usize {
        match self {
            Self::Quick => quick,
            Self::Full => full,
            Self::Long => full * times,
        }
    }
}
