//! Maps and sets, which arrive as the forms of [`crate::map`].

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::hash::Hash;

use crate::map::{HashedMap, HashedSet, SortedMap, SortedSet, TableEntry, arrange, starts};
use crate::model::{Covariant, Transportable};
use crate::write::Draft;

/// A reference to a value of the program, as the element of a slice that is built for a message.
#[repr(transparent)]
pub(super) struct ByRef<'a, T>(pub(super) &'a T);

impl<T> Clone for ByRef<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for ByRef<'_, T> {}

// SAFETY: the wrapper is written as its target.
unsafe impl<T: Transportable> Transportable for ByRef<'_, T> {
    type InPlace<'b>
        = T::InPlace<'b>
    where
        Self: 'b;
    const WIRE_IS_MEMORY: bool = false;

    #[inline(always)]
    unsafe fn write<'b>(&'b self, slot: *mut Self::InPlace<'b>, draft: &mut Draft<'b>) {
        // SAFETY: the caller's promise is passed on.
        unsafe { self.0.write(slot, draft) }
    }
}

/// Writes a form that was built for a message.
///
/// # Safety
///
/// `slot` must be as for [`Transportable::write`].
pub(super) unsafe fn write_arena_form<'b, F: Transportable + Copy + 'b>(
    form: F,
    slot: *mut F::InPlace<'b>,
    draft: &mut Draft<'b>,
) {
    // SAFETY: only the draft uses the slice.
    let kept = unsafe { draft.keep_slice([form].into_iter()) };
    for form in kept {
        // SAFETY: the caller's promise is passed on.
        unsafe { form.write(slot, draft) };
    }
}

/// Returns the keys of entries in their order, as references that live as long as the draft.
pub(super) fn keys<'b, K, W>(
    entries: &[TableEntry<'b, K, W>],
) -> impl ExactSizeIterator<Item = ByRef<'b, K>> {
    entries.iter().map(|entry| ByRef(entry.key))
}

// SAFETY: the form with the same keys and values, by reference, is written in place of the map.
unsafe impl<K: Transportable> Transportable for BTreeSet<K> {
    type InPlace<'b>
        = SortedSet<'b, K::InPlace<'b>>
    where
        Self: 'b;
    const WIRE_IS_MEMORY: bool = false;

    unsafe fn write<'b>(&'b self, slot: *mut Self::InPlace<'b>, draft: &mut Draft<'b>) {
        // SAFETY: only the draft uses the slice.
        let elements = unsafe { draft.keep_slice(self.iter().map(ByRef)) };
        // SAFETY: the caller's promise is passed on.
        unsafe { write_arena_form(SortedSet::new(elements), slot, draft) };
    }
}

// SAFETY: as above.
unsafe impl<K: Transportable, V: Transportable> Transportable for BTreeMap<K, V> {
    type InPlace<'b>
        = SortedMap<'b, K::InPlace<'b>, V::InPlace<'b>>
    where
        Self: 'b;
    const WIRE_IS_MEMORY: bool = false;

    unsafe fn write<'b>(&'b self, slot: *mut Self::InPlace<'b>, draft: &mut Draft<'b>) {
        // SAFETY: only the draft uses the slice.
        let keys = unsafe { draft.keep_slice(self.keys().map(ByRef)) };
        // SAFETY: as above.
        let values = unsafe { draft.keep_slice(self.values().map(ByRef)) };
        let form = SortedMap::new(SortedSet::new(keys), values);
        // SAFETY: the caller's promise is passed on.
        unsafe { write_arena_form(form, slot, draft) };
    }
}

// SAFETY: as above.
unsafe impl<K: Transportable + Hash, S> Transportable for HashSet<K, S> {
    type InPlace<'b>
        = HashedSet<'b, K::InPlace<'b>>
    where
        Self: 'b;
    const WIRE_IS_MEMORY: bool = false;

    unsafe fn write<'b>(&'b self, slot: *mut Self::InPlace<'b>, draft: &mut Draft<'b>) {
        let mut entries: Vec<_> = self.iter().map(|key| TableEntry::new(key, ())).collect();
        arrange(&mut entries);
        // SAFETY: only the draft uses the slice.
        let elements = unsafe { draft.keep_slice(keys(&entries)) };
        // SAFETY: as above.
        let starts = unsafe { draft.keep_slice(starts(&entries)) };
        // SAFETY: the caller's promise is passed on.
        unsafe { write_arena_form(HashedSet::new(elements, starts), slot, draft) };
    }
}

// SAFETY: as above.
unsafe impl<K: Transportable + Hash, V: Transportable, S> Transportable for HashMap<K, V, S> {
    type InPlace<'b>
        = HashedMap<'b, K::InPlace<'b>, V::InPlace<'b>>
    where
        Self: 'b;
    const WIRE_IS_MEMORY: bool = false;

    unsafe fn write<'b>(&'b self, slot: *mut Self::InPlace<'b>, draft: &mut Draft<'b>) {
        let mut entries: Vec<_> = self
            .iter()
            .map(|(key, value)| TableEntry::new(key, value))
            .collect();
        arrange(&mut entries);
        // SAFETY: only the draft uses the slice.
        let elements = unsafe { draft.keep_slice(keys(&entries)) };
        // SAFETY: as above.
        let starts = unsafe { draft.keep_slice(starts(&entries)) };
        // SAFETY: as above.
        let values = unsafe { draft.keep_slice(entries.iter().map(|entry| ByRef(entry.with))) };
        let form = HashedMap::new(HashedSet::new(elements, starts), values);
        // SAFETY: the caller's promise is passed on.
        unsafe { write_arena_form(form, slot, draft) };
    }
}

// SAFETY: the form is covariant, as its own impl proves, and so are the forms of its parts.
unsafe impl<K: Covariant> Covariant for BTreeSet<K> {}
// SAFETY: as above.
unsafe impl<K: Covariant, V: Covariant> Covariant for BTreeMap<K, V> {}
// SAFETY: as above.
unsafe impl<K: Covariant + Hash, S> Covariant for HashSet<K, S> {}
// SAFETY: as above.
unsafe impl<K: Covariant + Hash, V: Covariant, S> Covariant for HashMap<K, V, S> {}
