//! Appending the many short pieces of which text and bulk are made.

use std::ptr;

/// The room that padding may take beyond what it comes to.
pub(super) const PADDING: usize = 128;

/// Appends `bytes`, short ones without a call.
#[inline(always)]
pub(super) fn append(to: &mut Vec<u8>, bytes: &[u8]) {
    to.reserve(bytes.len());
    // SAFETY: `reserve` made room.
    unsafe { append_within(to, bytes) };
}

/// Appends `bytes` where there is room for them.
///
/// # Safety
///
/// The capacity must exceed the length by as many bytes at least.
#[inline(always)]
pub(super) unsafe fn append_within(to: &mut Vec<u8>, bytes: &[u8]) {
    let old = to.len();
    // SAFETY: `old` is at most the capacity.
    let end = unsafe { to.as_mut_ptr().add(old) };
    // SAFETY: the caller has room for so many bytes from `end` on, and a vector that is mutably
    // borrowed does not overlap `bytes`.
    unsafe { copy(bytes.as_ptr(), end, bytes.len()) };
    // SAFETY: those bytes were just written.
    unsafe { to.set_len(old.wrapping_add(bytes.len())) };
}

/// Appends `padding` zeroes, and `bytes`.
///
/// # Safety
///
/// The padding must be less than the alignment of `T`, which is [`PADDING`] at most, and the capacity
/// exceed the length by that and the length of `bytes` at least.
#[inline(always)]
pub(super) unsafe fn append_padded<T>(to: &mut Vec<u8>, padding: usize, bytes: &[u8]) {
    let old = to.len();
    // SAFETY: `old` is at most the capacity.
    let end = unsafe { to.as_mut_ptr().add(old) };
    if align_of::<T>() > 1 {
        // All that may be needed, as it can't be foreseen how much is.
        // SAFETY: the caller has room for that many bytes.
        unsafe { ptr::write_bytes(end, 0, align_of::<T>()) };
    }
    let padded = old.wrapping_add(padding);
    // SAFETY: these zeroes were just written; there are none where the alignment is 1.
    unsafe { to.set_len(padded) };
    // SAFETY: the caller has room for them too.
    unsafe { append_within(to, bytes) };
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
