//! Fast appending of many short pieces to the text and bulk segments.

use std::ptr;

/// Room that padding may need in addition to the padding itself; at least the maximum alignment.
pub(super) const PADDING: usize = 128;

/// Appends `bytes`. Short slices are copied without a function call.
#[inline(always)]
pub(super) fn append(to: &mut Vec<u8>, bytes: &[u8]) {
    to.reserve(bytes.len());
    // SAFETY: `reserve` made room for the bytes.
    unsafe { append_within(to, bytes) };
}

/// Appends `bytes` without a capacity check.
///
/// # Safety
///
/// The capacity must exceed the length by at least the length of `bytes`.
#[inline(always)]
pub(super) unsafe fn append_within(to: &mut Vec<u8>, bytes: &[u8]) {
    let old = to.len();
    // SAFETY: `old` is at most the capacity.
    let end = unsafe { to.as_mut_ptr().add(old) };
    // SAFETY: the caller guarantees room for these bytes from `end` on. A vector that is mutably
    // borrowed does not overlap `bytes`.
    unsafe { copy(bytes.as_ptr(), end, bytes.len()) };
    // SAFETY: those bytes were just written.
    unsafe { to.set_len(old.wrapping_add(bytes.len())) };
}

/// Appends `padding` zeroes and then `bytes`.
///
/// # Safety
///
/// The padding must be less than the alignment of `T`, which is at most [`PADDING`]. The capacity
/// must exceed the length by at least that alignment plus the length of `bytes`.
#[inline(always)]
pub(super) unsafe fn append_padded<T>(to: &mut Vec<u8>, padding: usize, bytes: &[u8]) {
    let old = to.len();
    // SAFETY: `old` is at most the capacity.
    let end = unsafe { to.as_mut_ptr().add(old) };
    if align_of::<T>() > 1 {
        // The maximum padding is zeroed, because the actual amount is unpredictable.
        // SAFETY: the caller guarantees room for that many bytes.
        unsafe { ptr::write_bytes(end, 0, align_of::<T>()) };
    }
    let padded = old.wrapping_add(padding);
    // SAFETY: these zeroes were just written; there are none if the alignment is 1.
    unsafe { to.set_len(padded) };
    // SAFETY: the caller guarantees room for these bytes too.
    unsafe { append_within(to, bytes) };
}

/// Copies bytes, short slices without a function call.
///
/// # Safety
///
/// As for [`ptr::copy_nonoverlapping`] of bytes.
#[inline(always)]
pub(super) unsafe fn copy(from: *const u8, to: *mut u8, len: usize) {
    /// Copies four parts of the size of `T`: the first and the last one, and those `step` bytes
    /// inward from them.
    ///
    /// # Safety
    ///
    /// As for [`copy`], with a `len` that is at least the size of `T` plus `step`.
    #[inline(always)]
    unsafe fn ends<T: Copy>(from: *const u8, to: *mut u8, len: usize, step: usize) {
        let last = len.wrapping_sub(size_of::<T>());
        let places = [0, step, last.wrapping_sub(step), last];
        let part = |at: usize| {
            // SAFETY: a part of the size of `T` at any of these offsets is within `len`.
            unsafe { from.wrapping_add(at).cast::<T>().read_unaligned() }
        };
        let parts = places.map(part);
        for (at, part) in places.into_iter().zip(parts) {
            // SAFETY: as for the reads, in the destination.
            unsafe { to.wrapping_add(at).cast::<T>().write_unaligned(part) };
        }
    }
    // Few cases, because lengths are unpredictable and a misprediction costs more than copying a
    // part twice.
    match len {
        // SAFETY: the caller's promise; a step of 0 covers up to 31 bytes, a step of 16 more.
        16..=63 => unsafe { ends::<u128>(from, to, len, (len & 32) >> 1) },
        // SAFETY: as above; a step of 0 covers up to 7 bytes, a step of 4 more.
        4..=15 => unsafe { ends::<u32>(from, to, len, (len & 8) >> 1) },
        // SAFETY: as above; of three bytes, the middle one is at the step.
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
