//! Maps and sets that keep the insertion order.

use std::hash::{BuildHasher, Hash};

use indexmap::{IndexMap, IndexSet};

use super::map::{ByRef, write_arena_form};
use super::restore::{pair, restore};
use crate::map::{IndexedMap, IndexedSet, TableEntry, arrange, starts};
use crate::model::{Covariant, Transportable};
use crate::restore::Restore;
use crate::write::Draft;

/// Returns the form of keys in their order, with a hash table for lookups.
///
/// # Safety
///
/// The form must not be used after the draft.
unsafe fn indexed<'b, K: Hash>(
    keys: impl ExactSizeIterator<Item = &'b K> + Clone,
    draft: &mut Draft<'b>,
) -> IndexedSet<'b, ByRef<'b, K>> {
    // There is no table if the index of a key may exceed a `u32`.
    let mut entries: Vec<_> = if u32::try_from(keys.len()).is_ok() {
        (0u32..)
            .zip(keys.clone())
            .map(|(at, key)| TableEntry::new(key, at))
            .collect()
    } else {
        Vec::new()
    };
    arrange(&mut entries);
    // SAFETY: the caller's promise.
    let elements = unsafe { draft.keep_slice(keys.map(ByRef)) };
    let starts = starts(&entries);
    let places = if starts.len() == 0 {
        &[]
    } else {
        entries.as_slice()
    };
    // SAFETY: as above.
    let table = unsafe { draft.keep_slice(places.iter().map(|entry| entry.with)) };
    // SAFETY: as above.
    let starts = unsafe { draft.keep_slice(starts) };
    IndexedSet::new(elements, table, starts)
}

// SAFETY: the form with the same elements, by reference, is written in place of the set.
unsafe impl<K: Transportable + Hash, S> Transportable for IndexSet<K, S> {
    type InPlace<'b>
        = IndexedSet<'b, K::InPlace<'b>>
    where
        Self: 'b;
    const WIRE_IS_MEMORY: bool = false;

    unsafe fn write<'b>(&'b self, slot: *mut Self::InPlace<'b>, draft: &mut Draft<'b>) {
        // SAFETY: only the draft uses the form.
        let form = unsafe { indexed(self.iter(), draft) };
        // SAFETY: the caller's promise is passed on.
        unsafe { write_arena_form(form, slot, draft) };
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
        // SAFETY: only the draft uses the form.
        let keys = unsafe { indexed(self.keys(), draft) };
        // SAFETY: as above.
        let values = unsafe { draft.keep_slice(self.values().map(ByRef)) };
        // SAFETY: the caller's promise is passed on.
        unsafe { write_arena_form(IndexedMap::new(keys, values), slot, draft) };
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
