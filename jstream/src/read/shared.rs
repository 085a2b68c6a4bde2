//! Targets that several pointers may lead to.
//!
//! The first pointer to a shared target claims it, like any other; each further one names it by its
//! number in the table of those that were met. The table knows the pointer that was made for each,
//! so identity is kept without a map from addresses.
//!
//! A pointer in a `Cell` may lead back to what holds it. Any other must not: nothing could build
//! such a graph without a `Cell`, and every derived `Debug` or `PartialEq` would walk it for ever.

use std::any::TypeId;
use std::mem::{MaybeUninit, size_of};
use std::ptr;

use super::pass::{Fault, FaultKind, Pass};
use crate::model::Pointee;
use crate::wire::SHARED;

/// A shared target.
#[derive(Debug, Clone, Copy)]
struct Entry {
    /// The type that the pointer was made for.
    key: TypeId,
    /// The second word of the pointer's wire form.
    meta: u64,
    /// The pointer, of one word or two.
    pointer: MaybeUninit<[*const u8; 2]>,
    /// The shared target that it was first reached from, unless through a `Cell`.
    from: u32,
}

/// No shared target.
pub(super) const NONE: u32 = u32::MAX;
/// First and further pointers together are counted in 32 bits.
const MOST: usize = 1 << 30;

/// The shared targets of a message, the root being the first.
#[derive(Debug, Default)]
pub(crate) struct Table {
    entries: Vec<Entry>,
    /// Which target leads to which, beyond the first pointer to each; `Cell`s left out.
    again: Vec<(u32, u32)>,
    /// Whether one of `again` leads to a target that was not met later.
    backward: bool,
    most: usize,
    /// Room for the search for circles.
    degree: Vec<u32>,
    starts: Vec<u32>,
    targets: Vec<u32>,
    ready: Vec<u32>,
}

// SAFETY: a table between two passes is empty, and within one its pointers lead into the buffer that
// the pass borrows.
unsafe impl Send for Table {}
// SAFETY: as above, and shared access hands out nothing.
unsafe impl Sync for Table {}

impl Pass<'_> {
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
        if place & SHARED != 0 {
            let known = self.shared.get::<T>(place & !SHARED, meta);
            let (number, target) = known.ok_or_else(|| Fault::new(slot, FaultKind::NotShared))?;
            if !in_cell && !self.shared.note(self.owner, number) {
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
        self.shared.push::<T>(target, meta, from);
        // SAFETY: as above.
        unsafe { pointer.write(target) };
        // SAFETY: `claim` just returned this target, and the slot holds it.
        unsafe { T::read_now(target, self) }
    }
}

impl Table {
    /// Adds a target, to which `pointer` was made.
    #[inline(always)]
    pub(super) fn push<T: Pointee + ?Sized>(&mut self, pointer: *const T, meta: u64, from: u32) {
        const { assert!(size_of::<*const T>() <= size_of::<[*const u8; 2]>()) };
        let mut erased = MaybeUninit::<[*const u8; 2]>::uninit();
        // SAFETY: a pointer has one word or two, asserted above, and `erased` room for two.
        unsafe { erased.as_mut_ptr().cast::<*const T>().write(pointer) };
        self.entries.push(Entry {
            key: TypeId::of::<T::Key>(),
            meta,
            pointer: erased,
            from,
        });
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
        if entry.key != TypeId::of::<T::Key>() || entry.meta != meta {
            return None;
        }
        // SAFETY: the entry was made from a pointer to a type with this key, and forms with one key
        // have one layout; the pointers to them have as many words.
        let pointer = unsafe { entry.pointer.as_ptr().cast::<*const T>().read() };
        Some((number, pointer))
    }

    /// Notes that a target leads to one that was met before; false when there are too many.
    #[inline(always)]
    fn note(&mut self, from: u32, to: u32) -> bool {
        self.backward |= to <= from;
        self.again.push((from, to));
        self.again.len() < MOST.min(self.most)
    }

    /// The targets behind the root, for a walk that meets them again in the same order.
    pub(super) fn firsts(&self) -> Firsts {
        Firsts(self.entries.iter().skip(1).rev().copied().collect())
    }

