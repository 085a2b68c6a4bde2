//! Histogram of times in constant memory.

/// Number of bits behind the highest one that distinguish the buckets of a power of two.
const KEPT: u32 = 6;
const STEPS: usize = 1 << KEPT;
/// Buckets of all powers of two, and one power for the times below.
const BUCKETS: usize = (64 - KEPT as usize + 1) * STEPS;

/// A histogram of times in picoseconds. The width of a bucket is at most a 64th of its times. The
/// minimum and the maximum are exact.
#[derive(Debug, Clone)]
pub(crate) struct Times {
    counts: Vec<u64>,
    count: u64,
    min: u64,
    max: u64,
    sum: u128,
}

impl Default for Times {
    fn default() -> Self {
        Self {
            counts: vec![0; BUCKETS],
            count: 0,
            min: u64::MAX,
            max: 0,
            sum: 0,
        }
    }
}

fn bucket(ps: u64) -> usize {
    let shift =
        (u64::BITS.saturating_sub(ps.leading_zeros())).saturating_sub(KEPT.saturating_add(1));
    // At most `2 * STEPS - 1`; at least `STEPS` if `shift` is not 0.
    let offset = usize::try_from(ps >> shift).unwrap_or(0);
    (shift as usize)
        .saturating_mul(STEPS)
        .saturating_add(offset)
}

/// Returns the shortest time of a bucket.
fn floor(bucket: usize) -> u64 {
    let shift = (bucket / STEPS).saturating_sub(1);
    let offset = bucket.saturating_sub(shift.saturating_mul(STEPS)) as u64;
    offset << shift
}

impl Times {
    pub(crate) fn add(&mut self, ps: u64) {
        if let Some(count) = self.counts.get_mut(bucket(ps)) {
            *count = count.saturating_add(1);
        }
        self.count = self.count.saturating_add(1);
        self.min = self.min.min(ps);
        self.max = self.max.max(ps);
        self.sum = self.sum.saturating_add(u128::from(ps));
    }

    /// Adds the times of another histogram.
    pub(crate) fn merge(&mut self, other: &Self) {
        for (count, more) in self.counts.iter_mut().zip(&other.counts) {
            *count = count.saturating_add(*more);
        }
        self.count = self.count.saturating_add(other.count);
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.sum = self.sum.saturating_add(other.sum);
    }

    /// Returns the number of times.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Returns the minimum in picoseconds; 0 if there are no times.
    pub(crate) fn min(&self) -> u64 {
        if self.count == 0 { 0 } else { self.min }
    }

    /// Returns the maximum.
    pub(crate) fn max(&self) -> u64 {
        self.max
    }

    /// Returns the mean.
    pub(crate) fn mean(&self) -> u64 {
        let mean = self.sum.checked_div(u128::from(self.count)).unwrap_or(0);
        u64::try_from(mean).unwrap_or(u64::MAX)
    }

    /// Returns the quantile at `thousandths` / 1000.
    pub(crate) fn quantile(&self, thousandths: u64) -> u64 {
        let wanted = u128::from(self.count).saturating_mul(u128::from(thousandths));
        let wanted = wanted.div_ceil(1000).max(1);
        let mut seen = 0u128;
        for (bucket, count) in self.counts.iter().enumerate() {
            seen = seen.saturating_add(u128::from(*count));
            if seen >= wanted {
                // The middle of the bucket.
                let (from, to) = (floor(bucket), floor(bucket.saturating_add(1)));
                let middle = from.saturating_add(to.saturating_sub(from) / 2);
                return middle.clamp(self.min(), self.max);
            }
        }
        self.max
    }

    /// Returns the shortest time and the count of each bucket that is not empty.
    pub(crate) fn buckets(&self) -> impl Iterator<Item = (u64, u64)> {
        let counts = self.counts.iter().enumerate();
        counts
            .filter(|(_, count)| **count > 0)
            .map(|(bucket, count)| (floor(bucket).clamp(self.min, self.max), *count))
    }
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects, reason = "test code")]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_time_lies_in_its_bucket(ps: u64) {
            let bucket = bucket(ps);
            prop_assert!(bucket < BUCKETS);
            prop_assert!(floor(bucket) <= ps);
            if bucket + 1 < BUCKETS {
                prop_assert!(ps < floor(bucket + 1));
                prop_assert!(floor(bucket + 1) - floor(bucket) <= ps / 64 + 1);
            }
        }
    }

    #[test]
    fn quantiles_are_close() {
        let mut times = Times::default();
        let mut other = Times::default();
        for n in 1..=1000u64 {
            let into = if n % 2 == 0 { &mut times } else { &mut other };
            into.add(n * 1000);
        }
        times.merge(&other);
        assert_eq!(
            (times.count(), times.min(), times.max()),
            (1000, 1000, 1_000_000)
        );
        assert_eq!(times.mean(), 500_500);
        for thousandths in [1, 10, 500, 990, 999, 1000] {
            let (got, exact) = (times.quantile(thousandths), thousandths * 1000);
            assert!(got.abs_diff(exact) <= exact / 64, "{thousandths}: {got}");
        }
        assert_eq!(times.buckets().map(|(_, count)| count).sum::<u64>(), 1000);
    }

    #[test]
    fn none_are_zero() {
        let times = Times::default();
        assert_eq!(
            (times.min(), times.mean(), times.quantile(500), times.max()),
            (0, 0, 0, 0)
        );
    }
}
