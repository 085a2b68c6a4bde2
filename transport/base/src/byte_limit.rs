//! Bytes that several connections hold, and their limit. If the limit is reached, the connection
//! whose bytes move slowest is ended, so that it gives its bytes back.

use std::cmp::Reverse;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

/// Age in which the bytes of a connection are too young to tell how fast they move.
const YOUNG: Duration = Duration::from_millis(100);

/// A connection that can be ended so that it gives its bytes back.
pub trait Evict: Send + Sync {
    /// Ends the connection. `why` is the reason, for errors and logs.
    ///
    /// The caller may hold the locks of another connection. A connection that takes locks of its
    /// own here can only be a holder of bytes that are charged without such locks.
    fn evict(&self, why: &'static str);
}

/// Sum of the bytes that are charged to several connections.
#[derive(Default)]
pub struct ByteTotal {
    bytes: AtomicU64,
    /// The connections to which bytes were ever charged.
    holders: Mutex<Vec<Weak<ByteHolder>>>,
}

/// Bytes that are charged to one connection.
///
/// INVARIANT: the bytes of all holders are part of the total, except for those of a holder that was
/// evicted, which has none any more.
pub struct ByteHolder {
    total: Arc<ByteTotal>,
    connection: Weak<dyn Evict>,
    is_listed: AtomicBool,
    held: Mutex<Held>,
}

struct Held {
    bytes: u64,
    /// Time at which the connection began to hold bytes.
    since: Instant,
    /// Number of bytes that have moved since then: that were received of an incomplete message, or
    /// that the peer has taken.
    moved: u64,
    is_evicted: bool,
}

/// Bytes that a connection holds, and how fast they move.
#[derive(Debug, Clone, Copy)]
pub struct HeldBytes {
    /// Number of bytes.
    pub bytes: u64,
    /// Time since the connection began to hold bytes.
    pub age: Duration,
    /// Number of bytes that have moved in this time.
    pub moved: u64,
}

/// Guard of charged bytes. They are released when it is dropped.
#[must_use = "the bytes are released when this is dropped"]
pub struct ByteCharge {
    of: Charged,
    bytes: u64,
}

enum Charged {
    Holder(Arc<ByteHolder>),
    Total(Arc<ByteTotal>),
}

impl HeldBytes {
    /// Returns a key by which slow connections are before fast ones, and those that are too young
    /// to judge behind all others. Among equals, the oldest is first.
    fn order(self) -> (bool, u128, Reverse<Duration>) {
        if self.age < YOUNG {
            return (true, 0, Reverse(self.age));
        }
        let moved = u128::from(self.moved).saturating_mul(1_000_000_000);
        let rate = moved.checked_div(self.age.as_nanos()).unwrap_or_default();
        (false, rate, Reverse(self.age))
    }
}

impl ByteTotal {
    /// Returns the sum of the charged bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Creates the holder of a connection.
    pub fn holder(self: &Arc<Self>, connection: Weak<dyn Evict>) -> Arc<ByteHolder> {
        Arc::new(ByteHolder {
            total: self.clone(),
            connection,
            is_listed: AtomicBool::new(false),
            held: Mutex::new(Held {
                bytes: 0,
                since: Instant::now(),
                moved: 0,
                is_evicted: false,
            }),
        })
    }

    /// Charges bytes to no connection, unless the sum would exceed `limit`.
    pub fn try_charge(self: &Arc<Self>, bytes: u64, limit: u64) -> Option<ByteCharge> {
        self.try_add(bytes, |sum, _| sum <= limit).ok()?;
        Some(ByteCharge {
            of: Charged::Total(self.clone()),
            bytes,
        })
    }

    /// Ends the connection whose bytes move slowest, among those that `may` accepts. Returns false
    /// if there is none.
    #[cold]
    pub fn evict_slowest(&self, why: &'static str, may: impl Fn(HeldBytes) -> bool) -> bool {
        let slowest = self.slowest(may);
        slowest.is_some_and(|slowest| {
            slowest.evict(why);
            true
        })
    }

    fn slowest(&self, may: impl Fn(HeldBytes) -> bool) -> Option<Arc<ByteHolder>> {
        let now = Instant::now();
        let holders = lock(&self.holders);
        let holders: Vec<_> = holders.iter().filter_map(Weak::upgrade).collect();
        let held = holders
            .into_iter()
            .filter_map(|holder| holder.held_at(now).map(|held| (holder, held)));
        let slowest = held
            .filter(|(_, held)| may(*held))
            .min_by_key(|(_, held)| held.order());
        slowest.map(|(holder, _)| holder)
    }

