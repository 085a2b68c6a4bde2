//! Maps and sets in the order of insertion, in which keys are found by their hash.

use std::borrow::Borrow;
use std::fmt;
use std::hash::Hash;
use std::slice;

use super::common::{hashed_map, hashed_set, map, set};
use super::{Iter, table};
use crate::Transportable;

/// The in-place form of an `IndexSet`: its elements in order.
#[derive(Transportable)]
#[transportable(crate = crate)]
#[repr(C)]
pub struct IndexedSet<'b, K> {
    elements: &'b [K],
    /// The places of the elements, in the order of a table.
    table: &'b [u32],
    /// Where each bucket of the table begins, and the last one ends.
    starts: &'b [u32],
}

/// The in-place form of an `IndexMap`: its keys in order, and their values.
#[derive(Transportable)]
#[transportable(crate = crate)]
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
    #[cfg(feature = "indexmap")]
    #[inline]
    pub(crate) const fn new(elements: &'b [K], table: &'b [u32], starts: &'b [u32]) -> Self {
        Self {
            elements,
            table,
            starts,
        }
    }

    #[inline]
    fn place<Q>(&self, key: &Q) -> Option<usize>
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

    /// Returns whether the cost of a lookup has a limit. It has none without a table for many elements.
    fn is_searchable(&self) -> bool {
        !self.starts.is_empty() || u32::try_from(self.len()).is_ok()
    }

    /// Few elements have no table; nor have more than it could tell apart.
    fn place_without_table<Q>(&self, key: &Q) -> Option<usize>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        let searched = if u32::try_from(self.len()).is_ok() {
            table::FEW
        } else {
            self.len()
        };
        let mut searched = self.iter().take(searched);
        searched.position(|element| element.borrow() == key)
    }

    /// The element at a place in the order.
    #[inline]
    #[must_use]
    pub fn get_index(&self, index: usize) -> Option<&'b K> {
        self.elements.get(index)
    }

    /// The place of the element that equals `key`.
    #[inline]
    pub fn get_index_of<Q>(&self, key: &Q) -> Option<usize>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        self.place(key).filter(|place| *place < self.len())
    }

    /// The first element.
    #[inline]
    #[must_use]
    pub const fn first(&self) -> Option<&'b K> {
        self.elements.first()
    }

    /// The last element.
    #[inline]
    #[must_use]
    pub const fn last(&self) -> Option<&'b K> {
        self.elements.last()
    }
}

impl<'b, K, V> IndexedMap<'b, K, V> {
    /// The entry at a place in the order.
    #[inline]
    #[must_use]
    pub fn get_index(&self, index: usize) -> Option<(&'b K, &'b V)> {
        self.entry(index)
    }

    /// The place of the key that equals `key`.
    #[inline]
    pub fn get_index_of<Q>(&self, key: &Q) -> Option<usize>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        self.keys.place(key).filter(|place| *place < self.len())
    }

    /// The first entry.
    #[inline]
    #[must_use]
    pub fn first(&self) -> Option<(&'b K, &'b V)> {
        self.entry(0)
    }

    /// The last entry.
    #[inline]
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
