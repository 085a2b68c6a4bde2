//! The shared targets of a message, and cycles among them.

use std::collections::HashMap;

use super::plan::Of;

/// The first pointer to a shared target: the target's number and type, and the pointer's second
/// word.
#[derive(Debug, Clone, Copy)]
pub(super) struct First {
    pub(super) number: u32,
    pub(super) of: Of,
    pub(super) many: bool,
    pub(super) meta: u64,
}

/// The table of shared targets, beginning with the root.
#[derive(Debug, Default)]
pub(super) struct Table {
    pub(super) entries: Vec<SharedEntry>,
    /// Edges between targets, except those through cells.
    edges: Vec<[u32; 2]>,
    /// True if an edge leads to an earlier target or to its own source.
    backward: bool,
    /// Results of comparing types.
    pub(super) compared: HashMap<[Of; 2], bool>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct SharedEntry {
    pub(super) first: First,
    /// Offset of the target in the message.
    at: usize,
}

impl Table {
    /// Adds a target, to which later pointers can refer.
    pub(super) fn enter(&mut self, first: First, at: usize) {
        self.entries.push(SharedEntry { first, at });
    }

    /// Returns the number of the next target.
    pub(super) fn next(&self) -> Option<u32> {
        u32::try_from(self.entries.len()).ok()
    }

    /// Adds an edge from a target to another one.
    pub(super) fn record(&mut self, from: u32, to: u32) {
        self.backward |= to <= from;
        self.edges.push([from, to]);
    }

    /// Returns the offset of an object that is on a cycle or reachable from one, if there is a
    /// cycle (Kahn's algorithm).
    pub(super) fn circle(&self) -> Option<usize> {
        if !self.backward {
            return None;
        }
        let at = |of: u32| of as usize;
        let mut degree = vec![0usize; self.entries.len()];
        let mut lists = vec![Vec::new(); self.entries.len()];
        for [from, to] in &self.edges {
            if let (Some(list), Some(degree)) = (lists.get_mut(at(*from)), degree.get_mut(at(*to)))
            {
                list.push(*to);
                *degree = degree.saturating_add(1);
            }
        }
        let count = (0u32..).zip(&degree).filter(|(_, degree)| **degree == 0);
        let mut ready: Vec<u32> = count.map(|(of, _)| of).collect();
        while let Some(of) = ready.pop() {
            for to in lists.get(at(of)).into_iter().flatten() {
                if let Some(degree) = degree.get_mut(at(*to)) {
                    *degree = degree.saturating_sub(1);
                    if *degree == 0 {
                        ready.push(*to);
                    }
                }
            }
        }
        // The remaining targets are on a cycle or reachable from one.
        let mut left = degree.iter().zip(&self.entries);
        left.find(|(degree, _)| **degree > 0)
            .map(|(_, entry)| entry.at)
    }
}
