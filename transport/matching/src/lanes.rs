//! A hash table of queues, one per key.

#[cfg(test)]
mod tests;

use super::envelope::Key;

/// Null index.
const NONE: u32 = u32::MAX;
/// Value of [`Slot::previous`] of an item that is in no queue.
const OUT: u32 = u32::MAX - 1;
/// Exclusive limit of the number of slots.
pub(super) const MOST_SLOTS: u32 = 1 << 31;
const FEWEST_BUCKETS: usize = 4;
/// Maximum average number of queues per bucket.
const LOAD: usize = 4;
/// Number of queues that a bucket has room for.
const WAYS: usize = 7;

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
    /// The buckets. Their number is a power of two, or 0.
    table: Vec<Bucket>,
    /// Number of low bits of a hash that are not part of the bucket index.
    shift: u32,
    /// Number of queues.
    queues: usize,
    slots: Vec<Slot<T>>,
    /// The first slot of the free list, which is linked by `next`.
    free: u32,
    len: usize,
}

/// Queues whose hashes have the same bucket index, in one cache line. If it is full, further queues
/// are stored in the first bucket behind it that has room.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Bucket {
    hashes: [u32; WAYS],
    /// The first items of the queues, or [`NONE`].
    firsts: [u32; WAYS],
    /// Number of queues that found this bucket full, and are stored behind it.
    passed: u32,
}

const EMPTY: Bucket = Bucket {
    hashes: [0; WAYS],
    firsts: [NONE; WAYS],
    passed: 0,
};

impl Bucket {
    /// Replaces `old` in the first items, together with its hash. Returns false if it is not here.
    #[inline]
    fn replace(&mut self, old: u32, new: u32, hash: u32) -> bool {
        let way = way(&self.firsts, old);
        let places = (self.firsts.get_mut(way), self.hashes.get_mut(way));
        let (Some(first), Some(place)) = places else {
            return false;
        };
        (*first, *place) = (new, hash);
        true
    }
}

/// Returns the lowest index of a value, or [`WAYS`]. Compares all values without a branch, because
/// the index is random, and a wrong prediction costs more than all comparisons.
#[inline]
fn way(values: &[u32; WAYS], value: u32) -> usize {
    let mut way = WAYS;
    for (at, other) in values.iter().enumerate().rev() {
        way = if *other == value { at } else { way };
    }
    way
}

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
        let first = self.find(&key);
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
        self.len = self.len.saturating_add(1);
        if first == NONE {
            self.enlist(slot, key.hash);
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
            NONE => None,
            first => Some(self.slot(first).id(first)),
        }
    }

    /// Returns the slot of the first item of the queue of `key`, or [`NONE`].
    #[inline]
    fn find(&self, key: &Key) -> u32 {
        let home = self.home(key.hash);
        let Some(bucket) = self.table.get(home) else {
            return NONE;
        };
        if let Some(&first) = bucket.firsts.get(way(&bucket.hashes, key.hash)) {
            match self.slots.get(first as usize) {
                Some(slot) if slot.key == *key => return first,
                _ => {}
            }
        } else if bucket.passed == 0 {
            return NONE;
        }
        self.search(home, *key)
    }

    /// Returns the first item of a queue whose hash another queue has, too, or whose home bucket
    /// was full.
    #[cold]
    fn search(&self, home: usize, key: Key) -> u32 {
        let mut at = home;
        loop {
            let Some(bucket) = self.table.get(at) else {
                return NONE;
            };
            let same = bucket.hashes.iter().zip(&bucket.firsts);
            let mut same = same.filter(|(hash, first)| **hash == key.hash && **first != NONE);
            if let Some((_, first)) = same.find(|(_, first)| self.slot(**first).key == key) {
                return *first;
            }
            if bucket.passed == 0 {
                return NONE;
            }
            at = self.behind(at);
        }
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
        self.len = self.len.saturating_sub(1);
        Some((key, item))
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
            self.queues = self.queues.saturating_sub(1);
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
        let Some(first) = self.first(&key) else {
            self.set(at, at, NONE);
            return self.enlist(at, key.hash);
        };
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

    /// Adds a queue to the table, by its first item.
    #[inline]
    fn enlist(&mut self, first: u32, hash: u32) {
        self.queues = self.queues.saturating_add(1);
        if self.queues > self.table.len().saturating_mul(LOAD) {
            self.grow();
        } else {
            self.name(first, hash);
        }
    }

    /// Stores a queue in the first bucket that has room, from the home bucket of its hash on.
    #[inline]
    fn name(&mut self, first: u32, hash: u32) {
        let mut at = self.home(hash);
        while !self.bucket_mut(at).replace(NONE, first, hash) {
            let bucket = self.bucket_mut(at);
            bucket.passed = bucket.passed.saturating_add(1);
            at = self.behind(at);
        }
    }

    /// Replaces the first item by which a queue is found.
    #[inline]
    fn relist(&mut self, old: u32, new: u32, hash: u32) {
        let mut at = self.home(hash);
        while !self.bucket_mut(at).replace(old, new, hash) {
            at = self.behind(at);
        }
    }

    /// Removes an empty queue from the table.
    #[inline]
    fn delist(&mut self, first: u32, hash: u32) {
        let mut at = self.home(hash);
        // The free place gets a hash that the next search for the same key does not find.
        while !self.bucket_mut(at).replace(first, NONE, !hash) {
            let bucket = self.bucket_mut(at);
            bucket.passed = bucket.passed.saturating_sub(1);
            at = self.behind(at);
        }
    }

    /// Doubles the number of buckets.
    #[cold]
    fn grow(&mut self) {
        let count = self.table.len().saturating_mul(2).max(FEWEST_BUCKETS);
        self.table.clear();
        self.table.resize(count, EMPTY);
        self.shift = u32::BITS.saturating_sub(count.ilog2());
        for at in (0..).take(self.slots.len()) {
            let slot = self.slot(at);
            if slot.previous != OUT && self.slot(slot.previous).next == NONE {
                self.name(at, slot.key.hash);
            }
        }
    }

    /// Returns the bucket in which a search for a hash begins. It is meaningless while there are no
    /// buckets.
    #[inline]
    fn home(&self, hash: u32) -> usize {
        hash.wrapping_shr(self.shift) as usize
    }

    /// Returns the next bucket.
    #[inline]
    fn behind(&self, at: usize) -> usize {
        at.wrapping_add(1) & self.table.len().wrapping_sub(1)
    }

    #[inline]
    fn bucket_mut(&mut self, at: usize) -> &mut Bucket {
        let Some(bucket) = self.table.get_mut(at) else {
            unreachable!("hashes are cut to the table")
        };
        bucket
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
