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

/// # Safety
///
/// As for [`ptr::copy_nonoverlapping`] of bytes.
#[inline(always)]
unsafe fn copy(from: *const u8, to: *mut u8, len: usize) {
    /// Copies the first and the last `size_of::<T>()` bytes, which overlap or meet.
    ///
    /// # Safety
    ///
    /// As for [`copy`], with `len` from one to two sizes of `T`.
    #[inline(always)]
    unsafe fn ends<T: Copy>(from: *const u8, to: *mut u8, len: usize) {
        let last = len.wrapping_sub(size_of::<T>());
        // SAFETY: `len` is at least the size of `T`.
        let head = unsafe { from.cast::<T>().read_unaligned() };
        // SAFETY: the last `size_of::<T>()` bytes end at `len`.
        let tail = unsafe { from.wrapping_add(last).cast::<T>().read_unaligned() };
        // SAFETY: as for the reads, in the target.
        unsafe { to.cast::<T>().write_unaligned(head) };
        // SAFETY: as for the reads, in the target.
        unsafe { to.wrapping_add(last).cast::<T>().write_unaligned(tail) };
    }
    match len {
        // SAFETY: the caller's promise, and the length is in the range asked for.
        16..=32 => unsafe { ends::<u128>(from, to, len) },
        // SAFETY: as above.
        8..=15 => unsafe { ends::<u64>(from, to, len) },
        // SAFETY: as above.
        4..=7 => unsafe { ends::<u32>(from, to, len) },
        // SAFETY: as above.
        2..=3 => unsafe { ends::<u16>(from, to, len) },
        // SAFETY: as above.
        1 => unsafe { ends::<u8>(from, to, len) },
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
