//! Portable hash functions for keys. A key and its in-place form have the same hash on all
//! platforms.
//!
//! An integer is hashed by its value, whatever its width: the width of a `usize` depends on the
//! platform, and the tag of an enum is an `isize`, but a `u8` in a form with `#[repr(u8)]`.

use std::hash::{Hash, Hasher};

/// Returns the hash that selects a bucket. It is fast, but collisions are easy to construct.
pub(super) fn first<Q: Hash + ?Sized>(key: &Q) -> u64 {
    let mut hasher = IntegerHasher(FoldHash(SEED));
    key.hash(&mut hasher);
    hasher.finish()
}

/// Returns the hash that distinguishes keys of one bucket: `SipHash`, for which it is hard to
/// construct many collisions.
pub(super) fn second<Q: Hash + ?Sized>(key: &Q) -> u64 {
    let mut hasher = IntegerHasher(Sip::default());
    key.hash(&mut hasher);
    hasher.finish()
}

/// The state of a hash function.
trait HashState {
    fn word(&mut self, word: u64);
    fn bytes(&mut self, bytes: &[u8]);
    fn digest(&self) -> u64;
}

/// A hasher that hashes each integer as one word.
struct IntegerHasher<A>(A);

macro_rules! by_value {
    ($($method:ident $int:ty),*) => {$(
        #[inline(always)]
        fn $method(&mut self, n: $int) {
            self.0.word(n as u64);
        }
    )*};
}

impl<A: HashState> Hasher for IntegerHasher<A> {
    #[inline(always)]
    fn finish(&self) -> u64 {
        self.0.digest()
    }

    #[inline(always)]
    fn write(&mut self, bytes: &[u8]) {
        self.0.bytes(bytes);
    }

    by_value!(write_u8 u8, write_u16 u16, write_u32 u32, write_u64 u64, write_usize usize);
    by_value!(write_i8 i8, write_i16 i16, write_i32 i32, write_i64 i64, write_isize isize);

    fn write_u128(&mut self, n: u128) {
        let (low, high) = halves(n);
        self.0.word(low);
        self.0.word(high);
    }

    fn write_i128(&mut self, n: i128) {
        self.write_u128(n as u128);
    }
}

/// Returns the low and the high half.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "each half is a word")]
fn halves(n: u128) -> (u64, u64) {
    (n as u64, (n >> 64) as u64)
}

// Fractional digits of pi.
const SEED: u64 = 0x243f_6a88_85a3_08d3;
const FACTOR: u64 = 0x1319_8a2e_0370_7345;
const LAST: u64 = 0xa409_3822_299f_31d1;

/// Multiplies two words and combines the halves of the product, so that each bit of the result
/// depends on many bits of both.
#[inline(always)]
fn fold(a: u64, b: u64) -> u64 {
    let (low, high) = halves(u128::from(a).wrapping_mul(u128::from(b)));
    low ^ high
}

/// A hash function that absorbs up to sixteen bytes per multiplication, like wyhash.
struct FoldHash(u64);

impl HashState for FoldHash {
    #[inline(always)]
    fn word(&mut self, word: u64) {
        self.0 = fold(self.0 ^ word, FACTOR);
    }

    #[inline(always)]
    fn bytes(&mut self, bytes: &[u8]) {
        let mut state = self.0;
        let mut rest = bytes;
        while rest.len() > 16 {
            let (these, others) = rest.split_at(16);
            let (a, b) = ends(these);
            state = fold(state ^ a, FACTOR ^ b);
            rest = others;
        }
        let (a, b) = ends(rest);
        self.0 = fold(state ^ a, FACTOR.wrapping_add(bytes.len() as u64) ^ b);
    }

    #[inline(always)]
    fn digest(&self) -> u64 {
        fold(self.0, LAST)
    }
}

