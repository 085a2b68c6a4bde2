//! Maps and sets, which arrive as the forms of [`crate::map`].
//!
//! Decision 027 has the reasons.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::hash::Hash;
use std::iter::repeat_n;
use std::mem::MaybeUninit;
use std::ptr;

use super::reference::write_words;
use crate::entry_points::EntryPoint;
use crate::map::{HashedMap, HashedSet, SortedMap, SortedSet, TableEntry, arrange, starts_of};
use crate::model::{Covariant, Target, Transportable};
use crate::write::Draft;

/// A reference to a value of the program, as the element of a slice that is built for a message.
#[repr(transparent)]
struct ByRef<'a, T>(&'a T);

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

/// The bytes of a small plain value, as the element of a slice that is built for a message. They
/// are sent, and never used as a value.
#[repr(transparent)]
struct PlainBytes<T>(MaybeUninit<T>);

impl<T: Transportable> PlainBytes<T> {
    /// True if values are copied to the slice instead of referred to.
    const FIT: bool = T::WIRE_IS_MEMORY
        && size_of::<T>() <= size_of::<u128>()
        && align_of::<T>() <= align_of::<u128>();

    /// Copies the bytes of a value.
    ///
    /// # Safety
    ///
    /// [`FIT`](Self::FIT) must be true.
    #[inline(always)]
    unsafe fn new(value: &T) -> Self {
        // SAFETY: the reference is valid for reads of the bytes, which are not used as a value.
        Self(unsafe { ptr::from_ref(value).cast::<MaybeUninit<T>>().read() })
    }
}

// SAFETY: the wrapper has the layout and the bytes of a value whose wire form is its memory, as
// `of` requires.
unsafe impl<T: Transportable> Transportable for PlainBytes<T> {
    type InPlace<'b>
        = T::InPlace<'b>
    where
        Self: 'b;
    const WIRE_IS_MEMORY: bool = T::WIRE_IS_MEMORY;

    #[inline(always)]
    unsafe fn write<'b>(&'b self, slot: *mut Self::InPlace<'b>, _: &mut Draft<'b>) {
        // SAFETY: the caller's slot has the layout of the value, whose bytes are its wire form.
        unsafe { ptr::copy_nonoverlapping(&raw const self.0, slot.cast(), 1) };
    }
}

/// Writes a slice of values that a map owns.
///
/// # Safety
///
/// As for [`Transportable::write`].
pub(super) unsafe fn write_column<'b, T: Transportable>(
    values: impl ExactSizeIterator<Item = &'b T>,
    slot: *mut &'b [T::InPlace<'b>],
    draft: &mut Draft<'b>,
) {
    let words = if PlainBytes::<T>::FIT {
        // SAFETY: the values fit.
        let values = values.map(|value| unsafe { PlainBytes::new(value) });
        // SAFETY: only the draft uses the slice.
        unsafe { draft.keep_slice(values) }.write_target(draft)
    } else {
        // SAFETY: only the draft uses the slice.
        unsafe { draft.keep_slice(values.map(ByRef)) }.write_target(draft)
    };
    // SAFETY: the caller's promise is passed on.
    unsafe { write_words(slot, words) };
}

/// Writes the numbers of a table.
///
/// # Safety
///
/// As for [`Transportable::write`].
#[inline]
pub(super) unsafe fn write_numbers<'b>(
    numbers: &'b [u32],
    slot: *mut &'b [u32],
    draft: &mut Draft<'b>,
) {
    let words = numbers.write_target(draft);
    // SAFETY: the caller's promise is passed on.
    unsafe { write_words(slot, words) };
}

/// The entries of a table in their order, and the starts of its buckets.
type Table<'b, K, W> = (&'b [TableEntry<'b, K, W>], &'b [u32]);

/// Arranges the entries of a table.
///
/// # Safety
///
/// The slices must not be used after the draft is cleared.
pub(super) unsafe fn table<'b, K: Hash, W: Copy + 'b>(
    entries: impl ExactSizeIterator<Item = (&'b K, W)>,
    draft: &mut Draft<'b>,
) -> Table<'b, K, W> {
    let entries = entries.map(|(key, with)| TableEntry::new(key, with));
    // SAFETY: the caller's promise is passed on.
    let entries = unsafe { draft.keep_slice(entries) };
    // SAFETY: as above.
    let sorted = unsafe { draft.keep_slice_mut(entries.iter().copied()) };
    // SAFETY: as above.
    let starts = unsafe { draft.keep_slice_mut(repeat_n(0, starts_of(entries.len()))) };
    arrange(entries, sorted, starts);
    (sorted, starts)
}

