//! The shared targets of a message, and the circles among them.

use std::collections::HashMap;

use super::{Fault, Of, Visitor, Walk};

/// A pointer to a shared target that was not met before: its number, what the pointer is to, and its
/// second word.
#[derive(Debug, Clone, Copy)]
pub(super) struct First {
    pub(super) number: u32,
    pub(super) of: Of,
    pub(super) many: bool,
    pub(super) meta: u64,
}

/// The table of shared targets, the root being the first.
#[derive(Debug, Default)]
pub(super) struct Table {
    entries: Vec<SharedEntry>,
    /// Which target leads to which, cells left out.
    edges: Vec<[u32; 2]>,
    /// Whether one of them leads back.
    backward: bool,
    /// Types that were compared.
    compared: HashMap<[Of; 2], bool>,
}

#[derive(Debug, Clone, Copy)]
struct SharedEntry {
    first: First,
    /// Where the target stands in the message.
    at: usize,
}

impl Table {
    /// Enters a target that may be met again.
    pub(super) fn enter(&mut self, first: First, at: usize) {
        self.entries.push(SharedEntry { first, at });
    }

    /// The number of the target that is met next.
    pub(super) fn next(&self) -> Option<u32> {
        u32::try_from(self.entries.len()).ok()
    }

    /// Notes that a target leads to another one.
    pub(super) fn note(&mut self, from: u32, to: u32) {
        self.backward |= to <= from;
        self.edges.push([from, to]);
    }

    /// Where an object stands that is reached from itself.
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
        // Those that are left are in a circle, or reached from one.
        let mut left = degree.iter().zip(&self.entries);
        left.find(|(degree, _)| **degree > 0)
            .map(|(_, entry)| entry.at)
    }
}

impl<V: Visitor> Walk<'_, V> {
    /// The number of the shared target that a further pointer of this type, which stands at `slot`,
    /// names.
    pub(super) fn is_known(
        &mut self,
        slot: usize,
        number: u64,
        found: (Of, bool, u64),
    ) -> Result<Option<u32>, Fault> {
        let Ok(number) = u32::try_from(number) else {
            return Ok(None);
        };
        let Some(entry) = self.shared.entries.get(number as usize) else {
            return Ok(None);
        };
        let First { of, many, meta, .. } = entry.first;
        let same = (many, meta) == (found.1, found.2) && self.are_one(slot, of, found.0)?;
        Ok(same.then_some(number))
    }

    /// Whether two types have one structure.
    fn are_one(&mut self, slot: usize, a: Of, b: Of) -> Result<bool, Fault> {
        if a == b {
            return Ok(true);
        }
        if let Some(known) = self.shared.compared.get(&[a, b]) {
            return Ok(*known);
        }
        let (plan, other) = (self.plan(a)?, self.plan(b)?);
        let same = match (plan.info(a.index), other.info(b.index)) {
            (Some(a), Some(b)) => (&a.name, a.size, a.align) == (&b.name, b.size, b.align),
            _ => false,
        };
        // Hashing a structure takes more than looking at its types.
        let work = plan.len().saturating_add(other.len()).saturating_mul(16);
        let same = same && {
            self.count(work, slot)?;
            plan.schema().descriptor(a.index) == other.schema().descriptor(b.index)
        };
        self.shared.compared.insert([a, b], same);
        Ok(same)
    }
}
