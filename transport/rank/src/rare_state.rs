//! Parts of an inbox that change rarely: revoked communicators, failed operations, and connections
//! that receives wait for. Threads check without the lock whether there are any, by flags that are
//! part of the summary of the inbox.

use std::ops::Deref;

use super::failures::Failures;
use super::revocations::Revocations;
use super::wanted_lines::WantedLines;

/// The parts, with flags that are computed anew at each change.
pub(super) struct RareState {
    parts: RareParts,
    flags: RareFlags,
}

/// The parts themselves.
pub(super) struct RareParts {
    pub(super) revocations: Revocations,
    pub(super) failures: Failures,
    pub(super) wanted: WantedLines,
}

/// Flags that say what there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RareFlags(u64);

impl RareFlags {
    const REVOCATIONS: u64 = 1;
    const OPEN_REVOCATIONS: u64 = 1 << 1;
    const FAILURES: u64 = 1 << 2;
    const WANTED: u64 = 1 << 3;

    fn of(parts: &RareParts) -> Self {
        let flags = [
            (Self::REVOCATIONS, !parts.revocations.is_empty()),
            (Self::OPEN_REVOCATIONS, parts.revocations.has_open()),
            (Self::FAILURES, !parts.failures.is_empty()),
            (Self::WANTED, !parts.wanted.is_empty()),
        ];
        let set = flags.into_iter().filter(|(_, is_set)| *is_set);
        Self(set.fold(0, |all, (flag, _)| all | flag))
    }

    /// Returns the flags as a part of a word.
    #[inline]
    pub(super) const fn to_bits(self) -> u64 {
        self.0
    }

    /// Returns the flags in the lower half of a word.
    #[inline]
    pub(super) const fn from_word(word: u64) -> Self {
        Self(word & u32::MAX as u64)
    }

    /// Returns true if any communicator was revoked.
    #[inline]
    pub(super) const fn has_revocations(self) -> bool {
        self.0 & Self::REVOCATIONS != 0
    }

    /// Returns true if the operations of a revoked communicator have not been ended.
    #[inline]
    pub(super) const fn has_open_revocations(self) -> bool {
        self.0 & Self::OPEN_REVOCATIONS != 0
    }

    /// Returns true if operations have failed at other ranks.
    #[inline]
    pub(super) const fn has_failures(self) -> bool {
        self.0 & Self::FAILURES != 0
    }

    /// Returns true if receives wait for ranks without a connection.
    #[inline]
    pub(super) const fn has_wanted(self) -> bool {
        self.0 & Self::WANTED != 0
    }
}

impl RareState {
    /// Returns the state of a world of `size` ranks in which nothing has happened.
    pub(super) fn new(size: u32) -> Self {
        let parts = RareParts {
            revocations: Revocations::default(),
            failures: Failures::default(),
            wanted: WantedLines::new(size),
        };
        Self {
            flags: RareFlags::of(&parts),
            parts,
        }
    }

    /// Changes the parts.
    pub(super) fn change<R>(&mut self, change: impl FnOnce(&mut RareParts) -> R) -> R {
        let result = change(&mut self.parts);
        self.flags = RareFlags::of(&self.parts);
        result
    }

    #[inline]
    pub(super) fn flags(&self) -> RareFlags {
        self.flags
    }
}

impl Deref for RareState {
    type Target = RareParts;

    #[inline]
    fn deref(&self) -> &RareParts {
        &self.parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::communicators::Communicators;

    #[test]
    fn the_flags_follow_the_parts() {
        let mut rare = RareState::new(4);
        let flags = |rare: &RareState| {
            let flags = rare.flags();
            [
                flags.has_revocations(),
                flags.has_open_revocations(),
                flags.has_wanted(),
            ]
        };
        assert_eq!(flags(&rare), [false, false, false]);
        rare.change(|parts| parts.revocations.add(7, 1, &Communicators::default()));
        assert_eq!(flags(&rare), [true, true, false]);
        assert_eq!(rare.change(|parts| parts.revocations.take_open()), [7]);
        assert_eq!(flags(&rare), [true, false, false]);
        rare.change(|parts| parts.wanted.expect(2));
        assert!(rare.wanted.any_is_missing());
        assert_eq!(flags(&rare), [true, false, false]);
        rare.change(|parts| parts.wanted.want(2));
        assert_eq!(flags(&rare), [true, false, true]);
        assert_eq!(rare.change(|parts| parts.wanted.pop()), Some(2));
        assert_eq!(flags(&rare), [true, false, false]);
        let word = 5 << 32 | rare.flags().to_bits();
        assert_eq!(RareFlags::from_word(word), rare.flags());
    }
}
