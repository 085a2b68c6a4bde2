//! Comparable measurements of time: on one core, all subjects in turn, in many rounds.

use std::fs;
use std::time::Instant;

use crate::Failure;
use crate::suites::Effort;

/// Times of many rounds, in nanoseconds per operation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Times {
    /// Fastest round: the cost of the operation without disturbances.
    pub(crate) min: f64,
    /// Median of the rounds.
    pub(crate) median: f64,
    /// Number of rounds.
    pub(crate) rounds: usize,
}

impl Times {
    /// Summarizes `rounds`. If there are none, minimum and median are NaN.
    fn of(mut rounds: Vec<f64>) -> Self {
        rounds.sort_unstable_by(f64::total_cmp);
        let at = |i: usize| rounds.get(i).copied().unwrap_or(f64::NAN);
        Self {
            min: at(0),
            median: at(rounds.len() / 2),
            rounds: rounds.len(),
        }
    }
}

/// Runs one round of each subject in turn, as often as `effort` says, so that a disturbance of the
/// machine affects all subjects alike. The subject that begins changes with each turn.
///
/// `round` returns nanoseconds per operation. Before the measurement, each subject runs one round
/// that is not counted.
pub(crate) fn interleave<S: ?Sized>(
    subjects: &mut [Box<S>],
    effort: &Effort,
    mut round: impl FnMut(&mut S) -> Result<f64, Failure>,
) -> Result<Vec<Times>, Failure> {
    let mut all: Vec<Vec<f64>> = Vec::new();
    for subject in subjects.iter_mut() {
        round(subject)?;
        all.push(Vec::with_capacity(effort.rounds));
    }
    let count = subjects.len().max(1);
    let start = Instant::now();
    for n in 0..effort.rounds {
        if n >= Effort::FEWEST && start.elapsed() > effort.at_most {
            break;
        }
        let mut pairs: Vec<_> = subjects.iter_mut().zip(&mut all).collect();
        pairs.rotate_left(n % count);
        for (subject, times) in pairs {
            times.push(round(subject)?);
        }
    }
    Ok(all.into_iter().map(Times::of).collect())
}

/// Returns the nanoseconds per operation, for `operations` that ran since `start`.
pub(crate) fn since(start: Instant, operations: usize) -> f64 {
    start.elapsed().as_secs_f64() * 1e9 / operations as f64
}

/// Pins the calling thread to one core. Returns false if the system refuses.
pub(crate) fn pin() -> bool {
    // On most systems the last core handles the fewest interrupts.
    core_affinity::get_core_ids()
        .and_then(|cores| cores.last().copied())
        .is_some_and(core_affinity::set_for_current)
}

/// Returns the size of a core's second-level cache in bytes, or 1 MiB if the system does not report
/// it.
pub(crate) fn l2_bytes() -> usize {
    fs::read_to_string("/sys/devices/system/cpu/cpu0/cache/index2/size")
        .ok()
        .and_then(|size| cache_size(size.trim()))
        .unwrap_or(1 << 20)
}

/// Parses a size in the notation of Linux: `2048K`.
fn cache_size(size: &str) -> Option<usize> {
    let (digits, unit) = match size.as_bytes().last()? {
        b'K' => (size.strip_suffix('K')?, 1 << 10),
        b'M' => (size.strip_suffix('M')?, 1 << 20),
        _ => (size, 1),
    };
    digits.parse::<usize>().ok()?.checked_mul(unit)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn effort(rounds: usize) -> Effort {
        Effort {
            rounds,
            at_most: Duration::from_secs(1),
        }
    }

    #[test]
    fn minimum_and_median_are_found() {
        let times = Times::of(vec![3.0, 1.0, 9.0, 2.0, 5.0]);
        assert_eq!((times.min, times.median), (1.0, 3.0));
        assert!(Times::of(Vec::new()).min.is_nan());
    }

    #[test]
    fn subjects_take_turns_and_each_begins_equally_often() {
        let mut subjects = [Box::new('a'), Box::new('b'), Box::new('c')];
        let mut order = String::new();
        let times = interleave(&mut subjects, &effort(3), |subject: &mut char| {
            order.push(*subject);
            Ok(f64::from(u32::from(*subject)))
        })
        .unwrap();
        assert_eq!(order, "abcabcbcacab");
        assert_eq!(
            times.iter().map(|t| t.min).collect::<Vec<_>>(),
            [97.0, 98.0, 99.0]
        );
    }

    #[test]
    fn no_time_left_leaves_the_fewest_rounds() {
        let effort = Effort {
            at_most: Duration::ZERO,
            ..effort(1_000)
        };
        let times = interleave(&mut [Box::new(())], &effort, |()| Ok(1.0)).unwrap();
        assert_eq!(times.first().unwrap().rounds, Effort::FEWEST);
    }

    #[test]
    fn a_failed_round_ends_it() {
        let mut subjects = [Box::new(())];
        assert!(interleave(&mut subjects, &effort(3), |()| Err("no".into())).is_err());
    }

    #[test]
    fn cache_sizes_are_read() {
        assert_eq!(cache_size("2048K"), Some(2 << 20));
        assert_eq!(cache_size("1M"), Some(1 << 20));
        assert_eq!(cache_size("512"), Some(512));
        assert_eq!(cache_size(""), None);
        assert_eq!(cache_size("many"), None);
    }
}
