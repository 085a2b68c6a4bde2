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
    let micros = time.as_secs().saturating_mul(1_000_000);
    // A caller that has no time left does not send.
    let micros = micros.saturating_add(time.subsec_micros().into()).max(1);
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
const TICKS: u32 = 1000;

/// The moment that a call's time counts from. For a long one that is the last tick of the clock, as that costs a fraction
/// of asking for the moment, and changes the time by no more than the wire does.
#[inline]
pub(crate) fn begin(time: Option<Duration>) -> Instant {
    let zero = time.and_then(zero_for);
    let ticked = zero.and_then(|zero| zero.checked_add(ticked()));
    ticked.unwrap_or_else(Instant::now)
}

/// Until when a call waits that has begun now; `tick` is what the clock said at its last tick, if it was asked just
/// before.
#[inline]
pub(crate) fn end_of(time: Duration, tick: Option<Duration>) -> Option<Instant> {
    match zero_for(time) {
        Some(zero) => zero.checked_add(tick.unwrap_or_else(ticked).saturating_add(time)),
        None => Instant::now().checked_add(time),
    }
}

/// When the clock that ticks was at zero, for times that are long.
fn zero_for(time: Duration) -> Option<Instant> {
    static ZERO: OnceLock<(Option<Instant>, Duration)> = OnceLock::new();
    let (zero, least) = ZERO.get_or_init(|| {
        // Whoever is held up between both finds an earlier one.
        let zeroes = (0..4).filter_map(|_| {
            let now = Instant::now();
            now.checked_sub(of(clock_gettime(ClockId::Monotonic)))
        });
        let zero = zeroes.max();
        let tick = of(clock_getres(ClockId::MonotonicCoarse));
        (zero, tick.saturating_mul(TICKS))
    });
    zero.filter(|_| time >= *least)
}

/// How far the clock had gone at its last tick.
#[inline]
fn ticked() -> Duration {
    of(clock_gettime(ClockId::MonotonicCoarse))
}

#[inline]
fn of(time: Timespec) -> Duration {
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    Duration::new(seconds, u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// How long the calls of an object wait, and what is worked out of that once.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Span {
    time: Duration,
    wire: u16,
    /// So long after zero of the clock that ticks, if the time counts from a tick, and there is such a moment.
    from: Option<Instant>,
}

impl Span {
    pub(crate) fn new(time: Duration) -> Self {
        Self {
            time,
            wire: to_wire(time),
            from: zero_for(time).and_then(|zero| zero.checked_add(time)),
        }
    }

    pub(crate) fn time(&self) -> Duration {
        self.time
    }

    pub(super) fn wire(&self) -> u16 {
        self.wire
    }

    /// Whether it counts from a tick, and ends.
    pub(crate) fn is_long(&self) -> bool {
        self.from.is_some()
    }

    /// Until when a call that begins at the last tick waits. None where its time does not count from that, or never ends.
    #[inline]
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.from?.checked_add(ticked())
    }
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
    fn a_long_span_ends_about_as_late_as_it_is_long() {
        let hour = Duration::from_secs(3600);
        let before = Instant::now();
        let end = Span::new(hour).deadline().unwrap();
        assert!(end + Duration::from_secs(60) > before + hour);
        assert!(end <= Instant::now() + hour);
        for other in [Duration::ZERO, Duration::from_millis(5), Duration::MAX] {
            assert_eq!(Span::new(other).deadline(), None);
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
