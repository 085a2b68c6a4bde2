//! Errors of layouts.

use jstream_derive::ErrorDebug;
use thiserror::Error;

/// Error of a [`Layout`](super::Layout), when it is created or used.
#[derive(ErrorDebug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum LayoutError {
    /// The end of the last block, or the number of selected elements, exceeds `usize::MAX`.
    #[error(
        "the layout spans or selects more than {} elements; use fewer repetitions or smaller \
         distances",
        usize::MAX
    )]
    TooLarge,
    /// The slice ends before the last block.
    #[error(
        "the layout spans {span} elements, but the slice has only {length}; pass a slice of at \
         least Layout::span() elements"
    )]
    OutOfBounds {
        /// Number of elements that the slice must have.
        span: usize,
        /// Number of elements of the slice.
        length: usize,
    },
    /// Blocks of the layout overlap, so a message would be received into the same place twice. Such
    /// a layout can only be sent from.
    #[error("blocks of the layout overlap, so nothing can be received into it; only send from it")]
    Overlap,
    /// The layout is too complex to exclude that its blocks overlap, so it can only be sent from.
    #[error(
        "the {blocks} interleaved blocks of the layout are too many to check that none overlap \
         (limit: {limit}); receive into several layouts with fewer blocks"
    )]
    Unchecked {
        /// Number of blocks, or `usize::MAX` if there are more.
        blocks: usize,
        /// Maximum number of interleaved blocks that are checked.
        limit: usize,
    },
    /// The selected range of a dimension ends behind the array.
    #[error(
        "the selected range ends at {end} in dimension {dimension}, but the array has only {length} \
         elements there"
    )]
    OutsideArray {
        /// The dimension, counted from 0.
        dimension: usize,
        /// The end of the range.
        end: usize,
        /// The length of the array in this dimension.
        length: usize,
    },
    /// The array has no room for its borders.
    #[error(
        "the array has {length} elements in dimension {dimension}, but borders of {width} on both \
         sides, and as many elements of its own, need {needed}; the length includes the borders"
    )]
    TooNarrow {
        /// The dimension, counted from 0.
        dimension: usize,
        /// The length of the array in this dimension.
        length: usize,
        /// The width of a border.
        width: usize,
        /// The shortest length with such borders.
        needed: usize,
    },
    /// The function that should select a field returned a reference to other memory.
    #[error("the function that selects a field does not return a part of its argument")]
    NoField,
    /// A field ends behind the end of its struct.
    #[error(
        "a field of {length} bytes at offset {offset} ends behind the struct of {size} bytes; take \
         the offset from `offset_of!`, or select the field with `Field::of`"
    )]
    OutsideStruct {
        /// The offset of the field in bytes.
        offset: usize,
        /// The size of the field in bytes.
        length: usize,
        /// The size of the struct in bytes.
        size: usize,
    },
}
