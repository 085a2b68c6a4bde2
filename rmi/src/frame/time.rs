//! How long a caller waits, in 16 bits: 11 of a number of microseconds, and 5 that say how far it is
//! shifted. It is never more than it was, and less by one part in a thousand at most. 0 is no limit.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, Timespec, clock_getres, clock_gettime};

const BITS: u32 = 11;
const LARGEST: u64 = (1 << BITS) - 1;
/// The longest time, some 50 days, stands for longer ones too.
const FARTHEST: u32 = 31;

pub(super) fn to_wire(time: Duration) -> u16 {
    // A caller that has no time left does not send.
    let micros = u64::try_from(time.as_micros()).unwrap_or(u64::MAX).max(1);
    let shift = (u64::BITS.saturating_sub(BITS)).saturating_sub(micros.leading_zeros());
    let (shift, digits) = if shift > FARTHEST {
        (FARTHEST, LARGEST)
    } else {
        (shift, micros >> shift)
    };
    let wire = u64::from(shift) << BITS | digits;
    u16::try_from(wire).unwrap_or(u16::MAX)
}

/// The upper bits of the word that it stands in.
pub(super) fn from_wire(wire: u64) -> Option<Duration> {
    let (shift, digits) = (wire >> BITS & u64::from(FARTHEST), wire & LARGEST);
    (wire != 0).then(|| Duration::from_micros(digits << shift))
}

/// How many ticks of the clock a time has that is about as long when it counts from the last one.
const MANY: u32 = 1000;

/// The moment that a call's time counts from. For a long one that is the last tick of the clock, as that costs a fraction
/// of asking for the moment, and changes the time by no more than the wire does.
#[inline]
pub(crate) fn begin(time: Option<Duration>) -> Instant {
    static TICKS: OnceLock<Option<Ticks>> = OnceLock::new();
    let Some(time) = time else {
        return Instant::now();
    };
    let last = TICKS.get_or_init(Ticks::new).as_ref();
    let last = last.filter(|ticks| time >= ticks.long);
    let last = last.and_then(|ticks| {
        ticks
            .zero
            .checked_add(of(clock_gettime(ClockId::MonotonicCoarse)))
    });
    last.unwrap_or_else(Instant::now)
}

/// The clock's ticks.
struct Ticks {
    /// When it would have begun to count.
    zero: Instant,
    /// What is a long time.
    long: Duration,
}

impl Ticks {
    #[cold]
    fn new() -> Option<Self> {
        let first = Instant::now();
        let zero = first.checked_sub(of(clock_gettime(ClockId::Monotonic)))?;
        let tick = of(clock_getres(ClockId::MonotonicCoarse));
        let long = tick.saturating_mul(MANY);
        Some(Self { zero, long })
    }
}

fn of(time: Timespec) -> Duration {
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    Duration::new(seconds, u32::try_from(time.tv_nsec).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn travelled(time: Duration) -> Duration {
        from_wire(to_wire(time).into()).unwrap()
    }

    #[test]
    fn times_are_shortened_by_little() {
        for bits in 0..42 {
            for more in [0, 1, 3] {
                let time = Duration::from_micros((1u64 << bits) + more);
                let there = travelled(time);
                assert!(there <= time, "{time:?} {there:?}");
                assert!(there >= time - time / 1000, "{time:?} {there:?}");
            }
        }
    }

    #[test]
    fn a_call_begins_about_now() {
        let before = Instant::now();
        for time in [None, Some(Duration::ZERO), Some(Duration::from_millis(5))] {
            let begun = begin(time);
            assert!(before <= begun && begun <= Instant::now());
        }
        // Nobody says how late the clock may tick where others have the processor.
        for _ in 0..1000 {
            let begun = begin(Some(Duration::MAX));
            assert!(begun + Duration::from_secs(60) > before);
            assert!(begun <= Instant::now());
        }
    }

    #[test]
    fn none_is_none_and_the_ends_are_times() {
        assert_eq!(from_wire(0), None);
        assert_eq!(travelled(Duration::ZERO), Duration::from_micros(1));
        let longest = travelled(Duration::MAX);
        assert!(longest > Duration::from_secs(50 * 24 * 3600));
        assert_eq!(from_wire(0xffff), Some(longest));
        assert_eq!(travelled(longest), longest);
    }
}
