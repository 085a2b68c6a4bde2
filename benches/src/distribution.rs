//! Distributions of the rounds of a timed figure.
//!
//! Decision 096 has the reasons.

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};
use serde::{Deserialize, Serialize};

use crate::Failure;

/// Units of the histogram in a nanosecond: the histogram counts picoseconds.
const UNITS: f64 = 1e3;
/// Significant decimal digits that the histogram keeps: values within 0.1 % share a cell.
const DIGITS: u8 = 3;
/// Maximum length in bytes of a histogram that was read from a file.
const MAX_ENCODED: usize = 1 << 20;

/// A summary and a histogram of the rounds of one subject, in nanoseconds per operation.
///
/// Rates and bandwidths are computed from times, so their distribution is that of the times, too.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Distribution {
    /// Number of rounds.
    pub(crate) rounds: u64,
    /// Operations between two readings of the clock, or 0 if the subject did not report them.
    pub(crate) batch: u64,
    pub(crate) min: f64,
    /// First quartile.
    pub(crate) q1: f64,
    pub(crate) median: f64,
    /// Third quartile.
    pub(crate) q3: f64,
    pub(crate) p99: f64,
    /// All rounds in picoseconds: an HdrHistogram in the format "V2 deflate", in base64.
    histogram: String,
}

impl Distribution {
    /// Summarizes rounds, which are sorted in ascending order. Returns `None` if there are none or
    /// if one is not a finite time.
    pub(crate) fn of(sorted: &[f64], batch: u64) -> Option<Self> {
        let valid = |ns: &f64| ns.is_finite() && *ns >= 0.0;
        if sorted.is_empty() || !sorted.iter().all(valid) {
            return None;
        }
        let mut histogram = Histogram::<u64>::new(DIGITS).ok()?;
        for ns in sorted {
            histogram.record((ns * UNITS).round() as u64).ok()?;
        }
        let mut bytes = Vec::new();
        V2DeflateSerializer::new()
            .serialize(&histogram, &mut bytes)
            .ok()?;
        let at = |part: f64| quantile(sorted, part);
        Some(Self {
            rounds: sorted.len() as u64,
            batch,
            min: at(0.0),
            q1: at(0.25),
            median: at(0.5),
            q3: at(0.75),
            p99: at(0.99),
            histogram: STANDARD_NO_PAD.encode(bytes),
        })
    }

    /// Returns the five sextiles in nanoseconds, with the three digits of the histogram: a sixth of
    /// the rounds do not exceed the first, and so on. The third is the median.
    pub(crate) fn sextiles(&self) -> Result<[f64; 5], Failure> {
        let cells = self.cells()?;
        let mut found = [f64::NAN; 5];
        for (n, sextile) in (1..).zip(&mut found) {
            let rank = (self.rounds * n / 6).max(1);
            let mut count = 0;
            let reached = cells.iter().find(|(_, more)| {
                count += more;
                count >= rank
            });
            if let Some((ns, _)) = reached {
                *sextile = *ns;
            }
        }
        Ok(found)
    }

    /// Returns the cells of the histogram in ascending order: a time in nanoseconds, and the number
    /// of rounds that took it.
    pub(crate) fn cells(&self) -> Result<Vec<(f64, u64)>, Failure> {
        if self.histogram.len() > MAX_ENCODED {
            let (length, limit) = (self.histogram.len(), MAX_ENCODED);
            return Err(
                format!("a histogram of {length} bytes exceeds the limit of {limit}").into(),
            );
        }
        let bytes = STANDARD_NO_PAD
            .decode(&self.histogram)
            .map_err(|e| format!("a histogram is not base64: {e}"))?;
        let histogram: Histogram<u64> = Deserializer::new()
            .deserialize(&mut bytes.as_slice())
            .map_err(|e| format!("a histogram is damaged: {e}"))?;
        if histogram.len() != self.rounds {
            let (held, rounds) = (histogram.len(), self.rounds);
            return Err(format!("a histogram of {rounds} rounds holds {held}").into());
        }
        let cells = histogram.iter_recorded();
        Ok(cells
            .map(|cell| {
                let at = cell.value_iterated_to();
                (at as f64 / UNITS, cell.count_since_last_iteration())
            })
            .collect())
    }
}

