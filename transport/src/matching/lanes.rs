//! Queues that are found by their keys.

#[cfg(test)]
mod tests;

use super::envelope::Key;

/// No slot.
const NONE: u32 = u32::MAX;
/// Instead of the slot in front: the item is in no queue.
const OUT: u32 = u32::MAX - 1;
/// There are fewer slots than this.
pub(super) const MOST_SLOTS: u32 = 1 << 31;
const FEWEST_BUCKETS: usize = 4;
/// So many queues there are for each bucket, at most.
const LOAD: usize = 4;
/// So many queues are named in a bucket itself.
const WAYS: usize = 7;

/// Which item: a slot, and the number of the one item that is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Id {
    pub(super) slot: u32,
    pub(super) sequence: u64,
}

/// Items in queues, a queue for each key, each in the order of the items' numbers.
///
/// A table of hashes leads to the first item of each queue, and that to the last. Slots are used again,
/// so that nothing is allocated once there are as many as items at once.
pub(super) struct Lanes<T> {
    /// Their count is a power of two, or 0.
    table: Vec<Bucket>,
    /// How many bits of a hash are not the number of a bucket.
    shift: u32,
    /// How many queues there are.
    queues: usize,
    slots: Vec<Slot<T>>,
    /// The first free slot; `next` leads to the others.
    free: u32,
    len: usize,
}

/// The queues whose hashes begin alike, in one line of the cache: all that is looked at of those that
/// are not wanted.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Bucket {
    hashes: [u32; WAYS],
    /// The first items of the queues, or [`NONE`].
    firsts: [u32; WAYS],
    /// The first items of those that have no place here are chained.
    chain: u32,
}

const EMPTY: Bucket = Bucket {
    hashes: [0; WAYS],
    firsts: [NONE; WAYS],
    chain: NONE,
};

/// An item, and where it is among the others.
struct Slot<T> {
    key: Key,
    sequence: u64,
    /// The item behind it.
    next: u32,
    /// The item in front of it; [`NONE`] for the first of a queue, [`OUT`] if it is in none.
    previous: u32,
    /// Of the first of a queue that has no place in its bucket: the first of another one.
    chain: u32,
    /// Of the first of a queue: the last one.
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

    /// How many items there are, in queues or not.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Puts an item at the end of the queue of its key. `sequence` is higher than any before.
    ///
    /// # Panics
    ///
    /// When there are [`MOST_SLOTS`] already.
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
            _ => panic!("no rank has that many receives or messages"),
        }
    }

    /// The first item of the queue of `key`.
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

    /// The item with its key, and whether it is in a queue.
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

    /// Which item is in a slot that is in use.
    #[inline]
    pub(super) fn id(&self, slot: u32) -> Id {
        self.slot(slot).id(slot)
    }

    /// All items, in the order of their slots.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Id, &Key)> {
        let all = (0u32..).zip(&self.slots);
        let used = all.filter(|(_, slot)| slot.item.is_some());
        used.map(|(at, slot)| (slot.id(at), &slot.key))
    }

    /// Takes an item out, with its key; its number means nothing from then on.
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

    /// Takes an item out of its queue, if it is in one. It keeps its slot and its number.
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

    /// Puts an item that is in no queue where its number belongs in that of its key. Takes as long as
    /// there are items of lower numbers, but for the end, which is at hand.
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

    /// Makes a queue known by its first item.
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

    /// Makes a queue known by another item instead.
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

    /// Forgets a queue that is empty.
    #[inline]
    fn delist(&mut self, first: u32, hash: u32) {
        let bucket = self.bucket_mut(hash);
        let Some(place) = bucket.firsts.iter_mut().find(|other| **other == first) else {
            let behind = self.slot(first).chain;
            return self.set_chain(first, behind, hash);
        };
        *place = NONE;
        // One of the chain gets the place.
        let waiting = bucket.chain;
        if waiting != NONE {
            let Slot { key, chain, .. } = self.slot(waiting);
            let (hash, chain) = (key.hash, *chain);
            self.bucket_mut(hash).chain = chain;
            self.name(waiting, hash);
        }
    }

    /// What leads to `old` in the chain leads to `new`.
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

    /// Twice the buckets.
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

    /// The number of its bucket; meaningless while there are none.
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
