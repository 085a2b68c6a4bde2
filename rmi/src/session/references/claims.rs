//! Proofs by which a claimant and the owner of an object show each other that they know the key of
//! the offer. The key itself is sent only by the program that passes the object on, to both of
//! them. So a program that listens at a wrong address learns nothing that it could use at the
//! owner.

use hmac::{Hmac, Mac};
use sha2::Sha256;

use crate::session::references::key::Key;

/// A nonce or a proof.
pub(crate) type ClaimBytes = [u64; 4];

/// The side that computes a proof.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ClaimRole {
    Claimant,
    Owner,
}

impl ClaimRole {
    fn name(self) -> &'static [u8] {
        match self {
            Self::Claimant => b"jstream rmi 1 claimant",
            Self::Owner => b"jstream rmi 1 owner",
        }
    }
}

impl Key {
    /// Returns the identifier of the offer with this key. The key can't be computed from it.
    pub(crate) fn offer_id(self) -> [u64; 2] {
        let [first, second, ..] = words(self.mac(&[b"jstream rmi 1 offer"]));
        [first, second]
    }

    /// Computes the proof of `role`. `own` is the nonce of the proving side.
    pub(crate) fn proof(self, role: ClaimRole, own: ClaimBytes, theirs: ClaimBytes) -> ClaimBytes {
        words(self.mac(&[role.name(), &bytes(own), &bytes(theirs)]))
    }

    /// Returns true if `proof` is that of `role`. Takes the same time for each wrong proof.
    pub(crate) fn is_proof(
        self,
        proof: ClaimBytes,
        role: ClaimRole,
        own: ClaimBytes,
        theirs: ClaimBytes,
    ) -> bool {
        let expected = self.mac(&[role.name(), &bytes(own), &bytes(theirs)]);
        // A comparison of words would end at the first difference. This one takes the same time, so
        // a claimant can't approach the proof step by step.
        expected.verify_slice(&bytes(proof)).is_ok()
    }

    fn mac(self, parts: &[&[u8]]) -> Hmac<Sha256> {
        let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(&self.to_bytes()) else {
            unreachable!("an HMAC accepts keys of any length")
        };
        parts.iter().for_each(|part| mac.update(part));
        mac
    }
}

/// Returns a random nonce, or `None` if the system provides no random numbers.
pub(crate) fn claim_nonce() -> Option<ClaimBytes> {
    let mut nonce = [0; 32];
    getrandom::fill(&mut nonce).ok()?;
    Some(to_words(&nonce))
}

fn words(mac: Hmac<Sha256>) -> ClaimBytes {
    to_words(&mac.finalize().into_bytes())
}

fn to_words(bytes: &[u8]) -> ClaimBytes {
    let mut words = [0; 4];
    for (word, part) in words.iter_mut().zip(bytes.chunks_exact(8)) {
        *word = part.try_into().map_or(0, u64::from_le_bytes);
    }
    words
}

fn bytes(words: ClaimBytes) -> [u8; 32] {
    let mut bytes = [0; 32];
    for (part, word) in bytes.chunks_exact_mut(8).zip(words) {
        part.copy_from_slice(&word.to_le_bytes());
    }
    bytes
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "test code")]
mod tests {
    use super::*;

    #[test]
    fn a_proof_tells_role_key_and_both_nonces() {
        let (key, other) = (Key::from_bytes([1; 16]), Key::from_bytes([2; 16]));
        let (a, b) = (claim_nonce().unwrap(), claim_nonce().unwrap());
        assert_ne!(a, b);
        let proof = key.proof(ClaimRole::Claimant, a, b);
        assert!(key.is_proof(proof, ClaimRole::Claimant, a, b));
        assert!(!key.is_proof(proof, ClaimRole::Owner, a, b));
        assert!(!key.is_proof(proof, ClaimRole::Claimant, b, a));
        assert!(!key.is_proof(proof, ClaimRole::Claimant, a, a));
        assert!(!other.is_proof(proof, ClaimRole::Claimant, a, b));
        assert!(!key.is_proof([0; 4], ClaimRole::Claimant, a, b));
        assert_ne!(key.offer_id(), other.offer_id());
        assert_ne!(key.offer_id(), key.words());
        assert_eq!(to_words(&bytes(proof)), proof);
    }
}
