//! What a case measures, which its name says.

use crate::Failure;

/// Which way messages go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// Between two threads.
    Inproc,
    /// Between two processes, as all below.
    Shm,
    Uds,
    Tcp,
    Uring,
}

/// Who does what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pattern {
    /// A message goes there, and one like it comes back.
    PingPong,
    /// So many messages go there, and one comes back.
    Window(usize),
    /// A ping-pong of an object of 64 MiB, which moves.
    Large,
    /// A ping-pong of an object of records.
    Records,
    /// A message goes over each of so many connections, and one comes back over each.
    Connections(usize),
}

/// What is done to the payload besides sending it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Touch {
    /// Nothing.
    Untouched,
    /// The receiver looks at all of it; the sender has it in memory of its own, and leaves it as it is.
    Clean,
    /// The sender makes all of it anew for every message, and the receiver looks at all of it.
    Dirty,
}

/// What the messages go through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Layer {
    Endpoint,
    /// Typed channels.
    Channel,
    /// Ranks, which match them by source and tag.
    Rank,
}

/// A case, as its name says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Case {
    pub(super) name: &'static str,
    pub(super) way: Way,
    /// Whether whoever waits looks again and again, and never sleeps.
    pub(super) spins: bool,
    pub(super) pattern: Pattern,
    pub(super) touch: Touch,
    /// The length of a payload; of objects, the most that it takes.
    pub(super) bytes: usize,
    pub(super) layer: Layer,
}

/// The names of all cases, in the order in which they are run.
pub(super) const NAMES: [&str; 54] = [
    "inproc/pingpong/8",
    "inproc/pingpong/object-64M",
    "shm/pingpong/8",
    "shm/pingpong/1024",
    "shm/pingpong/65536",
    "shm/pingpong-dirty/65536",
    "shm/pingpong-untouched/65536",
    "shm/pingpong/1048576",
    "shm/pingpong-dirty/1048576",
    "shm/pingpong-untouched/1048576",
    "shm/pingpong/records-1000",
    "shm/rate/8",
    "shm/bandwidth/65536",
    "shm/bandwidth/1048576",
    "uds/pingpong/8",
    "uds/pingpong/65536",
    "uds/pingpong/1048576",
    "uds/bandwidth/65536",
    "uds/bandwidth/1048576",
    "uds-spin/pingpong/8",
    "uds-spin/pingpong/65536",
    "uds-spin/pingpong/1048576",
    "tcp/pingpong/8",
    "tcp/pingpong/65536",
    "tcp/pingpong/1048576",
    "tcp/bandwidth/65536",
    "tcp/bandwidth/1048576",
    "tcp-spin/pingpong/8",
    "tcp-spin/pingpong/65536",
    "tcp-spin/pingpong/1048576",
    "tcp/64-connections/8",
    "tcp-spin/64-connections/8",
    "uring/pingpong/8",
    "uring/pingpong/65536",
    "uring/bandwidth/65536",
    "uring-spin/pingpong/8",
    "uring-spin/pingpong/65536",
    "uring-spin/pingpong/1048576",
    "uring/64-connections/8",
    "uring-spin/64-connections/8",
    "rank/inproc/pingpong/8",
    "rank/inproc/pingpong/1024",
    "rank/inproc/rate/8",
    "rank/shm/pingpong/8",
    "rank/shm/pingpong/1024",
    "rank/shm/pingpong/65536",
    "rank/shm/pingpong-dirty/65536",
    "rank/shm/pingpong/1048576",
    "rank/shm/pingpong-dirty/1048576",
    "rank/shm/rate/8",
    "channel/inproc/8",
    "channel/inproc/object-64M",
    "channel/shm/8",
    "channel/shm/records-1000",
];

/// How many records the case of that name has.
pub(super) const RECORDS: usize = 1_000;
/// How many bytes the object of that case has.
pub(super) const LARGE: usize = 64 << 20;
/// Messages on their way at once.
const WINDOW: usize = 64;
/// The bytes of them, at most.
const ON_THEIR_WAY: usize = 8 << 20;
const CONNECTIONS: usize = 64;

impl Case {
    /// The case of that name.
    pub(super) fn named(name: &str) -> Result<Self, Failure> {
        let known = NAMES.into_iter().find(|known| *known == name);
        known
            .and_then(Self::parse)
            .ok_or_else(|| format!("there is no case {name}").into())
    }

