//! A hash table of queues, one per key.
//!
//! Decision 060 has the reasons.

#[cfg(test)]
mod tests;

use super::envelope::Key;

/// Null index.
const NONE: u32 = u32::MAX;
/// Value of [`Slot::previous`] of an item that is in no queue.
const OUT: u32 = u32::MAX - 1;
/// Exclusive limit of the number of slots.
pub(super) const MOST_SLOTS: u32 = 1 << 31;
const FEWEST_ENTRIES: usize = 16;
/// Minimum number of entries of the table for each queue. With half of the entries vacant, a search
/// rarely looks at a second one.
const SPACE: usize = 2;

/// Identifier of an item: its slot, and its sequence number, which tells apart items that used the
/// same slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Id {
    pub(super) slot: u32,
    pub(super) sequence: u64,
}

/// Items in queues, one queue per key, each in the order of sequence numbers.
///
/// A hash table leads to the first item of each queue, which leads to the last. Slots are reused,
/// so memory is allocated only when the number of items reaches a new maximum.
pub(super) struct Lanes<T> {
    /// Open addressing with linear probing: a queue has the first entry from the home of its hash
    /// on that was vacant. The number of entries is a power of two, or 0.
    table: Vec<Entry>,
    /// Number of low bits of a hash that are not part of the index of its home.
    shift: u32,
    /// Number of queues.
    queues: usize,
    slots: Vec<Slot<T>>,
    /// The first slot of the free list, which is linked by `next`.
    free: u32,
    len: usize,
}

/// A queue in the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Entry {
    hash: u32,
    /// The first item of the queue. [`NONE`] if the entry is vacant.
    first: u32,
}

const VACANT: Entry = Entry {
    hash: 0,
    first: NONE,
};

/// An item with its links.
struct Slot<T> {
    key: Key,
    sequence: u64,
    /// The next item of the queue, or [`NONE`].
    next: u32,
    /// The previous item of the queue. For the first item: the last one, whose `next` is [`NONE`].
    /// [`OUT`] for an item that is in no queue.
    previous: u32,
    item: Option<T>,
}

impl<T> Lanes<T> {
    pub(super) fn new() -> Self {
        Self {
            table: Vec::new(),
            shift: 0,
            queues: 0,
            slots: Vec::new(),
            free: NONE,
            len: 0,
        }
    }

    /// Returns the number of items, whether they are in queues or not.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Appends an item to the queue of its key. `sequence` must be higher than any before.
    ///
    /// # Panics
    ///
    /// If there are [`MOST_SLOTS`] items.
    #[inline]
    pub(super) fn push(&mut self, key: Key, sequence: u64, item: T) -> Id {
        let (place, first) = self.find(&key);
        let slot = if self.free == NONE {
            self.new_slot()
        } else {
            self.free
        };
        let previous = if first == NONE {
            slot
        } else {
            self.slot(first).previous
        };
        let new = Slot {
            key,
            sequence,
            next: NONE,
            previous,
            item: Some(item),
        };
        if let Some(at) = self.slots.get_mut(slot as usize) {
            self.free = at.next;
            *at = new;
        } else {
            self.slots.push(new);
        }
        self.len = self.len.wrapping_add(1);
        if first == NONE {
            self.enlist(place, slot, key.hash);
        } else {
            self.slot_mut(previous).next = slot;
            self.slot_mut(first).previous = slot;
        }
        Id { slot, sequence }
    }

    /// Returns the index of the next slot that is allocated.
    #[cold]
    fn new_slot(&self) -> u32 {
        match u32::try_from(self.slots.len()) {
            Ok(slot) if slot < MOST_SLOTS => slot,
            _ => panic!("too many receives or messages: the limit is {MOST_SLOTS}"),
        }
    }

    /// Returns the first item of the queue of `key`.
    #[inline]
    pub(super) fn first(&self, key: &Key) -> Option<Id> {
        match self.find(key) {
            (_, NONE) => None,
            (_, first) => Some(self.id(first)),
        }
    }

    /// Returns the entry of the queue of `key` and the slot of its first item. If there is no such
    /// queue, returns the entry where it is to be stored, and [`NONE`].
    #[inline]
    fn find(&self, key: &Key) -> (usize, u32) {
        let mut at = self.home(key.hash);
        while let Some(&Entry { hash, first }) = self.table.get(at) {
            if first == NONE {
                break;
            }
            if hash == key.hash && self.slot(first).key.is_alike(key) {
                return (at, first);
            }
            at = self.behind(at);
        }
        (at, NONE)
    }