    /// Looks for an object that reaches itself without a `Cell`; gives its address.
    ///
    /// A first pointer always leads from a target to one that is met later, so there is none unless
    /// a further pointer leads back.
    pub(super) fn circle(&mut self) -> Option<ptr::NonNull<u8>> {
        if !self.backward {
            return None;
        }
        let Self { entries, again, .. } = self;
        let first = (0u32..)
            .zip(entries.iter())
            .filter(|(_, entry)| entry.from != NONE)
            .map(|(to, entry)| (entry.from, to));
        let edges = || first.clone().chain(again.iter().copied());
        // How many edges leave each target, then where each one's list of targets begins.
        let count = entries.len();
        self.starts.clear();
        self.starts.resize(count.saturating_add(1), 0);
        self.degree.clear();
        self.degree.resize(count, 0);
        for (from, to) in edges() {
            add(&mut self.starts, from, 1);
            add(&mut self.degree, to, 1);
        }
        let mut sum = 0u32;
        for start in &mut self.starts {
            sum = sum.wrapping_add(*start);
            *start = sum;
        }
        self.targets.clear();
        self.targets.resize(sum as usize, 0);
        for (from, to) in edges() {
            // Filled from the end of each list, whose start is thereby found.
            add(&mut self.starts, from, u32::MAX);
            let at = at(&self.starts, from);
            if let Some(target) = self.targets.get_mut(at as usize) {
                *target = to;
            }
        }
        // Whatever no edge leads to is taken away with the edges that leave it.
        self.ready.clear();
        self.ready.extend(
            (0u32..)
                .zip(&self.degree)
                .filter(|(_, n)| **n == 0)
                .map(|(i, _)| i),
        );
        let mut taken = 0usize;
        while let Some(from) = self.ready.pop() {
            taken = taken.wrapping_add(1);
            let list = at(&self.starts, from)..at(&self.starts, from.wrapping_add(1));
            for i in list {
                let to = at(&self.targets, i);
                add(&mut self.degree, to, u32::MAX);
                if at(&self.degree, to) == 0 {
                    self.ready.push(to);
                }
            }
        }
        if taken == count {
            return None;
        }
        self.on_circle()
    }

    /// A target on a circle, once only circles and what they lead to have a degree left.
    #[cold]
    fn on_circle(&mut self) -> Option<ptr::NonNull<u8>> {
        // Each of these has one before it that is of these, so going back ends in a circle.
        let left = |degree: &[u32], i: u32| at(degree, i) > 0;
        self.ready.clear();
        self.ready.resize(self.entries.len(), 0);
        for from in (0u32..).take(self.entries.len()) {
            if !left(&self.degree, from) {
                continue;
            }
            for i in at(&self.starts, from)..at(&self.starts, from.wrapping_add(1)) {
                let to = at(&self.targets, i);
                if let Some(before) = self.ready.get_mut(to as usize) {
                    *before = from;
                }
            }
        }
        let mut one = (0u32..)
            .take(self.entries.len())
            .find(|i| left(&self.degree, *i))?;
        for _ in 0..self.entries.len() {
            one = at(&self.ready, one);
        }
        let entry = self.entries.get(one as usize)?;
        // SAFETY: every pointer begins with its address, a word.
        let address = unsafe { entry.pointer.as_ptr().cast::<*const u8>().read() };
        ptr::NonNull::new(address.cast_mut())
    }

    /// Forgets everything, gives back memory beyond `keep` entries, and lets `most` be added.
    pub(super) fn reset(&mut self, keep: usize, most: usize) {
        self.entries.clear();
        self.entries.shrink_to(keep);
        self.again.clear();
        self.again.shrink_to(keep);
        self.backward = false;
        self.most = most;
        for list in [
            &mut self.degree,
            &mut self.starts,
            &mut self.targets,
            &mut self.ready,
        ] {
            list.clear();
            list.shrink_to(keep);
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
        let next = self
            .0
            .last()
            .filter(|next| next.key == TypeId::of::<T::Key>());
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

/// The number at `i`, 0 where there is none.
fn at(numbers: &[u32], i: u32) -> u32 {
    numbers.get(i as usize).copied().unwrap_or(0)
}

/// Adds to the number at `i`, modulo 2^32.
fn add(numbers: &mut [u32], i: u32, n: u32) {
    if let Some(number) = numbers.get_mut(i as usize) {
        *number = number.wrapping_add(n);
    }
}
