//! Parts of an inbox that change rarely: revoked communicators, failed operations, and connections
//! that receives wait for. Threads check without the lock whether there are any, by flags that are
//! part of the summary of the inbox.

use std::ops::Deref;

use super::failures::Failures;
use super::revocations::Revocations;
use super::wanted_lines::WantedLines;

/// The parts. They change only together with the summary that has their flags.
pub(super) struct RareState(RareParts);

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
        Self(RareParts {
            revocations: Revocations::default(),
            failures: Failures::default(),
            wanted: WantedLines::new(size),
        })
    }

    /// Changes the parts, and the flags in the lower half of `summary`.
    pub(super) fn change<R>(
        &mut self,
        summary: &mut u64,
        change: impl FnOnce(&mut RareParts) -> R,
    ) -> R {
        let result = change(&mut self.0);
        *summary = *summary >> 32 << 32 | RareFlags::of(&self.0).0;
        result
    }
}

impl Deref for RareState {
    type Target = RareParts;

    #[inline]
    fn deref(&self) -> &RareParts {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::communicators::Communicators;

    #[test]
    fn the_flags_follow_the_parts() {
        let (mut rare, mut summary) = (RareState::new(4), 5 << 32);
        let mut change = |change: fn(&mut RareParts)| {
            rare.change(&mut summary, change);
            assert_eq!(summary >> 32, 5);
            let flags = RareFlags::from_word(summary);
            [
                flags.has_revocations(),
                flags.has_open_revocations(),
                flags.has_wanted(),
            ]
        };
        assert_eq!(change(|_| {}), [false, false, false]);
        let revoke = |parts: &mut RareParts| {
            assert!(parts.revocations.add(7, 1, &Communicators::default()));
        };
        assert_eq!(change(revoke), [true, true, false]);
        let end = |parts: &mut RareParts| assert_eq!(parts.revocations.take_open(), [7]);
        assert_eq!(change(end), [true, false, false]);
        assert_eq!(change(|parts| parts.wanted.expect(2)), [true, false, false]);
        assert_eq!(change(|parts| parts.wanted.want(2)), [true, false, true]);
        let pop = |parts: &mut RareParts| assert_eq!(parts.wanted.pop(), Some(2));
        assert_eq!(change(pop), [true, false, false]);
    }
}
