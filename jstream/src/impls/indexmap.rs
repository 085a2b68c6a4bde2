//! Maps and sets that keep the insertion order.

use std::hash::{BuildHasher, Hash};

use indexmap::{IndexMap, IndexSet};

use super::map::{table, write_column, write_numbers};
use super::restore::{pair, restore};
use crate::map::{IndexedMap, IndexedSet, starts_of};
use crate::model::{Covariant, Transportable};
use crate::restore::Restore;
use crate::write::Draft;

/// Writes keys in their order, with a hash table for lookups.
///
/// # Safety
///
/// As for [`Transportable::write`].
unsafe fn write_indexed<'b, K: Transportable + Hash>(
    keys: impl ExactSizeIterator<Item = &'b K> + Clone,
    slot: *mut IndexedSet<'b, K::InPlace<'b>>,
    draft: &mut Draft<'b>,
) {
    // There is no table if there are few keys, or if the index of a key may exceed a `u32`.
    let (table, starts): (&[u32], &[u32]) = if starts_of(keys.len()) == 0 {
        (&[], &[])
    } else {
        let indexed = |(at, key)| (key, u32::try_from(at).unwrap_or(u32::MAX));
        // SAFETY: only the draft uses the slices.
        let (entries, starts) = unsafe { table(keys.clone().enumerate().map(indexed), draft) };
        // SAFETY: as above.
        let table = unsafe { draft.keep_slice(entries.iter().map(|entry| entry.with)) };
        (table, starts)
    };
    let (elements_slot, [table_slot, starts_slot]) = IndexedSet::slots(slot);
    // SAFETY: the slot is the first part of the caller's slot.
    unsafe { write_column(keys, elements_slot, draft) };
    // SAFETY: the slot is the next part of it.
    unsafe { write_numbers(table, table_slot, draft) };
    // SAFETY: as above.
    unsafe { write_numbers(starts, starts_slot, draft) };
}

// SAFETY: the parts of the form are written in their order, with the elements of the set.
unsafe impl<K: Transportable + Hash, S> Transportable for IndexSet<K, S> {
    type InPlace<'b>
        = IndexedSet<'b, K::InPlace<'b>>
    where
        Self: 'b;
    const WIRE_IS_MEMORY: bool = false;

    unsafe fn write<'b>(&'b self, slot: *mut Self::InPlace<'b>, draft: &mut Draft<'b>) {
        // SAFETY: the caller's promise is passed on.
        unsafe { write_indexed(self.iter(), slot, draft) };
    }
}

// SAFETY: as above, with the values next to their keys.
unsafe impl<K: Transportable + Hash, V: Transportable, S> Transportable for IndexMap<K, V, S> {
    type InPlace<'b>
        = IndexedMap<'b, K::InPlace<'b>, V::InPlace<'b>>
    where
        Self: 'b;
    const WIRE_IS_MEMORY: bool = false;

    unsafe fn write<'b>(&'b self, slot: *mut Self::InPlace<'b>, draft: &mut Draft<'b>) {
        let (keys_slot, values_slot) = IndexedMap::slots(slot);
        // SAFETY: the caller's promise is passed on for the first part of the slot.
        unsafe { write_indexed(self.keys(), keys_slot, draft) };
        // SAFETY: as above, for the next part.
        unsafe { write_column(self.values(), values_slot, draft) };
    }
}

// SAFETY: the form is covariant, as its own impl proves, and so are the forms of its parts.
unsafe impl<K: Covariant + Hash, S> Covariant for IndexSet<K, S> {}
// SAFETY: as above.
unsafe impl<K: Covariant + Hash, V: Covariant, S> Covariant for IndexMap<K, V, S> {}

restore! {
    [K: Restore + Hash + Eq, S: BuildHasher + Default] IndexSet<K, S>,
    |form: IndexedSet<'b, K::InPlace<'b>>, restoring| {
        restoring.deeper(|restoring| form.iter().map(|key| K::restore(key, restoring)).collect())
    };
    [K: Restore + Hash + Eq, V: Restore, S: BuildHasher + Default] IndexMap<K, V, S>,
    |form: IndexedMap<'b, K::InPlace<'b>, V::InPlace<'b>>, restoring| {
        restoring.deeper(|restoring| {
            form.iter().map(|(key, value)| pair(key, value, restoring)).collect()
        })
    };
}
