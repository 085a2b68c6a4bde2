//! The unexpected messages: those for which no receive was posted.
//!
//! Decision 058 has the reasons.

use super::envelope::{Class, Envelope, Heading, Key};
use super::lanes::{Id, Lanes, MOST_SLOTS};

/// A waiting or claimed message. Its envelope is in its key.
struct Waiting<M> {
    length: u64,
    held: u64,
    descriptor: Option<u64>,
    /// Index of the message in [`Order`].
    place: usize,
    message: M,
}

/// The unexpected messages of a matcher.
///
/// A receive with source and tag finds its message through a hash table. Other receives search a
/// contiguous array of envelopes in the order of arrival.
pub(super) struct Messages<M> {
    lanes: Lanes<Waiting<M>>,
    order: Order,
}

impl<M> Messages<M> {
    pub(super) fn new() -> Self {
        Self {
            lanes: Lanes::new(),
            order: Order::default(),
        }
    }

    /// Returns the number of messages, including claimed ones.
    pub(super) fn len(&self) -> usize {
        self.lanes.len()
    }

    #[inline]
    pub(super) fn push(&mut self, key: Key, sequence: u64, heading: Heading, message: M) -> Id {
        let waiting = Waiting {
            length: heading.length,
            held: heading.held,
            descriptor: heading.descriptor,
            place: self.order.len(),
            message,
        };
        let id = self.lanes.push(key, sequence, waiting);
        self.order.push(heading.envelope, id.slot);
        id
    }

    /// Returns the message that arrived first of those that the pattern of `key` matches.
    #[inline]
    pub(super) fn find(&self, key: &Key) -> Option<Id> {
        if key.class == Class::Exact {
            return self.lanes.first(key);
        }
        let slot = self.order.find(key)?;
        Some(self.lanes.id(slot))
    }

    /// Returns the attributes and the value of a message.
    pub(super) fn get(&self, id: Id) -> Option<(Heading, &M)> {
        let (key, waiting, _) = self.lanes.get(id)?;
        Some((waiting.heading(key), &waiting.message))
    }

    pub(super) fn get_mut(&mut self, id: Id) -> Option<&mut M> {
        Some(&mut self.lanes.get_mut(id)?.message)
    }

    /// Returns a message of `source`, claimed or not, for which `is_it` returns true.
    pub(super) fn search(&self, source: u32, is_it: impl Fn(&M) -> bool) -> Option<Id> {
        let all = self.lanes.iter();
        let mut of_source = all.filter(|(_, key)| key.given.source == source);
        let found =
            of_source.find(|(id, _)| self.get(*id).is_some_and(|(_, message)| is_it(message)));
        found.map(|(id, _)| id)
    }

    /// Returns the messages that are not claimed and whose envelopes `is_meant` accepts, in the
    /// order of arrival.
    pub(super) fn select(&self, is_meant: impl Fn(&Envelope) -> bool) -> Vec<Id> {
        let slots = self.order.slots.iter().zip(&self.order.envelopes);
        let slots = slots.skip(self.order.head);
        let found = slots.filter(|(slot, envelope)| **slot < CLAIMED && is_meant(envelope));
        found.map(|(slot, _)| self.lanes.id(*slot)).collect()
    }

    pub(super) fn is_claimed(&self, id: Id) -> bool {
        self.lanes.get(id).is_some_and(|(.., in_queue)| !in_queue)
    }

    #[inline]
    pub(super) fn remove(&mut self, id: Id) -> Option<(Heading, M)> {
        let (key, waiting) = self.lanes.remove(id)?;
        self.close(waiting.place);
        Some((waiting.heading(&key), waiting.message))
    }

    /// Removes the message that arrived first of those that the pattern of `key` matches.
    #[inline]
    pub(super) fn take_first(&mut self, key: &Key) -> Option<(Heading, M)> {
        if key.class != Class::Exact {
            let id = self.find(key)?;
            return self.remove(id);
        }
        let waiting = self.lanes.pop(key)?;
        self.close(waiting.place);
        // All parts of the envelope are in the key.
        Some((waiting.heading(key), waiting.message))
    }

    /// Removes the envelope of a message.
    #[inline]
    fn close(&mut self, place: usize) {
        self.order.remove(place);
        if self.order.is_sparse() {
            self.compact();
        }
    }

    /// Hides a message from all receives.
    pub(super) fn claim(&mut self, id: Id) {
        if let Some(Waiting { place, .. }) = self.lanes.get_mut(id) {
            self.order.set(*place, id.slot | CLAIMED);
            self.lanes.detach(id.slot);
        }
    }

    /// Makes a claimed message available again, in its former place.
    pub(super) fn restore(&mut self, id: Id) {
        if let Some(Waiting { place, .. }) = self.lanes.get_mut(id) {
            self.order.set(*place, id.slot);
            self.lanes.attach(id.slot);
        }
    }

    #[cold]
    fn compact(&mut self) {
        let lanes = &mut self.lanes;
        self.order.compact(|slot, place| {
            let id = lanes.id(slot);
            if let Some(waiting) = lanes.get_mut(id) {
                waiting.place = place;
            }
        });
    }
}

