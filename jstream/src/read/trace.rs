//! From a fault's address back to the path of the field.
//!
//! A pass records nothing of how it came to a slot; it would cost every message what only a
//! broken one needs. When a pass has failed, the walk is repeated over what it made native, in
//! the same order and by the same types, until it meets the slot at fault. What lies behind that
//! slot is still wire form and is never looked at. No reference is made to any target; `Option`s
//! that were read are asked, by reference, where their payload lies.
//!
//! When a function of the program has refused a value, all of the message is native, but such functions
//! may have changed the cells: the walk then relies on no order, and follows only pointers to what the
//! pass claimed, each target once.

use std::any::{TypeId, type_name};
use std::fmt::Write as _;
use std::mem::size_of;
use std::ops::Range;

use super::checks::Refusal;
use super::describe::{describe, short};
use super::pass::{Fault, FaultKind, Pass};
use super::shared::Firsts;
use crate::class::Noted;
use crate::model::{InPlace, Pointee};

/// A walk in search of one slot.
#[derive(Debug)]
pub struct Trace {
    wanted: usize,
    sought: Sought,
    /// The shared targets of the pass that have not been met yet.
    firsts: Firsts,
    /// The classes of the pass's trait objects that have not been met yet, the last one first.
    classes: Vec<Noted>,
    path: Vec<Step>,
    found: Option<Found>,
    /// Whether there were too many targets to go on.
    lost: bool,
    /// Targets met, in the order of the pass; `None` while only a path is wanted.
    targets: Option<Vec<Targets>>,
    /// The value that is being walked.
    at: Place,
}

/// One value of those in the list of targets.
#[derive(Debug, Clone, Copy)]
struct Place {
    /// Where its target stands in the list.
    entry: usize,
    /// Which of the target's values it is.
    index: usize,
}

/// What stands at the address sought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sought {
    /// The slot that a fault is blamed on.
    Slot,
    /// A value of this type that a function of the program refused.
    Refused(TypeId),
    /// A target, to which a pointer is sought.
    Target,
}

#[derive(Debug, Clone, Copy)]
enum Step {
    Field(&'static str),
    Index(usize),
}

/// What stands in the slot at fault.
#[derive(Debug, Clone, Copy)]
pub(super) struct Found {
    pub(super) type_name: &'static str,
    pub(super) size: usize,
}

/// The targets of one pointer.
#[derive(Debug, Clone, Copy)]
struct Targets {
    start: *const u8,
    count: usize,
    stride: usize,
    many: bool,
    trace: unsafe fn(*const u8, &mut Trace),
    /// The pointer; `None` for the root.
    pointer: Option<Pointer>,
}

impl Targets {
    /// Where one of them stands.
    fn value(&self, index: usize) -> *const u8 {
        self.start.wrapping_add(index.wrapping_mul(self.stride))
    }
}

/// A pointer that the walk has met.
///
/// Who holds it is noted, not looked up by its address: a function of the program that changed cells
/// before another one refused a value may have put the targets into any order.
#[derive(Debug, Clone, Copy)]
struct Pointer {
    slot: usize,
    /// The value that it is a part of, of a target that stands earlier in the list.
    holder: Place,
}

/// A walk that meets more targets than this ends without a path: words are not worth more memory.
const MOST_TARGETS: usize = 1 << 20;

/// Paths longer than this many pointers are shown by their end.
const SHOWN: usize = 12;

impl Trace {
    /// Whether the walk is over: it was before, or the slot sought is this one.
    ///
    /// Called for each slot that `read` could have blamed, before anything is made of its bytes.
    #[must_use]
    pub fn hit<T>(&mut self, slot: *const T) -> bool {
        if self.sought == Sought::Slot {
            self.hit_if::<T>(slot.addr());
        }
        self.is_over()
    }

    /// The same for a value that a function of the program may have refused.
    #[must_use]
    pub fn hit_verified<T: InPlace>(&mut self, slot: *const T) -> bool {
        if self.sought == Sought::Refused(typeid::of::<T>()) {
            self.hit_if::<T>(slot.addr());
        }
        self.is_over()
    }

