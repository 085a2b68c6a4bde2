//! Counts for the limits of a message being written.

use std::any::TypeId;

/// Counts for limits that most messages do not come near to.
#[derive(Debug, Default)]
pub(super) struct Counts {
    /// Number of zero-sized elements that bytes before them do not allow.
    pub(super) zero_sized: usize,
    /// Number of bytes that allowed a zero-sized element.
    pub(super) counted_bytes: usize,
    /// Number of lists of adjacent values that the reader will verify.
    pub(super) checks: usize,
    /// The type of the last such list, and its segment and end.
    pub(super) last_check: Option<(TypeId, bool, usize)>,
}
