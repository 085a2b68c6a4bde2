//! Received bytes that were not decrypted yet.

use std::io;

use crate::stream::socket::SocketWire;

/// Number of bytes received at once: more than two TLS records.
const PIECE: usize = 36 << 10;

/// Buffer of received bytes. Used only by the receiving thread.
#[derive(Default)]
pub(super) struct Arrived {
    /// Empty while no thread receives, so that thousands of idle connections hold no memory.
    buffer: Vec<u8>,
    from: usize,
    to: usize,
    /// True if the last decryption filled its destination, so that more plain text may be
    /// available.
    pub(super) more: bool,
}

impl Arrived {
    /// Returns the bytes that were not decrypted yet.
    pub(super) fn bytes(&self) -> &[u8] {
        self.buffer.get(self.from..self.to).unwrap_or_default()
    }

    pub(super) fn consume(&mut self, n: usize) {
        self.from = self.from.saturating_add(n).min(self.to);
    }

    /// Receives available bytes after all previous ones were consumed. Returns `None` if there are
    /// none, and `Some(0)` at the end of the stream.
    pub(super) fn receive(&mut self, socket: &SocketWire) -> io::Result<Option<usize>> {
        if self.buffer.is_empty() {
            self.buffer.resize(PIECE, 0);
        }
        let received = socket.try_read_into(&mut self.buffer)?;
        (self.from, self.to) = (0, received.unwrap_or(0));
        Ok(received)
    }

    /// Returns true if plain text may be available without receiving from the socket.
    pub(super) fn is_ready(&self) -> bool {
        self.more || self.from < self.to
    }

    /// Frees the memory if the buffer is empty. Called before the receiving thread sleeps.
    pub(super) fn rest(&mut self) {
        if !self.is_ready() {
            *self = Self::default();
        }
    }
}