impl<M> Waiting<M> {
    #[inline]
    fn heading(&self, key: &Key) -> Heading {
        Heading {
            envelope: key.given,
            length: self.length,
            held: self.held,
            descriptor: self.descriptor,
        }
    }
}

/// Slot value of a message that was removed.
const GONE: u32 = u32::MAX;
/// Flag in the slot value of a claimed message.
const CLAIMED: u32 = MOST_SLOTS;
/// Number of holes that is always tolerated.
const HOLES: usize = 64;

/// The envelopes in the order of arrival, and in a separate array the slots of their messages. A
/// removed message leaves a hole. The array is compacted when there are many holes.
#[derive(Default)]
struct Order {
    envelopes: Vec<Envelope>,
    slots: Vec<u32>,
    /// Index before which all messages were removed.
    head: usize,
    /// Number of holes.
    gone: usize,
}

impl Order {
    fn len(&self) -> usize {
        self.slots.len()
    }

    #[inline]
    fn push(&mut self, envelope: Envelope, slot: u32) {
        self.envelopes.push(envelope);
        self.slots.push(slot);
    }

    #[inline]
    fn set(&mut self, place: usize, slot: u32) {
        if let Some(at) = self.slots.get_mut(place) {
            *at = slot;
        }
    }

    /// Returns the slot of the first message that the pattern of `key` matches. Each class has its
    /// own loop with its own comparison.
    fn find(&self, key: &Key) -> Option<u32> {
        let Envelope {
            context,
            source,
            tag,
        } = key.given;
        match key.class {
            Class::Any => self.first(|other| other.context == context),
            Class::AnySource => self.first(|other| (other.context == context) & (other.tag == tag)),
            Class::AnyTag => {
                self.first(|other| (other.context == context) & (other.source == source))
            }
            Class::Exact => self.first(|other| *other == key.given),
        }
    }

    #[inline]
    fn first(&self, test: impl Fn(&Envelope) -> bool) -> Option<u32> {
        let envelopes = self.envelopes.iter().skip(self.head);
        let slots = self.slots.iter().skip(self.head);
        for (envelope, slot) in envelopes.zip(slots) {
            if test(envelope) && *slot < CLAIMED {
                return Some(*slot);
            }
        }
        None
    }

    #[inline]
    fn remove(&mut self, place: usize) {
        self.set(place, GONE);
        self.gone = self.gone.saturating_add(1);
        while self.slots.get(self.head) == Some(&GONE) {
            self.head = self.head.saturating_add(1);
        }
        if self.head == self.slots.len() {
            self.envelopes.clear();
            self.slots.clear();
            (self.head, self.gone) = (0, 0);
        }
    }

    /// Returns true if there are so many holes that compaction pays off.
    #[inline]
    fn is_sparse(&self) -> bool {
        let waiting = self.slots.len().saturating_sub(self.gone);
        self.gone > waiting.saturating_mul(2).saturating_add(HOLES)
    }

    /// Removes the holes, and reports the new index of each slot.
    fn compact(&mut self, mut moved: impl FnMut(u32, usize)) {
        let mut place = 0usize;
        for from in self.head..self.slots.len() {
            let (Some(&slot), Some(&envelope)) = (self.slots.get(from), self.envelopes.get(from))
            else {
                unreachable!("there are as many envelopes as slots")
            };
            if slot == GONE {
                continue;
            }
            self.set(place, slot);
            if let Some(at) = self.envelopes.get_mut(place) {
                *at = envelope;
            }
            moved(slot & !CLAIMED, place);
            place = place.saturating_add(1);
        }
        self.slots.truncate(place);
        self.envelopes.truncate(place);
        (self.head, self.gone) = (0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::super::envelope::Pattern;
    use super::super::hash::Hash;
    use super::*;

    #[test]
    fn holes_are_closed_and_places_follow() {
        let (mut messages, hash) = (Messages::new(), Hash::new());
        let envelope = |tag| Envelope {
            context: 0,
            source: 0,
            tag,
        };
        let ids: Vec<_> = (0..1_000)
            .map(|n| {
                let key = hash.envelope_key(&envelope(n), Class::Exact);
                messages.push(key, n + 1, Heading::new(envelope(n), 0), n)
            })
            .collect();
        messages.claim(ids[500]);
        // All but every hundredth, from the back, so that the head stays.
        for (n, id) in ids.iter().enumerate().rev().filter(|(n, _)| n % 100 > 0) {
            assert_eq!(
                messages.remove(*id),
                Some((Heading::new(envelope(n as u64), 0), n as u64))
            );
        }
        assert_eq!(messages.len(), 10);
        assert!(
            messages.order.len() <= 10 * 3 + HOLES,
            "{}",
            messages.order.len()
        );
        messages.restore(ids[500]);
        for n in (0..1_000).step_by(100) {
            let any = messages.find(&hash.pattern(&Pattern::any(0))).unwrap();
            assert_eq!(any, ids[n]);
            messages.remove(any).unwrap();
        }
        assert_eq!((messages.len(), messages.order.len()), (0, 0));
    }
}
