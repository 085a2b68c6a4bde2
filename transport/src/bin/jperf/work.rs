//! Parameters of a measurement, which both sides know.

use std::time::Duration;

use clap::ValueEnum;

/// Kind of measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Op {
    /// A message and an answer of the same length: half of the round trip.
    Pingpong,
    /// Both sides send, then both receive: the time of each pair of messages that cross.
    Pingping,
    /// A window of messages and a short answer: bytes per second.
    Bandwidth,
    /// A window of messages and a short answer: messages per second.
    Rate,
    /// A window of tagged messages between ranks in each direction: half of that time, per message.
    Tags,
    /// Like pingpong, but each message is announced and requested before it is sent: the cost of a
    /// rendezvous.
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

    /// Returns true if there are several messages before an answer.
    pub(crate) const fn has_window(self) -> bool {
        matches!(self, Self::Bandwidth | Self::Rate | Self::Tags)
    }

    /// Returns true if latency is measured, and not throughput.
    pub(crate) const fn is_latency(self) -> bool {
        !matches!(self, Self::Bandwidth | Self::Rate)
    }
}

/// Destination of received messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Receive {
    /// Into memory of the program (recv_into).
    Into,
    /// Into a jbuf of the pool (recv_message).
    Jbuf,
    /// Into a jbuf, which is sent back with its contents (send_buffer); for pingpong and pingping.
    Moved,
    /// In place, where the peer wrote the message (Options::trust_peer; shm only). With this value,
    /// the user vouches for the program on the other side.
    Trusted,
    /// Into a jbuf, and copied from there into memory of the program: the cost of an unexpected
    /// message.
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
    /// In the order of sending.
    In,
    /// In reverse order.
    Reverse,
    /// In the order of arrival, from any source and with any tag.
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

/// Access to payloads apart from sending them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Touch {
    /// No access.
    None,
    /// The receiver reads all bytes; the sender does not change them.
    Clean,
    /// The sender writes all bytes of each message, and the receiver reads them.
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

/// Approximate memory of a pending receive, in bytes.
const RECEIVE: u64 = 512;

/// The parameters of a measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Work {
    pub(crate) op: Op,
    pub(crate) receive: Receive,
    pub(crate) touch: Touch,
    /// True if each byte is compared with its expected value.
    pub(crate) check: bool,
    /// The length of a payload in bytes.
    pub(crate) size: usize,
    /// The number of messages before an answer.
    pub(crate) window: u32,
    /// The number of memory slices that are used in turn to send from and to receive into.
    pub(crate) places: u32,
    /// The order in which tagged messages are received.
    pub(crate) order: Order,
    /// The number of receives with other tags that are pending during the measurement.
    pub(crate) depth: u32,
    /// The delay of the server before it answers, in nanoseconds.
    pub(crate) think: u32,
}

impl Work {
    /// Returns the distance between two slices of memory, in bytes.
    pub(crate) fn stride(&self) -> usize {
        // No two slices share a cache line.
        self.size.max(1).next_multiple_of(64)
    }

    /// Returns the memory that one side needs, in bytes.
    pub(crate) fn memory(&self) -> u64 {
        let places = match self.op {
            Op::Tags => self.window,
            _ => self.places,
        };
        let one = (self.stride() as u64).saturating_mul(u64::from(places));
        let waiting = u64::from(self.depth).saturating_mul(RECEIVE);
        one.saturating_mul(2).saturating_add(waiting)
    }

    /// Returns the number of messages with payload in an exchange, in both directions.
    pub(crate) fn messages(&self) -> u64 {
        match self.op {
            Op::Pingpong | Op::Pingping | Op::Rendezvous => 2,
            Op::Bandwidth | Op::Rate => u64::from(self.window),
            Op::Tags => u64::from(self.window).saturating_mul(2),
        }
    }

    /// Returns the number by which the time of an exchange is divided to get the reported time.
    pub(crate) fn share(&self) -> u64 {
        match self.op {
            Op::Pingpong | Op::Rendezvous => 2,
            Op::Pingping => 1,
            Op::Bandwidth | Op::Rate => u64::from(self.window),
            Op::Tags => u64::from(self.window).saturating_mul(2),
        }
    }
}

/// Duration of a measurement.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan {
    /// Number of exchanges for the warm-up, which are not counted.
    pub(crate) warmup: u64,
    /// Maximum time of the warm-up.
    pub(crate) warming: Duration,
    /// Maximum number of exchanges.
    pub(crate) iterations: u64,
    /// Maximum time.
    pub(crate) time: Duration,
    /// Number of exchanges between two readings of the clock.
    pub(crate) batch: u64,
}
