//! Claiming and reading the targets of pointers.
//!
//! Relies on, and maintains, the invariants of a [`Pass`].

use std::mem::{align_of, size_of};

use super::byte_check;
use super::checks::VerifyAll;
use super::fault::{Edge, Fault, FaultKind, NONE};
use super::pass::{Pass, max_count};
use super::queue::{PendingRun, ReadRun};
use super::refusal::Refusal;
use super::shared::FurtherEdge;
use crate::buffer::{ALIGNMENT, LEAST_ALIGNMENT};
use crate::model::{InPlace, Pointee};
use crate::wire::{SHARED, in_memory};

impl Pass<'_> {
    /// Claims the target of a pointer: `count` adjacent values of `T`.
    ///
    /// The caller must read a flat target at once, with [`read_if_flat`](Self::read_if_flat). Other
    /// targets are queued and read after everything that was claimed before them.
    ///
    /// # Errors
    ///
    /// A [`Fault`] of the pointer if the target is not at the next free place, or exceeds a limit.
    #[inline(always)]
    pub(crate) fn claim<T: InPlace>(&mut self, edge: Edge, count: u64) -> Result<*mut T, Fault> {
        const { assert_form::<T>() };
        let count = in_memory(count);
        if count > max_count::<T>() {
            return Err(edge.fault(FaultKind::PastEnd));
        }
        let size = count.wrapping_mul(size_of::<T>());
        if size_of::<T>() == 0 {
            self.count_zero_sized(count)
                .map_err(|kind| edge.fault(kind))?;
        }
        let (segment, least) = if T::SHAPE.flat {
            (&mut self.bulk, 1)
        } else {
            (&mut self.objects, LEAST_ALIGNMENT)
        };
        let target = segment.claim(edge.place, align_of::<T>(), least, size);
        let target = target.map_err(|kind| edge.fault(kind))?.cast::<T>();
        if T::SHAPE.verified {
            let start = target.cast_const().cast::<u8>();
            let end = start.wrapping_add(size);
            let verify = verify_all::<T> as VerifyAll;
            if !self.lists.get_mut().checks.push(verify, start, end, count) {
                return Err(edge.fault(FaultKind::Pending));
            }
        }
        if T::SHAPE.flat {
            return Ok(target);
        }
        if count == 0 {
            return Ok(target);
        }
        if self.depth.now >= self.depth.max {
            return Err(edge.fault(FaultKind::Depth));
        }
        let run = PendingRun {
            read: run::<T> as ReadRun,
            start: self.objects.cursor.wrapping_sub(size),
            end: self.objects.cursor,
        };
        if edge.number != NONE {
            self.record_shared_owner(run.start, run.end, edge.number, count == 1);
        } else if self.has_claimed_for_another() {
            self.belong(run.start);
        }
        if self.queue.push(run) {
            Ok(target)
        } else {
            Err(edge.fault(FaultKind::Pending))
        }
    }

    /// Reads a target that was not queued because it is flat.
    ///
    /// # Errors
    ///
    /// A [`Fault`] of the target.
    ///
    /// # Safety
    ///
    /// `claim` must have just returned `target` for `count` values.
    #[inline(always)]
    pub(crate) unsafe fn read_if_flat<T: InPlace>(
        &mut self,
        target: *const T,
        count: usize,
    ) -> Result<(), Fault> {
        if let Some(most) = T::SHAPE.most_as_is() {
            let rest = self
                .bulk
                .end
                .wrapping_sub(self.bulk.cursor)
                .wrapping_add(count);
            // SAFETY: `claim` has just moved the cursor past the target, so by invariants 1 and 3
            // the `rest` bytes from its start lie inside the buffer and are initialised.
            return unsafe {
                byte_check::bytes_with_more(target.cast_mut().cast(), count, rest, most)
            };
        }
        if T::SHAPE.flat {
            // SAFETY: by invariants 1 and 3 the claimed memory is inside the buffer, initialised
            // and derived from its base, so it may be written to. It is aligned for `T` and has
            // room for `count` values.
            unsafe { T::read_all(target.cast_mut(), count, self)? };
        }
        Ok(())
    }

    /// Reads a pointer to a shared target. If the pointer is in a `Cell`, it may form a cycle.
    ///
    /// # Errors
    ///
    /// A [`Fault`] of the slot if it names no target, or a target of another type; otherwise as for
    /// [`Pointee::claim`] and [`Pointee::read_now`].
    ///
    /// # Safety
    ///
    /// As for [`InPlace::read`]. The slot must have the layout of a
    /// reference and hold these words.
    pub(crate) unsafe fn shared<T: Pointee + ?Sized>(
        &mut self,
        pointer: *mut &T,
        [place, meta]: [u64; 2],
        in_cell: bool,
    ) -> Result<(), Fault> {
        let slot = pointer.cast::<u8>();
        let pointer = pointer.cast::<*const T>();
        let root = self.root;
        let lists = self.lists.get_mut();
        if lists.shared.entries.is_empty() {
            lists.shared.entries.push(root.into());
        }
        let owner = lists.owners.reading.owner;
        if place & SHARED != 0 {
            let known = lists.shared.get::<T>(place & !SHARED, meta);
            let (number, target) = known.ok_or_else(|| Fault::new(slot, FaultKind::NotShared))?;
            let edge = FurtherEdge {
                from: owner,
                to: number,
                level: self.next_level(),
            };
            if !in_cell && !self.lists.get_mut().shared.record(edge) {
                return Err(Fault::new(slot, FaultKind::Shared));
            }
            // SAFETY: the caller's slot is writable; a reference has the layout of a raw pointer.
            unsafe { pointer.write(target) };
            return Ok(());
        }
        let from = if in_cell { NONE } else { owner };
        let number = lists.shared.next();
        let number = number.ok_or_else(|| Fault::new(slot, FaultKind::Shared))?;
        let target = T::claim(Self::shared_edge(slot, place, meta, number), self)?;
        let level = if self.lists.get().owners.has_claimed(number) {
            self.next_level()
        } else {
            NONE
        };
        let shared = &mut self.lists.get_mut().shared;
        shared.push::<T>(target, meta, from, level);
        // SAFETY: as above.
        unsafe { pointer.write(target) };
        // SAFETY: `claim` just returned this target, and the slot holds it.
        unsafe { T::read_now(target, self) }
    }

    /// Returns the depth of the target that is claimed next.
    fn next_level(&self) -> u32 {
        u32::try_from(self.depth.now.saturating_add(1)).unwrap_or(NONE.wrapping_sub(1))
    }
}

