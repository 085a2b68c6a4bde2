//! Arena for temporary values that are created while a message is written, and live until it has
//! been sent.
//!
//! Some data is not in the program's memory in the shape that the message needs: the entries of a
//! map are sorted first, and an adapter creates another value. Such values are stored here at
//! stable addresses until the writer begins its next message.

use std::mem::{MaybeUninit, align_of, needs_drop, size_of};
use std::ptr::{self, NonNull};

/// Bump-allocated memory for values without drop glue, and boxes for values with drop glue.
#[derive(Debug, Default)]
pub(super) struct ValueArena {
    /// The chunks, of which the last one is being filled. A chunk never grows.
    chunks: Vec<Vec<MaybeUninit<u128>>>,
    boxed: Vec<Boxed>,
}

/// Capacity of a chunk in words of 16 bytes, unless a slice needs more.
const CHUNK: usize = 4096;
/// Maximum capacity in words of a chunk that is reused for the next message. A larger one is reused
/// only if the last message needed as much.
const KEEP: usize = 1 << 18;

/// A type-erased box.
#[derive(Debug)]
struct Boxed {
    value: NonNull<u8>,
    /// Drops the box. Called once, with `value`.
    drop: unsafe fn(NonNull<u8>),
}

impl Drop for Boxed {
    fn drop(&mut self) {
        // SAFETY: `value` came from a box of the type that `drop` was instantiated for, and this is
        // the only call.
        unsafe { (self.drop)(self.value) };
    }
}

/// # Safety
///
/// `value` must come from `Box::<T>::into_raw`, and must not be used again.
unsafe fn drop_box<T>(value: NonNull<u8>) {
    // SAFETY: the caller's promise.
    drop(unsafe { Box::from_raw(value.cast::<T>().as_ptr()) });
}

impl ValueArena {
    pub(super) const fn new() -> Self {
        Self {
            chunks: Vec::new(),
            boxed: Vec::new(),
        }
    }

    /// Stores the values that `values` yields as a slice that is valid until
    /// [`clear`](Self::clear).
    pub(super) fn slice<T>(&mut self, values: impl ExactSizeIterator<Item = T>) -> *mut [T] {
        const { assert!(!needs_drop::<T>()) };
        // Not at compile time, because callers decide by the alignment in code that is compiled for
        // all types.
        assert!(
            align_of::<T>() <= align_of::<u128>(),
            "the values would not be aligned"
        );
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
        ptr::slice_from_raw_parts_mut(start, written)
    }

    /// Allocates `words` words in one chunk.
    fn words(&mut self, words: usize) -> *mut MaybeUninit<u128> {
        let fits =
            |chunk: &Vec<MaybeUninit<u128>>| chunk.capacity().wrapping_sub(chunk.len()) >= words;
        if !self.chunks.last().is_some_and(fits) {
            // At least as large as all others together, so that it alone is enough for a message
            // like this one.
            let held = self.chunks.iter().map(Vec::capacity).sum();
            let capacity = words.max(CHUNK).max(held);
            self.chunks.push(Vec::with_capacity(capacity));
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

    /// Stores one value until [`clear`](Self::clear).
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

    /// Returns true if a chunk is larger than one that is always kept.
    pub(super) fn is_large(&self) -> bool {
        self.chunks.iter().any(|chunk| chunk.capacity() > KEEP)
    }

    /// Drops all values. Keeps memory for the next message.
    #[inline]
    pub(super) fn clear(&mut self) {
        if !self.boxed.is_empty() || !self.chunks.is_empty() {
            self.drop_all();
        }
    }

    #[inline(never)]
    fn drop_all(&mut self) {
        self.boxed.clear();
        let used: usize = self.chunks.iter().map(Vec::len).sum();
        let largest = self.chunks.pop();
        self.chunks.clear();
        if let Some(mut chunk) = largest.filter(|chunk| chunk.capacity() <= KEEP.max(used)) {
            chunk.clear();
            self.chunks.push(chunk);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_keep_their_addresses() {
        let mut arena = ValueArena::new();
        let mut all = Vec::new();
        for i in 0..2_000u64 {
            let len = usize::try_from(i % 50).unwrap();
            all.push((i, arena.slice(vec![i; len].into_iter())));
        }
        for (i, slice) in all {
            // SAFETY: nothing was cleared.
            assert!(unsafe { &*slice }.iter().all(|value| *value == i));
        }
        arena.clear();
        assert_eq!(arena.chunks.len(), 1);
    }

    #[test]
    fn a_message_like_the_last_one_needs_no_memory() {
        let mut arena = ValueArena::new();
        let large = KEEP * 2;
        for (len, kept) in [(CHUNK, true), (large, true), (large, true), (1, false)] {
            for _ in 0..3 {
                arena.slice(std::iter::repeat_n(0u128, len));
            }
            let chunks = arena.chunks.len();
            arena.clear();
            assert_eq!(arena.chunks.len(), usize::from(kept), "{len}");
            for _ in 0..3 {
                arena.slice(std::iter::repeat_n(0u128, len));
            }
            let chunks_now = arena.chunks.len();
            assert!(chunks_now <= chunks.min(2), "{chunks_now} of {chunks}");
            arena.clear();
        }
    }

    #[test]
    fn drops_no_value_twice() {
        let counted = std::rc::Rc::new(());
        let mut arena = ValueArena::new();
        let value = arena.value(counted.clone());
        // SAFETY: nothing was cleared.
        assert_eq!(std::rc::Rc::strong_count(unsafe { &*value }), 2);
        arena.clear();
        assert_eq!(std::rc::Rc::strong_count(&counted), 1);
    }
}
