//! The message: a header and three segments.
//!
//! ```text
//! 0        header, 40 bytes
//! 40..     objects: the root at its alignment, then every target that holds pointers or text,
//!          in the order in which a scan of this segment from its start meets the pointers
//! ..       bulk: targets that hold neither, in the same order; starts at `bulk_align`
//! ..       text: the bytes of every string, packed, with one byte for each tag that found no
//!          room in its slot
//! ```
//!
//! A pointer is written as the place of its target. In the objects segment, this is the offset from
//! the message's base. In the bulk and text segments, whose start is not known while the message is
//! written, it is the offset from the segment's start plus [`ORIGIN`]. 0 is therefore never a
//! pointer, and stands for `None`. A pointer to a shared target that was already visited holds the
//! target's number and [`SHARED`]. The second word of a wide pointer is a length or, for a trait
//! object, the class.
//!
//! Decision 002 has the reasons.

use std::mem::{align_of, size_of};

#[cfg(all(feature = "file", unix))]
use crate::buffer::ALIGNMENT;

/// The origin of places in the bulk and text segments.
pub(crate) const ORIGIN: usize = 128;

/// Flag of a pointer to a shared target that was already visited. The other bits are the target's
/// number.
pub(crate) const SHARED: u64 = 1 << 63;

/// The first four bytes of every message: `jst` and the version of the format.
pub(crate) const MAGIC: u32 = u32::from_le_bytes(*b"jst\x01");

/// Length of the header in bytes. The root lies at the next multiple of its alignment.
pub(crate) const HEADER_LEN: usize = size_of::<Header>();

const _: () = assert!(HEADER_LEN == 40);
const _: () = assert!(
    size_of::<usize>() == 8 && cfg!(target_endian = "little"),
    "jstream needs a 64-bit little-endian target: wire layout is memory layout"
);

/// The first 40 bytes of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub(crate) struct Header {
    pub(crate) magic: u32,
    /// The alignment of the bulk segment: a power of two, at most 128.
    pub(crate) bulk_align: u32,
    /// Hash of the structure of the root's type.
    pub(crate) descriptor: u64,
    /// End of the objects segment, as an offset from the message's base.
    pub(crate) objects_end: u64,
    pub(crate) bulk_len: u64,
    pub(crate) text_len: u64,
}

impl Header {
    /// Returns the header at the start of `message`, or `None` if the message is shorter than one.
    #[inline(always)]
    pub(crate) fn at_start_of(message: &[u8]) -> Option<Self> {
        message.first_chunk().copied().map(Self::of_bytes)
    }

    /// Decodes a header.
    #[inline(always)]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the first word is two fields of 32 bits"
    )]
    pub(crate) fn of_bytes(bytes: [u8; HEADER_LEN]) -> Self {
        let words: [u64; HEADER_LEN / 8] = zerocopy::transmute!(bytes);
        let [first, descriptor, objects_end, bulk_len, text_len] = words;
        Self {
            magic: first as u32,
            bulk_align: (first >> 32) as u32,
            descriptor,
            objects_end,
            bulk_len,
            text_len,
        }
    }

    /// Encodes the header.
    #[inline(always)]
    pub(crate) fn to_bytes(self) -> [u8; HEADER_LEN] {
        zerocopy::transmute!([
            u64::from(self.magic) | u64::from(self.bulk_align) << 32,
            self.descriptor,
            self.objects_end,
            self.bulk_len,
            self.text_len,
        ])
    }

    /// Returns the header of a message that consists of a root, which ends at `objects_end`.
    #[inline(always)]
    pub(crate) const fn of_root(descriptor: u64, objects_end: usize) -> Self {
        Self {
            magic: MAGIC,
            bulk_align: 1,
            descriptor,
            objects_end: objects_end as u64,
            bulk_len: 0,
            text_len: 0,
        }
    }

    /// Returns the length of the message, or `None` if this is not a valid header.
    #[cfg(all(feature = "file", unix))]
    pub(crate) fn message_len(&self) -> Option<u64> {
        let align = u64::from(self.bulk_align);
        if self.magic != MAGIC || !align.is_power_of_two() || align > ALIGNMENT as u64 {
            return None;
        }
        let bulk = self.objects_end.checked_next_multiple_of(align)?;
        bulk.checked_add(self.bulk_len)?.checked_add(self.text_len)
    }
}

/// Returns the offset of a root of form `F` from the message's base.
#[inline(always)]
pub(crate) const fn root_offset<F>() -> usize {
    align_up(HEADER_LEN, align_of::<F>())
}

/// Returns the end of a root of form `F`, as an offset from the message's base.
#[inline(always)]
pub(crate) const fn root_end<F>() -> usize {
    root_offset::<F>().wrapping_add(size_of::<F>())
}

/// Rounds `at` up to a multiple of `align`, a power of two.
///
/// Wraps only for `at` beyond `isize::MAX`, which no length in memory reaches.
#[inline(always)]
pub(crate) const fn align_up(at: usize, align: usize) -> usize {
    let mask = align.wrapping_sub(1);
    at.wrapping_add(mask) & !mask
}

/// Converts a length or place from the wire to a `usize`.
#[inline(always)]
#[expect(
    clippy::cast_possible_truncation,
    reason = "a usize has 64 bits, asserted above"
)]
pub(crate) const fn in_memory(n: u64) -> usize {
    n as usize
}
