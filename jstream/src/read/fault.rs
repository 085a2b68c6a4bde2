//! Faults of a pass, and the pointers that most of them are attributed to.

use std::ptr::NonNull;

/// An error found by the pass: the slot with the invalid bytes and the kind of the error.
///
/// Carries no text: the path and the message are computed from it after the pass has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault {
    pub(crate) slot: NonNull<u8>,
    pub(crate) kind: FaultKind,
}

/// The kind of error found in a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FaultKind {
    /// The bytes are not a valid value of the type.
    Invalid,
    /// The tag that a value keeps in the text segment is neither 0 nor 1.
    Tag,
    /// A pointer names a place other than the next free one.
    Misplaced,
    /// A target begins or ends beyond the end of its segment.
    PastEnd,
    /// A string begins or ends inside a character.
    SplitCharacter,
    /// More zero-sized elements than [`Limits::zero_sized`](super::Limits::zero_sized).
    ZeroSized,
    /// Deeper than [`Limits::depth`](super::Limits::depth).
    Depth,
    /// More queued runs than [`Limits::pending`](super::Limits::pending).
    Pending,
    /// More shared objects, or pointers to them, than [`Limits::shared`](super::Limits::shared).
    Shared,
    /// A shared pointer names a target that was not read before, or one of another type or length.
    NotShared,
    /// An object reaches itself on a path without a `Cell`.
    Cycle,
    /// An object is deeper than [`Limits::depth`](super::Limits::depth) on a path other than the
    /// first.
    DeepOnOtherPath,
    /// An adapter of the program rejects the wire value.
    Adapter,
    /// A pointer to a trait object names an unregistered class.
    Class,
}

impl Fault {
    /// Creates a fault of the slot at `slot`.
    ///
    /// # Panics
    ///
    /// Panics if `slot` is null.
    #[cold]
    pub fn new<T>(slot: *mut T, kind: FaultKind) -> Self {
        Self {
            slot: NonNull::new(slot.cast()).expect("a slot is part of an allocation"),
            kind,
        }
    }
}

/// The number of no shared target.
pub(crate) const NONE: u32 = u32::MAX;

/// A pointer in wire form, loaded from its slot.
#[derive(Debug, Clone, Copy)]
pub struct Edge {
    /// The slot that held the pointer, to which a fault is attributed.
    pub(crate) slot: *mut u8,
    /// The wire offset of the target.
    pub(crate) place: u64,
    /// The second word of a wide pointer: a length or a class.
    pub(crate) meta: u64,
    /// The number of the target if it is shared; otherwise [`NONE`].
    pub(super) number: u32,
}

impl Edge {
    /// Returns a fault of this pointer. Inlined so that only the slot has to leave its register.
    #[inline(always)]
    pub(crate) fn fault(self, kind: FaultKind) -> Fault {
        Fault::new(self.slot, kind)
    }
}
