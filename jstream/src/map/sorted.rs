//! Maps and sets that are sorted by key.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::mem::{offset_of, size_of};
use std::ops::{Bound, Range, RangeBounds};
use std::slice;

use super::Iter;
use super::common::{map, set};
use crate::Transportable;

/// The in-place form of a `BTreeSet`: its elements in ascending order.
#[derive(Transportable)]
#[transportable(crate = unsafe(crate))]
#[repr(C)]
pub struct SortedSet<'b, K> {
    elements: &'b [K],
}

/// The in-place form of a `BTreeMap`: its keys in ascending order, and their values.
#[derive(Transportable)]
#[transportable(crate = unsafe(crate))]
#[repr(C)]
pub struct SortedMap<'b, K, V> {
    keys: SortedSet<'b, K>,
    values: &'b [V],
}

set!(SortedSet);
map!(SortedMap, SortedSet);

impl<'b, K> SortedSet<'b, K> {
    pub(crate) const fn new(elements: &'b [K]) -> Self {
        Self { elements }
    }

    fn position<Q>(&self, key: &Q) -> Option<usize>
    where
        K: Borrow<Q>,
        Q: Ord + ?Sized,
    {
        // Small keys are compared without a branch. For larger keys a predicted branch is better,
        // because the text of the next key can then be fetched during the comparison.
        if size_of::<K>() <= size_of::<u64>() {
            let compare = |element: &K| element.borrow().cmp(key);
            return self.elements.binary_search_by(compare).ok();
        }
        let (mut start, mut end) = (0, self.len());
        while start < end {
            let middle = usize::midpoint(start, end);
            match self.elements.get(middle)?.borrow().cmp(key) {
                Ordering::Less => start = middle.wrapping_add(1),
                Ordering::Equal => return Some(middle),
                Ordering::Greater => end = middle,
            }
        }
        None
    }

    /// Returns the slot of the elements.
    #[inline(always)]
    pub(crate) const fn slot(slot: *mut Self) -> *mut &'b [K] {
        slot.wrapping_byte_add(offset_of!(Self, elements)).cast()
    }

    /// Returns the indexes of the elements in a range. If the range ends before it starts, the
    /// result is empty.
    fn places<Q>(&self, range: &impl RangeBounds<Q>) -> Range<usize>
    where
        K: Borrow<Q>,
        Q: Ord + ?Sized,
    {
        let before = |bound: &Q| self.elements.partition_point(|of| of.borrow() < bound);
        let up_to = |bound: &Q| self.elements.partition_point(|of| of.borrow() <= bound);
        let start = match range.start_bound() {
            Bound::Included(bound) => before(bound),
            Bound::Excluded(bound) => up_to(bound),
            Bound::Unbounded => 0,
        };
        let end = match range.end_bound() {
            Bound::Included(bound) => up_to(bound),
            Bound::Excluded(bound) => before(bound),
            Bound::Unbounded => self.len(),
        };
        start..end.max(start)
    }

    /// Returns the element equal to `key`.
    pub fn get<Q>(&self, key: &Q) -> Option<&'b K>
    where
        K: Borrow<Q>,
        Q: Ord + ?Sized,
    {
        self.elements.get(self.position(key)?)
    }

    /// Returns true if there is an element equal to `key`.
    pub fn contains<Q>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
        Q: Ord + ?Sized,
    {
        self.position(key).is_some()
    }

    /// Returns an iterator over the elements in a range, in order. A range that ends before it
    /// starts is empty.
    pub fn range<Q, R>(&self, range: R) -> slice::Iter<'b, K>
    where
        K: Borrow<Q>,
        Q: Ord + ?Sized,
        R: RangeBounds<Q>,
    {
        let elements = self.elements.get(self.places(&range));
        elements.unwrap_or_default().iter()
    }

    /// Returns the least element.
    #[must_use]
    pub const fn first(&self) -> Option<&'b K> {
        self.elements.first()
    }

    /// Returns the greatest element.
    #[must_use]
    pub const fn last(&self) -> Option<&'b K> {
        self.elements.last()
    }
}

impl<'b, K, V> SortedMap<'b, K, V> {
    /// Returns the value of `key`.
    pub fn get<Q>(&self, key: &Q) -> Option<&'b V>
    where
        K: Borrow<Q>,
        Q: Ord + ?Sized,
    {
        self.values.get(self.keys.position(key)?)
    }

    /// Returns the key equal to `key`, and its value.
    pub fn get_key_value<Q>(&self, key: &Q) -> Option<(&'b K, &'b V)>
    where
        K: Borrow<Q>,
        Q: Ord + ?Sized,
    {
        self.entry(self.keys.position(key)?)
    }

    /// Returns true if there is a key equal to `key`.
    pub fn contains_key<Q>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
        Q: Ord + ?Sized,
    {
        self.get(key).is_some()
    }

    /// Returns an iterator over the entries whose keys are in a range, in order. A range that ends
    /// before it starts is empty.
    pub fn range<Q, R>(&self, range: R) -> Iter<'b, K, V>
    where
        K: Borrow<Q>,
        Q: Ord + ?Sized,
        R: RangeBounds<Q>,
    {
        let (keys, values) = self.columns();
        let Range { start, end } = SortedSet::new(keys).places(&range);
        Iter::new((
            keys.get(start..end).unwrap_or_default(),
            values.get(start..end).unwrap_or_default(),
        ))
    }

    /// Returns the least key and its value.
    #[must_use]
    pub fn first_key_value(&self) -> Option<(&'b K, &'b V)> {
        self.entry(0)
    }

    /// Returns the greatest key and its value.
    #[must_use]
    pub fn last_key_value(&self) -> Option<(&'b K, &'b V)> {
        self.entry(self.len().checked_sub(1)?)
    }
}

impl<K> Default for SortedSet<'_, K> {
    fn default() -> Self {
        Self::new(&[])
    }
}

impl<K: PartialEq> PartialEq for SortedSet<'_, K> {
    fn eq(&self, other: &Self) -> bool {
        self.elements == other.elements
    }
}

impl<K: Eq> Eq for SortedSet<'_, K> {}

impl<K: PartialOrd> PartialOrd for SortedSet<'_, K> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.elements.partial_cmp(other.elements)
    }
}

impl<K: Ord> Ord for SortedSet<'_, K> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.elements.cmp(other.elements)
    }
}

/// Produces the same hash as a `BTreeSet`.
impl<K: Hash> Hash for SortedSet<'_, K> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_usize(self.len());
        self.iter().for_each(|element| element.hash(state));
    }
}

impl<K: PartialEq, V: PartialEq> PartialEq for SortedMap<'_, K, V> {
    fn eq(&self, other: &Self) -> bool {
        self.columns() == other.columns()
    }
}

impl<K: Eq, V: Eq> Eq for SortedMap<'_, K, V> {}

impl<K: PartialOrd, V: PartialOrd> PartialOrd for SortedMap<'_, K, V> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.iter().partial_cmp(other.iter())
    }
}

impl<K: Ord, V: Ord> Ord for SortedMap<'_, K, V> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.iter().cmp(other.iter())
    }
}

/// Produces the same hash as a `BTreeMap`.
impl<K: Hash, V: Hash> Hash for SortedMap<'_, K, V> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_usize(self.len());
        self.iter().for_each(|entry| entry.hash(state));
    }
}
