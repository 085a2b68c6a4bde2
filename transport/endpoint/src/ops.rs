//! Slab of posted operations. Slots are reused, so posting does not allocate once there are as many
//! slots as simultaneous operations.

use std::sync::Arc;
use std::task::Waker;

use super::gate::Credit;
use super::receiving::Receipt;
use super::sending::SendOutcome;
use jstream_device::connection::Outbound;

/// Key of an operation: the index of its slot, and the number of earlier uses of that slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpId {
    slot: u32,
    generation: u32,
}

impl OpId {
    /// Returns the key as one number, as it is passed to a [`Sink`].
    pub fn number(self) -> u64 {
        u64::from(self.slot) << 32 | u64::from(self.generation)
    }

    /// Converts a number back to a key.
    pub fn of_number(number: u64) -> Self {
        let [a, b, c, d, e, f, g, h] = number.to_be_bytes();
        Self {
            slot: u32::from_be_bytes([a, b, c, d]),
            generation: u32::from_be_bytes([e, f, g, h]),
        }
    }
}

/// Recipient of the notification that an operation has ended.
pub enum Notify {
    /// The owner of the ticket, which queries the outcome.
    Ticket,
    /// A task that polled the ticket.
    Task(Waker),
    /// None.
    Nobody,
    /// None here, but the peer waits for the message, which is a request.
    Request,
    /// None here, but the peer waits for the message, which is an answer.
    Answer,
    /// None here, but the peer waits for some of the messages that it consists of.
    Gathered,
    /// A queue that gets the outcome itself. The operation has no ticket.
    Sink(Arc<dyn Sink>, u64),
}

impl Notify {
    /// Registers `task`, and returns the previous task if it was another one.
    pub(super) fn set_task(&mut self, task: &Waker) -> Option<Waker> {
        if self.is_task(task) {
            return None;
        }
        match std::mem::replace(self, Self::Task(task.clone())) {
            Self::Task(other) => Some(other),
            _ => None,
        }
    }

    /// Returns true if `task` is registered.
    pub(super) fn is_task(&self, task: &Waker) -> bool {
        matches!(self, Self::Task(own) if own.will_wake(task))
    }

    /// Returns true if `sink` is registered.
    pub(super) fn is_of(&self, sink: &Arc<dyn Sink>) -> bool {
        matches!(self, Self::Sink(own, _) if Arc::ptr_eq(own, sink))
    }
}

/// Receiver of the outcomes of operations without tickets. Each outcome comes with the number with
/// which the operation was posted.
///
/// A sink is called under the lock of a direction: it may lock and wake, but must not use an
/// endpoint.
pub trait Sink: Send + Sync {
    /// Called with the outcome of a send.
    fn sent(self: Arc<Self>, user: u64, sent: SendOutcome);

    /// Returns true if the peer waits for the messages of this sink. If one of them can't be sent,
    /// the connection ends, because the peer would wait forever.
    fn is_awaited(&self) -> bool {
        false
    }

    /// Called with the outcome of a receive.
    fn received(self: Arc<Self>, user: u64, receipt: Receipt);

    /// Called if a message waits for credit and the peer lacks room only for its bytes. The sink
    /// may replace the message by one with a lower cost. Returns the sink that gets the outcome of
    /// the replacement, and its cost.
    fn shorten(
        self: Arc<Self>,
        _user: u64,
        _message: &mut Outbound<'static>,
    ) -> Option<(Arc<dyn Sink>, Credit)> {
        None
    }
}

/// A slab of operations.
pub struct Ops<T> {
    slots: Vec<OperationSlot<T>>,
    free: Vec<u32>,
}

struct OperationSlot<T> {
    generation: u32,
    op: Option<T>,
}

impl<T> Default for Ops<T> {
    fn default() -> Self {
        Self {
            slots: Vec::new(),
            free: Vec::new(),
        }
    }
}

impl<T> Ops<T> {
    /// # Panics
    ///
    /// When there are 2^32 operations already.
    pub fn insert(&mut self, op: T) -> OpId {
        if let Some(slot) = self.free.pop() {
            if let Some(free) = self.slots.get_mut(slot as usize) {
                free.op = Some(op);
                return OpId {
                    slot,
                    generation: free.generation,
                };
            }
        }
        let Ok(slot) = u32::try_from(self.slots.len()) else {
            panic!("no connection has that many operations")
        };
        self.slots.push(OperationSlot {
            generation: 0,
            op: Some(op),
        });
        OpId {
            slot,
            generation: 0,
        }
    }

    /// Returns the operation, unless it has ended.
    pub fn get(&self, id: OpId) -> Option<&T> {
        self.slots
            .get(id.slot as usize)
            .filter(|slot| slot.generation == id.generation)
            .and_then(|slot| slot.op.as_ref())
    }

    /// Returns the operation, unless it has ended.
    pub fn get_mut(&mut self, id: OpId) -> Option<&mut T> {
        self.slots
            .get_mut(id.slot as usize)
            .filter(|slot| slot.generation == id.generation)
            .and_then(|slot| slot.op.as_mut())
    }

    /// Returns the operations that have not ended.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.slots.iter().filter_map(|slot| slot.op.as_ref())
    }

    /// Returns the operations that have not ended, with their keys.
    pub fn entries(&self) -> impl Iterator<Item = (OpId, &T)> {
        let slots = (0..).zip(&self.slots);
        slots.filter_map(|(slot, entry)| {
            let generation = entry.generation;
            Some((OpId { slot, generation }, entry.op.as_ref()?))
        })
    }

    /// Drops an operation in its slot. The key becomes invalid.
    pub fn end(&mut self, id: OpId) {
        if self.get(id).is_none() {
            return;
        }
        if let Some(slot) = self.slots.get_mut(id.slot as usize) {
            slot.op = None;
            // A key of an earlier operation in this slot is valid again after 2^32 uses, and no key
            // is held for so long.
            slot.generation = slot.generation.wrapping_add(1);
            self.free.push(id.slot);
        }
    }

    /// Removes an operation and returns it. The key becomes invalid.
    pub(crate) fn remove(&mut self, id: OpId) -> Option<T> {
        let slot = self
            .slots
            .get_mut(id.slot as usize)
            .filter(|slot| slot.generation == id.generation)?;
        let op = slot.op.take()?;
        slot.generation = slot.generation.wrapping_add(1);
        self.free.push(id.slot);
        Some(op)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reuses_slots_but_not_numbers() {
        let mut ops = Ops::default();
        let (one, two) = (ops.insert('a'), ops.insert('b'));
        assert_eq!(ops.get_mut(one), Some(&mut 'a'));
        assert_eq!(ops.remove(one), Some('a'));
        assert_eq!((ops.get(one).copied(), ops.remove(one)), (None, None));
        let three = ops.insert('c');
        assert_eq!(three.slot, one.slot);
        assert_ne!(three, one);
        assert_eq!((ops.get(one).copied(), ops.remove(one)), (None, None));
        assert_eq!((ops.remove(two), ops.remove(three)), (Some('b'), Some('c')));
        assert_eq!(ops.slots.len(), 2);
    }

    #[test]
    fn generations_wrap() {
        let mut ops = Ops::default();
        let first = ops.insert('a');
        ops.remove(first);
        ops.slots[0].generation = u32::MAX;
        let last = ops.insert('b');
        assert_eq!(ops.remove(last), Some('b'));
        let next = ops.insert('c');
        assert_eq!((next.slot, next.generation), (last.slot, 0));
        assert_eq!((ops.remove(last), ops.remove(next)), (None, Some('c')));
    }
}
