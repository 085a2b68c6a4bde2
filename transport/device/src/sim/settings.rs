//! Settings and faults of a simulation.

use std::ops::RangeInclusive;
use std::time::Duration;

/// Settings of a [`Simulation`](super::Simulation). All its decisions are drawn from `seed`.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Settings {
    /// Seed of all decisions. Two runs of one program with the same seed are identical.
    pub seed: u64,
    /// Latency, drawn for each piece of bytes (default 1 us to 1 ms). The pieces of one connection
    /// keep their order; those of different connections may overtake each other.
    pub latency: RangeInclusive<Duration>,
    /// Window of a direction: bytes that may be in flight or waiting to be read (default 512 to
    /// 262,144). Drawn for each direction with a uniform logarithm, so that small windows are as
    /// frequent as large ones.
    pub window: RangeInclusive<usize>,
    /// Number of reads and writes, per 1,000, that transfer less than they could (default 250).
    pub short: u16,
    /// Number of events, per 1,000, that cause spurious wake-ups (default 20).
    pub spurious: u16,
    /// Faults of the network (default: none).
    pub faults: Faults,
    /// Maximum number of steps (polls of tasks, and events), after which a run ends with
    /// [`Stuck::Steps`](super::Stuck::Steps) (default ten million). Protects against tasks in an
    /// endless loop.
    pub max_steps: u64,
}

impl Settings {
    /// Returns the default settings: delays, and short reads and writes, but no faults.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self {
            seed,
            latency: Duration::from_micros(1)..=Duration::from_millis(1),
            window: 512..=1 << 18,
            short: 250,
            spurious: 20,
            faults: Faults::NONE,
            max_steps: 10_000_000,
        }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self::new(0)
    }
}

/// Faults of connections. Each number is the number of directions, per 1,000, that meet this fault,
/// at a byte drawn from [`within`](Self::within). A direction meets at most one fault.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Faults {
    /// The stream ends at the byte, as if the peer had ended it.
    pub cut: u16,
    /// Both directions are reset.
    pub reset: u16,
    /// All bytes from there on are lost. Both sides get an error after
    /// [`patience`](Self::patience).
    pub drop: u16,
    /// One byte is changed. Neither side gets an error, and the connection continues.
    pub corrupt: u16,
    /// The peer vanishes: no bytes arrive in either direction, and both sides get an error after
    /// [`patience`](Self::patience).
    pub vanish: u16,
    /// Number of connections, per 1,000, that the host refuses.
    pub refuse: u16,
    /// Number of connections, per 1,000, whose peer is silent from the first byte on, as with
    /// `vanish`.
    pub silent: u16,
    /// Maximum position of a fault, in bytes (default 1 MiB). The logarithm of the position is
    /// uniform.
    pub within: u64,
    /// Simulated time after which a side is told that its silent peer is lost (default 60 s).
    pub patience: Duration,
}

impl Faults {
    /// No faults.
    pub const NONE: Self = Self {
        cut: 0,
        reset: 0,
        drop: 0,
        corrupt: 0,
        vanish: 0,
        refuse: 0,
        silent: 0,
        within: 1 << 20,
        patience: Duration::from_secs(60),
    };

    /// All kinds of faults. About half of the connections stay intact.
    pub const ALL: Self = Self {
        cut: 60,
        reset: 60,
        drop: 60,
        corrupt: 60,
        vanish: 60,
        refuse: 30,
        silent: 30,
        ..Self::NONE
    };
}

impl Default for Faults {
    fn default() -> Self {
        Self::NONE
    }
}
