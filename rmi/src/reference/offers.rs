//! Objects that are offered by one connection to be claimed by another one, by a key.

use std::sync::{Arc, Mutex};
use std::time::Instant;

use rustc_hash::FxHashMap;

use crate::exports::Node;
use crate::sync::lock;

/// What nobody guesses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Key([u64; 2]);

impl Key {
    /// A new one. None when the system has none.
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

/// What is offered, each once and for the time of a lease.
#[derive(Default)]
pub(crate) struct Offers(Mutex<FxHashMap<Key, Offer>>);

struct Offer {
    node: Arc<Node>,
    until: Option<Instant>,
}

impl Offer {
    fn is_over(&self, now: Instant) -> bool {
        self.until.is_some_and(|until| until <= now)
    }
}

impl Offers {
    /// Offers an object, unless there are as many as may be, or one by that key.
    pub(crate) fn put(
        &self,
        key: Key,
        node: Arc<Node>,
        until: Option<Instant>,
        now: Instant,
        most: usize,
    ) {
        let mut offers = lock(&self.0);
        let mut over = Vec::new();
        if offers.len() >= most {
            over.extend(remove_over(&mut offers, now));
        }
        if offers.len() < most {
            offers.entry(key).or_insert(Offer { node, until });
        }
        drop(offers);
        drop(over);
    }

    /// What is offered by a key; it is offered no more.
    pub(crate) fn take(&self, key: Key, now: Instant) -> Option<Arc<Node>> {
        let offer = lock(&self.0).remove(&key)?;
        (!offer.is_over(now)).then_some(offer.node)
    }
}

/// Removes those that are over.
fn remove_over(offers: &mut FxHashMap<Key, Offer>, now: Instant) -> Vec<Offer> {
    let over = offers.iter().filter(|(_, offer)| offer.is_over(now));
    let keys: Vec<Key> = over.map(|(key, _)| *key).collect();
    keys.iter().filter_map(|key| offers.remove(key)).collect()
}
