//! Destination of a payload in the ring's data area.

use std::sync::atomic::AtomicU8;

use super::copy::copy_in;

/// Cursor for writing to the data area: a part up to the end of the area, and a part at its
/// beginning.
pub(super) struct AreaCursor<'a>([&'a [AtomicU8]; 2]);

impl<'a> AreaCursor<'a> {
    pub(super) fn new(data: [&'a [AtomicU8]; 2]) -> Self {
        Self(data)
    }

    pub(super) fn is_full(&self) -> bool {
        self.0.iter().all(|part| part.is_empty())
    }

    /// Writes the bytes, as far as there is room.
    pub(super) fn put(&mut self, mut bytes: &[u8]) {
        for part in &mut self.0 {
            let n = part.len().min(bytes.len());
            copy_in(part, bytes);
            *part = part.get(n..).unwrap_or_default();
            bytes = bytes.get(n..).unwrap_or_default();
        }
    }
}