/// Returns two words that together contain up to sixteen bytes. The number of bytes is hashed
/// separately.
#[inline(always)]
fn ends(bytes: &[u8]) -> (u64, u64) {
    if let (Some(a), Some(b)) = (bytes.first_chunk(), bytes.last_chunk()) {
        return (u64::from_le_bytes(*a), u64::from_le_bytes(*b));
    }
    if let (Some(a), Some(b)) = (bytes.first_chunk(), bytes.last_chunk()) {
        return (u32::from_le_bytes(*a).into(), u32::from_le_bytes(*b).into());
    }
    match *bytes {
        [a] => (a.into(), 0),
        [a, b] => (a.into(), b.into()),
        [a, b, c] => (a.into(), u16::from_le_bytes([b, c]).into()),
        _ => (0, 0),
    }
}

#[allow(
    deprecated,
    reason = "its successor does not say which algorithm it has; this one is SipHash 2-4 for ever"
)]
use std::hash::SipHasher;

#[derive(Default)]
struct Sip(#[allow(deprecated, reason = "as above")] SipHasher);

impl HashState for Sip {
    fn word(&mut self, word: u64) {
        self.0.write(&word.to_le_bytes());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.0.write(bytes);
    }

    fn digest(&self) -> u64 {
        self.0.finish()
    }
}

/// Returns distinct keys with the same first hash: the second word cancels the effect of the first.
#[cfg(test)]
pub(super) fn colliding(count: u64) -> Vec<[u64; 2]> {
    (0..count).map(|of| [of, fold(SEED ^ of, FACTOR)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn both<Q: Hash + ?Sized>(key: &Q) -> [u64; 2] {
        [first(key), second(key)]
    }

    #[test]
    fn hashes_are_the_same_for_ever() {
        assert_eq!(both(&0u64), [0x480f_e496_6428_8f5d, 0xe849_e8bb_6ffe_2567]);
        assert_eq!(
            both("jstream"),
            [0x6c94_12a3_34b3_3dba, 0x65b1_8f67_12ef_f3ee]
        );
        assert_eq!(
            both("a string of more than sixteen bytes"),
            [0x93e1_8fbc_425c_7972, 0x58d5_18c7_6c45_3720]
        );
    }

    #[test]
    fn integers_hash_by_value() {
        assert_eq!(both(&7u8), both(&7isize));
        assert_eq!(both(&-7i8), both(&-7i64));
        assert_ne!(both(&7u8), both(&-7i8));
    }

    #[test]
    fn all_bytes_matter() {
        for len in 0..70usize {
            let bytes: Vec<u8> = (0..70).take(len).collect();
            let whole = both(bytes.as_slice());
            for at in 0..len {
                let mut other = bytes.clone();
                other[at] ^= 0x80;
                let other = both(other.as_slice());
                assert!(
                    whole[0] != other[0] && whole[1] != other[1],
                    "{at} of {len}"
                );
            }
        }
    }

    /// Returns the largest number of keys in one bucket, with as many buckets as keys.
    fn fullest<Q: Hash>(keys: impl Iterator<Item = Q>) -> usize {
        let mut hashes: Vec<u64> = keys.map(|key| first(&key)).collect();
        hashes.sort_unstable();
        let count = u128::from(COUNT);
        assert_eq!(hashes.len() as u128, count);
        let bucket = |hash: u64| u128::from(hash).wrapping_mul(count) >> 64;
        let buckets = hashes.chunk_by(|a, b| bucket(*a) == bucket(*b));
        buckets.map(<[u64]>::len).max().unwrap()
    }

    const COUNT: u64 = 1 << 16;

    #[test]
    fn buckets_fill_evenly() {
        for shift in 0..48 {
            let most = fullest((0..COUNT).map(|i| i << shift));
            assert!(most <= 12, "{most} of the multiples of 2^{shift}");
        }
        for len in 1..20 {
            let most = fullest((0..COUNT).map(|i| format!("{}{i}", "x".repeat(len))));
            assert!(most <= 12, "{most} behind {len} letters");
        }
        assert!(fullest((0..COUNT).map(|i| (i & 0xff, i >> 8))) <= 12);
        assert!(fullest((0..COUNT).map(|i| (i as f64).to_bits())) <= 12);
    }
}
