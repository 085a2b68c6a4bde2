//! Shared targets, known again by their addresses.

use std::any::TypeId;
use std::hash::{Hash, Hasher};
use std::mem::size_of;

use rustc_hash::FxHashMap;

use super::draft::Draft;
use crate::keep::clear;
use crate::model::{Target, Transportable};
use crate::wire::SHARED;

/// What makes two pointers lead to one target: address, length or class, and type, as a struct and
/// its first field have one address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Identity {
    address: usize,
    meta: u64,
    key: TypeId,
}

impl Hash for Identity {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_usize(self.address);
    }
}

/// What targets have in common.
#[derive(Debug, Clone, Copy)]
struct Run {
    first: u32,
    meta: u64,
    key: TypeId,
}

/// The shared targets of a message, numbered as the reader will number them.
#[derive(Debug)]
pub(super) struct Shared {
    /// Those that may be met again.
    known: FxHashMap<Identity, u32>,
    root: Option<Identity>,
    /// How many there are beside the root.
    count: u32,
    /// Where those of a message stand that is turned back where it lies, in the order of their numbers,
    /// of which the first is 1; 0 for those that are in `known`.
    there: Vec<usize>,
    /// What the rest of their identities is, for each run of those in which it is the same.
    runs: Vec<Run>,
    /// For each word of such a message, the number of the one that stands there, if it stands there
    /// indeed. What other messages left is looked at, and not believed.
    marks: Vec<u32>,
}

/// Targets are marked by words: jbufs are aligned, so words of a message are words of memory.
const WORD: usize = size_of::<u64>();
/// More marks are given back.
const KEEP_MARKS: usize = 1 << 20;
/// A map keeps room for this many targets between messages; more is given back.
const KEEP: usize = 1 << 16;

impl Shared {
    pub(super) const fn new() -> Self {
        Self {
            known: FxHashMap::with_hasher(rustc_hash::FxBuildHasher),
            root: None,
            count: 0,
            there: Vec::new(),
            runs: Vec::new(),
            marks: Vec::new(),
        }
    }

    /// The root is number 0.
    pub(super) fn set_root<'b, T: Transportable>(&mut self, root: &'b T) {
        self.root = Some(Identity {
            address: std::ptr::from_ref(root).addr(),
            meta: 0,
            key: typeid::of::<T::InPlace<'b>>(),
        });
    }

    #[inline]
    pub(super) fn clear(&mut self) {
        let had = self.known.len();
        if had > 0 || self.known.capacity() > 2 * KEEP {
            self.known.clear();
            self.known.shrink_to(KEEP.max(had));
        }
        self.root = None;
        self.count = 0;
        clear(&mut self.there, KEEP);
        clear(&mut self.runs, KEEP);
        if self.marks.len() > KEEP_MARKS {
            self.marks = Vec::new();
        }
    }

    /// The number of a target that stands `offset` bytes behind the start of a message, and whether it
    /// is met for the first time. It must have a size.
    #[inline(always)]
    fn number_there(&mut self, identity: Identity, offset: usize) -> (u32, bool) {
        let next = self.count.wrapping_add(1);
        let word = offset / WORD;
        if word >= self.marks.len() {
            self.mark_up_to(word);
        }
        let number = self.marks.get(word).copied().unwrap_or(0);
        let found = self.there.get((number as usize).wrapping_sub(1)).copied();
        match found {
            Some(address) if address == identity.address && self.is_of(number, identity) => {
                (number, false)
            }
            // Another one in the same word, of another type or smaller than it.
            Some(address) if address / WORD == identity.address / WORD => {
                let number = *self.known.entry(identity).or_insert(next);
                let first = number == next;
                self.count = if first { next } else { self.count };
                (number, first)
            }
            _ => {
                if let Some(mark) = self.marks.get_mut(word) {
                    *mark = next;
                }
                self.add_there(identity, next);
                (next, true)
            }
        }
    }

    #[inline(always)]
    fn add_there(&mut self, identity: Identity, number: u32) {
        if self.there.len() != self.count as usize {
            self.there.resize(self.count as usize, 0);
        }
        self.there.push(identity.address);
        self.count = number;
        let Identity { meta, key, .. } = identity;
        let last = self.runs.last();
        if last.is_none_or(|last| last.meta != meta || last.key != key) {
            self.runs.push(Run {
                first: number,
                meta,
                key,
            });
        }
    }

    /// Whether the rest of a target's identity is this.
    #[inline(always)]
    fn is_of(&self, number: u32, identity: Identity) -> bool {
        let run = match &self.runs[..] {
            [only] => Some(only),
            runs => {
                let after = runs.partition_point(|run| run.first <= number);
                runs.get(after.wrapping_sub(1))
            }
        };
        run.is_some_and(|run| run.meta == identity.meta && run.key == identity.key)
    }

    #[cold]
    fn mark_up_to(&mut self, word: usize) {
        let room = word.saturating_add(1).next_power_of_two();
        self.marks.resize(room, 0);
    }
}

impl<'b> Draft<'b> {
    /// The words of a pointer to a shared target: its number if it was met before.
    ///
    /// `only` says that no other pointer leads there, so that none need be sought unless that one may
    /// be met again.
    #[inline]
    pub(crate) fn shared<T: Target + ?Sized>(&mut self, target: &'b T, only: bool) -> [u64; 2] {
        self.skipped |= only && !self.borrows;
        if !only || self.borrows {
            if self.back.active {
                return self.shared_back(target);
            }
            return self.shared_by_hash(target);
        }
        let shared = &mut self.scratch.shared;
        shared.count = shared.count.wrapping_add(1);
        target.write_target(self)
    }

    /// As [`shared`](Self::shared), of a target that may be met again.
    #[inline]
    fn shared_by_hash<T: Target + ?Sized>(&mut self, target: &'b T) -> [u64; 2] {
        let identity = Identity {
            address: std::ptr::from_ref(target).addr(),
            meta: target.meta(),
            key: typeid::of::<T::InPlace<'b>>(),
        };
        let shared = &mut self.scratch.shared;
        if shared.root == Some(identity) {
            return [SHARED, identity.meta];
        }
        let next = shared.count.wrapping_add(1);
        let number = *shared.known.entry(identity).or_insert(next);
        if number != next {
            return [SHARED | u64::from(number), identity.meta];
        }
        shared.count = next;
        target.write_target(self)
    }

    /// The words of a pointer to a shared target of a message that is turned back where it lies.
    #[inline(always)]
    pub(crate) fn shared_back<T: Target + ?Sized>(&mut self, target: &'b T) -> [u64; 2] {
        if size_of_val(target) == 0 {
            // Several may stand at one place.
            return self.shared_by_hash(target);
        }
        let identity = Identity {
            address: std::ptr::from_ref(target).addr(),
            meta: target.meta(),
            key: typeid::of::<T::InPlace<'b>>(),
        };
        let Some(offset) = self.offset_back(identity.address) else {
            return self.shared_by_hash(target);
        };
        let shared = &mut self.scratch.shared;
        if shared.root == Some(identity) {
            return [SHARED, identity.meta];
        }
        match shared.number_there(identity, offset) {
            (_, true) => target.claim_back(self),
            (number, false) => [SHARED | u64::from(number), identity.meta],
        }
    }
}

const _: () = assert!(size_of::<usize>() == size_of::<u64>());
