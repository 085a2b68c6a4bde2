//! Objects that the other side calls in other versions of their interfaces.
//!
//! An object that is looked up twice with the same description of the caller's version is converted
//! once. So a lookup that was abandoned before its answer arrived takes no place of its own, though
//! the reference in the answer is never given back.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, Weak};

use crate::session::objects::Node;
use crate::support::lock;

/// Maximum number of bytes by which a peer describes the versions in which it calls objects. The
/// plans of the conversions take memory in proportion.
const MAX_DESCRIBED: usize = 1 << 20;

/// Number of bytes that a shorter description counts as, so there are at most 64.
const MIN_DESCRIBED: usize = MAX_DESCRIBED / 64;

/// Guard that counts the description of one object which the other side calls in another version of
/// its interface.
#[derive(Debug)]
pub(crate) struct VersionPlace {
    len: usize,
    described: Arc<AtomicUsize>,
}

impl Drop for VersionPlace {
    fn drop(&mut self) {
        self.described.fetch_sub(self.len, Ordering::Relaxed);
    }
}

/// An object with converted arguments.
#[derive(Clone)]
pub(crate) struct ConvertedObject {
    pub(crate) node: Arc<Node>,
    /// The methods whose arguments can't be converted, and the reasons.
    pub(crate) refused: Arc<[(u16, String)]>,
}

/// The objects of a connection with converted arguments.
#[derive(Default)]
pub(super) struct Versions {
    /// Number of bytes of the descriptions of those that exist.
    described: Arc<AtomicUsize>,
    known: Mutex<Vec<KnownVersion>>,
}

/// A converted object, which exists as long as the other side has references to it.
struct KnownVersion {
    node: Weak<Node>,
    /// The hash of the description.
    description: u128,
    refused: Arc<[(u16, String)]>,
}

impl Versions {
    /// Reserves a place for an object that is described in `len` bytes. Returns `None` if there are
    /// too many.
    pub(super) fn reserve(&self, len: usize) -> Option<VersionPlace> {
        let len = len.max(MIN_DESCRIBED);
        // Counted first, so that lookups at the same time can't exceed the limit together. If there
        // is no room, dropping the place takes it back.
        let before = self.described.fetch_add(len, Ordering::Relaxed);
        let described = self.described.clone();
        let place = VersionPlace { len, described };
        (before.saturating_add(len) <= MAX_DESCRIBED).then_some(place)
    }

    /// Returns the converted object for an object and a description of the caller's version.
    pub(super) fn find(&self, original: &Arc<Node>, description: u128) -> Option<ConvertedObject> {
        let known = lock(&self.known);
        let described = known.iter().filter(|one| one.description == description);
        // Upgraded under the lock, but dropped without it: one of these may be the last handle of
        // its node, whose drop runs code of the program.
        let candidates: Vec<_> = described
            .filter_map(|one| Some((one.node.upgrade()?, one.refused.clone())))
            .collect();
        drop(known);
        // The last handle of a node may be dropped here, without the lock.
        let mut candidates = candidates.into_iter();
        let (node, refused) = candidates.find(|(node, _)| node.converts(original))?;
        Some(ConvertedObject { node, refused })
    }

    /// Records a converted object.
    pub(super) fn record(&self, object: &ConvertedObject, description: u128) {
        let mut known = lock(&self.known);
        known.retain(|one| one.node.strong_count() > 0);
        known.push(KnownVersion {
            node: Arc::downgrade(&object.node),
            description,
            refused: object.refused.clone(),
        });
    }
}
