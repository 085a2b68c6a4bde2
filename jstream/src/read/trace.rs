//! Search for the path of the field that a fault is attributed to.
//!
//! A pass does not record how it reached a slot, because every message would pay for what only an
//! invalid one needs. Instead, after a failed pass, the walk is repeated over the part that is
//! native, in the same order and with the same types, until it reaches the slot at fault.
//! Everything beyond that slot is still in wire form and is never accessed. The walk creates no
//! reference to a target; it only borrows `Option`s that were read, to find their payload.
//!
//! If a function of the program rejected a value, the whole message is native, but such functions
//! may have changed cells. The walk then does not rely on any order: it follows only pointers to
//! targets that the pass claimed, and each target once.
//!
//! Decision 004 has the reasons.

use std::any::TypeId;
use std::fmt::Write as _;
use std::mem::size_of;
use std::ops::Range;

use super::describe::SlotType;
use super::shared::FirstPointers;
use crate::class::Noted;

/// A walk over a message in search of one slot.
#[derive(Debug)]
pub struct Trace {
    pub(super) wanted: usize,
    pub(super) sought: SearchGoal,
    /// The shared targets of the pass that the walk has not reached yet.
    pub(super) first_pointers: FirstPointers,
    /// The classes of the pass's trait objects that the walk has not reached yet, in reverse order.
    pub(super) classes: Vec<Noted>,
    pub(super) path: Vec<Step>,
    pub(super) found: Option<SlotType>,
    /// True if the walk was given up because there are too many targets.
    pub(super) lost: bool,
    /// The targets found so far, in the order of the pass; `None` while only a path is being
    /// computed.
    pub(super) targets: Option<Vec<Targets>>,
    /// The value being walked.
    pub(super) at: ValuePosition,
}

/// The position of one value in the list of targets.
#[derive(Debug, Clone, Copy)]
pub(super) struct ValuePosition {
    /// The index of its target in the list.
    pub(super) entry: usize,
    /// The index of the value in that target.
    pub(super) index: usize,
}

/// The kind of the item at the wanted address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SearchGoal {
    /// The slot that a fault is attributed to.
    Slot,
    /// A value of this type that a function of the program rejected.
    RejectedValue(TypeId),
    /// A target; the path to it is wanted.
    Target,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Step {
    Field(&'static str),
    Index(usize),
}

/// The target of one pointer: one or several adjacent values.
#[derive(Debug, Clone, Copy)]
pub(super) struct Targets {
    pub(super) start: *const u8,
    pub(super) count: usize,
    pub(super) stride: usize,
    pub(super) many: bool,
    pub(super) trace: unsafe fn(*const u8, &mut Trace),
    /// The pointer that leads here; `None` for the root.
    pub(super) pointer: Option<Pointer>,
}

impl Targets {
    /// Returns the address of the value at `index`.
    fn value(&self, index: usize) -> *const u8 {
        self.start.wrapping_add(index.wrapping_mul(self.stride))
    }
}

/// A pointer that the walk has met.
///
/// The holder is recorded, not looked up by its address: functions of the program may have changed
/// cells before another one rejected a value, so the targets may be in any order.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pointer {
    pub(super) slot: usize,
    /// The value that contains the pointer, in a target that is earlier in the list.
    pub(super) holder: ValuePosition,
}

/// Maximum number of targets of a walk. A walk that meets more ends without a path, because the
/// text of an error does not justify more memory.
pub(super) const MAX_TARGETS: usize = 1 << 20;

/// Maximum number of pointers of a path that are shown; of a longer path, the end is shown.
const MAX_SHOWN_POINTERS: usize = 12;

impl Trace {
    /// Returns true if the walk is over, because it was before or because `slot` is the wanted one.
    ///
    /// Called for each slot that `read` could have attributed a fault to, before its bytes are
    /// interpreted.
    #[must_use]
    pub fn hit<T>(&mut self, slot: *const T) -> bool {
        if self.sought == SearchGoal::Slot {
            self.hit_if(slot.addr(), SlotType::new::<T>());
        }
        self.is_over()
    }

    /// Like [`hit`](Self::hit), for a value that a function of the program may have rejected.
    #[must_use]
    pub fn hit_verified<T>(&mut self, slot: *const T) -> bool {
        if self.sought == SearchGoal::RejectedValue(typeid::of::<T>()) {
            self.hit_if(slot.addr(), SlotType::new::<T>());
        }
        self.is_over()
    }

    /// Ends the walk if `address` is the wanted one.
    pub(super) fn hit_if(&mut self, address: usize, of: SlotType) {
        if !self.is_over() && address == self.wanted {
            self.found = Some(of);
        }
    }

