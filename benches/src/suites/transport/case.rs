//! Cases of the suite and the parsing of their names.

use jstream_transport::rank::Collective;

use crate::Failure;

/// Transport of the messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// Queues between two threads.
    Inproc,
    /// Shared memory between two processes. All following transports connect two processes, too.
    Shm,
    Uds,
    Tcp,
    Uring,
}

/// Pattern of the messages in an exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pattern {
    /// A message in one direction, and a message of the same size back.
    PingPong,
    /// This many messages in one direction, and one message back.
    Window(usize),
    /// A ping-pong with an object of 64 MiB, whose buffer moves.
    Large,
    /// A ping-pong with an object that contains records.
    Records,
    /// A message over each of this many connections, and one message back over each.
    Connections(usize),
    /// A collective operation of both sides. The roots take turns.
    Collective(Collective),
    /// A linked list that is broadcast. The roots take turns.
    BroadcastObject,
    /// Records that are scattered. The roots take turns.
    ScatterObjects,
    /// Messages with ascending tags, which are received in that order or in the reverse one.
    Tags { reverse: bool },
    /// This many pairs of ranks, each with a ping-pong, at the same time.
    Pairs(usize),
    /// A ping-pong with the upper triangles of this many matrices, which layouts select at both
    /// sides.
    Indexed(usize),
}

/// Access to the payload besides sending it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Touch {
    /// No access.
    Untouched,
    /// The receiver reads the whole payload. The sender has it in memory of its own and does not
    /// modify it.
    Clean,
    /// The sender writes the whole payload for every message, and the receiver reads all of it.
    Dirty,
}

/// Layer that the messages go through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Layer {
    Endpoint,
    /// Typed channels.
    Channel,
    /// Ranks, which match messages by source and tag.
    Rank,
    /// Collective operations of ranks.
    Group,
}

/// A case, parsed from its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Case {
    pub(super) name: &'static str,
    pub(super) way: Way,
    /// True if waiting threads spin and never sleep.
    pub(super) spins: bool,
    pub(super) pattern: Pattern,
    pub(super) touch: Touch,
    /// Length of a payload in bytes. For objects, the maximum length; for collective operations on
    /// objects, their number.
    pub(super) bytes: usize,
    pub(super) layer: Layer,
    /// Number of ranks or sides. More than two share the cores of two.
    pub(super) ranks: u32,
}

/// Names of all cases, in the order in which they are run.
pub(super) const NAMES: [&str; 68] = [
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
    "tcp/socket-buffers/4096",
    "tcp/socket-buffers/65536",
    "tcp/socket-buffers/1048576",
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
    "rank/inproc/pingpong/1048576",
    "rank/inproc/rate/8",
    "rank/inproc/in-order-tags/8",
    "rank/inproc/in-order-tags/1024",
    "rank/inproc/reverse-order-tags/8",
    "rank/inproc/reverse-order-tags/1024",
    "rank/inproc/2-pairs/8",
    "rank/inproc/4-pairs/8",
    "rank/shm/pingpong/8",
    "rank/shm/pingpong/1024",
    "rank/shm/pingpong/65536",
    "rank/shm/pingpong-dirty/65536",
    "rank/shm/pingpong/1048576",
    "rank/shm/pingpong-dirty/1048576",
    "rank/shm/rate/8",
    "rank/shm/in-order-tags/8",
    "rank/shm/in-order-tags/1024",
    "rank/shm/reverse-order-tags/8",
    "rank/shm/reverse-order-tags/1024",
    "channel/inproc/8",
    "channel/inproc/object-64M",
    "channel/shm/8",
    "channel/shm/records-1000",
];

