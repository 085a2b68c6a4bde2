//! Sizes of slots and slabs.

use crate::buffer::RegionOptions;
use crate::buffer::region::HUGE_PAGE;

/// Size in bytes of the slots of the smallest class. Each further class doubles the size.
pub(super) const SMALLEST: usize = 256;

/// Number of classes. The largest has slots of 2^40 bytes; more does not fit into a process.
pub(super) const CLASSES: usize = 33;

/// Minimum length in bytes of the mapping of a slab. A slab of larger slots consists of one slot.
const SLAB: usize = 256 * 1024;

/// Returns the smallest class whose slots hold `capacity` bytes, or `None` if no class does.
#[inline]
pub(super) fn class_of(capacity: usize) -> Option<usize> {
    // The excess over the smallest size, in multiples of it. The number of its significant bits is
    // the class.
    let beyond = capacity.max(1).wrapping_sub(1) / SMALLEST;
    let class = (usize::BITS.wrapping_sub(beyond.leading_zeros())) as usize;
    (class < CLASSES).then_some(class)
}

#[inline]
pub(super) fn slot_size(class: usize) -> usize {
    SMALLEST << class
}

/// Returns the length in bytes of a slab of a class whose region has these options.
pub(super) fn slab_len(class: usize, region: &RegionOptions) -> usize {
    let least = if region.huge_pages { HUGE_PAGE } else { SLAB };
    slot_size(class).max(least)
}
