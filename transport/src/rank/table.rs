//! What is known to a peer by a number that this side gave out.

/// A number, which is free again when its entry is gone.
pub(super) type Number = u32;

/// Entries by their numbers, which are the lowest that are free.
pub(super) struct Table<T> {
    entries: Vec<Option<T>>,
    free: Vec<Number>,
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self {
            entries: Vec::new(),
            free: Vec::new(),
        }
    }
}

impl<T> Table<T> {
    /// # Panics
    ///
    /// When there are 2^32 entries already.
    pub(super) fn insert(&mut self, entry: T) -> Number {
        if let Some(number) = self.free.pop() {
            if let Some(place) = self.entries.get_mut(number as usize) {
                *place = Some(entry);
                return number;
            }
        }
        let Ok(number) = Number::try_from(self.entries.len()) else {
            panic!("no peer is asked that much")
        };
        self.entries.push(Some(entry));
        number
    }

    pub(super) fn get(&self, number: Number) -> Option<&T> {
        self.entries.get(number as usize)?.as_ref()
    }

    pub(super) fn remove(&mut self, number: Number) -> Option<T> {
        let entry = self.entries.get_mut(number as usize)?.take()?;
        self.free.push(number);
        Some(entry)
    }

    /// All that there are.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = T> + use<T> {
        self.free.clear();
        std::mem::take(&mut self.entries).into_iter().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_used_again() {
        let mut table = Table::default();
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
}
