//! The time that a caller waits, in 16 bits: an 11-bit number of microseconds, and a 5-bit shift.
//! The encoded time is never longer than the original, and shorter by at most one part in a
//! thousand. 0 means no limit.
//!
//! Decision 016 has the reasons.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, Timespec, clock_getres, clock_gettime};

const BITS: u32 = 11;

const LARGEST: u64 = (1 << BITS) - 1;

/// Top bit of the number. It is set in every normalized time.
const LEADING: u64 = 1 << (BITS - 1);

/// Maximum shift. The longest time, about 50 days, also encodes longer ones.
const FARTHEST: u32 = 31;

pub(super) fn to_wire(time: Duration) -> u16 {
    let micros = time.as_secs().saturating_mul(1_000_000);
    // A caller that has no time left does not send, so 0 is free to mean no limit.
    let micros = micros.saturating_add(time.subsec_micros().into()).max(1);
    let shift = (u64::BITS.saturating_sub(BITS)).saturating_sub(micros.leading_zeros());
    // The server ends such a method early, after about 50 days.
    let (shift, digits) = if shift > FARTHEST {
        (FARTHEST, LARGEST)
    } else {
        (shift, micros >> shift)
    };
    let wire = u64::from(shift) << BITS | digits;
    u16::try_from(wire).unwrap_or(u16::MAX)
}

/// Decodes the time in a call's header.
pub(super) fn from_wire(wire: u16) -> Option<Duration> {
    let wire = u64::from(wire);
    let (shift, digits) = (wire >> BITS & u64::from(FARTHEST), wire & LARGEST);
    (wire != 0).then(|| Duration::from_micros(digits << shift))
}

/// Minimum length of a long time, in ticks of the coarse clock. For long times the resolution of
/// that clock does not matter.
const TICKS: u32 = 1000;

/// Returns the start of a call's time. For a long time, this is the last tick of the coarse clock:
/// reading it is much cheaper, and changes the time by no more than the encoding does.
#[inline]
pub(crate) fn begin(time: Option<Duration>) -> Instant {
    // Without a known zero, and for short times, the exact clock is read.
    let zero = time.and_then(zero_for);
    let ticked = zero.and_then(|zero| zero.checked_add(ticked()));
    ticked.unwrap_or_else(Instant::now)
}

/// The coarse clock.
struct Ticking {
    /// Time at which the clock was zero.
    zero: Option<Instant>,
    /// Minimum length of a long time.
    least: Duration,
    /// Encoded form of that limit. `u32::MAX` if the zero of the clock is unknown.
    least_on_wire: u32,
}

#[inline]
fn ticking() -> &'static Ticking {
    static TICKING: OnceLock<Ticking> = OnceLock::new();
    TICKING.get_or_init(|| {
        // A thread that is preempted between the two readings finds a value that is too early, so
        // the maximum is used.
        let zeroes = (0..4).filter_map(|_| {
            let now = Instant::now();
            now.checked_sub(from_timespec(clock_gettime(ClockId::Monotonic)))
        });
        let zero = zeroes.max();
        let tick = from_timespec(clock_getres(ClockId::MonotonicCoarse));
        let least = tick.saturating_mul(TICKS);
        // The encoded form may be slightly shorter, so the limit is the next larger one.
        let above = u32::from(to_wire(least)).saturating_add(1);
        Ticking {
            zero,
            least,
            least_on_wire: zero.map_or(u32::MAX, |_| above),
        }
    })
}

/// Returns the zero of the coarse clock if the time is long.
fn zero_for(time: Duration) -> Option<Instant> {
    let clock = ticking();
    clock.zero.filter(|_| time >= clock.least)
}

/// The deadline of a call. It is computed on demand, because synchronous methods rarely ask for it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Deadline {
    Never,
    At(Instant),
    /// An encoded time from a tick of the system's clock, in nanoseconds.
    Since {
        tick: u64,
        time: u16,
    },
}

impl From<Option<Instant>> for Deadline {
    fn from(moment: Option<Instant>) -> Self {
        moment.map_or(Self::Never, Self::At)
    }
}

