//! Sizes of data sets.

/// Size of the data set of an application.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Size {
    /// A small data set that takes at most about a tenth of a second sequentially.
    Quick,
    /// The data set of the paper, or one that takes seconds if that of the paper takes less.
    Full,
}

impl Size {
    /// All sizes.
    pub(crate) const ALL: [Self; 2] = [Self::Quick, Self::Full];

    /// Returns the name on the command line.
    pub(crate) fn name(self) -> &'static str {
        self.pick("quick", "full")
    }

    /// Returns `quick` or `full`.
    pub(in crate::apps) fn pick<T>(self, quick: T, full: T) -> T {
        match self {
            Self::Quick => quick,
            Self::Full => full,
        }
    }
}
