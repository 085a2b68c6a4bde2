//! Values that are made while a message is written, and live until it has been sent.
//!
//! What is sent need not lie in the program's memory as the message wants it: the entries of a map
//! are sorted, an adapter makes another value. Such values are kept here, at addresses that do not
//! change, until the writer begins its next message.

use std::mem::{MaybeUninit, align_of, size_of};
use std::ptr::{self, NonNull};
use std::slice;

/// Memory for values without drop glue, and boxes for those that have some.
#[derive(Debug, Default)]
pub(super) struct Kept {
    /// The last one is being filled; none ever grows.
    chunks: Vec<Vec<MaybeUninit<u128>>>,
    boxed: Vec<Boxed>,
}

/// The length of a chunk, in words, unless a slice needs more.
const CHUNK: usize = 4096;
/// A longer chunk is not kept for the next message.
const KEEP: usize = 1 << 18;

/// A box whose type is forgotten.
#[derive(Debug)]
struct Boxed {
    value: NonNull<u8>,
    /// Drops the box; called once, with `value`.
    drop: unsafe fn(NonNull<u8>),
}

impl Drop for Boxed {
    fn drop(&mut self) {
        // SAFETY: `value` came from the box of the type that `drop` was made for, and this is the
        // only call.
        unsafe { (self.drop)(self.value) };
    }
}

/// # Safety
///
/// `value` must come from `Box::<T>::into_raw`, and not be used again.
unsafe fn drop_box<T>(value: NonNull<u8>) {
    // SAFETY: the caller's promise.
    drop(unsafe { Box::from_raw(value.cast::<T>().as_ptr()) });
}

impl Kept {
    pub(super) const fn new() -> Self {
        Self {
            chunks: Vec::new(),
            boxed: Vec::new(),
        }
    }

    /// Keeps as many values as `values` yields, side by side, until [`clear`](Self::clear).
    pub(super) fn slice<T: Copy>(
        &mut self,
        values: impl ExactSizeIterator<Item = T>,
    ) -> *const [T] {
        const { assert!(align_of::<T>() <= align_of::<u128>()) };
        let count = values.len();
        let words = count
            .saturating_mul(size_of::<T>())
            .div_ceil(size_of::<u128>());
        let start = self.words(words).cast::<T>();
        let mut written = 0usize;
        for value in values.take(count) {
            // SAFETY: `written` is below `count`, for which there is room, aligned as `u128` is.
            unsafe { start.wrapping_add(written).write(value) };
            written = written.wrapping_add(1);
        }
        ptr::slice_from_raw_parts(start.cast_const(), written)
    }

    /// Room for so many words in one chunk.
    fn words(&mut self, words: usize) -> *mut MaybeUninit<u128> {
        let fits =
            |chunk: &Vec<MaybeUninit<u128>>| chunk.capacity().wrapping_sub(chunk.len()) >= words;
        if !self.chunks.last().is_some_and(fits) {
            self.chunks.push(Vec::with_capacity(words.max(CHUNK)));
        }
        let Some(chunk) = self.chunks.last_mut() else {
            unreachable!("a chunk was pushed")
        };
        let end = chunk.len();
        let start = chunk.as_mut_ptr().wrapping_add(end);
        // SAFETY: the chunk has room for that many words, which may be uninitialised.
        unsafe { chunk.set_len(end.wrapping_add(words)) };
        start
    }

    /// Keeps one value until [`clear`](Self::clear).
    pub(super) fn value<T>(&mut self, value: T) -> *const T {
        let value = Box::into_raw(Box::new(value));
        if let Some(erased) = NonNull::new(value.cast::<u8>()) {
            self.boxed.push(Boxed {
                value: erased,
                drop: drop_box::<T>,
            });
        }
        value
    }

    /// Forgets all values; keeps memory for the next.
    #[inline]
    pub(super) fn clear(&mut self) {
        if !self.boxed.is_empty() || !self.chunks.is_empty() {
            self.drop_all();
        }
    }

    fn drop_all(&mut self) {
        self.boxed.clear();
        self.chunks.truncate(1);
        self.chunks.retain(|chunk| chunk.capacity() <= KEEP);
        self.chunks.iter_mut().for_each(Vec::clear);
    }
}

impl<'b> super::Draft<'b> {
    /// Keeps values until the message has been sent.
    ///
    /// # Safety
    ///
    /// The slice must not be used after the draft.
    pub(crate) unsafe fn keep_slice<T: Copy + 'b>(
        &mut self,
        values: impl ExactSizeIterator<Item = T>,
    ) -> &'b [T] {
        let slice = self.scratch.kept.slice(values);
        // SAFETY: the values were just written, do not move, and stay until the draft is cleared,
        // which is after its last use.
        unsafe { slice::from_raw_parts(slice.cast::<T>(), slice.len()) }
    }

    /// Keeps a value until the message has been sent.
    ///
    /// # Safety
    ///
    /// As for [`keep_slice`](Self::keep_slice).
    pub(crate) unsafe fn keep_value<T: 'b>(&mut self, value: T) -> &'b T {
        let value = self.scratch.kept.value(value);
        // SAFETY: as for `keep_slice`; the box is not touched before it is dropped.
        unsafe { &*value }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stay_where_they_are() {
        let mut kept = Kept::new();
        let mut all = Vec::new();
        for i in 0..2_000u64 {
            let len = usize::try_from(i % 50).unwrap();
            all.push((i, kept.slice(vec![i; len].into_iter())));
        }
        for (i, slice) in all {
            // SAFETY: nothing was cleared.
            assert!(unsafe { &*slice }.iter().all(|value| *value == i));
        }
        kept.clear();
        assert_eq!(kept.chunks.len(), 1);
    }

    #[test]
    fn values_are_dropped_once() {
        let counted = std::rc::Rc::new(());
        let mut kept = Kept::new();
        let value = kept.value(counted.clone());
        // SAFETY: nothing was cleared.
        assert_eq!(std::rc::Rc::strong_count(unsafe { &*value }), 2);
        kept.clear();
        assert_eq!(std::rc::Rc::strong_count(&counted), 1);
    }
}