/// Names of the cases of collective operations. The length is that of the elements that a rank
/// contributes, for an exchange those for each rank. For objects, it is the number of elements of
/// the list that is broadcast, or of all records that are scattered. Cases of layouts have the
/// number of matrices. Cases with the same number of ranks follow each other, so that the ranks of
/// MPI are started once for them.
pub(super) const GROUP_NAMES: [&str; 86] = [
    "threads-2/barrier/0",
    "threads-2/broadcast/8",
    "threads-2/broadcast/1024",
    "threads-2/broadcast/65536",
    "threads-2/broadcast/1048576",
    "threads-2/allreduce/8",
    "threads-2/allreduce/1024",
    "threads-2/allreduce/65536",
    "threads-2/allreduce/1048576",
    "threads-2/allgather/8",
    "threads-2/allgather/1024",
    "threads-2/allgather/65536",
    "threads-2/allgather/1048576",
    "threads-2/alltoall/8",
    "threads-2/alltoall/1024",
    "threads-2/alltoall/65536",
    "threads-2/alltoall/1048576",
    "threads-2/broadcast-object/1",
    "threads-2/broadcast-object/64",
    "threads-2/broadcast-object/4096",
    "threads-2/indexed/1",
    "threads-2/indexed/16",
    "threads-2/indexed/256",
    "threads-2/indexed/4096",
    "threads-2/indexed/65536",
    "threads-2/indexed/262144",
    "procs-2/barrier/0",
    "procs-2/broadcast/8",
    "procs-2/broadcast/1024",
    "procs-2/broadcast/65536",
    "procs-2/broadcast/1048576",
    "procs-2/allreduce/8",
    "procs-2/allreduce/1024",
    "procs-2/allreduce/65536",
    "procs-2/allreduce/1048576",
    "procs-2/allgather/8",
    "procs-2/allgather/1024",
    "procs-2/allgather/65536",
    "procs-2/allgather/1048576",
    "procs-2/alltoall/8",
    "procs-2/alltoall/1024",
    "procs-2/alltoall/65536",
    "procs-2/alltoall/1048576",
    "procs-2/indexed/1",
    "procs-2/indexed/16",
    "procs-2/indexed/256",
    "procs-2/indexed/4096",
    "procs-2/indexed/65536",
    "procs-2/indexed/262144",
    "threads-4/barrier/0",
    "threads-4/broadcast/8",
    "threads-4/broadcast/65536",
    "threads-4/allreduce/8",
    "threads-4/allreduce/65536",
    "threads-4/allgather/8",
    "threads-4/allgather/65536",
    "threads-4/alltoall/8",
    "threads-4/alltoall/65536",
    "threads-4/scatter-objects/100000",
    "procs-4/barrier/0",
    "procs-4/broadcast/8",
    "procs-4/broadcast/65536",
    "procs-4/allreduce/8",
    "procs-4/allreduce/65536",
    "procs-4/allgather/8",
    "procs-4/allgather/65536",
    "procs-4/alltoall/8",
    "procs-4/alltoall/65536",
    "threads-8/barrier/0",
    "threads-8/broadcast/8",
    "threads-8/broadcast/65536",
    "threads-8/allreduce/8",
    "threads-8/allreduce/65536",
    "threads-8/allgather/8",
    "threads-8/allgather/65536",
    "threads-8/alltoall/8",
    "threads-8/alltoall/65536",
    "procs-8/barrier/0",
    "procs-8/broadcast/8",
    "procs-8/broadcast/65536",
    "procs-8/allreduce/8",
    "procs-8/allreduce/65536",
    "procs-8/allgather/8",
    "procs-8/allgather/65536",
    "procs-8/alltoall/8",
    "procs-8/alltoall/65536",
];

/// Number of records in the case of that pattern.
pub(super) const RECORDS: usize = 1_000;
/// Size in bytes of the upper triangle of 8 x 8 doubles.
const TRIANGLE: usize = 36 * size_of::<f64>();
/// Size in bytes of the object in the case of that pattern.
pub(super) const LARGE: usize = 64 << 20;
/// Number of messages in flight at once.
const WINDOW: usize = 64;
/// Maximum number of bytes in flight.
const ON_THEIR_WAY: usize = 8 << 20;
const CONNECTIONS: usize = 64;
/// Number of messages of the cases of tags, as in section 5.1.4 of the thesis on McMPI.
pub(super) const TAGS: usize = 45;

