//! What has come and was not decrypted.

use std::io;

use crate::device::stream::socket::SocketWire;

/// How much is received at once: two records and more.
const PIECE: usize = 36 << 10;

/// Bytes as they came. Whoever receives has it alone.
#[derive(Default)]
pub(super) struct Arrived {
    /// Empty while nobody receives: thousands of connections that rest hold nothing.
    buffer: Vec<u8>,
    from: usize,
    to: usize,
    /// The last that was decrypted filled its room: there may be more.
    pub(super) more: bool,
}

impl Arrived {
    /// What was not decrypted.
    pub(super) fn bytes(&self) -> &[u8] {
        self.buffer.get(self.from..self.to).unwrap_or_default()
    }

    pub(super) fn consume(&mut self, n: usize) {
        self.from = self.from.saturating_add(n).min(self.to);
    }

    /// Receives what is here, once all was consumed: `None` when nothing is, `Some(0)` at the end.
    pub(super) fn receive(&mut self, socket: &SocketWire) -> io::Result<Option<usize>> {
        if self.buffer.is_empty() {
            self.buffer.resize(PIECE, 0);
        }
        let received = socket.try_read_into(&mut self.buffer)?;
        (self.from, self.to) = (0, received.unwrap_or(0));
        Ok(received)
    }

    /// Whether there may be plain text without another byte from the socket.
    pub(super) fn is_ready(&self) -> bool {
        self.more || self.from < self.to
    }

    /// Whoever receives is going to sleep.
    pub(super) fn rest(&mut self) {
        if !self.is_ready() {
            *self = Self::default();
        }
    }
}
