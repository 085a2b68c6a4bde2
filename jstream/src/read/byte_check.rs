//! Range checks of many one-byte values at once.
//!
//! Slices of a few bytes are as common as long ones and their lengths are unpredictable. For a
//! short slice, mispredicting the end of a loop costs more than its iterations. So a slice that
//! fits into a block is checked as one block, with the bytes after the slice masked out.
//!
//! Decision 046 has the reasons.

use super::fault::{Fault, FaultKind};

const BLOCK: usize = 32;

type Block = [u8; BLOCK];

const ALL: Block = [u8::MAX; BLOCK];

/// The mask of the first `n` bytes of a block begins at index `BLOCK - n`.
static MASK: [u8; 2 * BLOCK] = {
    let mut mask = [0; 2 * BLOCK];
    let mut i = 0;
    while i < BLOCK {
        #[expect(clippy::indexing_slicing, reason = "checked by the compiler")]
        {
            mask[i] = u8::MAX;
        }
        i = i.wrapping_add(1);
    }
    mask
};

/// Returns 0 if no byte exceeds `most`.
#[inline(always)]
const fn excess(bytes: u64, most: u8) -> u64 {
    const ONES: u64 = u64::MAX / 255;
    const HIGH: u64 = ONES << 7;
    if most & most.wrapping_add(1) == 0 {
        // The bits that are not set in `most`.
        return bytes & !(ONES.wrapping_mul(most as u64));
    }
    if most >= 0x80 {
        // A byte exceeds `most` if its high bit is set and its low seven bits exceed those of
        // `most`.
        let rest =
            (bytes & !HIGH).wrapping_add(ONES.wrapping_mul(0xff_u8.wrapping_sub(most) as u64));
        return rest & bytes & HIGH;
    }
    let rest = (bytes & !HIGH).wrapping_add(ONES.wrapping_mul(0x7f_u8.wrapping_sub(most) as u64));
    (rest | bytes) & HIGH
}

/// Returns true if no byte of the block that `mask` selects exceeds `most`.
#[inline(always)]
fn block_at_most(block: &Block, mask: &Block, most: u8) -> bool {
    let words = |of: &Block| -> [u64; BLOCK / 8] {
        let mut words = [0; BLOCK / 8];
        for (word, bytes) in words.iter_mut().zip(of.chunks_exact(8)) {
            *word = bytes.try_into().map_or(0, u64::from_ne_bytes);
        }
        words
    };
    let kept = words(block)
        .into_iter()
        .zip(words(mask))
        .map(|(bytes, mask)| bytes & mask);
    kept.fold(0, |all, bytes| all | excess(bytes, most)) == 0
}

/// Returns true if no byte of `bytes` exceeds `most`. Kept out of line because it is heavily
/// unrolled.
#[inline(never)]
fn at_most(bytes: &[u8], most: u8) -> bool {
    let Some(last) = bytes.last_chunk() else {
        let excess = |excess, byte: &u8| excess | byte.saturating_sub(most);
        return bytes.iter().fold(0, excess) == 0;
    };
    let blocks = bytes.chunks_exact(BLOCK);
    blocks
        .filter_map(<[u8]>::first_chunk)
        .fold(true, |valid, block| {
            valid & block_at_most(block, &ALL, most)
        })
        & block_at_most(last, &ALL, most)
}

/// Checks that none of `count` bytes exceeds `most`.
///
/// # Errors
///
/// A [`Fault`] of the first byte that exceeds `most`.
///
/// # Safety
///
/// As for [`InPlace::read_all`](crate::model::InPlace::read_all), for `count` values of one byte.
#[inline(never)]
pub(crate) unsafe fn bytes_at_most(first: *mut u8, count: usize, most: u8) -> Result<(), Fault> {
    // SAFETY: the caller's bytes are initialised, and only read.
    let bytes = unsafe { std::slice::from_raw_parts(first, count) };
    if at_most(bytes, most) {
        return Ok(());
    }
    let bad = bytes.iter().position(|byte| *byte > most).unwrap_or(0);
    Err(Fault::new(first.wrapping_add(bad), FaultKind::Invalid))
}