impl Case {
    /// Returns the case with that name.
    pub(super) fn named(name: &str) -> Result<Self, Failure> {
        let mut all = NAMES.into_iter().chain(GROUP_NAMES);
        let known = all.find(|known| *known == name);
        known
            .and_then(Self::parse)
            .ok_or_else(|| format!("there is no case {name}").into())
    }

    fn parse(name: &'static str) -> Option<Self> {
        let mut parts = name.split('/');
        let (way, what, size) = (parts.next()?, parts.next()?, parts.next()?);
        let mut ranks = 2;
        let (layer, way, what, size) = match (way, way.split_once('-')) {
            ("channel", _) => (Layer::Channel, what, "pingpong", size),
            ("rank", _) => (Layer::Rank, what, size, parts.next()?),
            (_, Some((kind @ ("threads" | "procs"), count))) => {
                ranks = count.parse().ok()?;
                let way = if kind == "threads" { "inproc" } else { "shm" };
                (Layer::Group, way, what, size)
            }
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
            ("rate" | "bandwidth" | "socket-buffers", _) => {
                let window = (ON_THEIR_WAY / size.parse::<usize>().ok()?).min(WINDOW);
                (Pattern::Window(window), Touch::Untouched)
            }
            ("in-order-tags", _) => (Pattern::Tags { reverse: false }, Touch::Clean),
            ("reverse-order-tags", _) => (Pattern::Tags { reverse: true }, Touch::Clean),
            ("2-pairs", _) => (Pattern::Pairs(2), Touch::Clean),
            ("4-pairs", _) => (Pattern::Pairs(4), Touch::Clean),
            ("64-connections", _) => (Pattern::Connections(CONNECTIONS), Touch::Clean),
            ("broadcast-object", _) => (Pattern::BroadcastObject, Touch::Clean),
            ("scatter-objects", _) => (Pattern::ScatterObjects, Touch::Clean),
            ("indexed", _) => (Pattern::Indexed(size.parse().ok()?), Touch::Untouched),
            _ if layer == Layer::Group => (Pattern::Collective(collective(what)?), Touch::Clean),
            _ => return None,
        };
        if let Pattern::Pairs(pairs) = pattern {
            ranks = 2 * u32::try_from(pairs).ok()?;
        }
        let bytes = match size {
            "object-64M" => LARGE,
            "records-1000" => RECORDS * 256,
            _ if what == "indexed" => size.parse::<usize>().ok()? * TRIANGLE,
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
            ranks,
        })
    }

    /// Returns true if the ranks outnumber the cores, so that a rank that waits should yield.
    pub(super) fn shares_cores(&self) -> bool {
        self.ranks > 2
    }

    /// Returns true if the case measures a bandwidth rather than a rate.
    pub(super) fn has_bandwidth(&self) -> bool {
        self.has_socket_buffers() || self.name.contains("/bandwidth/")
    }

    /// Returns true if some subjects set the sizes of the socket buffers.
    pub(super) fn has_socket_buffers(&self) -> bool {
        self.name.contains("/socket-buffers/")
    }

    /// Returns the numbers of messages in a sample and in a round. A sample is long enough for the
    /// resolution of the clock. A round is short enough that many rounds run without interruption.
    pub(super) fn work(&self) -> Work {
        let ns = self.about();
        let batch = (SAMPLE_NS / ns).clamp(1, 64);
        let batch = match self.pattern {
            // The clock runs in a part of an exchange only.
            Pattern::Tags { .. } => 1,
            // Each rank is the root of as many operations of a sample.
            Pattern::BroadcastObject | Pattern::ScatterObjects => {
                batch.next_multiple_of(self.ranks as usize)
            }
            Pattern::Collective(Collective::Broadcast) if self.shares_cores() => {
                batch.next_multiple_of(self.ranks as usize)
            }
            _ => batch,
        };
        let batches = (ROUND_NS / (ns * batch)).clamp(1, 200);
        Work {
            pattern: self.pattern,
            touch: self.touch,
            bytes: self.bytes,
            batch,
            batches,
        }
    }

    /// Returns the approximate time until an answer arrives, in nanoseconds.
    fn about(&self) -> usize {
        let one = match (self.way, self.spins) {
            // The ranks have to be scheduled in turn.
            _ if self.shares_cores() => 20_000,
            (Way::Inproc | Way::Shm, _) => 500,
            (_, true) => 8_000,
            (_, false) => 40_000,
        };
        match self.pattern {
            Pattern::PingPong => one + self.bytes / 3,
            Pattern::Large => one,
            Pattern::Records => one + self.bytes,
            Pattern::Collective(_) | Pattern::Indexed(_) => one + self.bytes,
            Pattern::BroadcastObject => 10_000 + 50 * self.bytes,
            Pattern::ScatterObjects => 100 * self.bytes,
            Pattern::Window(n) => n * (one / 4 + self.bytes / 8),
            Pattern::Connections(n) => n * one.min(8_000),
            Pattern::Tags { .. } => TAGS * (one + self.bytes / 3),
            // The threads of a side share its core.
            Pattern::Pairs(n) => n * 10_000,
        }
    }
}

