//! What a simulation does to those who run in it.

use std::ops::RangeInclusive;
use std::time::Duration;

/// How a [`Simulation`](super::Simulation) behaves. All that it decides is drawn from `seed`.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Settings {
    /// Two runs of one program with the same seed are the same run.
    pub seed: u64,
    /// How long bytes travel, drawn for each piece (default 1 us to 1 ms). The pieces of one
    /// connection keep their order; those of different connections overtake each other.
    pub latency: RangeInclusive<Duration>,
    /// How many bytes of one direction may be on their way or wait to be read (default 512 to
    /// 262,144), drawn for each direction so that small windows come as often as large ones.
    pub window: RangeInclusive<usize>,
    /// How many of 1,000 reads and writes take less than they could (default 250).
    pub short: u16,
    /// How many of 1,000 sleepers are woken for nothing (default 20).
    pub spurious: u16,
    /// What goes wrong (default: nothing).
    pub faults: Faults,
    /// After how many steps (polls of tasks, and events) a run ends as
    /// [`Stuck::Steps`](super::Stuck::Steps) (default ten million). Answers tasks that turn in circles.
    pub max_steps: u64,
}

impl Settings {
    /// The defaults: delays and short reads and writes, and nothing that breaks a connection.
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

/// How often connections break, and how: each number says how many of 1,000 directions of connections
/// meet that fault, at a byte drawn from [`within`](Self::within). One direction meets one fault at most.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Faults {
    /// The stream ends there, as if the peer had ended it.
    pub cut: u16,
    /// Both directions are reset.
    pub reset: u16,
    /// A stretch of bytes is lost for good: nothing comes any more, and both sides are told after
    /// [`patience`](Self::patience).
    pub drop: u16,
    /// A byte arrives as another one. Nobody is told: the connection goes on.
    pub corrupt: u16,
    /// The peer vanishes: nothing comes any more in either direction, and both sides are told after
    /// [`patience`](Self::patience).
    pub vanish: u16,
    /// How many of 1,000 connections are refused by the host.
    pub refuse: u16,
    /// How many of 1,000 connections never hear anything of their peer, as with `vanish` at the first byte.
    pub silent: u16,
    /// Faults strike at a byte from 0 to this (default 1 MiB), as often at small places as at large ones.
    pub within: u64,
    /// How long a side that hears nothing waits until the system tells it that the peer is lost
    /// (default 60 s of the simulation's time).
    pub patience: Duration,
}

impl Faults {
    /// Nothing breaks.
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

    /// Everything happens, about half of the connections stay whole.
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
