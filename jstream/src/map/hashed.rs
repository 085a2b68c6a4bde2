//! Maps and sets with lookup by hash.

use std::borrow::Borrow;
use std::fmt;
use std::hash::Hash;
use std::mem::offset_of;
use std::slice;

use super::common::{hashed_map, hashed_set, map, set};
use super::{Iter, table};
use crate::Transportable;

/// The in-place form of a `HashSet`: its elements ordered by hash.
#[derive(Transportable)]
#[transportable(crate = unsafe(crate))]
#[repr(C)]
pub struct HashedSet<'b, K> {
    elements: &'b [K],
    /// The start of each bucket of the table, followed by the end of the last bucket.
    starts: &'b [u32],
}

/// The in-place form of a `HashMap`: its keys ordered by hash, and their values.
#[derive(Transportable)]
#[transportable(crate = unsafe(crate))]
#[repr(C)]
pub struct HashedMap<'b, K, V> {
    keys: HashedSet<'b, K>,
    values: &'b [V],
}

set!(HashedSet);
hashed_set!(HashedSet);
map!(HashedMap, HashedSet);
hashed_map!(HashedMap);

impl<'b, K> HashedSet<'b, K> {
    /// Returns the slots of the elements and of the starts of buckets.
    #[inline(always)]
    pub(crate) const fn slots(slot: *mut Self) -> (*mut &'b [K], *mut &'b [u32]) {
        let elements = slot.wrapping_byte_add(offset_of!(Self, elements));
        let starts = slot.wrapping_byte_add(offset_of!(Self, starts));
        (elements.cast(), starts.cast())
    }

    /// Returns true if the cost of a lookup is bounded.
    #[expect(
        clippy::unused_self,
        reason = "other sets ask how many elements there are"
    )]
    const fn is_searchable(&self) -> bool {
        true
    }

    fn position<Q>(&self, key: &Q) -> Option<usize>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        table::find_in_order(self.starts, self.elements, key)
    }
}

impl<K> Default for HashedSet<'_, K> {
    fn default() -> Self {
        Self {
            elements: &[],
            starts: &[],
        }
    }
}
