//! Targets that several pointers may lead to.
//!
//! The first pointer to a shared target claims it, like any other; each further one names it by its
//! number in the table of those that were met. The table knows the pointer that was made for each,
//! so identity is kept without a map from addresses.
//!
//! A pointer in a `Cell` may lead back to what holds it. Any other must not: nothing could build
//! such a graph without a `Cell`, and every derived `Debug` or `PartialEq` would walk it for ever. Nor
//! must other ways to a target than the first be longer than a message may be deep.

use std::any::TypeId;
use std::mem::{MaybeUninit, size_of};
use std::ptr;

use super::KEEP;
use super::pass::{Fault, FaultKind, Pass};
use crate::keep::clear;
use crate::model::{InPlace, Pointee};
use crate::received::Wire;
use crate::wire::SHARED;

/// A shared target.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    /// The type that the pointer was made for, lifetimes aside.
    key: TypeId,
    /// The second word of the pointer's wire form.
    meta: u64,
    /// The pointer, of one word or two.
    pointer: MaybeUninit<[*const u8; 2]>,
    /// The shared target that it was first reached from, unless through a `Cell`.
    pub(super) from: u32,
    /// How many pointers led to it first; [`NONE`] where it holds none itself.
    pub(super) level: u32,
    /// How many led to the last of the objects that belong to it.
    pub(super) last: u32,
}

/// A further pointer to a target, not in a `Cell`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Again {
    pub(super) from: u32,
    pub(super) to: u32,
    /// How many pointers lead to the target where the one that holds this was met.
    pub(super) level: u32,
}

impl Entry {
    /// Where the target stands.
    pub(super) fn address(&self) -> Option<ptr::NonNull<u8>> {
        // SAFETY: every pointer begins with its address, a word.
        let address = unsafe { self.pointer.as_ptr().cast::<*const u8>().read() };
        ptr::NonNull::new(address.cast_mut())
    }
}

impl Entry {
    #[inline(always)]
    fn of<T: Pointee + ?Sized>(pointer: *const T, meta: u64, from: u32, level: u32) -> Self {
        const { assert!(size_of::<*const T>() <= size_of::<[*const u8; 2]>()) };
        let mut erased = MaybeUninit::<[*const u8; 2]>::uninit();
        // SAFETY: a pointer has one word or two, asserted above, and `erased` room for two.
        unsafe { erased.as_mut_ptr().cast::<*const T>().write(pointer) };
        Self {
            key: typeid::of::<T>(),
            meta,
            pointer: erased,
            from,
            level,
            last: if level == NONE { 0 } else { level },
        }
    }
}

/// No shared target.
pub(super) const NONE: u32 = u32::MAX;
/// First and further pointers together are counted in 32 bits.
const MOST: usize = 1 << 30;

/// The shared targets of a message, the root being the first.
#[derive(Debug, Default)]
pub(crate) struct Table {
    pub(super) entries: Vec<Entry>,
    /// The first of them, before it is needed.
    root: Option<Entry>,
    /// Which target leads to which, beyond the first pointer to each; `Cell`s left out.
    pub(super) again: Vec<Again>,
    /// Whether one of `again` leads to a target that was not met later.
    pub(super) backward: bool,
    most: usize,
    /// Whether a pointer was met that stands in a `Cell`, or nothing in its place.
    cells: bool,
    /// Room for the search for circles and for the longest ways.
    pub(super) degree: Vec<u32>,
    pub(super) starts: Vec<u32>,
    pub(super) targets: Vec<u32>,
    pub(super) steps: Vec<u32>,
    pub(super) ready: Vec<u32>,
    pub(super) longest: Vec<u32>,
}

// SAFETY: within a pass its pointers lead into the buffer that the pass borrows; what is left of them
// afterwards nobody looks at, as a pass begins with emptying the table.
unsafe impl Send for Table {}
// SAFETY: as above, and shared access hands out nothing.
unsafe impl Sync for Table {}

impl Pass<'_> {
    /// Notes a pointer in a `Cell`.
    #[inline(always)]
    pub(crate) fn note_cell(&mut self) {
        self.shared.cells = true;
    }

    /// Reads a pointer to a shared target, which may lead in a circle if it stands in a `Cell`.
    ///
    /// # Errors
    ///
    /// A [`Fault`] of the slot when it names no target, or one of another type; else as for
    /// [`Pointee::claim`] and [`Pointee::read_now`].
    ///
    /// # Safety
    ///
    /// As for [`InPlace::read`](crate::model::InPlace::read), with a slot of the layout of a
    /// reference that holds these words.
    #[inline]
    pub(crate) unsafe fn shared<T: Pointee + ?Sized>(
        &mut self,
        pointer: *mut &T,
        [place, meta]: [u64; 2],
        in_cell: bool,
    ) -> Result<(), Fault> {
        let slot = pointer.cast::<u8>();
        let pointer = pointer.cast::<*const T>();
        if self.shared.entries.is_empty() {
            self.shared.entries.extend(self.shared.root);
        }
        if place & SHARED != 0 {
            let known = self.shared.get::<T>(place & !SHARED, meta);
            let (number, target) = known.ok_or_else(|| Fault::new(slot, FaultKind::NotShared))?;
            let again = Again {
                from: self.owner,
                to: number,
                level: self.next_level(),
            };
            if !in_cell && !self.shared.note(again) {
                return Err(Fault::new(slot, FaultKind::Shared));
            }
            // SAFETY: the caller's slot is writable; a reference has the layout of a raw pointer.
            unsafe { pointer.write(target) };
            return Ok(());
        }
        let from = if in_cell { NONE } else { self.owner };
        let number = self.shared.next();
        let number = number.ok_or_else(|| Fault::new(slot, FaultKind::Shared))?;
        let target = T::claim(Self::shared_edge(slot, place, meta, number), self)?;
        let level = if self.owners.has_claimed(number) {
            self.next_level()
        } else {
            NONE
        };
        self.shared.push::<T>(target, meta, from, level);
        // SAFETY: as above.
        unsafe { pointer.write(target) };
        // SAFETY: `claim` just returned this target, and the slot holds it.
        unsafe { T::read_now(target, self) }
    }

    /// How many pointers lead to what is claimed next.
    fn next_level(&self) -> u32 {
        u32::try_from(self.depth.now.saturating_add(1)).unwrap_or(NONE.wrapping_sub(1))
    }
}