/// Returns the quantile `part` of the values, which are sorted, rounded to a ten-thousandth.
fn quantile(sorted: &[f64], part: f64) -> f64 {
    let place = (sorted.len() as f64 * part) as usize;
    let place = place.min(sorted.len().saturating_sub(1));
    let value = sorted.get(place).copied().unwrap_or(f64::NAN);
    (value * 1e4).round() / 1e4
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_exact_and_the_histogram_keeps_three_digits() {
        let rounds: Vec<f64> = (1..=200).map(|n| f64::from(n) * 1.5).collect();
        let found = Distribution::of(&rounds, 64).unwrap();
        assert_eq!((found.rounds, found.batch), (200, 64));
        let five = [found.min, found.q1, found.median, found.q3, found.p99];
        assert_eq!(five, [1.5, 76.5, 151.5, 226.5, 298.5]);
        let cells = found.cells().unwrap();
        assert_eq!(cells.iter().map(|(_, count)| count).sum::<u64>(), 200);
        for ((ns, _), expected) in cells.iter().zip(&rounds) {
            assert!((ns / expected - 1.0).abs() < 1e-3, "{ns} and {expected}");
        }
    }

    #[test]
    fn sextiles_are_those_of_the_histogram() {
        // The 25th value of 150, as McMPI (001) defines the first.
        let rounds: Vec<f64> = (1..=150).map(f64::from).collect();
        let found = Distribution::of(&rounds, 1).unwrap();
        for (sextile, expected) in found.sextiles().unwrap().iter().zip([25, 50, 75, 100, 125]) {
            let expected = f64::from(expected);
            assert!((sextile / expected - 1.0).abs() < 2e-3, "{sextile}");
        }
        let one = Distribution::of(&[7.0], 1).unwrap();
        let near = |sextile: &f64| (sextile / 7.0 - 1.0).abs() < 2e-3;
        assert!(one.sextiles().unwrap().iter().all(near));
    }

    #[test]
    fn json_is_compact_and_comes_back() {
        let rounds: Vec<f64> = (0..2_000).map(|n| 500.0 + f64::from(n % 97)).collect();
        let mut sorted = rounds;
        sorted.sort_unstable_by(f64::total_cmp);
        let found = Distribution::of(&sorted, 1).unwrap();
        let json = serde_json::to_string(&found).unwrap();
        assert!(json.len() < 600, "{} bytes", json.len());
        assert_eq!(serde_json::from_str::<Distribution>(&json).unwrap(), found);
    }

    #[test]
    fn one_round_and_the_extremes_of_time_are_kept() {
        for ns in [0.0, 0.25, 1e12] {
            let cells = Distribution::of(&[ns], 1).unwrap().cells().unwrap();
            assert_eq!(cells.len(), 1);
            assert!((cells[0].0 - ns).abs() <= ns * 1e-3 + 1e-3, "{cells:?}");
        }
    }

    #[test]
    fn what_is_no_time_has_no_distribution() {
        assert_eq!(Distribution::of(&[], 1), None);
        assert_eq!(Distribution::of(&[1.0, f64::NAN], 1), None);
        assert_eq!(Distribution::of(&[-1.0], 1), None);
    }

    #[test]
    fn a_damaged_histogram_is_an_error() {
        let mut found = Distribution::of(&[1.0, 2.0], 1).unwrap();
        found.rounds = 3;
        assert!(found.cells().unwrap_err().to_string().contains("holds 2"));
        for damaged in [
            "",
            "!",
            "AAAA",
            "HISTFAAAAHh42pNpmSzMwMDAxAABzFCaEUoz2X+AMACdUQJs",
        ] {
            found.histogram = damaged.to_owned();
            assert!(found.cells().is_err(), "{damaged}");
        }
        found.histogram = "A".repeat(MAX_ENCODED + 1);
        assert!(found.cells().unwrap_err().to_string().contains("limit"));
    }
}
