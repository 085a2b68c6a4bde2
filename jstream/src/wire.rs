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
//! A pointer is written as the place of its target: in the objects segment its offset from the
//! message's base; in bulk and text, which begin where the writer does not know yet, its offset
//! from the segment's start plus [`ORIGIN`]. 0 is therefore no pointer, and stands for `None`. A
//! pointer to a shared target that was met before holds the target's number and [`SHARED`]. A wide
//! pointer's second word is a length, or of a trait object the class.

use std::mem::{align_of, size_of};

#[cfg(unix)]
use crate::buffer::ALIGNMENT;

/// What a place in the bulk and text segments counts from.
pub(crate) const ORIGIN: usize = 128;

/// Marks the place of a pointer to a shared target that was met before: the rest is its number.
pub(crate) const SHARED: u64 = 1 << 63;

/// The first four bytes of every message: `jst` and the version of the format.
pub(crate) const MAGIC: u32 = u32::from_le_bytes(*b"jst\x01");

/// The length of the header in bytes; the root stands at the next multiple of its alignment.
pub(crate) const HEADER_LEN: usize = size_of::<Header>();

const _: () = assert!(HEADER_LEN == 40);
const _: () = assert!(
    size_of::<usize>() == 8 && cfg!(target_endian = "little"),
    "jstream needs a 64-bit little-endian target: wire layout is memory layout"
);

/// The first 40 bytes of a message.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    zerocopy::FromBytes,
    zerocopy::IntoBytes,
    zerocopy::Immutable,
    zerocopy::KnownLayout,
)]
#[repr(C)]
pub(crate) struct Header {
    pub(crate) magic: u32,
    /// The alignment of the bulk segment: a power of two, at most 128.
    pub(crate) bulk_align: u32,
    /// Checksum of the structure of the root's type.
    pub(crate) descriptor: u64,
    /// Where the objects end, from the message's base.
    pub(crate) objects_end: u64,
    pub(crate) bulk_len: u64,
    pub(crate) text_len: u64,
}

impl Header {
    /// That of a message whose root ends at `objects_end`, and is all there is.
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

    /// The length of the message, if this is the header of one.
    #[cfg(unix)]
    pub(crate) fn message_len(&self) -> Option<u64> {
        let align = u64::from(self.bulk_align);
        if self.magic != MAGIC || !align.is_power_of_two() || align > ALIGNMENT as u64 {
            return None;
        }
        let bulk = self.objects_end.checked_next_multiple_of(align)?;
        bulk.checked_add(self.bulk_len)?.checked_add(self.text_len)
    }
}

/// Where the root of this form ends.
#[inline(always)]
pub(crate) const fn root_end<F>() -> usize {
    align_up(HEADER_LEN, align_of::<F>()).wrapping_add(size_of::<F>())
}

/// `at` moved up to a multiple of `align`, a power of two.
///
/// Wraps only for `at` beyond `isize::MAX`, which no length in memory reaches.
#[inline(always)]
pub(crate) const fn align_up(at: usize, align: usize) -> usize {
    let mask = align.wrapping_sub(1);
    at.wrapping_add(mask) & !mask
}

/// A length or place from the wire as what it is in memory.
#[inline(always)]
#[expect(
    clippy::cast_possible_truncation,
    reason = "a usize has 64 bits, asserted above"
)]
pub(crate) const fn in_memory(n: u64) -> usize {
    n as usize
}