/// Reads the values of the run from `at` to `end`, and of the runs that continue it.
///
/// # Safety
///
/// The run must have been pushed for `T`, or for a type whose instance of this function is the same
/// code, and must have been taken off the queue.
unsafe fn run<T: InPlace>(pass: &mut Pass<'_>, mut at: usize, mut end: usize) -> Result<(), Fault> {
    loop {
        while at < end {
            if at >= pass.event {
                pass.next_owner(at);
            }
            let slot = pass.objects.origin.wrapping_add(at).cast::<T>();
            // SAFETY: the run was claimed for values of `T`. So the slot is aligned, inside the
            // buffer and initialised, and it has not been read yet.
            unsafe { T::read(slot, pass)? };
            at = at.wrapping_add(size_of::<T>());
        }
        // In a list or a tree the next run starts where this one ended, so it is read without
        // leaving the loop.
        match pass.queue.pop_same(run::<T> as ReadRun, end) {
            Some(next) => (at, end) = (next.start, next.end),
            None => return Ok(()),
        }
    }
}

/// # Safety
///
/// As for [`InPlace::verify`], for each of `count` values of `T`.
unsafe fn verify_all<T: InPlace>(start: *const u8, count: usize) -> Result<(), Refusal> {
    for i in 0..count {
        // SAFETY: the caller has `count` values there.
        unsafe { T::verify(start.cast::<T>().wrapping_add(i))? };
    }
    Ok(())
}

/// Asserts the requirements on every form that is read through a pointer or as a root.
///
/// # Panics
///
/// Panics if a requirement is violated. Called in constants, so that the program does not compile.
pub const fn assert_form<T: InPlace>() {
    assert!(
        align_of::<T>() <= ALIGNMENT,
        "an in-place form may be aligned to 128 bytes at most"
    );
    assert!(
        !std::mem::needs_drop::<T>(),
        "an in-place form must not need dropping: its drop would never run"
    );
    assert!(
        T::SHAPE.flat || size_of::<T>() > 0,
        "a form without size can't hold pointers"
    );
}
