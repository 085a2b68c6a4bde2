//! Objects that one connection offers to be claimed over another one, by the knowledge of a key.

use std::collections::hash_map::Entry;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use rustc_hash::FxHashMap;

use crate::session::objects::Node;
use crate::session::references::claims::{ClaimBytes, ClaimRole, claim_nonce};
use crate::session::references::key::Key;
use crate::support::lock;

/// Maximum number of objects that one connection may offer at once. Protects against peers whose
/// offers are never claimed.
const MOST: usize = 1024;

/// Offered objects, by the identifiers of their keys. Each can be claimed once, within the time of
/// a lease.
#[derive(Default)]
pub(crate) struct Offers(Mutex<FxHashMap<[u64; 2], Offer>>);

struct Offer {
    key: Key,
    /// Nonce that claimants have to sign.
    nonce: ClaimBytes,
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
        // Counted before the check, and taken back if there is no room: two offers at the same time
        // can't both take the last place.
        if count.fetch_add(1, Ordering::Relaxed) >= MOST {
            count.fetch_sub(1, Ordering::Relaxed);
            return;
        }
        // A nonce for each offer: a proof that was made for another one can't be replayed.
        let Some(nonce) = claim_nonce() else {
            count.fetch_sub(1, Ordering::Relaxed);
            return;
        };
        let offer = Offer {
            key,
            nonce,
            node,
            until,
            _place: OfferPlace(count.clone()),
        };
        let mut offers = lock(&self.0);
        let refused = match offers.entry(key.offer_id()) {
            // The first offer stays. Otherwise a peer that learned a key could replace the object
            // behind it.
            Entry::Occupied(_) => Some(offer),
            Entry::Vacant(free) => {
                free.insert(offer);
                None
            }
        };
        // The refused offer may hold the last handle of the object, whose `Drop` is code of the
        // program.
        drop(offers);
        drop(refused);
    }

    /// Returns the nonce of an offer, by the identifier of its key.
    pub(crate) fn nonce(&self, id: [u64; 2], now: Instant) -> Option<ClaimBytes> {
        let offers = lock(&self.0);
        let offer = offers.get(&id).filter(|offer| offer.until > now)?;
        Some(offer.nonce)
    }

    /// Takes the object that is offered under a key, if the proof shows that the claimant knows the
    /// key. Also returns the proof of this side.
    pub(crate) fn accept(
        &self,
        id: [u64; 2],
        theirs: ClaimBytes,
        proof: ClaimBytes,
        now: Instant,
    ) -> Option<(Arc<Node>, ClaimBytes)> {
        let mut offers = lock(&self.0);
        let offer = offers.get(&id)?;
        let (key, ours) = (offer.key, offer.nonce);
        // The offer is removed only for a right proof. A stranger that guesses ids can't use up the
        // offers of others.
        if !key.is_proof(proof, ClaimRole::Claimant, theirs, ours) {
            return None;
        }
        let offer = offers.remove(&id)?;
        drop(offers);
        // An expired offer is removed as well, since the timer would do that next.
        (offer.until > now).then(|| (offer.node, key.proof(ClaimRole::Owner, ours, theirs)))
    }

    /// Removes the expired offers.
    pub(crate) fn purge(&self, now: Instant) {
        let mut offers = lock(&self.0);
        let over = offers.iter().filter(|(_, offer)| offer.until <= now);
        let ids: Vec<_> = over.map(|(id, _)| *id).collect();
        let over: Vec<_> = ids.iter().filter_map(|id| offers.remove(id)).collect();
        drop(offers);
        drop(over);
    }
}
