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
/// Number of queues that are stored in a bucket itself.
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

/// Queues whose hashes have the same bucket index, in one cache line, so that a lookup touches
/// little more memory than that of its own queue.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Bucket {
    hashes: [u32; WAYS],
    /// The first items of the queues, or [`NONE`].
    firsts: [u32; WAYS],
    /// Head of the chain of the first items of all other queues of the bucket.
    chain: u32,
}

const EMPTY: Bucket = Bucket {
    hashes: [0; WAYS],
    firsts: [NONE; WAYS],
    chain: NONE,
};

/// An item with its links.
struct Slot<T> {
    key: Key,
    sequence: u64,
    /// The next item of the queue.
    next: u32,
    /// The previous item of the queue; [`NONE`] for the first of a queue, [`OUT`] for an item that
    /// is in no queue.
    previous: u32,
    /// For the first item of a queue in a chain: the first item of the next queue in the chain.
    chain: u32,
    /// For the first item of a queue: the last one.
    last: u32,
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
        let first = self.first(&key).map(|id| id.slot);
        let previous = first.map_or(NONE, |first| self.slot(first).last);
        let free = self.free;
        let new = Slot {
            key,
            sequence,
            next: NONE,
            previous,
            chain: NONE,
            last: free,
            item: Some(item),
        };
        let slot = if let Some(at) = self.slots.get_mut(free as usize) {
            self.free = at.next;
            *at = new;
            free
        } else {
            self.add_slot(new)
        };
        self.len = self.len.saturating_add(1);
        if let Some(first) = first {
            self.slot_mut(previous).next = slot;
            self.slot_mut(first).last = slot;
        } else {
            self.enlist(slot, key.hash);
        }
        Id { slot, sequence }
    }

    #[cold]
    fn add_slot(&mut self, new: Slot<T>) -> u32 {
        match u32::try_from(self.slots.len()) {
            Ok(slot) if slot < MOST_SLOTS => {
                self.slots.push(Slot { last: slot, ..new });
                slot
            }
            _ => panic!("too many receives or messages: the limit is {MOST_SLOTS}"),
        }
    }

    /// Returns the first item of the queue of `key`.
    #[inline]
    pub(super) fn first(&self, key: &Key) -> Option<Id> {
        if self.queues == 0 {
            return None;
        }
        let bucket = self.table.get(self.bucket(key.hash))?;
        for (hash, first) in bucket.hashes.iter().zip(&bucket.firsts) {
            if *hash == key.hash {
                if let Some(slot) = self.slots.get(*first as usize) {
                    if slot.key == *key {
                        return Some(slot.id(*first));
                    }
                }
            }
        }
        let mut at = bucket.chain;
        while let Some(slot) = self.slots.get(at as usize) {
            if slot.key == *key {
                return Some(slot.id(at));
            }
            at = slot.chain;
        }
        None
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
        let (key, next, last) = (slot.key, slot.next, slot.last);
        match std::mem::replace(&mut slot.previous, OUT) {
            OUT => {}
            NONE if next == NONE => {
                self.queues = self.queues.saturating_sub(1);
                self.delist(at, key.hash);
            }
            NONE => {
                let heir = self.slot_mut(next);
                (heir.previous, heir.last) = (NONE, last);
                self.relist(at, next, key.hash);
            }
            previous => {
                self.slot_mut(previous).next = next;
                if next == NONE {
                    let Some(first) = self.first(&key) else {
                        unreachable!("one in front is left")
                    };
                    self.slot_mut(first.slot).last = previous;
                } else {
                    self.slot_mut(next).previous = previous;
                }
            }
        }
    }

    /// Inserts an item that is in no queue into the queue of its key, in the order of sequence
    /// numbers. Takes constant time at the ends of the queue; otherwise the time is linear in the
    /// number of items before it.
    #[inline]
    pub(super) fn attach(&mut self, at: u32) {
        let slot = self.slot(at);
        let (key, sequence) = (slot.key, slot.sequence);
        let Some(first) = self.first(&key) else {
            self.set(at, NONE, NONE);
            self.slot_mut(at).last = at;
            return self.enlist(at, key.hash);
        };
        let last = self.slot(first.slot).last;
        if sequence < first.sequence {
            self.slot_mut(first.slot).previous = at;
            self.set(at, NONE, first.slot);
            self.slot_mut(at).last = last;
            self.relist(first.slot, at, key.hash);
        } else if self.slot(last).sequence < sequence {
            self.slot_mut(last).next = at;
            self.set(at, last, NONE);
            self.slot_mut(first.slot).last = at;
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

    #[inline]
    fn name(&mut self, first: u32, hash: u32) {
        let bucket = self.bucket_mut(hash);
        for (other, place) in bucket.hashes.iter_mut().zip(&mut bucket.firsts) {
            if *place == NONE {
                (*other, *place) = (hash, first);
                return;
            }
        }
        let chain = std::mem::replace(&mut bucket.chain, first);
        self.slot_mut(first).chain = chain;
    }

    /// Replaces the first item by which a queue is found.
    #[inline]
    fn relist(&mut self, old: u32, new: u32, hash: u32) {
        let bucket = self.bucket_mut(hash);
        if let Some(place) = bucket.firsts.iter_mut().find(|first| **first == old) {
            *place = new;
            return;
        }
        self.slot_mut(new).chain = self.slot(old).chain;
        self.set_chain(old, new, hash);
    }

    /// Removes an empty queue from the table.
    #[inline]
    fn delist(&mut self, first: u32, hash: u32) {
        let bucket = self.bucket_mut(hash);
        let Some(place) = bucket.firsts.iter_mut().find(|other| **other == first) else {
            let behind = self.slot(first).chain;
            return self.set_chain(first, behind, hash);
        };
        *place = NONE;
        // A queue of the chain moves to the free place.
        let waiting = bucket.chain;
        if waiting != NONE {
            let Slot { key, chain, .. } = self.slot(waiting);
            let (hash, chain) = (key.hash, *chain);
            self.bucket_mut(hash).chain = chain;
            self.name(waiting, hash);
        }
    }

    /// Replaces the link to `old` in the chain by one to `new`.
    fn set_chain(&mut self, old: u32, new: u32, hash: u32) {
        let bucket = self.bucket_mut(hash);
        let mut at = bucket.chain;
        if at == old {
            bucket.chain = new;
            return;
        }
        loop {
            let slot = self.slot_mut(at);
            if slot.chain == old {
                slot.chain = new;
                return;
            }
            at = slot.chain;
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
            if slot.previous == NONE {
                self.name(at, slot.key.hash);
            }
        }
    }

    /// Returns the bucket index of a hash. It is meaningless while there are no buckets.
    #[inline]
    fn bucket(&self, hash: u32) -> usize {
        hash.wrapping_shr(self.shift) as usize
    }

    #[inline]
    fn bucket_mut(&mut self, hash: u32) -> &mut Bucket {
        let at = self.bucket(hash);
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
