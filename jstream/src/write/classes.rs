//! The classes of the trait objects in a message, for code that stores their structures with the
//! message.

use std::collections::BTreeMap;

use crate::class::Class;

/// The classes that were recorded, by number.
#[derive(Debug, Default)]
pub(super) struct Classes {
    /// The class recorded last. Most lists have the same class in every element.
    last: u64,
    met: BTreeMap<u64, &'static Class>,
}

impl Classes {
    /// Records a class. The number 0 stands for no class.
    #[inline]
    pub(super) fn record(&mut self, number: u64, class: impl FnOnce() -> Option<&'static Class>) {
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

    /// Removes and returns the recorded classes.
    pub(super) fn drain(&mut self) -> BTreeMap<u64, &'static Class> {
        self.last = 0;
        std::mem::take(&mut self.met)
    }
}
