//! Summary of the state of an inbox, which threads read without its lock.

/// Flags of parts of the state that change rarely.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Flags(u64);

impl Flags {
    pub(super) const NONE: Self = Self(0);
    /// Any communicator was revoked.
    pub(super) const REVOCATIONS: Self = Self(1);
    /// The operations of a revoked communicator have not been ended.
    pub(super) const OPEN_REVOCATIONS: Self = Self(1 << 1);
    /// Operations have failed at other ranks.
    pub(super) const FAILURES: Self = Self(1 << 2);
    /// Receives wait for ranks without a connection.
    pub(super) const WANTED_LINES: Self = Self(1 << 3);
    /// Frames wait for a thread that may use the connections to their ranks.
    pub(super) const DEFERRED_FRAMES: Self = Self(1 << 4);

    /// Returns the flags whose conditions are true.
    pub(super) fn new(conditions: &[(Self, bool)]) -> Self {
        let set = conditions.iter().filter(|(_, is_set)| *is_set);
        set.fold(Self::NONE, |all, (flag, _)| all.and(*flag))
    }

    /// Returns the flags that either has.
    #[inline]
    pub(super) const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    #[inline]
    const fn has(self, flag: Self) -> bool {
        self.0 & flag.0 != 0
    }

    /// Returns true if any communicator was revoked.
    #[inline]
    pub(super) const fn has_revocations(self) -> bool {
        self.has(Self::REVOCATIONS)
    }

    /// Returns true if other threads have left work to a thread that drives the connections.
    #[inline]
    pub(super) const fn has_pending(self) -> bool {
        self.has(Self::OPEN_REVOCATIONS.and(Self::DEFERRED_FRAMES))
    }

    /// Returns true if operations have failed at other ranks.
    #[inline]
    pub(super) const fn has_failures(self) -> bool {
        self.has(Self::FAILURES)
    }

    /// Returns true if receives wait for ranks without a connection.
    #[inline]
    pub(super) const fn has_wanted_lines(self) -> bool {
        self.has(Self::WANTED_LINES)
    }
}

/// The counter of changes in the upper half of a word, and the flags in the lower half.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Summary(u64);

impl Summary {
    #[inline]
    pub(super) const fn new(epoch: u32, flags: Flags) -> Self {
        Self((epoch as u64) << 32 | flags.0)
    }

    #[inline]
    pub(super) const fn from_word(word: u64) -> Self {
        Self(word)
    }

    #[inline]
    pub(super) const fn word(self) -> u64 {
        self.0
    }

    #[inline]
    pub(super) const fn epoch(self) -> u32 {
        (self.0 >> 32) as u32
    }

    #[inline]
    pub(super) const fn flags(self) -> Flags {
        Flags(self.0 & u32::MAX as u64)
    }
}
