//! Location of a fault, or of a value that a function of the program rejected.

use std::mem::size_of;

use super::describe::{SlotType, describe, short};
use super::error::ReadError;
use super::fault::{Fault, FaultKind};
use super::lists::Lists;
use super::refusal::Refusal;
use super::trace::{MAX_TARGETS, Pointer, SearchGoal, Targets, Trace, ValuePosition, path_of};
use crate::model::{InPlace, Pointee};

/// The root of a pass. Not generic, so that a search is compiled once for all types.
pub(super) struct TracedRoot {
    start: *const u8,
    /// The type of the root on the wire.
    found: SlotType,
    /// The name of the root's type in the program.
    name: &'static str,
    trace: unsafe fn(*const u8, &mut Trace),
}

impl TracedRoot {
    pub(super) fn new<T: InPlace>(root: *const T, name: &'static str) -> Self {
        Self {
            start: root.cast(),
            found: SlotType::new::<T>(),
            name,
            trace: trace_at::<T>,
        }
    }
}

/// The failure of a pass.
pub(super) enum PassFailure {
    /// A value is invalid.
    Fault(Fault),
    /// A function of the program rejected a value, after a pass without a fault.
    Refused(Refusal),
}

/// Returns the error for the failure of a pass over the message at the address `base`. Takes the
/// lists alone, so that the rest of a pass can stay in registers.
///
/// # Safety
///
/// The failure must be that of the pass over the message with this root, which had these lists. The
/// buffer must not have been touched since.
#[cold]
pub(super) unsafe fn locate(
    root: &TracedRoot,
    failure: PassFailure,
    lists: &Lists,
    base: usize,
) -> ReadError {
    let (address, path, details) = match failure {
        PassFailure::Fault(fault) => {
            let sought = match fault.kind {
                FaultKind::Cycle | FaultKind::DeepOnOtherPath => SearchGoal::Target,
                _ => SearchGoal::Slot,
            };
            let address = fault.slot.addr().get();
            // SAFETY: the caller's promise is passed on.
            let (path, found) = unsafe { search(root, address, sought, lists) };
            let adapter_error = lists.checks.adapter_error.as_deref();
            let details = match found {
                // SAFETY: `found` says that a slot of `size` bytes begins at the fault, in the
                // buffer.
                Some(found) => unsafe { describe(fault, found, adapter_error) },
                None => "the bytes are invalid".to_owned(),
            };
            (address, path, details)
        }
        PassFailure::Refused(refusal) => {
            let rejected = refusal.0;
            let sought = SearchGoal::RejectedValue(rejected.key);
            // SAFETY: the caller's promise is passed on.
            let (path, _) = unsafe { search(root, rejected.slot, sought, lists) };
            (rejected.slot, path, rejected.reason)
        }
    };
    ReadError::Value {
        path,
        details,
        offset: address.wrapping_sub(base),
    }
}

/// Returns the path to the wanted item, and the type found there.
///
/// # Safety
///
/// As for [`locate`].
unsafe fn search(
    root: &TracedRoot,
    wanted: usize,
    sought: SearchGoal,
    lists: &Lists,
) -> (String, Option<SlotType>) {
    let mut trace = Trace {
        wanted,
        sought,
        first_pointers: lists.shared.first_pointers(),
        classes: lists.classes.iter().rev().copied().collect(),
        path: Vec::new(),
        found: None,
        lost: false,
        targets: Some(vec![Targets {
            start: root.start,
            count: 1,
            stride: root.found.size,
            many: false,
            trace: root.trace,
            pointer: None,
        }]),
        at: ValuePosition { entry: 0, index: 0 },
    };
    if sought == SearchGoal::Target {
        trace.hit_if(root.start.addr(), root.found);
    }
    if !trace.is_over() {
        // SAFETY: the first entry is the root, with which the pass began.
        unsafe { trace.walk() };
    }
    let found = trace.found;
    let targets = trace.targets.take().unwrap_or_default();
    let path = match found {
        // SAFETY: the walk collected the targets, and found the wanted item in the value at `at`.
        Some(_) => unsafe { path_of(trace, &targets) },
        None => "…".to_owned(),
    };
    (format!("{}{path}", short(root.name)), found)
}

impl Trace {
    /// Records that the pointer in `slot` leads to `count` values at `start`.
    ///
    /// # Safety
    ///
    /// The pass must have claimed these values for this pointer, in this order.
    pub(crate) unsafe fn target<S, T: InPlace>(
        &mut self,
        slot: *const S,
        start: *const T,
        count: usize,
        many: bool,
    ) {
        if self.sought == SearchGoal::Target {
            self.hit_if(start.addr(), SlotType::new::<T>());
            if self.is_over() {
                return;
            }
        }
        let found = Targets {
            start: start.cast(),
            count,
            stride: size_of::<T>(),
            many,
            trace: trace_at::<T>,
            pointer: Some(Pointer {
                slot: slot.addr(),
                holder: self.at,
            }),
        };
        if !T::SHAPE.flat {
            if let Some(targets) = self.targets.as_mut().filter(|_| count > 0) {
                self.lost = targets.len() >= MAX_TARGETS;
                targets.push(found);
            }
            return;
        }
        for index in self.elements_of(start, count) {
            // Flat targets are read at once, so they are walked at once.
            if many {
                self.enter_index(index);
            }
            // SAFETY: the pointer was read, so `count` values of `T` were claimed at `start`. If
            // the slot at fault is in this target, it is in this value or in the next one of the
            // range, so all slots before it were read.
            unsafe { T::trace(start.wrapping_add(index), self) };
            if self.is_over() {
                return;
            }
            if many {
                self.path.pop();
            }
        }
    }

    /// Walks the target of a shared pointer if this is the first pointer to it.
    ///
    /// # Safety
    ///
    /// `slot` must hold a pointer that [`Pass::shared`](crate::read::Pass::shared) made, and
    /// pointers must be walked in the order of the pass.
    pub(crate) unsafe fn shared<T: Pointee + ?Sized>(&mut self, slot: *const &T) {
        if self.targets.is_none() {
            return;
        }
        // SAFETY: the caller's slot holds a pointer.
        let target = unsafe { slot.cast::<*const T>().read() };
        if self.first_pointers.remove_if_next(target) {
            // SAFETY: the pass claimed this target for this pointer.
            unsafe { T::trace_target(slot, target, self) };
        }
    }
}

/// # Safety
///
/// As for [`InPlace::trace`], with a `T` at `slot`.
unsafe fn trace_at<T: InPlace>(slot: *const u8, trace: &mut Trace) {
    // SAFETY: the caller's promise is passed on.
    unsafe { T::trace(slot.cast(), trace) }
}
