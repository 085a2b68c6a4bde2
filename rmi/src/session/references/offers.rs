//! Objects that one connection offers to be claimed over another one, by a key.

use std::collections::hash_map::Entry;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use rustc_hash::FxHashMap;

use crate::session::objects::Node;
use crate::support::lock;

/// An unguessable key of 128 random bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Key([u64; 2]);

impl Key {
    /// Creates a key. Returns `None` if the system provides no random numbers.
    pub(crate) fn new() -> Option<Self> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).ok()?;
        Some(Self::of(bytes))
    }

    pub(crate) fn of(bytes: [u8; 16]) -> Self {
        let wide = u128::from_le_bytes(bytes);
        #[allow(clippy::cast_possible_truncation, reason = "its lower half")]
        Self([wide as u64, (wide >> 64) as u64])
    }

    pub(crate) fn to_bytes(self) -> [u8; 16] {
        let [low, high] = self.0;
        (u128::from(low) | u128::from(high) << 64).to_le_bytes()
    }

    pub(crate) fn words(self) -> [u64; 2] {
        self.0
    }

    pub(crate) fn of_words(words: [u64; 2]) -> Self {
        Self(words)
    }
}

/// Maximum number of objects that one connection may offer at once. Protects against peers whose
/// offers are never claimed.
const MOST: usize = 1024;

/// Offered objects. Each can be claimed once, within the time of a lease.
#[derive(Default)]
pub(crate) struct Offers(Mutex<FxHashMap<Key, Offer>>);

struct Offer {
    node: Arc<Node>,
    until: Instant,
    _place: OfferPlace,
}

/// Guard that counts one offer of a connection.
struct OfferPlace(Arc<AtomicUsize>);

impl Drop for OfferPlace {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Offers {
    /// Offers an object until `until`. Ignored if the connection has too many offers, or if the key
    /// is in use. `count` is the number of offers of the connection.
    pub(crate) fn put(&self, key: Key, node: Arc<Node>, until: Instant, count: &Arc<AtomicUsize>) {
        if count.fetch_add(1, Ordering::Relaxed) >= MOST {
            count.fetch_sub(1, Ordering::Relaxed);
            return;
        }
        let offer = Offer {
            node,
            until,
            _place: OfferPlace(count.clone()),
        };
        let mut offers = lock(&self.0);
        let refused = match offers.entry(key) {
            Entry::Occupied(_) => Some(offer),
            Entry::Vacant(free) => {
                free.insert(offer);
                None
            }
        };
        drop(offers);
        drop(refused);
    }

    /// Takes the object that is offered under a key.
    pub(crate) fn take(&self, key: Key, now: Instant) -> Option<Arc<Node>> {
        let offer = lock(&self.0).remove(&key)?;
        (offer.until > now).then_some(offer.node)
    }

    /// Removes the expired offers.
    pub(crate) fn purge(&self, now: Instant) {
        let mut offers = lock(&self.0);
        let over = offers.iter().filter(|(_, offer)| offer.until <= now);
        let keys: Vec<Key> = over.map(|(key, _)| *key).collect();
        let over: Vec<_> = keys.iter().filter_map(|key| offers.remove(key)).collect();
        drop(offers);
        drop(over);
    }
}
