//! One direction of a link: a bounded queue of messages.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jstream::buffer::Pool;

use crate::device::deadline::Deadline;
use crate::device::link::Message;
use crate::options::Options;

/// How far a queue is made in advance; longer ones grow as they fill for the first time.
const READY_MADE: usize = 64;

/// What became of one end of a channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Open,
    /// Its handle was dropped.
    Dropped,
    /// It was closed, and its handle may still be used in vain.
    Closed,
}

/// Why a message did not go in or come out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refusal {
    /// Time is up, and there still is no room, or no message.
    Full,
    /// The other end is gone.
    Gone,
    /// This end was closed.
    ClosedLocally,
}

/// A queue with one sender and one receiver, which receives according to its options.
///
/// Invariant: only the sender adds messages, so room that it has seen stays.
pub(super) struct Channel {
    state: Mutex<State>,
    arrived: Condvar,
    room: Condvar,
    pool: Pool,
    max_message: u64,
    max_queued: usize,
    max_bytes: u64,
}

struct State {
    queue: VecDeque<Message>,
    /// Payload bytes in `queue`.
    bytes: u64,
    sender: End,
    receiver: End,
    // Waking costs a system call even if nobody sleeps, so sleepers say that they do.
    sender_sleeps: bool,
    receiver_sleeps: bool,
}

impl Channel {
    pub(super) fn new(options: &Options) -> Self {
        let max_queued = options.queue_messages.max(1);
        Self {
            state: Mutex::new(State {
                queue: VecDeque::with_capacity(max_queued.min(READY_MADE)),
                bytes: 0,
                sender: End::Open,
                receiver: End::Open,
                sender_sleeps: false,
                receiver_sleeps: false,
            }),
            arrived: Condvar::new(),
            room: Condvar::new(),
            pool: options.pool.clone(),
            max_message: options.max_message,
            max_queued,
            max_bytes: options.queue_bytes,
        }
    }

    /// Where the receiver wants its messages.
    pub(super) fn pool(&self) -> &Pool {
        &self.pool
    }

    pub(super) fn max_message(&self) -> u64 {
        self.max_message
    }

    /// Waits until a message of `length` bytes may be pushed.
    pub(super) fn wait_for_room(&self, length: u64, timeout: Duration) -> Result<(), Refusal> {
        let mut state = self.lock();
        let mut deadline = None;
        loop {
            state.sendable()?;
            if self.has_room(&state, length) {
                return Ok(());
            }
            let deadline = *deadline.get_or_insert_with(|| Deadline::after(timeout));
            if deadline.has_passed() {
                return Err(Refusal::Full);
            }
            state.sender_sleeps = true;
            state = sleep(&self.room, state, deadline);
            state.sender_sleeps = false;
        }
    }

    /// Queues a message for which there is room; gives it back when nobody is going to take it.
    pub(super) fn push(&self, message: Message) -> Result<(), (Refusal, Message)> {
        let mut state = self.lock();
        if let Err(refusal) = state.sendable() {
            drop(state);
            return Err((refusal, message));
        }
        state.bytes = state.bytes.saturating_add(message.header.length);
        state.queue.push_back(message);
        let wake = state.receiver_sleeps;
        drop(state);
        if wake {
            self.arrived.notify_one();
        }
        Ok(())
    }

    /// Waits for the next message.
    pub(super) fn pop(&self, timeout: Option<Duration>) -> Result<Message, Refusal> {
        let mut state = self.lock();
        let mut deadline = None;
        loop {
            if state.receiver == End::Closed {
                return Err(Refusal::ClosedLocally);
            }
            if let Some(message) = state.queue.pop_front() {
                state.bytes = state.bytes.saturating_sub(message.header.length);
                let wake = state.sender_sleeps;
                drop(state);
                if wake {
                    self.room.notify_one();
                }
                return Ok(message);
            }
            if state.sender != End::Open {
                return Err(Refusal::Gone);
            }
            let deadline =
                *deadline.get_or_insert_with(|| timeout.map_or(Deadline::NEVER, Deadline::after));
            if deadline.has_passed() {
                return Err(Refusal::Full);
            }
            state.receiver_sleeps = true;
            state = sleep(&self.arrived, state, deadline);
            state.receiver_sleeps = false;
        }
    }