    /// The walk is over if a `T` at `address` is what is sought.
    fn hit_if<T>(&mut self, address: usize) {
        if !self.is_over() && address == self.wanted {
            self.found = Some(Found {
                type_name: type_name::<T>(),
                size: size_of::<T>(),
            });
        }
    }

    /// Whether the walk is over.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.found.is_some() || self.lost
    }

    /// Which of `count` values from `first` on may hold the slot sought: one, or where two meet, both,
    /// as a slot without size may stand at the end of the value that it belongs to.
    pub(crate) fn elements_of<T>(&self, first: *const T, count: usize) -> Range<usize> {
        let Some(offset) = self.wanted.checked_sub(first.addr()) else {
            return 0..0;
        };
        let Some(index) = offset.checked_div(size_of::<T>()) else {
            // Without size they all stand in one place, and the first says what is wrong.
            return 0..count.min(usize::from(offset == 0));
        };
        let is_at_end = offset == index.wrapping_mul(size_of::<T>());
        let start = index.wrapping_sub(usize::from(is_at_end && index > 0));
        start.min(count)..index.saturating_add(1).min(count)
    }

    /// Steps into a field.
    pub fn enter(&mut self, field: &'static str) {
        self.path.push(Step::Field(field));
    }

    /// Steps into an element.
    pub fn enter_index(&mut self, index: usize) {
        self.path.push(Step::Index(index));
    }

    /// Steps out again, and says whether the walk is over; if so the path stays as it is.
    #[must_use]
    pub fn leave(&mut self) -> bool {
        if !self.is_over() {
            self.path.pop();
        }
        self.is_over()
    }

    /// Notes that the pointer in `slot` leads to `count` values from `start` on.
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
        if self.sought == Sought::Target {
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
                self.lost = targets.len() >= MOST_TARGETS;
                targets.push(found);
            }
            return;
        }
        for index in self.elements_of(start, count) {
            // Flat targets are read at once, so they are walked at once.
            if many {
                self.enter_index(index);
            }
            // SAFETY: the pointer was read, so `count` values of `T` were claimed at `start`. The slot
            // at fault is in this one or in the next, if in any, so all before it were read.
            unsafe { T::trace(start.wrapping_add(index), self) };
            if self.is_over() {
                return;
            }
            if many {
                self.path.pop();
            }
        }
    }

    /// Walks a pointer to a shared target, unless it is a further one to it.
    ///
    /// # Safety
    ///
    /// `slot` must be a pointer that [`Pass::shared`] made, in the order of the pass.
    pub(crate) unsafe fn shared<T: Pointee + ?Sized>(&mut self, slot: *const &T) {
        if self.targets.is_none() {
            return;
        }
        // SAFETY: the caller's slot holds a pointer.
        let target = unsafe { slot.cast::<*const T>().read() };
        if self.firsts.take(target) {
            // SAFETY: the pass claimed this target for this pointer.
            unsafe { T::trace_target(slot, target, self) };
        }
    }

    /// Walks a trait object.
    ///
    /// # Safety
    ///
    /// As for [`Pointee::trace_target`], with what [`Class::claim`](crate::class::Class::claim)
    /// returned.
    pub unsafe fn dynamic<S>(&mut self, slot: *const S, target: *const u8) {
        if self.targets.is_none() {
            return;
        }
        // A function of the program that changed a cell before another one refused a value may have
        // taken pointers out of the graph: the classes noted for them are not met.
        while let Some(noted) = self.classes.pop() {
            if noted.is_of(target) {
                // SAFETY: the pass claimed a target of this class at this address.
                return unsafe { noted.class.trace(slot.cast(), target, self) };
            }
        }
        self.lost = true;
    }
}

/// # Safety
///
/// As for [`InPlace::trace`], with a `T` at `slot`.
unsafe fn trace_at<T: InPlace>(slot: *const u8, trace: &mut Trace) {
    // SAFETY: the caller's promise is passed on.
    unsafe { T::trace(slot.cast(), trace) }
}

/// Where a fault lies, in words.
#[derive(Debug)]
pub(crate) struct Located {
    pub(crate) path: String,
    pub(crate) what: String,
}

