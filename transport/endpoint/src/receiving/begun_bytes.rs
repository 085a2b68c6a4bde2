//! Share of a connection in the bytes of incomplete messages, which
//! [`Options::max_begun_bytes`](jstream_base::Options::max_begun_bytes) limits.

use std::sync::{Arc, Weak};
use std::time::Duration;

use jstream::buffer::{BufferWriter, PoolError};

use crate::connection_info::ConnectionInfo;
use jstream_base::Options;
use jstream_base::byte_limit::{ByteHolder, HeldBytes};
use jstream_device::connection::{Fault, Incoming};

/// Messages of up to this many bytes are not counted.
const FREE: u64 = 64 << 10;

/// Time that each message has before its connection may be ended.
const GRACE: Duration = Duration::from_secs(1);

/// Share of a connection in the bytes of incomplete messages.
pub(crate) struct BegunBytes {
    holder: Arc<ByteHolder>,
    limit: u64,
    message_timeout: Duration,
    /// Number of bytes that are charged for the current message.
    charged: u64,
    /// Number of bytes of the message that had arrived when this was last recorded.
    arrived: u64,
}

impl BegunBytes {
    pub(crate) fn new(info: &Arc<ConnectionInfo>, options: &Options) -> Self {
        // The other half remains for complete messages and for those that are sent, whatever the
        // peers begin.
        let half_of_pool = options.pool.options().max_mapped.wrapping_shr(1) as u64;
        let connection: Weak<ConnectionInfo> = Arc::downgrade(info);
        Self {
            holder: options.begun_bytes().holder(connection),
            limit: options.max_begun_bytes.min(half_of_pool),
            message_timeout: options.message_timeout,
            charged: 0,
            arrived: 0,
        }
    }

    /// Charges the message before the device takes a buffer for all of it. A device may begin with
    /// a small buffer, which is not charged. The caller's own buffer is not charged either.
    #[inline]
    pub(super) fn reserve(
        &mut self,
        half: &dyn Incoming,
        into: Option<&BufferWriter>,
        length: u64,
    ) -> Result<(), Fault> {
        if length <= FREE || self.charged > 0 {
            return Ok(());
        }
        // A message of which the peer has sent little occupies only a small first buffer. The whole
        // length counts from the buffer that has room for it.
        let is_whole = match into {
            None => half.first_buffer(length) >= length,
            Some(_) => is_full(into, length),
        };
        if is_whole {
            self.charge(length, half.begun())
        } else {
            Ok(())
        }
    }

    fn charge(&mut self, length: u64, arrived: u64) -> Result<(), Fault> {
        // Each eviction frees the bytes of one connection, so the loop ends.
        while let Err(all) = self.holder.try_add(length, self.limit) {
            let timeout = self.message_timeout;
            // A message that arrives at the rate that its timeout requires is never ended for
            // others, and neither is one that has just begun.
            let is_slow = |held: HeldBytes| held.age >= GRACE && is_late(held, timeout);
            let reason = "its message arrived too slowly while others waited for room \
                       (Options::max_begun_bytes)";
            if !self.holder.total().evict_slowest(reason, is_slow) {
                let bytes = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
                return Err(Fault::NoBuffer {
                    length,
                    source: PoolError::Exhausted {
                        wanted: bytes(length),
                        mapped: bytes(all),
                        max_mapped: bytes(self.limit),
                    },
                });
            }
        }
        (self.charged, self.arrived) = (length, arrived);
        Ok(())
    }

    /// Records how many bytes of the message have arrived.
    #[inline]
    pub(super) fn record(&mut self, arrived: u64) {
        if self.charged > 0 && arrived > self.arrived {
            self.holder
                .record_moved(arrived.saturating_sub(self.arrived));
            self.arrived = arrived;
        }
    }

    /// Ends the count of the message, which is complete or will never be.
    #[inline]
    pub(super) fn end(&mut self) {
        if self.charged > 0 {
            self.holder.release(std::mem::take(&mut self.charged));
        }
    }
}

/// Returns true if a message takes longer than the timeout unless it becomes faster.
fn is_late(held: HeldBytes, timeout: Duration) -> bool {
    // The rates are compared by products, because a quotient would round. A product that saturates
    // stands for a time that no message takes.
    let moved = u128::from(held.moved).saturating_mul(timeout.as_nanos());
    moved < u128::from(held.bytes).saturating_mul(held.age.as_nanos())
}

/// Returns true if a buffer is full that has room for only a part of a message.
#[inline]
pub(super) fn is_full(into: Option<&BufferWriter>, length: u64) -> bool {
    into.is_some_and(|filling| {
        filling.len() == filling.capacity() && (filling.len() as u64) < length
    })
}
