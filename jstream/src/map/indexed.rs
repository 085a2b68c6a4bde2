//! Maps and sets in insertion order, with lookup by hash.

use std::borrow::Borrow;
use std::fmt;
use std::hash::Hash;
#[cfg(feature = "indexmap")]
use std::mem::offset_of;
use std::slice;

use super::common::{hashed_map, hashed_set, map, set};
use super::{Iter, table};
use crate::Transportable;

/// The in-place form of an `IndexSet`: its elements in insertion order.
#[derive(Transportable)]
#[transportable(crate = unsafe(crate))]
#[repr(C)]
pub struct IndexedSet<'b, K> {
    elements: &'b [K],
    /// The indexes of the elements, in the order of a hash table.
    table: &'b [u32],
    /// The start of each bucket of the table, followed by the end of the last bucket.
    starts: &'b [u32],
}

/// The in-place form of an `IndexMap`: its keys in insertion order, and their values.
#[derive(Transportable)]
#[transportable(crate = unsafe(crate))]
#[repr(C)]
pub struct IndexedMap<'b, K, V> {
    keys: IndexedSet<'b, K>,
    values: &'b [V],
}

set!(IndexedSet);
hashed_set!(IndexedSet);
map!(IndexedMap, IndexedSet);
hashed_map!(IndexedMap);

impl<'b, K> IndexedSet<'b, K> {
    /// Returns the slots of the elements, of the table and of the starts of buckets.
    #[cfg(feature = "indexmap")]
    #[inline(always)]
    pub(crate) const fn slots(slot: *mut Self) -> (*mut &'b [K], [*mut &'b [u32]; 2]) {
        let elements = slot.wrapping_byte_add(offset_of!(Self, elements));
        let table = slot.wrapping_byte_add(offset_of!(Self, table));
        let starts = slot.wrapping_byte_add(offset_of!(Self, starts));
        (elements.cast(), [table.cast(), starts.cast()])
    }

    fn position<Q>(&self, key: &Q) -> Option<usize>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        let Self {
            elements,
            table,
            starts,
        } = *self;
        if starts.is_empty() {
            return self.place_without_table(key);
        }
        let place = |at: usize| Some(*table.get(at)? as usize);
        let element = |at: usize| elements.get(place(at)?);
        place(table::find(starts, table.len(), element, key)?)
    }

    /// Returns true if the cost of a lookup is bounded. It is unbounded for many elements without a
    /// table.
    fn is_searchable(&self) -> bool {
        !self.starts.is_empty() || u32::try_from(self.len()).is_ok()
    }

    /// Looks up a key in a set without a table. Such a set has few elements, or too many for the
    /// indexes of a table.
    fn place_without_table<Q>(&self, key: &Q) -> Option<usize>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        let searched = if u32::try_from(self.len()).is_ok() {
            table::LINEAR_SEARCH_MAX
        } else {
            self.len()
        };
        let mut searched = self.iter().take(searched);
        searched.position(|element| element.borrow() == key)
    }

    /// Returns the element at an index.
    #[must_use]
    pub fn get_index(&self, index: usize) -> Option<&'b K> {
        self.elements.get(index)
    }

    /// Returns the index of the element equal to `key`.
    pub fn get_index_of<Q>(&self, key: &Q) -> Option<usize>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        self.position(key).filter(|place| *place < self.len())
    }

    /// Returns the first element.
    #[must_use]
    pub const fn first(&self) -> Option<&'b K> {
        self.elements.first()
    }

    /// Returns the last element.
    #[must_use]
    pub const fn last(&self) -> Option<&'b K> {
        self.elements.last()
    }
}

impl<'b, K, V> IndexedMap<'b, K, V> {
    /// Returns the entry at an index.
    #[must_use]
    pub fn get_index(&self, index: usize) -> Option<(&'b K, &'b V)> {
        self.entry(index)
    }

    /// Returns the index of the key equal to `key`.
    pub fn get_index_of<Q>(&self, key: &Q) -> Option<usize>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        self.keys.position(key).filter(|place| *place < self.len())
    }

    /// Returns the first entry.
    #[must_use]
    pub fn first(&self) -> Option<(&'b K, &'b V)> {
        self.entry(0)
    }

    /// Returns the last entry.
    #[must_use]
    pub fn last(&self) -> Option<(&'b K, &'b V)> {
        self.entry(self.len().checked_sub(1)?)
    }
}

impl<K> Default for IndexedSet<'_, K> {
    fn default() -> Self {
        Self {
            elements: &[],
            table: &[],
            starts: &[],
        }
    }
}
