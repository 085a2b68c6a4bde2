//! The record of the mapped memory: all state under the pool's lock, which `grow` takes to grow and
//! to shrink the pool.
//!
//! A slot is *carved* out of its slab when it is first taken. Until then it is on no list and its
//! memory is not committed. A slot is carved only if no slot is free except those in the caches of
//! threads. The number of slots that are carved and not cached is therefore the number of slots
//! that were in use at once.
//!
//! Invariant: a carved slot is on a stack, in the cache of a thread, in use, or held by the thread
//! that has locked the book. The region of a slab is unmapped only by a thread that holds all
//! carved slots of the slab, which thereby are no longer carved.

use std::sync::Arc;

use super::sizes::CLASSES;
use crate::buffer::Region;

pub(super) struct Book {
    /// Indexed by the number of the slab in the table.
    pub(super) slabs: Vec<SlabEntry>,
    pub(super) mapped: usize,
    /// Number of bytes mapped after the last trim.
    trimmed: usize,
    classes: [Class; CLASSES],
}

/// The record of a slab.
pub(super) struct SlabEntry {
    pub(super) class: usize,
    /// `None` while no memory is mapped for the slab.
    pub(super) region: Option<Arc<Region>>,
    /// Number of carved slots, which are the first slots of the slab.
    pub(super) carved: usize,
    /// Number of carved slots that are free. Only used while the pool shrinks.
    pub(super) free: usize,
}

#[derive(Default)]
pub(super) struct Class {
    /// The slab that has slots left to carve.
    pub(super) open: Option<usize>,
    pub(super) carved: usize,
    high_water: usize,
    pub(super) mapped: usize,
}

impl Default for Book {
    fn default() -> Self {
        Self {
            slabs: Vec::new(),
            mapped: 0,
            trimmed: 0,
            classes: std::array::from_fn(|_| Class::default()),
        }
    }
}

impl Book {
    pub(super) fn mapped(&self) -> usize {
        self.mapped
    }

    /// Returns the number of bytes mapped after the last trim.
    pub(super) fn trimmed(&self) -> usize {
        self.trimmed
    }

    /// Records the number of bytes mapped now as that after a trim.
    pub(super) fn note_trimmed(&mut self) {
        self.trimmed = self.mapped;
    }

    pub(super) fn carved(&self, class: usize) -> usize {
        self.classes.get(class).map_or(0, |class| class.carved)
    }

    /// Returns the maximum number of slots of a class that were in use at once, and the number of
    /// bytes mapped for the class.
    pub(super) fn peak(&self, class: usize) -> (usize, usize) {
        self.classes
            .get(class)
            .map_or((0, 0), |class| (class.high_water, class.mapped))
    }

    /// Returns the mapped regions with their numbers.
    pub(super) fn regions(&self) -> impl Iterator<Item = (usize, &Arc<Region>)> {
        self.slabs
            .iter()
            .enumerate()
            .filter_map(|(number, entry)| Some((number, entry.region.as_ref()?)))
    }

    pub(super) fn region(&self, number: usize) -> Option<&Arc<Region>> {
        self.slabs.get(number)?.region.as_ref()
    }

    pub(super) fn class(&mut self, class: usize) -> &mut Class {
        match self.classes.get_mut(class) {
            Some(class) => class,
            None => unreachable!("classes are below CLASSES"),
        }
    }

    pub(super) fn entry(&mut self, number: usize) -> &mut SlabEntry {
        match self.slabs.get_mut(number) {
            Some(entry) => entry,
            None => unreachable!("a slab in the table"),
        }
    }

    /// Carves a slot out of the open slab of a class, if there is one. `slots` is the number of
    /// slots of a slab, and `kept` the number of slots in the caches of threads.
    pub(super) fn carve(
        &mut self,
        class: usize,
        slots: usize,
        bits: u32,
        kept: usize,
    ) -> Option<u32> {
        let number = self.class(class).open?;
        let entry = self.entry(number);
        let slot = number.wrapping_shl(bits) | entry.carved;
        entry.carved = entry.carved.saturating_add(1);
        let full = entry.carved >= slots;
        let class = self.class(class);
        if full {
            class.open = None;
        }
        class.carved = class.carved.saturating_add(1);
        let out = class.carved.saturating_sub(kept);
        class.high_water = class.high_water.max(out);
        u32::try_from(slot).ok()
    }
}