    /// No more messages come; those in the queue can still be received.
    pub(super) fn end_sender(&self, end: End) {
        self.lock().sender = end;
        self.arrived.notify_one();
        self.room.notify_one();
    }

    /// No more messages are taken; those in the queue are dropped.
    pub(super) fn end_receiver(&self, end: End) {
        let mut state = self.lock();
        state.receiver = end;
        state.bytes = 0;
        let queue = std::mem::take(&mut state.queue);
        drop(state);
        self.arrived.notify_one();
        self.room.notify_one();
        // Jbufs go home without holding up the peer.
        drop(queue);
    }

    /// Whether one more message of `length` bytes may wait. One alone always may, or it could
    /// never be sent.
    fn has_room(&self, state: &State, length: u64) -> bool {
        state.queue.is_empty()
            || (state.queue.len() < self.max_queued
                && state.bytes.saturating_add(length) <= self.max_bytes)
    }

    /// A panic elsewhere can't leave the state half changed: it holds between statements.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn sendable(&self) -> Result<(), Refusal> {
        if self.sender == End::Closed {
            Err(Refusal::ClosedLocally)
        } else if self.receiver != End::Open {
            Err(Refusal::Gone)
        } else {
            Ok(())
        }
    }
}

/// Sleeps until it is woken or the deadline has passed, whichever is first, or without a reason.
pub(super) fn sleep<'a, T>(
    condition: &Condvar,
    guard: MutexGuard<'a, T>,
    deadline: Deadline,
) -> MutexGuard<'a, T> {
    match deadline.left() {
        None => condition
            .wait(guard)
            .unwrap_or_else(PoisonError::into_inner),
        Some(left) => {
            condition
                .wait_timeout(guard, left)
                .unwrap_or_else(PoisonError::into_inner)
                .0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::header::Header;
    use jstream::buffer::Spent;

    fn message(length: usize) -> Message {
        let filled = Spent::heap(length).copy_from(&vec![1; length]).unwrap();
        Message::new(Header::default().with_length(length as u64), filled)
    }

    fn channel(messages: usize, bytes: u64) -> Channel {
        Channel::new(&Options {
            queue_messages: messages,
            queue_bytes: bytes,
            ..Options::default()
        })
    }

    #[test]
    fn both_bounds_hold() {
        let channel = channel(3, 10);
        let room = |length| channel.wait_for_room(length, Duration::ZERO);
        room(1000).unwrap();
        channel.push(message(4)).unwrap();
        assert_eq!(room(7), Err(Refusal::Full));
        room(6).unwrap();
        channel.push(message(6)).unwrap();
        assert_eq!(room(1), Err(Refusal::Full));
        room(0).unwrap();
        channel.push(message(0)).unwrap();
        assert_eq!(room(0), Err(Refusal::Full));
        assert_eq!(channel.pop(None).unwrap().payload.len(), 4);
        room(4).unwrap();
        assert_eq!(room(5), Err(Refusal::Full));
    }

    #[test]
    fn every_end_knows_of_the_other() {
        let one = channel(3, 10);
        one.push(message(1)).unwrap();
        one.end_sender(End::Dropped);
        assert!(one.pop(None).is_ok());
        assert_eq!(one.pop(None).unwrap_err(), Refusal::Gone);

        let two = channel(3, 10);
        two.push(message(1)).unwrap();
        two.end_receiver(End::Closed);
        assert_eq!(two.pop(None).unwrap_err(), Refusal::ClosedLocally);
        let (refusal, message) = two.push(message(2)).unwrap_err();
        assert_eq!((refusal, message.payload.len()), (Refusal::Gone, 2));
        two.end_sender(End::Closed);
        assert_eq!(
            two.wait_for_room(0, Duration::ZERO),
            Err(Refusal::ClosedLocally)
        );
    }
}
