//! What a layer above lets a direction send: messages that cost something wait for credit of the peer, and all
//! others pass them.

use std::collections::VecDeque;

/// How many messages, and how many bytes of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Credit {
    pub(crate) messages: u64,
    pub(crate) bytes: u64,
}

impl Credit {
    /// What passes without any.
    pub(crate) const FREE: Self = Self {
        messages: 0,
        bytes: 0,
    };

    /// What every peer allows, whether it has told or not.
    pub(crate) const LEAST: Self = Self {
        messages: 4,
        bytes: 4096,
    };

    /// What one message costs of which the peer has to hold so many bytes.
    #[inline]
    pub(crate) const fn of_message(bytes: u64) -> Self {
        Self { messages: 1, bytes }
    }
}

/// Why a gate did not take what the peer gave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Overfull;

/// The gate of a direction: what is left of the peer's window, and what waits in front of it.
pub(crate) struct Gate<T> {
    /// All that there is: the least that any peer allows, until it has told.
    window: Credit,
    is_open: bool,
    left: Credit,
    /// In order, and what each costs.
    waiting: VecDeque<(T, Credit)>,
    /// Nothing is given back any more.
    is_closed: bool,
}

impl<T> Gate<T> {
    pub(crate) fn new() -> Self {
        Self {
            window: Credit::LEAST,
            is_open: false,
            left: Credit::LEAST,
            waiting: VecDeque::new(),
            is_closed: false,
        }
    }

    /// Whether a message may go now: then it is paid for. None goes before those that wait.
    #[inline]
    pub(crate) fn charge(&mut self, cost: Credit) -> bool {
        if !self.waiting.is_empty() {
            return cost == Credit::FREE;
        }
        self.pay(cost)
    }

    /// Whether [`charge`](Self::charge) would say yes.
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

    /// A message waits behind the others.
    pub(crate) fn wait(&mut self, message: T, cost: Credit) {
        self.waiting.push_back((message, cost));
    }

    /// The first of those that wait, if it is let through; `shorten` may make it cheaper.
    pub(crate) fn next(
        &mut self,
        shorten: impl FnOnce(&T) -> Option<Credit>,
    ) -> Option<(T, Credit)> {
        let (message, cost) = self.waiting.front()?;
        let mut cost = *cost;
        let lacks_bytes = self.left.messages >= cost.messages && self.left.bytes < cost.bytes;
        // There may be more when the peer has told.
        if lacks_bytes && self.is_open {
            cost = shorten(message).unwrap_or(cost);
            if let Some(first) = self.waiting.front_mut() {
                first.1 = cost;
            }
        }
        if !self.pay(cost) {
            return None;
        }
        self.waiting.pop_front().map(|(message, _)| (message, cost))
    }

    /// The peer says how much it takes. It says so once.
    pub(crate) fn open(&mut self, window: Credit) -> Result<(), Overfull> {
        let messages = window.messages.checked_sub(self.window.messages);
        let bytes = window.bytes.checked_sub(self.window.bytes);
        let (Some(messages), Some(bytes), false) = (messages, bytes, self.is_open) else {
            return Err(Overfull);
        };
        self.is_open = true;
        self.window = window;
        self.restore(Credit { messages, bytes })
    }

    /// The peer gives back so much of what was sent.
    pub(crate) fn restore(&mut self, credit: Credit) -> Result<(), Overfull> {
        let messages = self.left.messages.checked_add(credit.messages);
        let bytes = self.left.bytes.checked_add(credit.bytes);
        let (Some(messages), Some(bytes)) = (messages, bytes) else {
            return Err(Overfull);
        };
        if messages > self.window.messages || bytes > self.window.bytes {
            return Err(Overfull);
        }
        self.left = Credit { messages, bytes };
        Ok(())
    }

    /// Nothing is given back any more, or nobody waits for it: whoever would wait waits in vain.
    pub(crate) fn close(&mut self) {
        self.is_closed = true;
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// A message that was paid for did not go.
    pub(crate) fn refund(&mut self, cost: Credit) {
        self.left.messages = self.left.messages.saturating_add(cost.messages);
        self.left.bytes = self.left.bytes.saturating_add(cost.bytes);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// How many wait.
    pub(crate) fn count(&self) -> usize {
        self.waiting.len()
    }

    /// Takes out the first that is meant.
    pub(crate) fn remove(&mut self, is_meant: impl Fn(&T) -> bool) -> Option<T> {
        let mut waiting = self.waiting.iter();
        let place = waiting.position(|(message, _)| is_meant(message))?;
        self.waiting.remove(place).map(|(message, _)| message)
    }

    /// Takes out the first, whatever it costs.
    pub(crate) fn pop(&mut self) -> Option<T> {
        self.waiting.pop_front().map(|(message, _)| message)
    }
}