    fn try_add(&self, bytes: u64, fits: impl Fn(u64, u64) -> bool) -> Result<(), u64> {
        let (set, get) = (Ordering::Relaxed, Ordering::Relaxed);
        let added = |all: u64| {
            let sum = all.saturating_add(bytes);
            fits(sum, all).then_some(sum)
        };
        self.bytes.fetch_update(set, get, added).map(drop)
    }

    fn subtract(&self, bytes: u64) {
        self.bytes.fetch_sub(bytes, Ordering::Relaxed);
    }
}

impl ByteHolder {
    /// Charges bytes, unless the sum of all would exceed `limit`. A single charge may exceed it.
    ///
    /// # Errors
    ///
    /// The sum of the charged bytes.
    pub fn try_add(self: &Arc<Self>, bytes: u64, limit: u64) -> Result<(), u64> {
        self.total
            .try_add(bytes, |sum, all| all == 0 || sum <= limit)?;
        self.hold(bytes);
        Ok(())
    }

    /// Charges bytes. While the sum exceeds `limit`, the connections whose bytes move slowest are
    /// ended. A single charge may exceed the limit. The caller must hold no lock of a connection.
    ///
    /// # Errors
    ///
    /// The sum of the charged bytes, if the bytes of this connection move slowest. Nothing is
    /// charged then.
    pub fn charge(
        self: &Arc<Self>,
        bytes: u64,
        limit: u64,
        reason: &'static str,
    ) -> Result<ByteCharge, u64> {
        let charge = self.charge_anyway(bytes);
        let limit = limit.max(bytes);
        loop {
            let all = self.total.bytes();
            if all <= limit {
                return Ok(charge);
            }
            match self.total.slowest(|_| true) {
                Some(slowest) if Arc::ptr_eq(&slowest, self) => return Err(all),
                Some(slowest) => slowest.evict(reason),
                None => return Ok(charge),
            }
        }
    }

    /// Charges bytes, whatever the sum is.
    pub fn charge_anyway(self: &Arc<Self>, bytes: u64) -> ByteCharge {
        let _ = self.total.try_add(bytes, |_, _| true);
        self.hold(bytes);
        ByteCharge {
            of: Charged::Holder(self.clone()),
            bytes,
        }
    }

    /// Records bytes that were added to the total.
    fn hold(self: &Arc<Self>, bytes: u64) {
        if !self.is_listed.swap(true, Ordering::Relaxed) {
            let mut holders = lock(&self.total.holders);
            holders.retain(|holder| holder.strong_count() > 0);
            holders.push(Arc::downgrade(self));
        }
        let mut held = lock(&self.held);
        if held.is_evicted {
            return self.total.subtract(bytes);
        }
        if held.bytes == 0 {
            (held.since, held.moved) = (Instant::now(), 0);
        }
        held.bytes = held.bytes.saturating_add(bytes);
    }

    /// Releases charged bytes.
    pub fn release(&self, bytes: u64) {
        let mut held = lock(&self.held);
        let bytes = bytes.min(held.bytes);
        held.bytes = held.bytes.saturating_sub(bytes);
        drop(held);
        self.total.subtract(bytes);
    }

    /// Records that bytes have moved.
    pub fn record_moved(&self, bytes: u64) {
        let mut held = lock(&self.held);
        held.moved = held.moved.saturating_add(bytes);
    }

    /// Measures from now on. A caller whose first bytes go to a buffer of the system calls this
    /// behind them, because they tell nothing about the peer.
    pub fn restart(&self) {
        let mut held = lock(&self.held);
        (held.since, held.moved) = (Instant::now(), 0);
    }

    /// Returns the sum of the bytes that are charged to all connections.
    pub fn total(&self) -> &Arc<ByteTotal> {
        &self.total
    }

    fn held_at(&self, now: Instant) -> Option<HeldBytes> {
        let held = lock(&self.held);
        (held.bytes > 0).then(|| HeldBytes {
            bytes: held.bytes,
            age: now.saturating_duration_since(held.since),
            moved: held.moved,
        })
    }

