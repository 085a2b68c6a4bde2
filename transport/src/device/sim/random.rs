//! Draws that a seed repeats.

use std::ops::RangeInclusive;

/// `SplitMix64`: one word of state, and every seed is a good one.
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

    /// A number below `end`; 0 when there is none. Its bias is below one in 2^32 for what is drawn here.
    pub(super) fn below(&mut self, end: u64) -> u64 {
        self.next().checked_rem(end).unwrap_or(0)
    }

    /// As [`below`](Self::below), for places in a list.
    pub(super) fn index(&mut self, len: usize) -> usize {
        usize::try_from(self.below(len as u64)).unwrap_or(0)
    }

    /// A number of `range`; its start when it is empty.
    pub(super) fn within(&mut self, range: &RangeInclusive<u64>) -> u64 {
        let width = range.end().saturating_sub(*range.start());
        range
            .start()
            .saturating_add(self.below(width.saturating_add(1)))
    }

    /// A number from 1 to `end`, small ones as often as large ones: its logarithm is what is drawn.
    pub(super) fn magnitude(&mut self, end: u64) -> u64 {
        let bits = u64::from(end.max(1).ilog2()).saturating_add(1);
        let top = 1u64.checked_shl(self.shift(bits)).unwrap_or(1);
        top.saturating_add(self.below(top)).clamp(1, end.max(1))
    }

    fn shift(&mut self, bits: u64) -> u32 {
        u32::try_from(self.below(bits)).unwrap_or(0)
    }

    /// Whether what happens in `in_1000` of 1,000 cases happens now.
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
