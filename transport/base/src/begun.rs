//! Limit of the bytes of messages that have begun and are not complete.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Messages of up to this many bytes are not counted.
const FREE: u64 = 64 << 10;

/// Bytes of messages that have begun, over all connections of one [`Options`](crate::Options).
pub(crate) type BegunBytes = Arc<AtomicU64>;

/// Share of one connection in the bytes of begun messages.
#[derive(Debug)]
pub struct BegunShare {
    all: BegunBytes,
    limit: u64,
    own: u64,
}

impl BegunShare {
    pub(crate) fn new(all: BegunBytes, limit: u64) -> Self {
        Self { all, limit, own: 0 }
    }

    /// Counts a message that begins. If there is no room, counts nothing and returns the bytes that
    /// other connections hold, and the limit.
    pub fn begin(&mut self, length: u64) -> Result<(), (u64, u64)> {
        if self.own > 0 || length <= FREE {
            return Ok(());
        }
        let counted = |all: u64| {
            let sum = all.saturating_add(length);
            (all == 0 || sum <= self.limit).then_some(sum)
        };
        let (set, get) = (Ordering::Relaxed, Ordering::Relaxed);
        match self.all.fetch_update(set, get, counted) {
            Ok(_) => {
                self.own = length;
                Ok(())
            }
            Err(all) => Err((all, self.limit)),
        }
    }

    /// Ends the count of the message, which is complete or will never be.
    #[inline]
    pub fn end(&mut self) {
        if self.own > 0 {
            self.all.fetch_sub(self.own, Ordering::Relaxed);
            self.own = 0;
        }
    }
}

impl Drop for BegunShare {
    fn drop(&mut self) {
        self.end();
    }
}