impl Table {
    /// What is known of a message that was read. Only a pointer in a `Cell` can be changed through a
    /// shared reference.
    pub(super) fn wire(&self) -> Wire {
        if self.cells {
            Wire::Changed
        } else {
            Wire::AsRead
        }
    }

    /// Adds a target, to which `pointer` was made.
    #[inline(always)]
    fn push<T: Pointee + ?Sized>(&mut self, pointer: *const T, meta: u64, from: u32, level: u32) {
        self.entries.push(Entry::of(pointer, meta, from, level));
    }

    /// Notes that an object which belongs to a target lies as deep as `level`.
    pub(super) fn note_last(&mut self, number: u32, level: u32) {
        if let Some(entry) = self.entries.get_mut(number as usize) {
            entry.last = entry.last.max(level);
        }
    }

    /// The number of the target that is added next, unless there are too many.
    #[inline(always)]
    fn next(&self) -> Option<u32> {
        let number = u32::try_from(self.entries.len()).ok()?;
        (self.entries.len() < MOST.min(self.most)).then_some(number)
    }

    /// The target of this number, if it is one of this type.
    #[inline(always)]
    fn get<T: Pointee + ?Sized>(&self, number: u64, meta: u64) -> Option<(u32, *const T)> {
        let number = u32::try_from(number).ok()?;
        let entry = self.entries.get(number as usize)?;
        if entry.key != typeid::of::<T>() || entry.meta != meta {
            return None;
        }
        // SAFETY: the entry was made from a pointer to a type with this key: this one, as no type has
        // another's, lifetimes aside, and all references in a message have one.
        let pointer = unsafe { entry.pointer.as_ptr().cast::<*const T>().read() };
        Some((number, pointer))
    }

    /// Notes that a target leads to one that was met before; false when there are too many.
    #[inline(always)]
    fn note(&mut self, again: Again) -> bool {
        self.backward |= again.to <= again.from;
        self.again.push(again);
        self.again.len() < MOST.min(self.most)
    }

    /// The targets behind the root, for a walk that meets them again in the same order.
    pub(super) fn firsts(&self) -> Firsts {
        Firsts(self.entries.iter().skip(1).rev().copied().collect())
    }

    /// Forgets everything, lets `most` be added, and begins with the root as number 0.
    #[inline(always)]
    pub(super) fn reset<T: InPlace>(&mut self, most: usize, root: *const T) {
        self.most = most;
        self.cells = false;
        self.root = Some(Entry::of(root, 0, NONE, 0));
        // Without entries there is nothing else.
        if self.entries.capacity() > 0 {
            self.forget();
        }
    }

    fn forget(&mut self) {
        clear(&mut self.entries, KEEP);
        clear(&mut self.again, KEEP);
        self.backward = false;
        for list in [
            &mut self.degree,
            &mut self.starts,
            &mut self.targets,
            &mut self.steps,
            &mut self.ready,
            &mut self.longest,
        ] {
            clear(list, KEEP);
        }
    }
}

/// Shared targets that a walk has not met yet, the last one first.
#[derive(Debug)]
pub(super) struct Firsts(Vec<Entry>);

impl Firsts {
    /// Whether this pointer is the first to the next target.
    ///
    /// Further pointers to a target without size may be taken for the first to another one of the
    /// same type at its place: it makes no difference.
    pub(super) fn take<T: Pointee + ?Sized>(&mut self, pointer: *const T) -> bool {
        let next = self.0.last().filter(|next| next.key == typeid::of::<T>());
        // SAFETY: the entry was made from a pointer to a type with this key.
        let is_next = next.is_some_and(|next| unsafe {
            let of_next = next.pointer.as_ptr().cast::<*const T>().read();
            #[expect(
                ambiguous_wide_pointer_comparisons,
                reason = "both came from one cast, so equal objects have equal words"
            )]
            let same = of_next == pointer;
            same
        });
        if is_next {
            self.0.pop();
        }
        is_next
    }
}