/// Says in words where the fault of a pass lies and what it is.
///
/// # Safety
///
/// `fault` must be that of `pass` over the message whose root of type `T` stands at `root`, and
/// the buffer must not have been touched since.
pub(super) unsafe fn locate<T: InPlace>(
    root: *const T,
    name: &str,
    fault: Fault,
    pass: &Pass<'_>,
) -> Located {
    let sought = match fault.kind {
        FaultKind::Circle | FaultKind::Far => Sought::Target,
        _ => Sought::Slot,
    };
    // SAFETY: the caller's promise is passed on.
    let (path, found) = unsafe { search(root, name, fault.slot.addr().get(), sought, pass) };
    let what = match found {
        // SAFETY: `found` says that `size` bytes of a slot begin at the fault, in the buffer.
        Some(found) => unsafe { describe(fault, found, pass.checks.said.as_deref()) },
        None => "the bytes are not valid here".to_owned(),
    };
    Located { path, what }
}

/// Says in words where a value stands that a function of the program refused, and why.
///
/// # Safety
///
/// As for [`locate`], after a pass without a fault.
pub(super) unsafe fn locate_refused<T: InPlace>(
    root: *const T,
    name: &str,
    refusal: Refusal,
    pass: &Pass<'_>,
) -> Located {
    let sought = Sought::Refused(refusal.0.key);
    // SAFETY: the caller's promise is passed on.
    let (path, _) = unsafe { search(root, name, refusal.0.slot, sought, pass) };
    Located {
        path,
        what: refusal.0.why,
    }
}

/// The path to what is sought, and what was found there.
///
/// # Safety
///
/// As for [`locate`].
unsafe fn search<T: InPlace>(
    root: *const T,
    name: &str,
    wanted: usize,
    sought: Sought,
    pass: &Pass<'_>,
) -> (String, Option<Found>) {
    let mut trace = Trace {
        wanted,
        sought,
        firsts: pass.shared.firsts(),
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
        at: Place { entry: 0, index: 0 },
    };
    if sought == Sought::Target {
        trace.hit_if::<T>(root.addr());
    }
    if !trace.is_over() {
        // SAFETY: the first entry is the root, with which the pass began.
        unsafe { trace.walk() };
    }
    let found = trace.found;
    let targets = trace.targets.take().unwrap_or_default();
    let path = match found {
        // SAFETY: the walk collected the targets, and found what is sought in the value at `at`.
        Some(_) => unsafe { path_of(trace, &targets) },
        None => "…".to_owned(),
    };
    (format!("{}{path}", short(name)), found)
}

impl Trace {
    /// Walks all targets in order until the slot is found; `at` says in which value.
    ///
    /// # Safety
    ///
    /// As for [`locate`].
    unsafe fn walk(&mut self) {
        let mut entry = 0;
        while let Some(targets) = self
            .targets
            .as_ref()
            .and_then(|all| all.get(entry))
            .copied()
        {
            for index in 0..targets.count {
                self.path.clear();
                self.at = Place { entry, index };
                // SAFETY: after a fault no function of the program has run on the graph: the pass met
                // these values in this order and the walk ends at the fault, so this one was read, or
                // begun. After a refusal all targets were read, whatever the order is now.
                unsafe { (targets.trace)(targets.value(index), self) };
                if self.is_over() {
                    return;
                }
            }
            entry = entry.wrapping_add(1);
        }
    }
}

/// The path from the root to the slot that `trace` found.
///
/// # Safety
///
/// `targets` must be what `trace` collected on its walk, over a buffer that has not been changed since.
unsafe fn path_of(mut trace: Trace, targets: &[Targets]) -> String {
    let mut pieces = Vec::new();
    let mut hidden = 0usize;
    // Each step leads to an earlier target, so this ends.
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
        if pieces.len() < SHOWN {
            pieces.push(piece);
        } else {
            hidden = hidden.wrapping_add(1);
        }
        let Some(pointer) = of.pointer else {
            break;
        };
        trace.at = pointer.holder;
        let holder = targets.get(trace.at.entry);
        if let Some(holder) = holder.filter(|_| pieces.len() < SHOWN) {
            trace.wanted = pointer.slot;
            trace.sought = Sought::Slot;
            trace.found = None;
            trace.path.clear();
            // SAFETY: the walk met the pointer in this value, and nothing has changed since: this one
            // ends there, too, and what stands before it was read.
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
