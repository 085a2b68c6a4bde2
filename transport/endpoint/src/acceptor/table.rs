//! The newcomers of an acceptor, and the choice of the one to evict. This module does no input or
//! output.
//!
//! Decision 113 has the reasons.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Newcomers in order of arrival.
///
/// Invariant: each number of `all` is in the set of its source in one of the two stages, and no
/// other number is.
pub(super) struct Table<T> {
    all: BTreeMap<u64, TableEntry<T>>,
    /// Newcomers that have sent no complete greeting.
    silent: Stage,
    /// Newcomers that have.
    greeted: Stage,
    next: u64,
}

struct TableEntry<T> {
    value: T,
    source: Box<str>,
    has_greeted: bool,
}

#[derive(Default)]
struct Stage {
    count: usize,
    /// Numbers by source. No set is empty.
    sources: HashMap<Box<str>, BTreeSet<u64>>,
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self {
            all: BTreeMap::new(),
            silent: Stage::default(),
            greeted: Stage::default(),
            next: 1,
        }
    }
}

impl<T> Table<T> {
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// Inserts a newcomer that was accepted just now. Returns its number, which is at least 1 and
    /// given to `make`.
    pub(super) fn insert(&mut self, source: String, make: impl FnOnce(u64) -> T) -> u64 {
        let number = self.next;
        self.next = number.wrapping_add(1);
        let source = source.into_boxed_str();
        self.silent.insert(&source, number);
        let entry = TableEntry {
            value: make(number),
            source,
            has_greeted: false,
        };
        self.all.insert(number, entry);
        number
    }

    pub(super) fn get_mut(&mut self, number: u64) -> Option<&mut T> {
        self.all.get_mut(&number).map(|entry| &mut entry.value)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (u64, &T)> {
        self.all
            .iter()
            .map(|(number, entry)| (*number, &entry.value))
    }

    /// Notes that a newcomer has sent a complete greeting.
    pub(super) fn promote(&mut self, number: u64) {
        let entry = self.all.get_mut(&number);
        if let Some(entry) = entry.filter(|entry| !entry.has_greeted) {
            entry.has_greeted = true;
            self.silent.remove(&entry.source, number);
            self.greeted.insert(&entry.source, number);
        }
    }

    pub(super) fn remove(&mut self, number: u64) -> Option<T> {
        let entry = self.all.remove(&number)?;
        let stage = if entry.has_greeted {
            &mut self.greeted
        } else {
            &mut self.silent
        };
        stage.remove(&entry.source, number);
        Some(entry.value)
    }

    /// Returns the number of the newcomer to evict: the oldest one of the source that has most, of
    /// those that have greeted if they are the majority, else of the others.
    pub(super) fn victim(&self) -> Option<u64> {
        let stage = if self.greeted.count > self.silent.count {
            &self.greeted
        } else {
            &self.silent
        };
        stage.victim()
    }
}

impl Stage {
    fn insert(&mut self, source: &str, number: u64) {
        self.count = self.count.saturating_add(1);
        match self.sources.get_mut(source) {
            Some(numbers) => {
                numbers.insert(number);
            }
            None => {
                self.sources.insert(source.into(), [number].into());
            }
        }
    }

    fn remove(&mut self, source: &str, number: u64) {
        let Some(numbers) = self.sources.get_mut(source) else {
            return;
        };
        if numbers.remove(&number) {
            self.count = self.count.saturating_sub(1);
        }
        if numbers.is_empty() {
            self.sources.remove(source);
        }
    }

    /// Returns the oldest number of the source that has most. Of several such sources, the one with
    /// the oldest number counts.
    fn victim(&self) -> Option<u64> {
        let sources = self.sources.values();
        let oldest =
            sources.filter_map(|numbers| Some((numbers.len(), Reverse(*numbers.first()?))));
        oldest.max().map(|(_, Reverse(number))| number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a table with newcomers of these sources.
    fn table(sources: &[&str]) -> Table<()> {
        let mut table = Table::default();
        for source in sources {
            table.insert((*source).to_owned(), |_| ());
        }
        table
    }

    #[test]
    fn the_oldest_of_the_source_with_most_is_evicted() {
        assert_eq!(table(&[]).victim(), None);
        assert_eq!(table(&["a", "b", "b", "c"]).victim(), Some(2));
        assert_eq!(table(&["c", "b", "a"]).victim(), Some(1));
        let mut equal = table(&["a", "b", "b", "a"]);
        assert_eq!(equal.victim(), Some(1));
        equal.remove(1);
        assert_eq!(equal.victim(), Some(2));
    }

    #[test]
    fn silent_newcomers_evict_no_greeted_newcomer() {
        let mut table = table(&["a", "a", "a", "a"]);
        table.promote(1);
        table.promote(2);
        table.promote(2);
        assert_eq!(table.victim(), Some(3));
        table.promote(3);
        assert_eq!(table.victim(), Some(1));
        table.remove(1);
        table.remove(1);
        assert_eq!((table.victim(), table.len()), (Some(2), 3));
        table.remove(2);
        assert_eq!(table.victim(), Some(4));
        table.remove(4);
        table.remove(3);
        assert_eq!((table.victim(), table.len()), (None, 0));
        assert!(table.silent.sources.is_empty() && table.greeted.sources.is_empty());
    }
}