/// Returns the operation that cases and the MPI program name like MPI does.
fn collective(name: &str) -> Option<Collective> {
    let operation = COLLECTIVES.into_iter().find(|(known, _)| *known == name)?;
    Some(operation.1)
}

/// Names of the operations.
pub(super) const COLLECTIVES: [(&str, Collective); 5] = [
    ("barrier", Collective::Barrier),
    ("broadcast", Collective::Broadcast),
    ("allreduce", Collective::AllReduce),
    ("allgather", Collective::AllGather),
    ("alltoall", Collective::AllToAll),
];

/// Target duration of a sample in nanoseconds.
const SAMPLE_NS: usize = 10_000;
/// Maximum duration of a round in nanoseconds, unless a single sample takes longer.
const ROUND_NS: usize = 2_000_000;

/// Work of both sides in a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Work {
    pub(super) pattern: Pattern,
    pub(super) touch: Touch,
    pub(super) bytes: usize,
    /// Exchanges per sample, that is, between two readings of the clock.
    pub(super) batch: usize,
    /// Number of samples. One more sample precedes them and is not counted.
    pub(super) batches: usize,
}

impl Work {
    /// Returns the number of all exchanges in a round.
    pub(super) fn exchanges(&self) -> usize {
        self.batch * (self.batches + 1)
    }

    /// Returns the number of messages in both directions of an exchange.
    pub(super) fn messages(&self) -> usize {
        match self.pattern {
            Pattern::PingPong | Pattern::Large | Pattern::Records | Pattern::Indexed(_) => 2,
            Pattern::Collective(_) | Pattern::BroadcastObject | Pattern::ScatterObjects => 1,
            Pattern::Window(n) => n + 1,
            Pattern::Connections(n) => 2 * n,
            // The last message and the answer come in addition.
            Pattern::Tags { .. } => TAGS + 2,
            Pattern::Pairs(n) => 2 * n,
        }
    }

    /// Returns the divisor for the time of an exchange, which yields half a round trip or the time
    /// per message of a window.
    pub(super) fn share(&self) -> usize {
        match self.pattern {
            Pattern::PingPong | Pattern::Large | Pattern::Records | Pattern::Indexed(_) => 2,
            // Only one of the pairs is timed.
            Pattern::Pairs(_) => 2,
            Pattern::Collective(_) | Pattern::BroadcastObject | Pattern::ScatterObjects => 1,
            Pattern::Window(n) | Pattern::Connections(n) => n,
            Pattern::Tags { .. } => TAGS,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_a_case() {
        for name in NAMES.into_iter().chain(GROUP_NAMES) {
            let work = Case::named(name).unwrap().work();
            assert!(work.batch > 0 && work.batches > 0, "{name}");
        }
        assert!(Case::named("shm/pingpong/9").is_err());
    }
}
