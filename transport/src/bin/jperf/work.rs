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
    /// A window of tagged messages between ranks there, and one back: half of that, for each message.
    Tags,
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
            Self::Tags => "tags",
            Self::Rendezvous => "rendezvous",
        }
    }

    /// Whether many messages come before an answer.
    pub(crate) const fn has_window(self) -> bool {
        matches!(self, Self::Bandwidth | Self::Rate | Self::Tags)
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

/// The order in which tagged messages are received.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Order {
    /// In that in which they are sent.
    In,
    /// In the reverse one.
    Reverse,
    /// In that in which they come, whatever their source and tag.
    Any,
}

impl Order {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::In => "in",
            Self::Reverse => "reverse",
            Self::Any => "any",
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

/// The memory of a receive that waits, roughly, in bytes.
const RECEIVE: u64 = 512;

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
    /// The order in which tagged messages are received.
    pub(crate) order: Order,
    /// Receives of other tags that wait beside.
    pub(crate) depth: u32,
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
        let places = match self.op {
            Op::Tags => self.window,
            _ => self.places,
        };
        let one = (self.stride() as u64).saturating_mul(u64::from(places));
        let waiting = u64::from(self.depth).saturating_mul(RECEIVE);
        one.saturating_mul(2).saturating_add(waiting)
    }

    /// The messages that go both ways in an exchange, payloads only.
    pub(crate) fn messages(&self) -> u64 {
        match self.op {
            Op::Pingpong | Op::Pingping | Op::Rendezvous => 2,
            Op::Bandwidth | Op::Rate => u64::from(self.window),
            Op::Tags => u64::from(self.window).saturating_mul(2),
        }
    }

    /// What the time of an exchange is divided by for the time that is reported.
    pub(crate) fn share(&self) -> u64 {
        match self.op {
            Op::Pingpong | Op::Rendezvous => 2,
            Op::Pingping => 1,
            Op::Bandwidth | Op::Rate => u64::from(self.window),
            Op::Tags => u64::from(self.window).saturating_mul(2),
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
