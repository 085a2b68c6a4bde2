//! Comparable measurements of time: on one core, all subjects in turn, in many rounds.

use std::cell::Cell;
use std::fs;
use std::sync::OnceLock;
use std::time::Instant;

use crate::Failure;
use crate::distribution::Distribution;
use crate::suites::Effort;

/// Times of many rounds, in nanoseconds per operation.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Times {
    /// Fastest round: the cost of the operation without disturbances.
    pub(crate) min: f64,
    /// Median of the rounds.
    pub(crate) median: f64,
    /// Number of rounds.
    pub(crate) rounds: usize,
    /// Summary and histogram of the rounds, or `None` if there are none.
    pub(crate) distribution: Option<Distribution>,
}

impl Times {
    /// Summarizes `rounds`, each of `batch` operations between two readings of the clock. If there
    /// are none, minimum and median are NaN.
    pub(crate) fn of(mut rounds: Vec<f64>, batch: usize) -> Self {
        rounds.sort_unstable_by(f64::total_cmp);
        let at = |i: usize| rounds.get(i).copied().unwrap_or(f64::NAN);
        Self {
            min: at(0),
            median: at(rounds.len() / 2),
            rounds: rounds.len(),
            distribution: Distribution::of(&rounds, batch as u64),
        }
    }
}

/// Time that a batch takes at least, as a multiple of the time for reading the clock. It allows
/// three significant digits (McMPI, section 4.4).
const CLOCK_READINGS: f64 = 100.0;
/// Maximum number of rounds that are joined to one batch.
const MAX_JOINED: usize = 10_000;

/// Returns the time in nanoseconds that a batch takes at least.
fn shortest_batch() -> f64 {
    static READING: OnceLock<f64> = OnceLock::new();
    let reading = READING.get_or_init(|| {
        let differences = (0..10_000).filter_map(|_| {
            let start = Instant::now();
            let taken = start.elapsed().as_secs_f64() * 1e9;
            (taken > 0.0).then_some(taken)
        });
        differences.fold(f64::INFINITY, f64::min)
    });
    CLOCK_READINGS * reading
}

thread_local! {
    /// Nanoseconds that this thread has timed since it last took them.
    static TIMED: Cell<f64> = const { Cell::new(0.0) };
    /// Operations of the last interval that this thread has timed.
    static OPERATIONS: Cell<usize> = const { Cell::new(0) };
}

/// Returns the nanoseconds that this thread has timed since the last call.
fn take_timed() -> f64 {
    TIMED.with(|timed| timed.replace(0.0))
}

/// Notes an interval that another thread or process has timed for the current round. [`since`] does
/// this for intervals of the measuring thread.
pub(crate) fn note_interval(ns_per_operation: f64, operations: usize) {
    TIMED.with(|timed| timed.set(timed.get() + ns_per_operation * operations as f64));
    OPERATIONS.with(|last| last.set(operations));
}

/// Runs uncounted rounds and returns how many rounds are joined to one batch, so that the batch is
/// long enough for the clock. A round that notes no interval is a batch by itself.
fn calibrate(mut round: impl FnMut() -> Result<f64, Failure>) -> Result<usize, Failure> {
    let shortest = shortest_batch();
    OPERATIONS.with(|last| last.set(0));
    let mut joined = 1;
    loop {
        take_timed();
        for _ in 0..joined {
            round()?;
        }
        let timed = take_timed();
        if timed <= 0.0 || timed >= shortest || joined >= MAX_JOINED {
            return Ok(joined);
        }
        let factor = (shortest * 1.2 / timed).ceil() as usize;
        joined = (joined * factor.max(2)).min(MAX_JOINED);
    }
}

/// A subject's rounds while it is measured.
#[derive(Debug, Default)]
struct Rounds {
    /// Rounds that are joined to one batch.
    joined: usize,
    /// Operations between two readings of the clock.
    operations: usize,
    times: Vec<f64>,
}

