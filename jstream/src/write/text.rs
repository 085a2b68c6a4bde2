//! Appending the many short pieces of which text and bulk are made.

use std::ptr;

/// Appends `bytes`, short ones without a call.
#[inline(always)]
pub(super) fn append(to: &mut Vec<u8>, bytes: &[u8]) {
    let len = bytes.len();
    to.reserve(len);
    let old = to.len();
    // SAFETY: `old` is at most the capacity.
    let end = unsafe { to.as_mut_ptr().add(old) };
    // SAFETY: `reserve` made room for `len` bytes from `end` on, and a vector that is mutably
    // borrowed does not overlap `bytes`.
    unsafe { copy(bytes.as_ptr(), end, len) };
    // SAFETY: those bytes were just written.
    unsafe { to.set_len(old.wrapping_add(len)) };
}

/// Appends `padding` zeroes, fewer than the alignment of `T`, and makes room for `len` bytes.
#[inline(always)]
pub(super) fn pad<T>(to: &mut Vec<u8>, padding: usize, len: usize) {
    const WORD: usize = size_of::<u64>();
    debug_assert!(padding < align_of::<T>());
    if align_of::<T>() > WORD {
        to.resize(to.len().wrapping_add(padding), 0);
        return;
    }
    to.reserve(len.saturating_add(WORD));
    let old = to.len();
    // SAFETY: `old` is at most the capacity.
    let end = unsafe { to.as_mut_ptr().add(old) };
    // A whole word, as it can't be foreseen how much is needed.
    // SAFETY: `reserve` made room for a word.
    unsafe { end.cast::<u64>().write_unaligned(0) };
    // SAFETY: of these bytes there are fewer than a word has, which was just written.
    unsafe { to.set_len(old.wrapping_add(padding.min(WORD))) };
}

/// # Safety
///
/// As for [`ptr::copy_nonoverlapping`] of bytes.
#[inline(always)]
unsafe fn copy(from: *const u8, to: *mut u8, len: usize) {
    /// Copies what begins or ends `step` bytes from either end, of the size of `T`.
    ///
    /// # Safety
    ///
    /// As for [`copy`], with a `len` of the size of `T` and `step` at least.
    #[inline(always)]
    unsafe fn ends<T: Copy>(from: *const u8, to: *mut u8, len: usize, step: usize) {
        let last = len.wrapping_sub(size_of::<T>());
        let places = [0, step, last.wrapping_sub(step), last];
        let part = |at: usize| {
            // SAFETY: the size of `T` from any of the places on is within `len`.
            unsafe { from.wrapping_add(at).cast::<T>().read_unaligned() }
        };
        let parts = places.map(part);
        for (at, part) in places.into_iter().zip(parts) {
            // SAFETY: as for the reads, in the target.
            unsafe { to.wrapping_add(at).cast::<T>().write_unaligned(part) };
        }
    }
    // Few cases: lengths can't be foreseen, and a wrong guess costs more than copying a part twice.
    match len {
        // SAFETY: the caller's promise; up to 31 bytes are covered with a step of 0, more with 16.
        16..=63 => unsafe { ends::<u128>(from, to, len, (len & 32) >> 1) },
        // SAFETY: as above; up to 7 bytes are covered with a step of 0, more with 4.
        4..=15 => unsafe { ends::<u32>(from, to, len, (len & 8) >> 1) },
        // SAFETY: as above; of three bytes the one in the middle is at the step.
        1..=3 => unsafe { ends::<u8>(from, to, len, len >> 1) },
        0 => {}
        // SAFETY: the caller's promise.
        _ => unsafe { ptr::copy_nonoverlapping(from, to, len) },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_length_is_copied() {
        let source: Vec<u8> = (0..200).collect();
        let mut all = Vec::new();
        let mut expected = Vec::new();
        for len in 0..source.len() {
            append(&mut all, &source[..len]);
            expected.extend_from_slice(&source[..len]);
            assert_eq!(all, expected, "after a piece of {len}");
        }
    }
}