impl Deadline {
    /// Creates the deadline of a call from its encoded time and the tick at which it arrived.
    /// Returns `None` if the time is not long.
    #[inline]
    pub(crate) fn since(time: u16, tick: Option<u64>) -> Option<Self> {
        // Normalized encoded times have the same order as the times themselves.
        // One that is not normalized could be short although its encoding is large.
        let is_long = u32::from(time) >= ticking().least_on_wire && u64::from(time) & LEADING != 0;
        let tick = tick.filter(|_| is_long)?;
        Some(Self::Since { tick, time })
    }

    /// Returns the deadline as a point in time, if there is one.
    #[inline]
    pub(crate) fn moment(self) -> Option<Instant> {
        match self {
            Self::Never => None,
            Self::At(moment) => Some(moment),
            Self::Since { tick, time } => worked_out(tick, time),
        }
    }

    /// Returns true if there is a deadline.
    #[inline]
    pub(crate) fn is_some(self) -> bool {
        !matches!(self, Self::Never)
    }
}

#[inline(never)]
fn worked_out(tick: u64, time: u16) -> Option<Instant> {
    let since = Duration::from_nanos(tick).saturating_add(from_wire(time)?);
    ticking().zero?.checked_add(since)
}

/// Returns the time of the coarse clock at its last tick.
#[inline]
fn ticked() -> Duration {
    from_timespec(clock_gettime(ClockId::MonotonicCoarse))
}

#[inline]
fn from_timespec(time: Timespec) -> Duration {
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    Duration::new(seconds, u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// The timeout of an object's calls, and values derived from it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Span {
    time: Duration,
    wire: u16,
    /// Zero of the coarse clock plus the timeout. `None` if the timeout is not long, or exceeds the
    /// range of the clock.
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

    /// Returns true if the timeout is long and finite.
    pub(crate) fn is_long(&self) -> bool {
        self.from.is_some()
    }

    /// Returns the deadline of a call that starts at the last tick. `None` if the timeout is not
    /// long, or never ends.
    #[inline]
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.from?.checked_add(ticked())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn travelled(time: Duration) -> Duration {
        from_wire(to_wire(time)).unwrap()
    }

    #[test]
    fn times_are_shortened_by_little() {
        for bits in 0..42 {
            for more in [0, 1, 3] {
                let time = Duration::from_micros((1u64 << bits) + more);
                let arrived = travelled(time);
                assert!(arrived <= time, "{time:?} {arrived:?}");
                assert!(arrived >= time - time / 1000, "{time:?} {arrived:?}");
            }
        }
    }

    #[test]
    fn calls_start_near_the_current_time() {
        let before = Instant::now();
        for time in [None, Some(Duration::ZERO), Some(Duration::from_millis(5))] {
            let begun = begin(time);
            assert!(before <= begun && begun <= Instant::now());
        }
        // The clock may tick arbitrarily late if other processes use the processor.
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
    fn equal_deadlines_are_computed_lazily() {
        let tick = Duration::from_secs(77);
        let nanos = Some(u64::try_from(tick.as_nanos()).unwrap());
        let (clock, zero) = (ticking(), ticking().zero.unwrap());
        let least = to_wire(clock.least);
        let largest = u16::try_from(LARGEST).unwrap();
        let around = (least.saturating_sub(3)..least + 4).chain([least | largest]);
        let all = (0..42).map(|bits| to_wire(Duration::from_micros((1 << bits) + 1)));
        let mut long = 0;
        for wire in around.chain(all) {
            let time = from_wire(wire).unwrap();
            if let Some(later) = Deadline::since(wire, nanos) {
                assert_eq!(zero_for(time), Some(zero));
                assert_eq!(later.moment(), zero.checked_add(tick + time));
                long += 1;
            } else {
                // A time of exactly the minimum length may be either.
                assert!(time <= clock.least);
            }
            assert!(Deadline::since(wire, None).is_none());
        }
        assert!(long > 10);
        // Encodings that this side does not produce: not normalized, or zero.
        for digits in [0, 1, LEADING - 1] {
            let wire = u16::try_from(u64::from(FARTHEST) << BITS | digits).unwrap();
            assert!(Deadline::since(wire, nanos).is_none());
        }
        assert!(Deadline::since(0, nanos).is_none());
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
