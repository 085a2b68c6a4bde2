//! The randomly keyed hash of patterns, which peers can't predict.
//!
//! Decision 060 has the reasons.

use std::hash::{BuildHasher, RandomState};

use super::envelope::{Class, Envelope, Key, Pattern};

/// Multilinear hashing: a sum of the key's words, each multiplied by its own random number.
///
/// For any two keys chosen without knowledge of the random numbers, the upper halves of the sums
/// collide with a probability of 2^-32, and all pairs of values are equally likely ("Strongly
/// universal string hashing is fast", Lemire and Kaser, section 3). So a peer that chooses tags
/// can't produce many collisions. The halves are then mixed by a bijection, which keeps these
/// properties, but breaks up the arithmetic progressions that regularly spaced tags produce.
pub(super) struct Hash {
    factors: [u64; 4],
    /// One offset for each class, so that the keys of different classes are independent.
    offsets: [u64; 4],
}

impl Hash {
    /// Creates a hash with random keys.
    pub(super) fn new() -> Self {
        // The random numbers come from the system.
        let random = RandomState::new();
        Self {
            factors: [0u64, 1, 2, 3].map(|n| random.hash_one(n)),
            offsets: [4u64, 5, 6, 7].map(|n| random.hash_one(n)),
        }
    }

    /// Returns the key of a pattern.
    #[inline]
    pub(super) fn pattern(&self, pattern: &Pattern) -> Key {
        let envelope = Envelope {
            context: pattern.context,
            source: pattern.source.unwrap_or(0),
            tag: pattern.tag.unwrap_or(0),
        };
        self.key(envelope, pattern.class())
    }

    /// Returns the key of the pattern of that class that matches the envelope.
    #[inline]
    pub(super) fn envelope_key(&self, envelope: &Envelope, class: Class) -> Key {
        let (source, tag) = match class {
            Class::Exact => (envelope.source, envelope.tag),
            Class::AnyTag => (envelope.source, 0),
            Class::AnySource => (0, envelope.tag),
            Class::Any => (0, 0),
        };
        let context = envelope.context;
        let given = Envelope {
            context,
            source,
            tag,
        };
        self.key(given, class)
    }

    #[inline]
    fn key(&self, given: Envelope, class: Class) -> Key {
        let [context, source, low, high] = self.factors;
        let Some(offset) = self.offsets.get(class as usize) else {
            unreachable!("each class has an offset")
        };
        let sum = offset
            .wrapping_add(context.wrapping_mul(given.context.into()))
            .wrapping_add(source.wrapping_mul(given.source.into()))
            .wrapping_add(low.wrapping_mul(given.tag & 0xffff_ffff))
            .wrapping_add(high.wrapping_mul(given.tag >> 32));
        Key {
            given,
            hash: stirred((sum >> 32) as u32),
            class,
        }
    }
}

/// Mixes the bits with the final steps of `MurmurHash3`.
#[inline]
const fn stirred(mut n: u32) -> u32 {
    n ^= n >> 16;
    n = n.wrapping_mul(0x85eb_ca6b);
    n ^= n >> 13;
    n.wrapping_mul(0xc2b2_ae35)
}
