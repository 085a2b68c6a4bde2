//! The posted receives.
//!
//! Decision 058 has the reasons.

use super::envelope::{Class, Envelope, Key, Pattern};
use super::hash::Hash;
use super::lanes::{Id, Lanes};
use super::outcome::{Ended, ReceiveId};

/// A posted receive.
pub(super) struct Posted<R> {
    /// The expected element type.
    pub(super) descriptor: Option<u64>,
    pub(super) receive: R,
}

/// The posted receives of a matcher. A message can be matched by the receives of at most four
/// queues, one for each class of patterns. The receive with the lowest sequence number at the heads
/// of these queues was posted first.
pub(super) struct Receives<R> {
    lanes: Lanes<Posted<R>>,
    /// Number of receives of each class, in the order of [`Class::ALL`]. Lookups skip unused
    /// classes.
    counts: [usize; 4],
}

impl<R> Receives<R> {
    pub(super) fn new() -> Self {
        Self {
            lanes: Lanes::new(),
            counts: [0; 4],
        }
    }

    pub(super) fn len(&self) -> usize {
        self.lanes.len()
    }

    #[inline]
    pub(super) fn push(&mut self, key: Key, sequence: u64, posted: Posted<R>) -> Id {
        let count = self.count(key.class);
        *count = count.wrapping_add(1);
        self.lanes.push(key, sequence, posted)
    }

    /// Removes the receive that was posted first of those that match the message.
    #[inline]
    pub(super) fn take_first(&mut self, hash: &Hash, envelope: &Envelope) -> Option<Posted<R>> {
        let [exact, ..] = self.counts;
        if exact != self.lanes.len() {
            return self.take_earliest(hash, envelope);
        }
        let posted = self.lanes.pop(&hash.envelope_key(envelope, Class::Exact))?;
        let count = self.count(Class::Exact);
        *count = count.wrapping_sub(1);
        Some(posted)
    }

    /// As [`take_first`](Self::take_first), if there are receives with wildcards.
    #[inline(never)]
    fn take_earliest(&mut self, hash: &Hash, envelope: &Envelope) -> Option<Posted<R>> {
        let mut first = self.lanes.first(&hash.envelope_key(envelope, Class::Exact));
        for (class, count) in Class::ALL.into_iter().zip(self.counts).skip(1) {
            if count > 0 {
                let other = self.lanes.first(&hash.envelope_key(envelope, class));
                first = match (first, other) {
                    (Some(one), Some(other)) if one.sequence < other.sequence => Some(one),
                    (one, other) => other.or(one),
                };
            }
        }
        self.remove(first?)
    }

    #[inline]
    pub(super) fn remove(&mut self, id: Id) -> Option<Posted<R>> {
        let (key, posted) = self.lanes.remove(id)?;
        let count = self.count(key.class);
        *count = count.wrapping_sub(1);
        Some(posted)
    }

    /// Removes all receives whose patterns `test` accepts, in the order in which they were posted.
    pub(super) fn remove_all(&mut self, test: impl Fn(&Pattern) -> bool) -> Vec<Ended<R>> {
        let all = self.lanes.iter().map(|(id, key)| (id, key.pattern()));
        let mut ended: Vec<_> = all.filter(|(_, pattern)| test(pattern)).collect();
        ended.sort_unstable_by_key(|(id, _)| id.sequence);
        let ended = ended.into_iter().map(|(id, pattern)| {
            let receive = self.remove(id)?.receive;
            let id = ReceiveId(id);
            Some(Ended {
                id,
                pattern,
                receive,
            })
        });
        ended.flatten().collect()
    }

    #[inline]
    fn count(&mut self, class: Class) -> &mut usize {
        let Some(count) = self.counts.get_mut(class as usize) else {
            unreachable!("each class has a count")
        };
        count
    }
}
