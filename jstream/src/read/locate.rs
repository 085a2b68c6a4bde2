//! Location of a fault, or of a value that a function of the program rejected.

use std::mem::size_of;

use super::describe::{SlotType, describe, short};
use super::fault::{Fault, FaultKind};
use super::pass::Pass;
use super::refusal::Refusal;
use super::trace::{MAX_TARGETS, Pointer, SearchGoal, Targets, Trace, ValuePosition, path_of};
use crate::model::{InPlace, Pointee};

/// The location of a fault and its description.
#[derive(Debug)]
pub(crate) struct FaultLocation {
    pub(crate) path: String,
    pub(crate) what: String,
}

/// Describes the location and the kind of the fault of a pass.
///
/// # Safety
///
/// `fault` must be the fault of `pass` over the message whose root of type `T` is at `root`. The
/// buffer must not have been touched since.
pub(super) unsafe fn locate<T: InPlace>(
    root: *const T,
    name: &str,
    fault: Fault,
    pass: &Pass<'_>,
) -> FaultLocation {
    let sought = match fault.kind {
        FaultKind::Cycle | FaultKind::DeepOnOtherPath => SearchGoal::Target,
        _ => SearchGoal::Slot,
    };
    // SAFETY: the caller's promise is passed on.
    let (path, found) = unsafe { search(root, name, fault.slot.addr().get(), sought, pass) };
    let what = match found {
        // SAFETY: `found` says that a slot of `size` bytes begins at the fault, in the buffer.
        Some(found) => unsafe { describe(fault, found, pass.checks.adapter_error.as_deref()) },
        None => "the bytes are invalid".to_owned(),
    };
    FaultLocation { path, what }
}

/// Describes the location of a value that a function of the program rejected, and the reason.
///
/// # Safety
///
/// As for [`locate`], after a pass without a fault.
pub(super) unsafe fn locate_refused<T: InPlace>(
    root: *const T,
    name: &str,
    refusal: Refusal,
    pass: &Pass<'_>,
) -> FaultLocation {
    let sought = SearchGoal::RejectedValue(refusal.0.key);
    // SAFETY: the caller's promise is passed on.
    let (path, _) = unsafe { search(root, name, refusal.0.slot, sought, pass) };
    FaultLocation {
        path,
        what: refusal.0.why,
    }
}

/// Returns the path to the wanted item, and the type found there.
///
/// # Safety
///
/// As for [`locate`].
unsafe fn search<T: InPlace>(
    root: *const T,
    name: &str,
    wanted: usize,
    sought: SearchGoal,
    pass: &Pass<'_>,
) -> (String, Option<SlotType>) {
    let mut trace = Trace {
        wanted,
        sought,
        first_pointers: pass.shared.first_pointers(),
        classes: pass.classes.iter().rev().copied().collect(),
        path: Vec::new(),
        found: None,
        lost: false,
        targets: Some(vec![Targets {
            start: root.cast(),
            count: 1,
            stride: size_of::<T>(),
            many: false,
            trace: trace_at::<T>,
            pointer: None,
        }]),
        at: ValuePosition { entry: 0, index: 0 },
    };
    if sought == SearchGoal::Target {
        trace.hit_if::<T>(root.addr());
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
    (format!("{}{path}", short(name)), found)
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
            self.hit_if::<T>(start.addr());
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
    /// `slot` must hold a pointer that [`Pass::shared`] made, and pointers must be walked in the
    /// order of the pass.
    pub(crate) unsafe fn shared<T: Pointee + ?Sized>(&mut self, slot: *const &T) {
        if self.targets.is_none() {
            return;
        }
        // SAFETY: the caller's slot holds a pointer.
        let target = unsafe { slot.cast::<*const T>().read() };
        if self.first_pointers.take(target) {
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
