//! What both sides do in a measurement.

use std::time::Duration;

use clap::ValueEnum;

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Op {
    /// A message there, and one like it back: half of the round trip.
    Pingpong,
    /// Both sides send, then both receive: the time of each pair of messages that cross.
    Pingping,
    /// A window of messages there, and a short answer: bytes in a second.
    Bandwidth,
    /// The same: messages in a second.
    Rate,
    /// As pingpong, but each message is announced, and asked for, before it comes: what a rendezvous costs.
    #[value(skip)]
    Rendezvous,
}

impl Op {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Pingpong => "pingpong",
            Self::Pingping => "pingping",
            Self::Bandwidth => "bandwidth",
            Self::Rate => "rate",
            Self::Rendezvous => "rendezvous",
        }
    }

    /// Whether times are looked at, and not what gets through.
    pub(crate) const fn is_latency(self) -> bool {
        !matches!(self, Self::Bandwidth | Self::Rate)
    }
}

/// Where a message is received.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Receive {
    /// Into memory of the program (recv_into).
    Into,
    /// Into a jbuf of the pool (recv_message).
    Jbuf,
    /// Into a jbuf, which goes back with what it holds (send_filled); for pingpong and pingping.
    Moved,
    /// In place, where the peer wrote it (Options::trust_peer; shm only). Whoever says this vouches for the
    /// program on the other side.
    Trusted,
    /// Into a jbuf, and from there into memory of the program: what a message costs that nobody waited for.
    #[value(skip)]
    Copied,
}

impl Receive {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Into => "into",
            Self::Jbuf => "jbuf",
            Self::Moved => "moved",
            Self::Trusted => "trusted",
            Self::Copied => "copied",
        }
    }
}

/// What is done to payloads beside sending them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Touch {
    /// Nothing.
    None,
    /// The receiver reads all of it; the sender leaves it as it is.
    Clean,
    /// The sender writes all of it anew for each message, and the receiver reads all of it.
    Dirty,
}

impl Touch {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Clean => "clean",
            Self::Dirty => "dirty",
        }
    }
}

/// A measurement, as both sides know it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Work {
    pub(crate) op: Op,
    pub(crate) receive: Receive,
    pub(crate) touch: Touch,
    /// Whether each byte is compared with what it should be.
    pub(crate) check: bool,
    /// The length of a payload.
    pub(crate) size: usize,
    /// Messages before an answer.
    pub(crate) window: u32,
    /// Places that messages are sent from, and received to, in turn.
    pub(crate) places: u32,
    /// How long the other side thinks before it answers, in nanoseconds.
    pub(crate) think: u32,
}

impl Work {
    /// How far apart its places are.
    pub(crate) fn stride(&self) -> usize {
        // Not on one cache line.
        self.size.max(1).next_multiple_of(64)
    }

    /// The memory that one side needs for it, in bytes.
    pub(crate) fn memory(&self) -> u64 {
        let one = (self.stride() as u64).saturating_mul(u64::from(self.places));
        one.saturating_mul(2)
    }

    /// The messages that go both ways in an exchange, payloads only.
    pub(crate) fn messages(&self) -> u64 {
        match self.op {
            Op::Pingpong | Op::Pingping | Op::Rendezvous => 2,
            Op::Bandwidth | Op::Rate => u64::from(self.window),
        }
    }

    /// What the time of an exchange is divided by for the time that is reported.
    pub(crate) fn share(&self) -> u64 {
        match self.op {
            Op::Pingpong | Op::Rendezvous => 2,
            Op::Pingping => 1,
            Op::Bandwidth | Op::Rate => u64::from(self.window),
        }
    }
}

/// How long a side goes on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan {
    /// Exchanges that don't count, before.
    pub(crate) warmup: u64,
    /// How long these take, at most.
    pub(crate) warming: Duration,
    /// Exchanges, at most.
    pub(crate) iterations: u64,
    /// The time, at most.
    pub(crate) time: Duration,
    /// Exchanges between two looks at the clock.
    pub(crate) batch: u64,
}