    /// Returns true if the walk is over.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.found.is_some() || self.lost
    }

    /// Returns the indexes of the values from `first` on that may contain the wanted slot. This is
    /// one value, or two at a boundary, because a zero-sized slot may lie at the end of the value
    /// that it belongs to.
    pub(crate) fn elements_of<T>(&self, first: *const T, count: usize) -> Range<usize> {
        let Some(offset) = self.wanted.checked_sub(first.addr()) else {
            return 0..0;
        };
        let Some(index) = offset.checked_div(size_of::<T>()) else {
            // Zero-sized values all have the same address, and the first one is enough for the
            // message.
            return 0..count.min(usize::from(offset == 0));
        };
        let is_at_end = offset == index.wrapping_mul(size_of::<T>());
        let start = index.wrapping_sub(usize::from(is_at_end && index > 0));
        start.min(count)..index.saturating_add(1).min(count)
    }

    /// Enters a field.
    pub fn enter(&mut self, field: &'static str) {
        self.path.push(Step::Field(field));
    }

    /// Enters an element.
    pub fn enter_index(&mut self, index: usize) {
        self.path.push(Step::Index(index));
    }

    /// Leaves a field or an element. Returns true if the walk is over; the path is then kept.
    #[must_use]
    pub fn leave(&mut self) -> bool {
        if !self.is_over() {
            self.path.pop();
        }
        self.is_over()
    }

    /// Walks a trait object.
    ///
    /// # Safety
    ///
    /// As for [`Pointee::trace_target`](crate::model::Pointee::trace_target), with what
    /// [`Class::claim`](crate::class::Class::claim) returned.
    pub unsafe fn dynamic<S>(&mut self, slot: *const S, target: *const u8) {
        if self.targets.is_none() {
            return;
        }
        // A function of the program that changed a cell before another one rejected a value may
        // have removed pointers from the graph. The classes recorded for these are skipped.
        while let Some(noted) = self.classes.pop() {
            if noted.is_of(target) {
                // SAFETY: the pass claimed a target of this class at this address.
                return unsafe { noted.class.trace(slot.cast(), target, self) };
            }
        }
        self.lost = true;
    }
}

impl Trace {
    /// Walks all targets in order until the wanted item is found in the value at `at`.
    ///
    /// # Safety
    ///
    /// As for [`locate`](super::locate::locate).
    pub(super) unsafe fn walk(&mut self) {
        let mut entry = 0;
        while let Some(targets) = self
            .targets
            .as_ref()
            .and_then(|all| all.get(entry))
            .copied()
        {
            for index in 0..targets.count {
                self.path.clear();
                self.at = ValuePosition { entry, index };
                // SAFETY: after a fault, no function of the program has run on the graph. The pass
                // reached these values in this order and the walk ends at the fault, so this value
                // was read completely or in part. After a rejection, all targets were read,
                // whatever their order is now.
                unsafe { (targets.trace)(targets.value(index), self) };
                if self.is_over() {
                    return;
                }
            }
            entry = entry.wrapping_add(1);
        }
    }
}

/// Returns the path from the root to the slot that `trace` found.
///
/// # Safety
///
/// `targets` must be those that `trace` collected on its walk, and the buffer must not have been
/// changed since.
pub(super) unsafe fn path_of(mut trace: Trace, targets: &[Targets]) -> String {
    let mut pieces = Vec::new();
    let mut hidden = 0usize;
    // Each step leads to an earlier target, so this loop terminates.
    while let Some(of) = targets.get(trace.at.entry) {
        let mut piece = String::new();
        if of.many {
            let _ = write!(piece, "[{}]", trace.at.index);
        }
        for step in &trace.path {
            let _ = match step {
                Step::Field(name) => write!(piece, ".{name}"),
                Step::Index(index) => write!(piece, "[{index}]"),
            };
        }
        if pieces.len() < MAX_SHOWN_POINTERS {
            pieces.push(piece);
        } else {
            hidden = hidden.wrapping_add(1);
        }
        let Some(pointer) = of.pointer else {
            break;
        };
        trace.at = pointer.holder;
        let holder = targets.get(trace.at.entry);
        if let Some(holder) = holder.filter(|_| pieces.len() < MAX_SHOWN_POINTERS) {
            trace.wanted = pointer.slot;
            trace.sought = SearchGoal::Slot;
            trace.found = None;
            trace.path.clear();
            // SAFETY: the first walk met the pointer in this value, and nothing has changed since.
            // This walk ends at the same pointer, and everything before it was read.
            unsafe { (holder.trace)(holder.value(trace.at.index), &mut trace) };
        }
    }
    let mut path = String::new();
    if hidden > 0 {
        let _ = write!(path, "…({hidden} more)…");
    }
    for piece in pieces.iter().rev() {
        path.push_str(piece);
    }
    path
}
