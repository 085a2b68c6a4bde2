//! Flow-control windows.

use crate::frame::Credit;

/// A limit of messages and bytes in flight, and the current amounts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Window {
    pub(super) messages: u32,
    pub(super) bytes: u64,
    pub(super) messages_out: u32,
    pub(super) bytes_out: u64,
}

impl Window {
    pub(crate) fn new(messages: u32, bytes: u64) -> Self {
        Self {
            messages,
            bytes,
            messages_out: 0,
            bytes_out: 0,
        }
    }

    /// Returns true if a message of `length` bytes may be sent. A message longer than half of the
    /// window may be sent when half of the window is free. Otherwise it might wait for credit that
    /// the peer returns only with more messages.
    #[inline]
    pub(super) fn has_room(&self, length: u64) -> bool {
        let needed = length.min(self.bytes / 2);
        self.messages_out < self.messages && self.bytes_out.saturating_add(needed) <= self.bytes
    }

    #[inline]
    pub(super) fn charge(&mut self, length: u64) -> bool {
        let has_room = self.has_room(length);
        if has_room {
            self.messages_out = self.messages_out.saturating_add(1);
            self.bytes_out = self.bytes_out.saturating_add(length);
        }
        has_room
    }

    /// Subtracts returned credit. Returns false if it exceeds the amount in flight.
    #[inline]
    pub(super) fn restore(&mut self, credit: Credit) -> bool {
        let messages = self.messages_out.checked_sub(u32::from(credit.messages));
        let bytes = self.bytes_out.checked_sub(credit.bytes);
        let (Some(messages), Some(bytes)) = (messages, bytes) else {
            return false;
        };
        (self.messages_out, self.bytes_out) = (messages, bytes);
        true
    }
}