    /// Returns an item with its key, and true if it is in a queue.
    #[inline]
    pub(super) fn get(&self, id: Id) -> Option<(&Key, &T, bool)> {
        let slot = self.slots.get(id.slot as usize)?;
        if slot.sequence != id.sequence {
            return None;
        }
        Some((&slot.key, slot.item.as_ref()?, slot.previous != OUT))
    }

    #[inline]
    pub(super) fn get_mut(&mut self, id: Id) -> Option<&mut T> {
        let slot = self.slots.get_mut(id.slot as usize)?;
        if slot.sequence != id.sequence {
            return None;
        }
        slot.item.as_mut()
    }

    /// Returns the identifier of the item in a used slot.
    #[inline]
    pub(super) fn id(&self, slot: u32) -> Id {
        self.slot(slot).id(slot)
    }

    /// Returns all items, in the order of their slots.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Id, &Key)> {
        let all = (0u32..).zip(&self.slots);
        let used = all.filter(|(_, slot)| slot.item.is_some());
        used.map(|(at, slot)| (slot.id(at), &slot.key))
    }

    /// Removes an item, and returns it with its key. Its identifier is invalid from then on.
    #[inline]
    pub(super) fn remove(&mut self, id: Id) -> Option<(Key, T)> {
        let slot = self.slots.get_mut(id.slot as usize)?;
        if slot.sequence != id.sequence {
            return None;
        }
        let key = slot.key;
        let item = slot.item.take()?;
        self.detach(id.slot);
        let free = std::mem::replace(&mut self.free, id.slot);
        self.slot_mut(id.slot).next = free;
        self.len = self.len.wrapping_sub(1);
        Some((key, item))
    }

    /// Removes the first item of the queue of `key`, and returns it. Its identifier is invalid from
    /// then on. The entry of the queue is searched for once, and nothing is checked that the search
    /// has shown.
    #[inline]
    pub(super) fn pop(&mut self, key: &Key) -> Option<T> {
        let (place, first) = self.find(key);
        if first == NONE {
            return None;
        }
        let free = std::mem::replace(&mut self.free, first);
        let slot = self.slot_mut(first);
        let item = slot.item.take();
        let next = std::mem::replace(&mut slot.next, free);
        let last = std::mem::replace(&mut slot.previous, OUT);
        self.len = self.len.wrapping_sub(1);
        if next == NONE {
            self.queues = self.queues.wrapping_sub(1);
            self.vacate(place);
        } else {
            self.slot_mut(next).previous = last;
            self.entry_mut(place).first = next;
        }
        item
    }

    /// Removes an item from its queue, if it is in one. It keeps its slot and its identifier.
    #[inline]
    pub(super) fn detach(&mut self, at: u32) {
        let slot = self.slot_mut(at);
        let (key, next) = (slot.key, slot.next);
        let previous = std::mem::replace(&mut slot.previous, OUT);
        if previous == OUT {
            return;
        }
        if previous == at {
            self.queues = self.queues.wrapping_sub(1);
            return self.delist(at, key.hash);
        }
        let before = self.slot_mut(previous);
        if before.next == NONE {
            self.slot_mut(next).previous = previous;
            return self.relist(at, next, key.hash);
        }
        before.next = next;
        if next != NONE {
            self.slot_mut(next).previous = previous;
            return;
        }
        let Some(first) = self.first(&key) else {
            unreachable!("one in front is left")
        };
        self.slot_mut(first.slot).previous = previous;
    }

    /// Inserts an item that is in no queue into the queue of its key, in the order of sequence
    /// numbers. Takes constant time at the ends of the queue; otherwise the time is linear in the
    /// number of items before it.
    #[inline]
    pub(super) fn attach(&mut self, at: u32) {
        let slot = self.slot(at);
        let (key, sequence) = (slot.key, slot.sequence);
        let (place, first) = self.find(&key);
        if first == NONE {
            self.set(at, at, NONE);
            return self.enlist(place, at, key.hash);
        }
        let first = self.id(first);
        let last = self.slot(first.slot).previous;
        if sequence < first.sequence {
            self.slot_mut(first.slot).previous = at;
            self.set(at, last, first.slot);
            self.relist(first.slot, at, key.hash);
        } else if self.slot(last).sequence < sequence {
            self.slot_mut(last).next = at;
            self.set(at, last, NONE);
            self.slot_mut(first.slot).previous = at;
        } else {
            let mut before = first.slot;
            let mut behind = self.slot(before).next;
            while self.slot(behind).sequence < sequence {
                before = behind;
                behind = self.slot(before).next;
            }
            self.slot_mut(before).next = at;
            self.slot_mut(behind).previous = at;
            self.set(at, before, behind);
        }
    }

    #[inline]
    fn set(&mut self, at: u32, previous: u32, next: u32) {
        let slot = self.slot_mut(at);
        (slot.previous, slot.next) = (previous, next);
    }

    /// Adds a queue to the table, by its first item, at the entry where a search for it ended.
    #[inline]
    fn enlist(&mut self, place: usize, first: u32, hash: u32) {
        self.queues = self.queues.wrapping_add(1);
        if self.queues.saturating_mul(SPACE) > self.table.len() {
            // The queue is found by its first item, as all others are.
            self.grow();
        } else {
            *self.entry_mut(place) = Entry { hash, first };
        }
    }

    /// Replaces the first item by which a queue is found.
    #[inline]
    fn relist(&mut self, old: u32, new: u32, hash: u32) {
        let place = self.search(old, hash);
        self.entry_mut(place).first = new;
    }

    /// Removes an empty queue from the table, by its first item.
    #[inline]
    fn delist(&mut self, first: u32, hash: u32) {
        let place = self.search(first, hash);
        self.vacate(place);
    }

    /// Vacates an entry. Entries behind it move forward, because a search ends at a vacant entry.
    #[inline]
    fn vacate(&mut self, mut vacant: usize) {
        let mut at = self.behind(vacant);
        while let Some(&entry) = self.table.get(at).filter(|entry| entry.first != NONE) {
            // An entry may not move to a place before its home.
            let home = self.home(entry.hash);
            if self.distance(home, at) >= self.distance(vacant, at) {
                *self.entry_mut(vacant) = entry;
                vacant = at;
            }
            at = self.behind(at);
        }
        *self.entry_mut(vacant) = VACANT;
    }

    /// Returns the entry with that first item, or the first vacant one, from the home of its hash
    /// on.
    #[inline]
    fn search(&self, first: u32, hash: u32) -> usize {
        let mut at = self.home(hash);
        while let Some(entry) = self.table.get(at) {
            if entry.first == first || entry.first == NONE {
                break;
            }
            at = self.behind(at);
        }
        at
    }

    /// Doubles the number of entries.
    #[cold]
    fn grow(&mut self) {
        let count = self.table.len().saturating_mul(2).max(FEWEST_ENTRIES);
        self.table.clear();
        self.table.resize(count, VACANT);
        self.shift = u32::BITS.saturating_sub(count.ilog2());
        for first in (0..).take(self.slots.len()) {
            let slot = self.slot(first);
            if slot.previous != OUT && self.slot(slot.previous).next == NONE {
                let hash = slot.key.hash;
                let place = self.search(NONE, hash);
                *self.entry_mut(place) = Entry { hash, first };
            }
        }
    }

    /// Returns the entry at which a search for a hash begins. It is meaningless while the table is
    /// empty.
    #[inline]
    fn home(&self, hash: u32) -> usize {
        hash.wrapping_shr(self.shift) as usize
    }

    /// Returns the index behind an entry.
    #[inline]
    fn behind(&self, at: usize) -> usize {
        at.wrapping_add(1) & self.table.len().wrapping_sub(1)
    }

    /// Returns the number of steps from one entry to another.
    #[inline]
    fn distance(&self, from: usize, to: usize) -> usize {
        to.wrapping_sub(from) & self.table.len().wrapping_sub(1)
    }

    #[inline]
    fn entry_mut(&mut self, at: usize) -> &mut Entry {
        let Some(entry) = self.table.get_mut(at) else {
            unreachable!("hashes are cut to the table")
        };
        entry
    }

    #[inline]
    fn slot(&self, at: u32) -> &Slot<T> {
        let Some(slot) = self.slots.get(at as usize) else {
            unreachable!("links lead to slots")
        };
        slot
    }

    #[inline]
    fn slot_mut(&mut self, at: u32) -> &mut Slot<T> {
        let Some(slot) = self.slots.get_mut(at as usize) else {
            unreachable!("links lead to slots")
        };
        slot
    }
}

impl<T> Slot<T> {
    #[inline]
    fn id(&self, slot: u32) -> Id {
        let sequence = self.sequence;
        Id { slot, sequence }
    }
}
