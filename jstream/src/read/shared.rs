//! Targets of several pointers.
//!
//! The first pointer to a shared target claims it, like any other pointer. Each further pointer
//! names the target by its number in the table of the shared targets that were read. The table
//! holds the pointer that was made for each target, so object identity is preserved without a map
//! from addresses.
//!
//! A pointer in a `Cell` may form a cycle. A cycle of other pointers is rejected: no program could
//! build it, and every derived `Debug` or `PartialEq` would recurse forever on it. A path that is
//! not the first one to a target must not exceed the depth limit either.
//!
//! Decisions 023 and 024 have the reasons.

use std::any::TypeId;
use std::mem::{MaybeUninit, size_of};
use std::ptr;

use super::fault::NONE;
use super::limits::KEEP;
use crate::keep::clear;

/// A shared target.
#[derive(Debug, Clone, Copy)]
pub(super) struct SharedTarget {
    /// The type that the pointer was made for, without lifetimes.
    key: TypeId,
    /// The second word of the pointer's wire form.
    meta: u64,
    /// The pointer, which has one word or two.
    pointer: MaybeUninit<[*const u8; 2]>,
    /// The shared target from which it was first reached; [`NONE`] if through a `Cell`.
    pub(super) from: u32,
    /// Depth at which it was first reached; [`NONE`] if the target itself holds no pointers.
    pub(super) level: u32,
    /// Depth of the deepest object that belongs to it.
    pub(super) last: u32,
}

/// A further pointer to a target, outside a `Cell`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FurtherEdge {
    pub(crate) from: u32,
    pub(crate) to: u32,
    /// Depth of the target along this pointer, given the depth at which its holder was first
    /// reached.
    pub(crate) level: u32,
}

impl SharedTarget {
    /// Returns the address of the target.
    pub(super) fn address(&self) -> Option<ptr::NonNull<u8>> {
        // SAFETY: every pointer begins with its address, which is one word.
        let address = unsafe { self.pointer.as_ptr().cast::<*const u8>().read() };
        ptr::NonNull::new(address.cast_mut())
    }
}

/// The root of a pass.
#[derive(Debug, Clone, Copy)]
pub(super) struct PassRoot {
    address: *const u8,
    /// The type of the root, without lifetimes.
    key: TypeId,
}

impl PassRoot {
    #[inline(always)]
    pub(super) fn new<T>(root: *const T) -> Self {
        Self {
            address: root.cast(),
            key: typeid::of::<T>(),
        }
    }
}

impl From<PassRoot> for SharedTarget {
    fn from(root: PassRoot) -> Self {
        Self {
            key: root.key,
            ..Self::new(root.address, 0, NONE, 0)
        }
    }
}

