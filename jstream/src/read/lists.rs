//! The lists of a pass that most messages leave empty.
//!
//! Decision 049 has the reasons.

use super::checks::Checks;
use super::limits::{KEEP, Limits};
use super::owners::Owners;
use super::shared::SharedTable;
use crate::class::Noted;
use crate::keep::clear;

/// The lists of a reader that only some messages need: those with shared objects, cells, trait
/// objects, or values that are verified.
#[derive(Debug, Default)]
pub(crate) struct Lists {
    pub(super) owners: Owners,
    pub(super) shared: SharedTable,
    pub(super) checks: Checks,
    /// The classes of all trait objects, in the order of their pointers.
    pub(crate) classes: Vec<Noted>,
}

impl Lists {
    /// Empties all lists, and sets their maximum lengths.
    pub(super) fn reset(&mut self, limits: &Limits) {
        self.owners.reset();
        self.shared.reset(limits.shared);
        self.checks.reset(limits.pending);
        clear(&mut self.classes, KEEP);
    }
}

/// Access of a pass to the lists. It records whether the pass has changed them, so that the next
/// pass need not touch lists that are still empty. They are rarely in the cache.
#[derive(Debug)]
pub(crate) struct PassLists<'r> {
    lists: &'r mut Lists,
    changed: bool,
}

impl<'r> PassLists<'r> {
    #[inline(always)]
    pub(super) fn new(lists: &'r mut Lists) -> Self {
        Self {
            lists,
            changed: false,
        }
    }

    /// Returns true if the lists may have been changed. Otherwise they are as the pass found them.
    #[inline(always)]
    pub(super) fn have_changed(&self) -> bool {
        self.changed
    }

    #[inline(always)]
    pub(crate) fn get(&self) -> &Lists {
        self.lists
    }

    #[inline(always)]
    pub(crate) fn get_mut(&mut self) -> &mut Lists {
        self.changed = true;
        self.lists
    }
}