    /// Ends the connection. Its bytes are released at once, though it may take a moment to drop its
    /// messages.
    fn evict(&self, why: &'static str) {
        let mut held = lock(&self.held);
        held.is_evicted = true;
        let bytes = std::mem::take(&mut held.bytes);
        drop(held);
        self.total.subtract(bytes);
        if let Some(connection) = self.connection.upgrade() {
            connection.evict(why);
        }
    }
}

impl Drop for ByteHolder {
    fn drop(&mut self) {
        let held = self.held.get_mut().unwrap_or_else(PoisonError::into_inner);
        self.total.subtract(held.bytes);
    }
}

impl ByteCharge {
    /// Returns the holder, if the bytes are charged to one.
    #[must_use]
    pub fn holder(&self) -> Option<&ByteHolder> {
        match &self.of {
            Charged::Holder(holder) => Some(holder),
            Charged::Total(_) => None,
        }
    }
}

impl Drop for ByteCharge {
    fn drop(&mut self) {
        match &self.of {
            Charged::Holder(holder) => holder.release(self.bytes),
            Charged::Total(total) => total.subtract(self.bytes),
        }
    }
}

impl fmt::Debug for ByteTotal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ByteTotal").field(&self.bytes()).finish()
    }
}

impl fmt::Debug for ByteHolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ByteHolder").finish_non_exhaustive()
    }
}

impl fmt::Debug for ByteCharge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ByteCharge").field(&self.bytes).finish()
    }
}

/// Locks a state that is consistent after every statement.
fn lock<T>(state: &Mutex<T>) -> MutexGuard<'_, T> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Connection(AtomicU64);

    impl Evict for Connection {
        fn evict(&self, _: &'static str) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn holders<const N: usize>() -> ([Arc<Connection>; N], [Arc<ByteHolder>; N], Arc<ByteTotal>) {
        let total = Arc::new(ByteTotal::default());
        let connections = [(); N].map(|()| Arc::new(Connection::default()));
        let holders = connections.each_ref().map(|connection| {
            let weak: Weak<Connection> = Arc::downgrade(connection);
            total.holder(weak)
        });
        (connections, holders, total)
    }

    fn evicted<const N: usize>(connections: &[Arc<Connection>; N]) -> [u64; N] {
        connections
            .each_ref()
            .map(|connection| connection.0.load(Ordering::Relaxed))
    }

    #[test]
    fn ends_the_slowest_connection() {
        let (connections, [slow, fast, new], total) = holders();
        let charges = [&slow, &fast].map(|holder| holder.charge(40, 100, "").unwrap());
        slow.record_moved(1000);
        fast.record_moved(1 << 30);
        for old in [&slow, &fast] {
            let mut held = lock(&old.held);
            held.since = held.since.checked_sub(Duration::from_secs(1)).unwrap();
        }
        assert_eq!((total.bytes(), evicted(&connections)), (80, [0, 0, 0]));
        // The new connection has moved nothing yet, and is too young for that to matter.
        let third = new.charge(40, 100, "").unwrap();
        assert_eq!((total.bytes(), evicted(&connections)), (80, [1, 0, 0]));
        // The slowest connection itself is not ended, but gets no more.
        fast.restart();
        let mut held = lock(&fast.held);
        held.since = held.since.checked_sub(Duration::from_secs(1)).unwrap();
        drop(held);
        assert_eq!(fast.charge(40, 100, "").unwrap_err(), 120);
        assert_eq!((total.bytes(), evicted(&connections)), (80, [1, 0, 0]));
        drop((charges, third));
        assert_eq!(total.bytes(), 0);
        // An evicted connection holds nothing any more.
        drop(slow.charge_anyway(40));
        assert_eq!(total.bytes(), 0);
    }

    #[test]
    fn a_single_charge_exceeds_the_limit() {
        let (connections, [one, other], total) = holders();
        let charge = one.charge(1000, 100, "").unwrap();
        assert_eq!((total.bytes(), evicted(&connections)), (1000, [0, 0]));
        assert_eq!(other.try_add(1, 100), Err(1000));
        drop(charge);
        assert_eq!(other.try_add(1000, 100), Ok(()));
        assert!(total.try_charge(1, 100).is_none());
        other.release(1000);
        let charge = total.try_charge(100, 100);
        assert!(charge.is_some());
        assert!(!total.evict_slowest("", |_| true), "no connection has them");
        drop(charge);
        assert_eq!((total.bytes(), evicted(&connections)), (0, [0, 0]));
    }

    #[test]
    fn a_dropped_connection_releases_its_bytes() {
        let (_connections, [one, other], total) = holders();
        assert_eq!(one.try_add(10, 100), Ok(()));
        assert_eq!(other.try_add(20, 100), Ok(()));
        drop(one);
        assert_eq!(total.bytes(), 20);
        assert!(total.evict_slowest("", |held| held.bytes == 20));
        assert!(!total.evict_slowest("", |_| true));
        assert_eq!(total.bytes(), 0);
    }
}