    fn parse(name: &'static str) -> Option<Self> {
        let mut parts = name.split('/');
        let (way, what, size) = (parts.next()?, parts.next()?, parts.next()?);
        let (layer, way, what, size) = match way {
            "channel" => (Layer::Channel, what, "pingpong", size),
            "rank" => (Layer::Rank, what, size, parts.next()?),
            _ => (Layer::Endpoint, way, what, size),
        };
        let (way, spins) = match way {
            "inproc" => (Way::Inproc, true),
            "shm" => (Way::Shm, true),
            "uds" => (Way::Uds, false),
            "uds-spin" => (Way::Uds, true),
            "tcp" => (Way::Tcp, false),
            "tcp-spin" => (Way::Tcp, true),
            "uring" => (Way::Uring, false),
            "uring-spin" => (Way::Uring, true),
            _ => return None,
        };
        let (pattern, touch) = match (what, size) {
            ("pingpong", "object-64M") => (Pattern::Large, Touch::Untouched),
            ("pingpong", "records-1000") => (Pattern::Records, Touch::Untouched),
            ("pingpong", _) => (Pattern::PingPong, Touch::Clean),
            ("pingpong-dirty", _) => (Pattern::PingPong, Touch::Dirty),
            ("pingpong-untouched", _) => (Pattern::PingPong, Touch::Untouched),
            ("rate" | "bandwidth", _) => {
                let window = (ON_THEIR_WAY / size.parse::<usize>().ok()?).min(WINDOW);
                (Pattern::Window(window), Touch::Untouched)
            }
            ("64-connections", _) => (Pattern::Connections(CONNECTIONS), Touch::Clean),
            _ => return None,
        };
        let bytes = match size {
            "object-64M" => LARGE,
            "records-1000" => RECORDS * 256,
            _ => size.parse().ok()?,
        };
        Some(Self {
            name,
            way,
            spins,
            pattern,
            touch,
            bytes,
            layer,
        })
    }

    /// How many messages a sample and a round are made of: a sample lasts long enough for the clock,
    /// and a round is short enough that many have the processors for themselves.
    pub(super) fn work(&self) -> Work {
        let ns = self.about();
        let batch = (SAMPLE_NS / ns).clamp(1, 64);
        let batches = (ROUND_NS / (ns * batch)).clamp(1, 200);
        Work {
            pattern: self.pattern,
            touch: self.touch,
            bytes: self.bytes,
            batch,
            batches,
        }
    }

    /// About how many nanoseconds it takes until an answer is here.
    fn about(&self) -> usize {
        let one = match (self.way, self.spins) {
            (Way::Inproc | Way::Shm, _) => 500,
            (_, true) => 8_000,
            (_, false) => 40_000,
        };
        match self.pattern {
            Pattern::PingPong => one + self.bytes / 3,
            Pattern::Large => one,
            Pattern::Records => one + self.bytes,
            Pattern::Window(n) => n * (one / 4 + self.bytes / 8),
            Pattern::Connections(n) => n * one.min(8_000),
        }
    }
}

/// What is sampled at once, in nanoseconds.
const SAMPLE_NS: usize = 10_000;
/// What a round takes at most, where a sample isn't longer.
const ROUND_NS: usize = 2_000_000;

/// What both sides do in a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Work {
    pub(super) pattern: Pattern,
    pub(super) touch: Touch,
    pub(super) bytes: usize,
    /// Exchanges between two looks at the clock.
    pub(super) batch: usize,
    /// Samples; one more comes before, uncounted.
    pub(super) batches: usize,
}

impl Work {
    /// All exchanges of a round.
    pub(super) fn exchanges(&self) -> usize {
        self.batch * (self.batches + 1)
    }

    /// How many messages go both ways in an exchange.
    pub(super) fn messages(&self) -> usize {
        match self.pattern {
            Pattern::PingPong | Pattern::Large | Pattern::Records => 2,
            Pattern::Window(n) => n + 1,
            Pattern::Connections(n) => 2 * n,
        }
    }

    /// What the time of an exchange is divided by: half a round trip, or a message of a window.
    pub(super) fn share(&self) -> usize {
        match self.pattern {
            Pattern::PingPong | Pattern::Large | Pattern::Records => 2,
            Pattern::Window(n) | Pattern::Connections(n) => n,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_a_case() {
        for name in NAMES {
            let work = Case::named(name).unwrap().work();
            assert!(work.batch > 0 && work.batches > 0, "{name}");
        }
        assert!(Case::named("shm/pingpong/9").is_err());
    }
}
