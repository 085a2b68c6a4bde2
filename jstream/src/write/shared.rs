//! Identification of shared targets by their addresses.
//!
//! Decision 023 has the reasons.

use std::any::TypeId;
use std::hash::{Hash, Hasher};
use std::mem;

use rustc_hash::FxHashMap;

use crate::keep::clear;
use crate::read::NONE;
use crate::wire::SHARED;

/// The identity of a target: address, length or class, and type. The type is needed because a
/// struct and its first field have the same address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Identity {
    pub(super) address: usize,
    pub(super) meta: u64,
    pub(super) key: TypeId,
}

impl Hash for Identity {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_usize(self.address);
    }
}

/// Adjacent targets with consecutive numbers in one segment of a message that is restored in place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct TargetRun {
    start: usize,
    end: usize,
    /// The number of the first target, and the number after that of the last one.
    first: u32,
    next: u32,
    /// The remaining parts of the targets' identities.
    meta: u64,
    key: TypeId,
}

/// The shared targets of a message, numbered as the reader will number them.
#[derive(Debug)]
pub(super) struct SharedTargets {
    /// The targets that may be met repeatedly.
    known: FxHashMap<Identity, u32>,
    /// The address and type of the root. The address is 0 if there is none.
    pub(super) root: (usize, TypeId),
    /// Number of targets other than the root.
    pub(super) count: u32,
    /// Number of further pointers to targets, outside `Cell`s.
    pub(super) further: u32,
    /// The depth of each target that can hold pointers, by number; [`NONE`] for the others.
    levels: Vec<u32>,
    /// An upper bound of the number of pointers by which the longest path to an object exceeds the
    /// first one.
    pub(super) detour: usize,
    /// The runs of targets of a message that is restored in place: for each of its segments,
    /// ordered by address.
    in_place_runs: [Vec<TargetRun>; 3],
    /// The last run, which is extended by adjacent targets, and the segment that it is in.
    open: TargetRun,
    open_segment: usize,
}

/// The result of looking up a target of a message that is restored in place.
pub(super) enum Lookup {
    First,
    Known(u32),
    /// Neither adjacent to the last run nor in it.
    Elsewhere,
}

/// Capacity, in targets, that a map keeps between messages. Unneeded capacity beyond it is
/// released.
const KEEP: usize = 1 << 16;

impl SharedTargets {
    pub(super) fn new() -> Self {
        Self {
            known: FxHashMap::with_hasher(rustc_hash::FxBuildHasher),
            root: (0, TypeId::of::<()>()),
            count: 0,
            further: 0,
            levels: Vec::new(),
            detour: 0,
            in_place_runs: [const { Vec::new() }; 3],
            open: TargetRun::nothing(),
            open_segment: 0,
        }
    }

    /// Registers the root as number 0.
    pub(super) fn set_root<F>(&mut self, root: *const F) {
        self.root = (root.addr(), typeid::of::<F>());
    }

    /// Returns true if the map is larger than one that is always kept.
    pub(super) fn is_large(&self) -> bool {
        self.known.capacity() > 2 * KEEP
    }

    #[inline]
    pub(super) fn clear(&mut self) {
        // A target that is known was counted, and a map without targets was cleared before.
        if self.count > 0 || self.is_large() {
            self.clear_targets();
        }
        self.root.0 = 0;
    }

    #[inline(never)]
    fn clear_targets(&mut self) {
        let had = self.known.len();
        self.known.clear();
        self.known.shrink_to(KEEP.max(had));
        self.count = 0;
        self.further = 0;
        clear(&mut self.levels, KEEP);
        self.detour = 0;
        for runs in &mut self.in_place_runs {
            clear(runs, KEEP);
        }
        self.open = TargetRun::nothing();
    }

    /// Returns true if the same targets were met in the same order.
    pub(super) fn is_the_same(&self, other: &Self) -> bool {
        self.root == other.root
            && self.count == other.count
            && self.in_place_runs == other.in_place_runs
            && self.open == other.open
            && self.known == other.known
    }

    /// Returns true if the target is the root.
    #[inline]
    pub(super) fn is_root(&self, target: Identity) -> bool {
        (target.address, target.key) == self.root && target.meta == 0
    }