/// Runs one round of each subject in turn, as often as `effort` says, so that a disturbance of the
/// machine affects all subjects alike. The subject that begins changes with each turn.
///
/// `round` returns nanoseconds per operation. Before the measurement, each subject runs one round
/// that is not counted. Rounds that are short for the clock are joined to batches: a batch takes at
/// least a hundred times as long as reading the clock, and counts as one round.
pub(crate) fn interleave<S: ?Sized>(
    subjects: &mut [Box<S>],
    effort: &Effort,
    mut round: impl FnMut(&mut S) -> Result<f64, Failure>,
) -> Result<Vec<Times>, Failure> {
    let mut all: Vec<Rounds> = Vec::new();
    for subject in subjects.iter_mut() {
        let joined = calibrate(|| round(subject))?;
        all.push(Rounds {
            joined,
            operations: OPERATIONS.with(Cell::get),
            times: Vec::with_capacity(effort.rounds),
        });
    }
    let count = subjects.len().max(1);
    let start = Instant::now();
    for n in 0..effort.rounds {
        if n >= effort.fewest && start.elapsed() > effort.at_most {
            break;
        }
        let mut pairs: Vec<_> = subjects.iter_mut().zip(&mut all).collect();
        pairs.rotate_left(n % count);
        for (subject, rounds) in pairs {
            let mut sum = 0.0;
            for _ in 0..rounds.joined {
                sum += round(subject)?;
            }
            rounds.times.push(sum / rounds.joined as f64);
        }
    }
    let times = |rounds: Rounds| Times::of(rounds.times, rounds.joined * rounds.operations);
    Ok(all.into_iter().map(times).collect())
}

/// Returns the nanoseconds per operation, for `operations` that ran since `start`.
pub(crate) fn since(start: Instant, operations: usize) -> f64 {
    let each = start.elapsed().as_secs_f64() * 1e9 / operations as f64;
    note_interval(each, operations);
    each
}

/// Returns the cores of this process, in ascending order. They are those of the first thread that
/// asks, which is not pinned yet: [`pin`] asks before it pins.
pub(crate) fn cores() -> Vec<usize> {
    static CORES: OnceLock<Vec<usize>> = OnceLock::new();
    let find = || core_affinity::get_core_ids().unwrap_or_default();
    let cores = CORES.get_or_init(|| find().into_iter().map(|core| core.id).collect());
    cores.clone()
}

/// Pins the calling thread to one core. Returns false if the system refuses.
pub(crate) fn pin() -> bool {
    // On most systems the last core handles the fewest interrupts.
    let last = cores().last().copied();
    last.is_some_and(|id| core_affinity::set_for_current(core_affinity::CoreId { id }))
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
            fewest: Effort::FEWEST,
            at_most: Duration::from_secs(1),
        }
    }

    #[test]
    fn minimum_and_median_are_found() {
        let times = Times::of(vec![3.0, 1.0, 9.0, 2.0, 5.0], 7);
        assert_eq!((times.min, times.median), (1.0, 3.0));
        let distribution = times.distribution.unwrap();
        assert_eq!((distribution.rounds, distribution.batch), (5, 7));
        let none = Times::of(Vec::new(), 1);
        assert!(none.min.is_nan() && none.distribution.is_none());
    }

    #[test]
    fn short_rounds_are_joined_until_the_clock_can_tell() {
        const OPERATIONS: usize = 4;
        // A round says that it took a tenth of a batch.
        let each = shortest_batch() / 10.0 / OPERATIONS as f64;
        let mut count = 0;
        let times = interleave(&mut [Box::new(())], &effort(3), |()| {
            count += 1;
            note_interval(each, OPERATIONS);
            Ok(each)
        })
        .unwrap();
        let times = times.first().unwrap();
        let distribution = times.distribution.as_ref().unwrap();
        let batch = distribution.batch as usize;
        assert!(
            (10 * OPERATIONS..=20 * OPERATIONS).contains(&batch),
            "{batch}"
        );
        assert_eq!(times.rounds, 3);
        // One round and one batch to calibrate, and three batches.
        assert_eq!(count, 1 + 4 * batch / OPERATIONS);
        assert!((times.median / each - 1.0).abs() < 1e-9);
    }

    #[test]
    fn long_rounds_are_batches_by_themselves() {
        let mut count = 0;
        let times = interleave(&mut [Box::new(())], &effort(5), |()| {
            count += 1;
            note_interval(2.0 * shortest_batch(), 1);
            Ok(1.0)
        })
        .unwrap();
        let distribution = times.first().unwrap().distribution.as_ref();
        assert_eq!(distribution.map(|d| (d.rounds, d.batch)), Some((5, 1)));
        assert_eq!(count, 6);
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
