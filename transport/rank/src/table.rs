//! Table of entries that a peer refers to by numbers given out by this side.

use std::collections::HashSet;

/// The number of an entry. It is reused once the entry is removed and the number is not reserved.
pub(super) type Number = u32;

/// A slab of entries with a free list of numbers.
pub(super) struct NumberTable<T> {
    entries: Vec<Option<T>>,
    free: Vec<Number>,
    /// Numbers that the peer still has to answer, even if the entry is removed.
    reserved: HashSet<Number>,
}

impl<T> Default for NumberTable<T> {
    fn default() -> Self {
        Self {
            entries: Vec::new(),
            free: Vec::new(),
            reserved: HashSet::new(),
        }
    }
}

impl<T> NumberTable<T> {
    /// Inserts an entry and returns its number.
    ///
    /// # Panics
    ///
    /// Panics if there are 2^32 entries already.
    pub(super) fn insert(&mut self, entry: T) -> Number {
        // Used again, so that the table has no more places than entries at the same time, whatever
        // a peer does.
        if let Some(number) = self.free.pop() {
            if let Some(place) = self.entries.get_mut(number as usize) {
                *place = Some(entry);
                return number;
            }
        }
        let Ok(number) = Number::try_from(self.entries.len()) else {
            panic!("too many entries for one peer")
        };
        self.entries.push(Some(entry));
        number
    }

    pub(super) fn get(&self, number: Number) -> Option<&T> {
        self.entries.get(number as usize)?.as_ref()
    }

    pub(super) fn get_mut(&mut self, number: Number) -> Option<&mut T> {
        self.entries.get_mut(number as usize)?.as_mut()
    }

    /// Returns all entries.
    pub(super) fn values(&mut self) -> impl Iterator<Item = &mut T> {
        self.entries.iter_mut().flatten()
    }

    pub(super) fn remove(&mut self, number: Number) -> Option<T> {
        let entry = self.entries.get_mut(number as usize)?.take()?;
        // The peer still owes an answer by this number, which must not be taken for one about
        // another entry.
        if !self.reserved.contains(&number) {
            self.free.push(number);
        }
        Some(entry)
    }

    /// Reserves the number of an entry: it is not reused until it is [released](Self::release).
    /// Returns false if it was reserved before.
    pub(super) fn reserve(&mut self, number: Number) -> bool {
        self.reserved.insert(number)
    }

    /// Returns the count of reserved numbers.
    pub(super) fn reserved(&self) -> usize {
        self.reserved.len()
    }

    /// Releases a reserved number. Returns false if it was not reserved.
    pub(super) fn release(&mut self, number: Number) -> bool {
        let was_reserved = self.reserved.remove(&number);
        // The entry may have ended before the answer came.
        if was_reserved && self.get(number).is_none() {
            self.free.push(number);
        }
        was_reserved
    }

    /// Returns true if there is no entry, and no number is reserved.
    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.entries.iter().all(Option::is_none) && self.reserved.is_empty()
    }

    /// Removes and returns all entries.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = T> + use<T> {
        // The peer is gone, so all numbers begin anew.
        self.free.clear();
        self.reserved.clear();
        std::mem::take(&mut self.entries).into_iter().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_removed_entries_are_reused() {
        let mut table = NumberTable::default();
        assert_eq!((table.insert('a'), table.insert('b')), (0, 1));
        assert_eq!(table.remove(0), Some('a'));
        assert_eq!(
            (table.remove(0), table.get(0), table.get(7)),
            (None, None, None)
        );
        assert_eq!(table.insert('c'), 0);
        assert_eq!(table.drain().collect::<String>(), "cb");
        assert_eq!(table.get(1), None);
    }

    #[test]
    fn reserved_numbers_are_not_reused() {
        let mut table = NumberTable::default();
        assert_eq!((table.insert('a'), table.insert('b')), (0, 1));
        assert!(table.reserve(0) && !table.reserve(0) && table.reserve(1));
        assert_eq!((table.reserved(), table.remove(0)), (2, Some('a')));
        assert_eq!(table.insert('c'), 2);
        assert!(table.release(0) && !table.release(0));
        assert_eq!(table.insert('d'), 0);
        // Released before its entry is removed.
        assert!(table.release(1));
        assert_eq!((table.remove(1), table.insert('e')), (Some('b'), 1));
        assert_eq!(table.insert('f'), 3);
    }
}