    /// Returns the number of a target that was met before. Otherwise assigns it the next number and
    /// returns `None`.
    #[inline]
    pub(super) fn number(&mut self, identity: Identity) -> Option<u32> {
        if self.is_root(identity) {
            return Some(0);
        }
        let next = self.count.wrapping_add(1);
        let number = *self.known.entry(identity).or_insert(next);
        if number != next {
            return Some(number);
        }
        self.count = next;
        None
    }

    /// Records the depth of the target with the last number.
    pub(super) fn set_level(&mut self, level: u32) {
        self.levels.resize(self.count as usize, NONE);
        self.levels.push(level);
    }

    /// Counts a further pointer to a target, from an object of the depth `level`.
    ///
    /// Each such pointer is at most once on a path. It makes paths longer by the number of levels
    /// by which its target is nearer to the root than the next level. The target was met before, so
    /// it is not farther.
    pub(super) fn count_further(&mut self, number: u32, level: u32) {
        self.further = self.further.saturating_add(1);
        let target = self.levels.get(number as usize).copied();
        let target = target.filter(|target| *target != NONE);
        let steps = target.map_or(0, |target| level.saturating_add(1).saturating_sub(target));
        self.detour = self.detour.saturating_add(steps as usize);
    }

    /// Looks for a target of `size` bytes, at least one, in the last run and directly after it. In
    /// the latter case it gets the next number; if it has not moved, it is then claimed at the
    /// cursor.
    #[inline(always)]
    pub(super) fn look_up(&mut self, identity: Identity, size: usize) -> Lookup {
        let Identity { address, meta, key } = identity;
        let open = &mut self.open;
        if open.meta != meta || open.key != key {
            return Lookup::Elsewhere;
        }
        let next = self.count.wrapping_add(1);
        if address == open.end && next == open.next {
            open.end = address.wrapping_add(size);
            open.next = next.wrapping_add(1);
            self.count = next;
            return Lookup::First;
        }
        open.number(address, size)
            .map_or(Lookup::Elsewhere, Lookup::Known)
    }

    /// Assigns the next number to a target of `size` bytes that lies after all targets that were
    /// met in its segment.
    #[inline]
    pub(super) fn add_in_place(&mut self, segment: usize, identity: Identity, size: usize) {
        let number = self.count.wrapping_add(1);
        self.count = number;
        let Identity { address, meta, key } = identity;
        let opened = TargetRun {
            start: address,
            end: address.wrapping_add(size),
            first: number,
            next: number.wrapping_add(1),
            meta,
            key,
        };
        let closed = mem::replace(&mut self.open, opened);
        let closed_in = mem::replace(&mut self.open_segment, segment);
        if let Some(runs) = self.in_place_runs.get_mut(closed_in) {
            if closed.next > closed.first {
                runs.push(closed);
            }
        }
    }

    /// Returns the number of a target of `size` bytes in a segment, if it was met before and
    /// is not in the last run.
    #[inline]
    pub(super) fn number_in_runs(
        &self,
        segment: usize,
        identity: Identity,
        size: usize,
    ) -> Option<u32> {
        let Identity { address, meta, key } = identity;
        let runs = self.in_place_runs.get(segment)?;
        let after = runs.partition_point(|run| run.start <= address);
        let run = runs.get(after.wrapping_sub(1))?;
        let like = run.meta == meta && run.key == key;
        if like {
            run.number(address, size)
        } else {
            None
        }
    }
}

impl TargetRun {
    fn nothing() -> Self {
        Self {
            start: 0,
            end: 0,
            first: 0,
            next: 0,
            meta: 0,
            key: TypeId::of::<()>(),
        }
    }

    /// Returns the number of the target at `address`, if it is in this run. All targets of a run
    /// have the same size, because their identities differ only in the address.
    #[inline(always)]
    fn number(&self, address: usize, size: usize) -> Option<u32> {
        let behind = address.wrapping_sub(self.start);
        if behind >= self.end.wrapping_sub(self.start) || behind.checked_rem(size)? != 0 {
            return None;
        }
        let number = u32::try_from(behind.checked_div(size)?).ok()?;
        Some(self.first.wrapping_add(number))
    }
}

impl Identity {
    /// Returns the words of a further pointer to a target.
    #[inline(always)]
    pub(super) fn further_pointer(self, number: u32) -> [u64; 2] {
        [SHARED | u64::from(number), self.meta]
    }
}
