//! Limits of the bytes of messages that have begun and are not complete: over all connections, and
//! for the connections of one source.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::address::Address;

/// Messages of up to this many bytes are not counted.
const FREE: u64 = 64 << 10;

/// Bytes of messages that have begun, over all connections of one [`Options`](crate::Options).
pub(crate) type BegunBytes = Arc<Mutex<BegunTable>>;

#[derive(Debug, Default)]
pub(crate) struct BegunTable {
    all: u64,
    /// Bytes of each source that has begun messages.
    sources: HashMap<Arc<str>, u64>,
}

fn lock(begun: &Mutex<BegunTable>) -> MutexGuard<'_, BegunTable> {
    begun.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Share of one connection in the bytes of begun messages.
#[derive(Debug)]
pub(super) struct BegunShare {
    begun: BegunBytes,
    source: Arc<str>,
    limit: u64,
    own: u64,
}

impl BegunShare {
    pub(super) fn new(begun: BegunBytes, peer: &Address, limit: u64) -> Self {
        Self {
            begun,
            source: peer.source().into(),
            limit,
            own: 0,
        }
    }

    /// Counts a message that begins. One source has at most half of the limit, so that it leaves
    /// room for others; a single message may be longer. If there is no room, counts nothing and
    /// returns the bytes that other messages hold, and the limit that they reach.
    pub(super) fn begin(&mut self, length: u64) -> Result<(), (u64, u64)> {
        if self.own > 0 || length <= FREE {
            return Ok(());
        }
        let mut begun = lock(&self.begun);
        let of_source = begun.sources.get(&*self.source).copied().unwrap_or(0);
        for (held, limit) in [(begun.all, self.limit), (of_source, self.limit >> 1)] {
            if held > 0 && held.saturating_add(length) > limit {
                return Err((held, limit));
            }
        }
        begun.all = begun.all.saturating_add(length);
        let sum = of_source.saturating_add(length);
        // Does not allocate once the table has room.
        begun.sources.insert(self.source.clone(), sum);
        self.own = length;
        Ok(())
    }

    /// Ends the count of the message, which is complete or will never be.
    #[inline]
    pub(super) fn end(&mut self) {
        if self.own > 0 {
            self.release();
        }
    }

    #[cold]
    fn release(&mut self) {
        let length = std::mem::take(&mut self.own);
        let mut begun = lock(&self.begun);
        begun.all = begun.all.saturating_sub(length);
        if let Some(sum) = begun.sources.get_mut(&*self.source) {
            *sum = sum.saturating_sub(length);
            if *sum == 0 {
                begun.sources.remove(&*self.source);
            }
        }
    }
}

impl Drop for BegunShare {
    fn drop(&mut self) {
        self.end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(begun: &BegunBytes, peer: &str) -> BegunShare {
        let peer = peer.parse().expect("it is an address");
        BegunShare::new(begun.clone(), &peer, 800 << 10)
    }

    #[test]
    fn one_source_leaves_half_to_the_others() {
        let begun = BegunBytes::default();
        let [mut a, mut b, mut c] =
            [1, 2, 3].map(|n| share(&begun, &format!("tcp://10.0.0.1:{n}")));
        let [mut d, mut e] = [1, 2].map(|n| share(&begun, &format!("tcp://10.0.0.2:{n}")));
        let length = 200 << 10;
        assert_eq!([a.begin(length), b.begin(length)], [Ok(()); 2]);
        assert_eq!(c.begin(length), Err((400 << 10, 400 << 10)));
        assert_eq!(c.begin(FREE), Ok(()));
        assert_eq!([d.begin(length), e.begin(length)], [Ok(()); 2]);
        a.end();
        assert_eq!(c.begin(length), Ok(()));
        drop((b, c, d));
        assert_eq!(a.begin(length), Ok(()));
        drop((a, e));
        let begun = lock(&begun);
        assert_eq!((begun.all, begun.sources.len()), (0, 0));
    }

    #[test]
    fn a_single_message_may_be_longer() {
        let begun = BegunBytes::default();
        let [mut a, mut b] = ["uds://@a", "tcp://10.0.0.1:1"].map(|peer| share(&begun, peer));
        assert_eq!(a.begin(1 << 30), Ok(()));
        assert_eq!(b.begin(1 << 20), Err((1 << 30, 800 << 10)));
        a.end();
        assert_eq!(b.begin(1 << 20), Ok(()));
    }
}
