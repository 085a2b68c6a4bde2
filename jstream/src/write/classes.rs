//! The classes of the trait objects in a message, for those who store their structures with it.

use std::collections::BTreeMap;

use crate::class::Class;

/// The classes that were met, by number.
#[derive(Debug, Default)]
pub(super) struct Classes {
    /// The one met last: lists mostly have one class over and over.
    last: u64,
    met: BTreeMap<u64, &'static Class>,
}

impl Classes {
    /// Notes that a class was met; 0 is none.
    #[inline]
    pub(super) fn note(&mut self, number: u64, class: impl FnOnce() -> Option<&'static Class>) {
        if number == self.last {
            return;
        }
        self.last = number;
        if self.met.contains_key(&number) {
            return;
        }
        if let Some(class) = class() {
            self.met.insert(number, class);
        }
    }

    /// Gives those that were met, and forgets them.
    #[cfg_attr(not(unix), allow(dead_code, reason = "files ask for it"))]
    pub(super) fn take(&mut self) -> BTreeMap<u64, &'static Class> {
        self.last = 0;
        std::mem::take(&mut self.met)
    }
}