/// Writes the keys of a hash table, and returns its entries in their order.
///
/// # Safety
///
/// As for [`Transportable::write`]. The entries must not be used after the draft is cleared.
unsafe fn write_hashed<'b, K: Transportable + Hash, W: Copy + 'b>(
    entries: impl ExactSizeIterator<Item = (&'b K, W)>,
    slot: *mut HashedSet<'b, K::InPlace<'b>>,
    draft: &mut Draft<'b>,
) -> &'b [TableEntry<'b, K, W>] {
    // SAFETY: only the draft uses the slices.
    let (entries, starts) = unsafe { table(entries, draft) };
    let (elements_slot, starts_slot) = HashedSet::slots(slot);
    let keys = entries.iter().map(|entry| entry.key);
    // SAFETY: the slot is the first part of the caller's slot.
    unsafe { write_column(keys, elements_slot, draft) };
    // SAFETY: the slot is the next part of it.
    unsafe { write_numbers(starts, starts_slot, draft) };
    entries
}

// SAFETY: the parts of the form are written in their order, with the elements of the set.
unsafe impl<K: Transportable> Transportable for BTreeSet<K> {
    type InPlace<'b>
        = SortedSet<'b, K::InPlace<'b>>
    where
        Self: 'b;
    const WIRE_IS_MEMORY: bool = false;
    const ENTRY_POINT: EntryPoint = <K as Transportable>::ENTRY_POINT;

    unsafe fn write<'b>(&'b self, slot: *mut Self::InPlace<'b>, draft: &mut Draft<'b>) {
        // SAFETY: the caller's promise is passed on for the only part of the slot.
        unsafe { write_column(self.iter(), SortedSet::slot(slot), draft) };
    }
}

// SAFETY: as above, with the values next to their keys.
unsafe impl<K: Transportable, V: Transportable> Transportable for BTreeMap<K, V> {
    type InPlace<'b>
        = SortedMap<'b, K::InPlace<'b>, V::InPlace<'b>>
    where
        Self: 'b;
    const WIRE_IS_MEMORY: bool = false;
    const ENTRY_POINT: EntryPoint =
        <V as Transportable>::ENTRY_POINT.or(<K as Transportable>::ENTRY_POINT);

    unsafe fn write<'b>(&'b self, slot: *mut Self::InPlace<'b>, draft: &mut Draft<'b>) {
        let (keys_slot, values_slot) = SortedMap::slots(slot);
        // SAFETY: the caller's promise is passed on for the first part of the slot.
        unsafe { write_column(self.keys(), SortedSet::slot(keys_slot), draft) };
        // SAFETY: as above, for the next part.
        unsafe { write_column(self.values(), values_slot, draft) };
    }
}

// SAFETY: as above.
unsafe impl<K: Transportable + Hash, S> Transportable for HashSet<K, S> {
    type InPlace<'b>
        = HashedSet<'b, K::InPlace<'b>>
    where
        Self: 'b;
    const WIRE_IS_MEMORY: bool = false;
    const ENTRY_POINT: EntryPoint = <K as Transportable>::ENTRY_POINT;

    unsafe fn write<'b>(&'b self, slot: *mut Self::InPlace<'b>, draft: &mut Draft<'b>) {
        // SAFETY: the caller's promise is passed on.
        unsafe { write_hashed(self.iter().map(|key| (key, ())), slot, draft) };
    }
}

// SAFETY: as above.
unsafe impl<K: Transportable + Hash, V: Transportable, S> Transportable for HashMap<K, V, S> {
    type InPlace<'b>
        = HashedMap<'b, K::InPlace<'b>, V::InPlace<'b>>
    where
        Self: 'b;
    const WIRE_IS_MEMORY: bool = false;
    const ENTRY_POINT: EntryPoint =
        <V as Transportable>::ENTRY_POINT.or(<K as Transportable>::ENTRY_POINT);

    unsafe fn write<'b>(&'b self, slot: *mut Self::InPlace<'b>, draft: &mut Draft<'b>) {
        let (keys_slot, values_slot) = HashedMap::slots(slot);
        // SAFETY: the caller's promise is passed on for the first part of the slot. The entries are
        // not used after the draft.
        let entries = unsafe { write_hashed(self.iter(), keys_slot, draft) };
        let values = entries.iter().map(|entry| entry.with);
        // SAFETY: as above, for the next part.
        unsafe { write_column(values, values_slot, draft) };
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
