//! Credit-based flow control of a direction, used by a layer above. Messages with a cost wait for
//! credit of the peer, and all other messages pass them.
//!
//! Decision 072 has the reasons.

use std::collections::VecDeque;

/// A number of messages, and a number of their bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Credit {
    /// Number of messages.
    pub messages: u64,
    /// Number of bytes.
    pub bytes: u64,
}

impl Credit {
    /// The cost of a message that needs no credit.
    pub const FREE: Self = Self {
        messages: 0,
        bytes: 0,
    };

    /// The initial credit that every peer grants before it has announced its window.
    pub const LEAST: Self = Self {
        messages: 4,
        bytes: 4096,
    };

    /// Returns the cost of one message of which the peer has to hold this many bytes.
    #[inline]
    pub const fn of_message(bytes: u64) -> Self {
        Self { messages: 1, bytes }
    }
}

/// Error of a credit update that exceeds the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Overfull;

/// The credit of a direction: the unused part of the peer's window, and the messages that wait for
/// credit.
pub struct Gate<T> {
    /// The whole window; the initial credit until the peer has announced its window.
    window: Credit,
    is_open: bool,
    left: Credit,
    /// Waiting messages, in order, with their costs.
    waiting: VecDeque<(T, Credit)>,
    /// True if no more credit is returned.
    is_closed: bool,
}

impl<T> Default for Gate<T> {
    fn default() -> Self {
        Self {
            window: Credit::LEAST,
            is_open: false,
            left: Credit::LEAST,
            waiting: VecDeque::new(),
            is_closed: false,
        }
    }
}

impl<T> Gate<T> {
    /// Charges the cost of a message. Returns false if there is not enough credit, or if other
    /// messages already wait.
    #[inline]
    pub fn charge(&mut self, cost: Credit) -> bool {
        // A cheaper message does not overtake those that wait, because the order of messages would
        // change. Messages without cost are answers, for which the peer may be waiting.
        if !self.waiting.is_empty() {
            return cost == Credit::FREE;
        }
        self.pay(cost)
    }

    /// Returns true if [`charge`](Self::charge) would succeed.
    pub(crate) fn allows(&self, cost: Credit) -> bool {
        let Credit { messages, bytes } = self.left;
        let is_covered = messages >= cost.messages && bytes >= cost.bytes;
        cost == Credit::FREE || (self.waiting.is_empty() && is_covered)
    }

    #[inline]
    fn pay(&mut self, cost: Credit) -> bool {
        let messages = self.left.messages.checked_sub(cost.messages);
        let bytes = self.left.bytes.checked_sub(cost.bytes);
        let (Some(messages), Some(bytes)) = (messages, bytes) else {
            return false;
        };
        self.left = Credit { messages, bytes };
        true
    }

    /// Appends a message to those that wait.
    pub fn wait(&mut self, message: T, cost: Credit) {
        self.waiting.push_back((message, cost));
    }

    /// Returns the first waiting message if there is credit for it. If it lacks bytes, `shorten`
    /// may lower its cost.
    pub fn next(&mut self, shorten: impl FnOnce(&T) -> Option<Credit>) -> Option<(T, Credit)> {
        let (message, cost) = self.waiting.front()?;
        let mut cost = *cost;
        // A message that lacks its place among the messages gains nothing by being shorter.
        let lacks_bytes = self.left.messages >= cost.messages && self.left.bytes < cost.bytes;
        // The bytes may suffice once the peer has announced its window.
        if lacks_bytes && self.is_open {
            cost = shorten(message).unwrap_or(cost);
            // Recorded even if the shorter message has to wait, too: it was replaced, and is not
            // shortened twice.
            if let Some(first) = self.waiting.front_mut() {
                first.1 = cost;
            }
        }
        if !self.pay(cost) {
            return None;
        }
        self.waiting.pop_front().map(|(message, _)| (message, cost))
    }

    /// Opens the window that the peer announces. A peer announces it once.
    pub fn open(&mut self, window: Credit) -> Result<(), Overfull> {
        // The window includes the initial credit, a part of which may be in use. So only the
        // difference is added, and a smaller window is an error.
        let messages = window.messages.checked_sub(self.window.messages);
        let bytes = window.bytes.checked_sub(self.window.bytes);
        let (Some(messages), Some(bytes), false) = (messages, bytes, self.is_open) else {
            return Err(Overfull);
        };
        self.is_open = true;
        self.window = window;
        self.restore(Credit { messages, bytes })
    }

    /// Restores credit that the peer returns.
    pub fn restore(&mut self, credit: Credit) -> Result<(), Overfull> {
        let messages = self.left.messages.checked_add(credit.messages);
        let bytes = self.left.bytes.checked_add(credit.bytes);
        let (Some(messages), Some(bytes)) = (messages, bytes) else {
            return Err(Overfull);
        };
        // A peer that returns more than was used would make this side exceed the peer's own limits.
        if messages > self.window.messages || bytes > self.window.bytes {
            return Err(Overfull);
        }
        self.left = Credit { messages, bytes };
        Ok(())
    }

    /// Closes the gate, because no more credit is returned, or no caller waits for it.
    pub(crate) fn close(&mut self) {
        self.is_closed = true;
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// Returns the credit of a message that was charged but not sent.
    pub(crate) fn refund(&mut self, cost: Credit) {
        // The cost was charged before, so the sum is at most the window.
        self.left.messages = self.left.messages.saturating_add(cost.messages);
        self.left.bytes = self.left.bytes.saturating_add(cost.bytes);
    }

    /// Returns true if no message waits.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Returns the number of waiting messages.
    pub(crate) fn count(&self) -> usize {
        self.waiting.len()
    }

    /// Removes the first message for which `is_meant` returns true.
    pub(crate) fn remove(&mut self, is_meant: impl Fn(&T) -> bool) -> Option<T> {
        let mut waiting = self.waiting.iter();
        let place = waiting.position(|(message, _)| is_meant(message))?;
        self.waiting.remove(place).map(|(message, _)| message)
    }

    /// Removes the first message, regardless of its cost.
    pub(crate) fn pop(&mut self) -> Option<T> {
        self.waiting.pop_front().map(|(message, _)| message)
    }
}