/// Like [`bytes_at_most`], with `rest` initialised bytes from `first` on, so that a whole block can
/// be loaded.
///
/// # Errors
///
/// As for [`bytes_at_most`].
///
/// # Safety
///
/// As for [`bytes_at_most`], and `rest` bytes from `first` on must be initialised and in one
/// allocation.
#[inline(always)]
pub(super) unsafe fn bytes_with_more(
    first: *mut u8,
    count: usize,
    rest: usize,
    most: u8,
) -> Result<(), Fault> {
    if count <= BLOCK && rest >= BLOCK {
        let mask = MASK.get(BLOCK.wrapping_sub(count)..);
        // SAFETY: `rest` is at least the size of a block, so by the caller's promise these bytes
        // are initialised and in one allocation. Nothing writes to them while they are compared.
        let block = unsafe { &*first.cast::<Block>().cast_const() };
        if mask
            .and_then(<[u8]>::first_chunk)
            .is_some_and(|mask| block_at_most(block, mask, most))
        {
            return Ok(());
        }
    }
    // SAFETY: the caller's promise is passed on.
    unsafe { bytes_at_most(first, count, most) }
}

/// Number of bytes of a value that [`tags_at_most`] loads.
const WIDE: usize = 16;

/// Returns true if [`tags_at_most`] checks `count` values of `T` faster than one after the other.
#[inline(always)]
pub(crate) const fn has_many_tags<T>(count: usize) -> bool {
    size_of::<T>() >= WIDE && size_of::<T>() % WIDE == 0 && count >= 8
}

/// Returns true if the first byte of none of `count` values exceeds `most`. Takes the maximum of
/// the first 16 bytes of all values, byte by byte, of which only the first counts.
///
/// # Safety
///
/// As for [`InPlace::read_all`](crate::model::InPlace::read_all), for values of at least 16 bytes.
#[inline(never)]
pub(crate) unsafe fn tags_at_most<T>(first: *const T, count: usize, most: u8) -> bool {
    debug_assert!(size_of::<T>() >= WIDE);
    let size = size_of::<T>();
    let first = first.cast::<u8>();
    let mut max = [0u8; WIDE];
    let first_of = |i: usize| {
        let value = first.wrapping_add(i.wrapping_mul(size));
        // SAFETY: `i` is below `count`. The caller's values are initialised, and have at least as
        // many bytes.
        unsafe { value.cast::<[u8; WIDE]>().read() }
    };
    // Four maxima, so that they do not wait for one another.
    let mut others = [[0u8; WIDE]; 4];
    let grouped = count & !3;
    for i in (0..grouped).step_by(4) {
        for (max, j) in others.iter_mut().zip(i..) {
            raise(max, first_of(j));
        }
    }
    for i in grouped..count {
        raise(&mut max, first_of(i));
    }
    for other in others {
        raise(&mut max, other);
    }
    max[0] <= most
}

/// Raises each byte to that of `bytes` if that is larger. One instruction for 16 bytes.
#[inline(always)]
fn raise<const N: usize>(max: &mut [u8; N], bytes: [u8; N]) {
    for (max, byte) in max.iter_mut().zip(bytes) {
        *max = (*max).max(byte);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_byte_counts_whatever_the_length() {
        for len in 0..150 {
            let mut bytes = vec![9u8; len];
            assert!(at_most(&bytes, 9));
            for i in 0..len {
                bytes[i] = 10;
                assert!(!at_most(&bytes, 9), "byte {i} of {len}");
                bytes[i] = 0;
                assert!(at_most(&bytes, 9));
                bytes[i] = 255;
                assert!(!at_most(&bytes, 9), "byte {i} of {len}");
                bytes[i] = 9;
            }
        }
    }

    #[test]
    fn every_byte_is_told_from_every_bound() {
        for most in 0..=u8::MAX {
            for byte in 0..=u8::MAX {
                for at in 0..8 {
                    let mut bytes = [most; 8];
                    bytes[at] = byte;
                    let exceeds = excess(u64::from_ne_bytes(bytes), most) != 0;
                    assert_eq!(exceeds, byte > most, "{byte} against {most}");
                }
            }
        }
    }

    #[test]
    fn accepts_exactly_the_tags() {
        fn check<const SIZE: usize>() {
            for count in 0..14 {
                let mut values = vec![[255u8; SIZE]; count];
                for value in &mut values {
                    value[0] = 3;
                }
                // SAFETY: the bytes are initialised.
                let is_valid =
                    |values: &[[u8; SIZE]]| unsafe { tags_at_most(values.as_ptr(), count, 3) };
                assert!(is_valid(&values));
                for at in 0..count {
                    values[at][0] = 4;
                    assert!(!is_valid(&values), "{at} of {count} values of {SIZE}");
                    values[at][0] = 0;
                }
            }
        }
        check::<16>();
        check::<48>();
    }

    #[test]
    fn ignores_bits_outside_the_mask() {
        let mut block = ALL;
        for len in 0..=BLOCK {
            let mask = MASK[BLOCK - len..].first_chunk().unwrap();
            assert!(block_at_most(&block, mask, 1), "{len}");
            if let Some(next) = block.get_mut(len) {
                *next = 1;
            }
        }
    }
}