impl SharedTarget {
    #[inline(always)]
    fn new<T: ?Sized>(pointer: *const T, meta: u64, from: u32, level: u32) -> Self {
        const { assert!(size_of::<*const T>() <= size_of::<[*const u8; 2]>()) };
        let mut erased = MaybeUninit::<[*const u8; 2]>::uninit();
        // SAFETY: a pointer has one word or two, asserted above, and `erased` has room for two.
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

/// Maximum number of first pointers, and of further pointers. Their sum is counted in 32 bits.
const MOST: usize = 1 << 30;

/// The shared targets of a message, beginning with the root.
#[derive(Debug, Default)]
pub(crate) struct SharedTable {
    pub(super) entries: Vec<SharedTarget>,
    /// Edges between targets beyond the first pointer to each, without pointers in `Cell`s.
    pub(super) further_edges: Vec<FurtherEdge>,
    /// True if an edge in `further_edges` leads to a target that was not reached later than its
    /// holder.
    pub(super) backward: bool,
    most: usize,
    /// True if the message has a pointer in a `Cell`, or an empty `Cell` in its place.
    pub(super) cells: bool,
    /// Scratch memory for the search for cycles and for the longest paths.
    pub(super) degree: Vec<u32>,
    pub(super) starts: Vec<u32>,
    pub(super) targets: Vec<u32>,
    pub(super) steps: Vec<u32>,
    pub(super) ready: Vec<u32>,
    pub(super) longest: Vec<u32>,
}

// SAFETY: during a pass the pointers lead into the buffer that the pass borrows. After the pass
// they are not used any more, because every pass begins by emptying the table.
unsafe impl Send for SharedTable {}
// SAFETY: as above, and shared access does not give out the pointers.
unsafe impl Sync for SharedTable {}

impl SharedTable {
    /// Adds a target together with the pointer that was made to it.
    #[inline(always)]
    pub(super) fn push<T: ?Sized>(&mut self, pointer: *const T, meta: u64, from: u32, level: u32) {
        self.entries
            .push(SharedTarget::new(pointer, meta, from, level));
    }

    /// Adds a target of which only the paths to it are of interest. Returns its number.
    pub(crate) fn push_level(&mut self, from: u32, level: u32) -> u32 {
        let number = u32::try_from(self.entries.len()).unwrap_or(NONE);
        self.push(ptr::dangling::<u8>(), 0, from, level);
        number
    }

    /// Records that an object of the target `number` is at the depth `level`.
    pub(crate) fn note_last(&mut self, number: u32, level: u32) {
        if let Some(entry) = self.entries.get_mut(number as usize) {
            entry.last = entry.last.max(level);
        }
    }

    /// Returns the number of the target that is added next, or `None` if there are too many.
    #[inline(always)]
    pub(super) fn next(&self) -> Option<u32> {
        let number = u32::try_from(self.entries.len()).ok()?;
        (self.entries.len() < MOST.min(self.most)).then_some(number)
    }

    /// Returns the target with this number if it has this type.
    #[inline(always)]
    pub(super) fn get<T: ?Sized>(&self, number: u64, meta: u64) -> Option<(u32, *const T)> {
        let number = u32::try_from(number).ok()?;
        let entry = self.entries.get(number as usize)?;
        if entry.key != typeid::of::<T>() || entry.meta != meta {
            return None;
        }
        // SAFETY: the entry was made from a pointer to a type with this key. That is this type,
        // because different types have different keys, apart from lifetimes, and all references in
        // a message have the same lifetime.
        let pointer = unsafe { entry.pointer.as_ptr().cast::<*const T>().read() };
        Some((number, pointer))
    }

    /// Records a further pointer to a target. Returns false if there are too many.
    #[inline(always)]
    pub(crate) fn record(&mut self, edge: FurtherEdge) -> bool {
        self.backward |= edge.to <= edge.from;
        self.further_edges.push(edge);
        self.further_edges.len() <= MOST.min(self.most)
    }

    /// Returns the targets other than the root, for a walk that meets them in the same order.
    pub(super) fn first_pointers(&self) -> FirstPointers {
        FirstPointers(self.entries.iter().skip(1).rev().copied().collect())
    }

    /// Clears the table, and sets the maximum number of targets to `most`.
    pub(super) fn reset(&mut self, most: usize) {
        self.most = most;
        self.cells = false;
        // If there are no entries, all other lists are empty too.
        if self.entries.capacity() > 0 {
            self.forget();
        }
    }

    fn forget(&mut self) {
        clear(&mut self.entries, KEEP);
        clear(&mut self.further_edges, KEEP);
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

/// Shared targets that a walk has not met yet, in reverse order.
#[derive(Debug)]
pub(super) struct FirstPointers(Vec<SharedTarget>);

impl FirstPointers {
    /// Returns true if this pointer is the first one to the next target, and removes that target.
    ///
    /// A further pointer to a zero-sized target may be taken for the first pointer to another
    /// target of the same type at the same address. This makes no difference.
    pub(super) fn remove_if_next<T: ?Sized>(&mut self, pointer: *const T) -> bool {
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
