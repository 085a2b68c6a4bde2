//! Repeatable pseudo-random numbers.

use std::ops::RangeInclusive;

/// A `SplitMix64` generator: one word of state, and any seed is suitable.
#[derive(Debug, Clone)]
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number below `end`, or 0 if `end` is 0. The bias is below 2^-32 for the ranges
    /// used here.
    pub(super) fn below(&mut self, end: u64) -> u64 {
        self.next().checked_rem(end).unwrap_or(0)
    }

    /// Returns an index of a list, like [`below`](Self::below).
    pub(super) fn index(&mut self, len: usize) -> usize {
        usize::try_from(self.below(len as u64)).unwrap_or(0)
    }

    /// Returns a number in `range`, or its start if it is empty.
    pub(super) fn within(&mut self, range: &RangeInclusive<u64>) -> u64 {
        let width = range.end().saturating_sub(*range.start());
        range
            .start()
            .saturating_add(self.below(width.saturating_add(1)))
    }

    /// Returns a number from 1 to `end` whose logarithm is uniform.
    pub(super) fn magnitude(&mut self, end: u64) -> u64 {
        let bits = u64::from(end.max(1).ilog2()).saturating_add(1);
        let top = 1u64.checked_shl(self.shift(bits)).unwrap_or(1);
        top.saturating_add(self.below(top)).clamp(1, end.max(1))
    }

    fn shift(&mut self, bits: u64) -> u32 {
        u32::try_from(self.below(bits)).unwrap_or(0)
    }

    /// Returns true with a probability of `in_1000` per 1,000.
    pub(super) fn chance(&mut self, in_1000: u16) -> bool {
        in_1000 > 0 && self.below(1000) < u64::from(in_1000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_repeat_and_stay_in_their_range() {
        let (mut a, mut b) = (Random::new(7), Random::new(7));
        let mut seen = [false; 10];
        for _ in 0..1000 {
            assert_eq!(a.next(), b.next());
            seen[a.index(10)] = true;
            b.index(10);
            assert!((5..=9).contains(&a.within(&(5..=9))));
            b.within(&(5..=9));
            assert!((1..=1000).contains(&a.magnitude(1000)));
            b.magnitude(1000);
            assert!(!a.chance(0) && a.chance(1000));
            b.chance(1000);
        }
        assert_eq!(seen, [true; 10]);
        assert_eq!((a.below(0), a.index(0), a.magnitude(0)), (0, 0, 1));
    }
}
