//! Detection of cycles, and of paths that are too long, in the graph of shared targets.
//!
//! Decision 024 has the reasons.

use std::ptr;

use super::fault::{FaultKind, NONE};
use super::shared::{FurtherEdge, SharedTable};

impl SharedTable {
    /// Searches for an object that reaches itself without a `Cell`, and for an object to which a
    /// path of more than `most` pointers leads. Returns the address of such an object. `deepest` is
    /// the largest depth at which an object was first reached.
    ///
    /// A first pointer always leads from a target to one that is reached later, so a cycle needs a
    /// further pointer that leads backward. An acyclic path visits each target and each further
    /// pointer at most once.
    #[inline]
    pub(crate) fn find_cycle(
        &mut self,
        deepest: usize,
        most: usize,
    ) -> Option<(ptr::NonNull<u8>, FaultKind)> {
        if self.further_edges.is_empty() {
            return None;
        }
        self.search(deepest, most)
    }

    fn search(&mut self, deepest: usize, most: usize) -> Option<(ptr::NonNull<u8>, FaultKind)> {
        let turns = self.further_edges.len().min(self.entries.len());
        let longest = turns
            .saturating_add(1)
            .saturating_mul(deepest.saturating_add(1));
        let may_be_long = turns > 0 && longest > most;
        if !self.backward {
            if !may_be_long {
                return None;
            }
            if self.further_edges.is_sorted_by_key(|edge| edge.from) {
                self.walk_forward();
                return self.find_too_deep(most);
            }
        }
        let Self {
            entries,
            further_edges,
            ..
        } = self;
        let first = (0u32..)
            .zip(entries.iter())
            .filter(|(_, entry)| entry.from != NONE)
            .map(|(to, entry)| FurtherEdge {
                from: entry.from,
                to,
                level: entry.level,
            });
        let edges = || first.clone().chain(further_edges.iter().copied());
        // Number of edges that leave each target; later the start of each target's adjacency list.
        let count = entries.len();
        self.starts.clear();
        self.starts.resize(count.saturating_add(1), 0);
        self.degree.clear();
        self.degree.resize(count, 0);
        for edge in edges() {
            add(&mut self.starts, edge.from, 1);
            add(&mut self.degree, edge.to, 1);
        }
        let mut sum = 0u32;
        for start in &mut self.starts {
            sum = sum.wrapping_add(*start);
            *start = sum;
        }
        self.targets.clear();
        self.targets.resize(sum as usize, 0);
        self.steps.clear();
        self.steps.resize(sum as usize, 0);
        let level_of = |of: u32| entries.get(of as usize).map_or(0, |entry| entry.level);
        for edge in edges() {
            // Each list is filled from its end, which leaves `starts` at its start.
            add(&mut self.starts, edge.from, u32::MAX);
            let at = at(&self.starts, edge.from) as usize;
            if let Some(target) = self.targets.get_mut(at) {
                *target = edge.to;
            }
            if let Some(steps) = self.steps.get_mut(at) {
                *steps = edge.level.saturating_sub(level_of(edge.from));
            }
        }
        self.longest.clear();
        self.longest.extend(entries.iter().map(|entry| entry.level));
        // Topological sort: a target without incoming edges is removed together with the edges that
        // leave it.
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
                let length = at(&self.longest, from).saturating_add(at(&self.steps, i));
                if let Some(longest) = self.longest.get_mut(to as usize) {
                    *longest = length.max(*longest);
                }
            }
        }
        if taken != count {
            return Some((self.cycle_member()?, FaultKind::Cycle));
        }
        self.find_too_deep(most)
    }

    /// Computes the longest paths if all pointers lead to targets that are reached later, and the
    /// further pointers are in the order of their holders. The longest path to a target is then
    /// known when the loop reaches it.
    fn walk_forward(&mut self) {
        let Self {
            entries,
            further_edges,
            longest,
            ..
        } = self;
        longest.clear();
        longest.extend(entries.iter().map(|entry| entry.level));
        let level_of = |of: u32| entries.get(of as usize).map_or(0, |entry| entry.level);
        let lead = |longest: &mut [u32], edge: FurtherEdge| {
            let steps = edge.level.saturating_sub(level_of(edge.from));
            let length = at(longest, edge.from).saturating_add(steps);
            if let Some(longest) = longest.get_mut(edge.to as usize) {
                *longest = length.max(*longest);
            }
        };
        let mut further = further_edges.iter().copied().peekable();
        for (to, entry) in (0u32..).zip(entries.iter()) {
            if entry.from != NONE {
                let (from, level) = (entry.from, entry.level);
                lead(longest, FurtherEdge { from, to, level });
            }
            while let Some(edge) = further.next_if(|edge| edge.from == to) {
                lead(longest, edge);
            }
        }
    }

    /// Returns a target for which the target itself, or the last object that belongs to it, lies
    /// deeper than `most` on its longest path.
    fn find_too_deep(&self, most: usize) -> Option<(ptr::NonNull<u8>, FaultKind)> {
        let mut ways = self.entries.iter().zip(&self.longest);
        let (find_too_deep, _) = ways.find(|(entry, longest)| {
            let behind = entry.last.saturating_sub(entry.level);
            entry.level != NONE && longest.saturating_add(behind) as usize > most
        })?;
        Some((find_too_deep.address()?, FaultKind::DeepOnOtherPath))
    }

    /// Returns a target on a cycle. Only targets on cycles, and targets reachable from these, have
    /// a nonzero in-degree when this is called.
    #[cold]
    fn cycle_member(&mut self) -> Option<ptr::NonNull<u8>> {
        // Each of the remaining targets has a predecessor among them, so following predecessors
        // ends in a cycle.
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
        self.entries.get(one as usize)?.address()
    }
}

/// Returns the number at `i`, or 0 if there is none.
fn at(numbers: &[u32], i: u32) -> u32 {
    numbers.get(i as usize).copied().unwrap_or(0)
}

/// Adds to the number at `i`, modulo 2^32.
fn add(numbers: &mut [u32], i: u32, n: u32) {
    if let Some(number) = numbers.get_mut(i as usize) {
        *number = number.wrapping_add(n);
    }
}
