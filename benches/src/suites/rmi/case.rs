//! Cases of the suite and the parsing of their names.

use crate::Failure;

/// Transport of the calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// Shared queues between two threads.
    Inproc,
    /// Shared memory between two processes. All following transports connect two processes, too.
    Shm,
    Uds,
    Tcp,
    /// TCP with TLS, with certificates of both sides.
    #[cfg(feature = "tls")]
    Tls,
}

/// Method that is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    /// A method without arguments and result.
    Null,
    /// A method without arguments and result, with [`IN_FLIGHT`] calls in flight at once.
    Flood,
    /// A method without arguments and result that returns `Pending` once before it ends.
    Waits,
    /// An endless stream of numbers.
    Stream,
    /// A method that takes this many numbers and returns their sum.
    Sum(usize),
    /// A method that takes this many structs and returns their count and sum.
    Structs(usize),
    /// A method that takes this many numbers and does not read them.
    Untouched(usize),
    /// Lookups of names and calls with references.
    Objects(Objects),
}

/// Operation with remote objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Objects {
    /// Lookup of a name.
    Lookup,
    /// A call that passes a reference.
    Reference,
    /// A call of one of this many exported objects, or of each in turn.
    Exported(usize),
}

/// A case, parsed from its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Case {
    pub(super) name: &'static str,
    pub(super) way: Way,
    /// True if both sides share one core and waiting threads sleep. On separate cores, threads that
    /// wait on shared memory spin instead.
    pub(super) one_cpu: bool,
    pub(super) what: What,
}

/// Names of all cases, in the order in which they are run.
pub(super) const NAMES: &[&str] = &[
    "tcp/one-cpu/null",
    "tcp/one-cpu/null-64",
    "tcp/one-cpu/sum-8",
    "tcp/one-cpu/sum-64",
    "tcp/one-cpu/sum-512",
    "tcp/one-cpu/sum-1024",
    "tcp/one-cpu/sum-8192",
    "tcp/one-cpu/sum-131072",
    "tcp/one-cpu/structs-1000",
    "tcp/one-cpu/untouched-131072",
    "tcp/one-cpu/waits",
    "tcp/one-cpu/lookup",
    "tcp/one-cpu/reference",
    "tcp/one-cpu/exported-1000000",
    "tcp/one-cpu/stream-u64",
    "tcp/two-cpus/null",
    "tcp/two-cpus/null-64",
    "tcp/two-cpus/sum-1024",
    "tcp/two-cpus/sum-131072",
    "tcp/two-cpus/structs-1000",
    "tcp/two-cpus/stream-u64",
    "uds/one-cpu/null",
    "uds/one-cpu/null-64",
    "uds/one-cpu/sum-1024",
    "uds/one-cpu/sum-131072",
    "uds/one-cpu/structs-1000",
    "uds/two-cpus/null",
    "uds/two-cpus/null-64",
    "uds/two-cpus/sum-1024",
    "uds/two-cpus/sum-131072",
    "uds/two-cpus/structs-1000",
    "shm/one-cpu/null",
    "shm/one-cpu/null-64",
    "shm/one-cpu/sum-1024",
    "shm/one-cpu/sum-131072",
    "shm/one-cpu/structs-1000",
    "shm/one-cpu/untouched-1024",
    "shm/one-cpu/untouched-131072",
    "shm/one-cpu/untouched-1048576",
    "shm/one-cpu/stream-u64",
    "shm/two-cpus/null",
    "shm/two-cpus/null-64",
    "shm/two-cpus/sum-8",
    "shm/two-cpus/sum-64",
    "shm/two-cpus/sum-512",
    "shm/two-cpus/sum-1024",
    "shm/two-cpus/sum-8192",
    "shm/two-cpus/sum-131072",
    "shm/two-cpus/structs-1000",
    "shm/two-cpus/waits",
    "shm/two-cpus/lookup",
    "shm/two-cpus/reference",
    "shm/two-cpus/stream-u64",
    "inproc/one-cpu/null",
    "inproc/one-cpu/null-64",
    "inproc/one-cpu/sum-1024",
    "inproc/one-cpu/sum-131072",
    "inproc/one-cpu/structs-1000",
    "inproc/one-cpu/untouched-1024",
    "inproc/one-cpu/untouched-131072",
    "inproc/one-cpu/untouched-1048576",
    "inproc/one-cpu/stream-u64",
    "inproc/two-cpus/null",
    "inproc/two-cpus/null-64",
    "inproc/two-cpus/sum-1024",
    "inproc/two-cpus/sum-131072",
    "inproc/two-cpus/structs-1000",
    "inproc/two-cpus/waits",
    "inproc/two-cpus/lookup",
    "inproc/two-cpus/reference",
    #[cfg(feature = "tls")]
    "tls/one-cpu/null",
    #[cfg(feature = "tls")]
    "tls/one-cpu/sum-131072",
    #[cfg(feature = "tls")]
    "tls/two-cpus/null",
    #[cfg(feature = "tls")]
    "tls/two-cpus/sum-131072",
    "inproc/two-cpus/stream-u64",
];

/// Number of calls in flight at once, if calls do not wait for one another.
pub(super) const IN_FLIGHT: usize = 64;
/// Size of a packed struct in bytes.
const STRUCT: usize = 52;

impl Case {
    /// Returns the case with that name.
    pub(super) fn named(name: &str) -> Result<Self, Failure> {
        let known = NAMES.iter().copied().find(|known| *known == name);
        known
            .and_then(Self::parse)
            .ok_or_else(|| format!("there is no case {name}").into())
    }

    fn parse(name: &'static str) -> Option<Self> {
        let mut parts = name.split('/');
        let (way, cpus, what) = (parts.next()?, parts.next()?, parts.next()?);
        let way = match way {
            "inproc" => Way::Inproc,
            "shm" => Way::Shm,
            "uds" => Way::Uds,
            "tcp" => Way::Tcp,
            #[cfg(feature = "tls")]
            "tls" => Way::Tls,
            _ => return None,
        };
        let one_cpu = match cpus {
            "one-cpu" => true,
            "two-cpus" => false,
            _ => return None,
        };
        if what == "stream-u64" {
            return Some(Self {
                name,
                way,
                one_cpu,
                what: What::Stream,
            });
        }
        let (what, count) = what.split_once('-').unwrap_or((what, "0"));
        let count = count.parse().ok()?;
        let what = match (what, count) {
            ("null", 0) => What::Null,
            ("null", IN_FLIGHT) => What::Flood,
            ("waits", 0) => What::Waits,
            ("sum", _) => What::Sum(count),
            ("structs", _) => What::Structs(count),
            ("untouched", _) => What::Untouched(count),
            ("lookup", 0) => What::Objects(Objects::Lookup),
            ("reference", 0) => What::Objects(Objects::Reference),
            ("exported", _) => What::Objects(Objects::Exported(count)),
            _ => return None,
        };
        Some(Self {
            name,
            way,
            one_cpu,
            what,
        })
    }

    /// Returns the case with another transport.
    pub(super) fn over(self, way: Way) -> Self {
        Self { way, ..self }
    }

    /// Returns true if the traffic is encrypted.
    pub(super) fn is_encrypted(&self) -> bool {
        self.name.starts_with("tls/")
    }

    /// Returns true if calls have arguments that the server can read in place.
    pub(super) fn has_arguments(&self) -> bool {
        matches!(
            self.what,
            What::Sum(_) | What::Structs(_) | What::Untouched(_)
        )
    }

    /// Returns true if waiting threads spin and do not sleep within a round.
    pub(super) fn spins(&self) -> bool {
        !self.one_cpu && matches!(self.way, Way::Inproc | Way::Shm)
    }

    /// Returns the numbers of calls in a sample and in a round. A sample is long enough for the
    /// resolution of the clock. A round is short enough that many rounds run without interruption.
    pub(super) fn work(&self) -> Work {
        let ns = self.about();
        let batch = (SAMPLE_NS / ns).clamp(1, IN_FLIGHT);
        Work {
            batch,
            batches: (ROUND_NS / (ns * batch)).clamp(2, 200),
            alone: if batch == 1 {
                0
            } else {
                (ROUND_NS / 8 / ns).clamp(2, 200)
            },
        }
    }

    /// Returns true if the case measures a rate rather than the latency of a call.
    pub(super) fn has_rate(&self) -> bool {
        matches!(self.what, What::Flood | What::Stream)
    }

    /// Returns the number of calls in a round of pipelined calls, or the number of items of a
    /// stream.
    pub(super) fn flood(&self) -> usize {
        if self.what == What::Stream {
            return ROUND_NS / 50 / IN_FLIGHT * IN_FLIGHT;
        }
        let each = if self.spins() { 400 } else { 2_000 };
        IN_FLIGHT * (ROUND_NS / (IN_FLIGHT * each)).max(1)
    }

    /// Returns the approximate latency of a call in nanoseconds.
    fn about(&self) -> usize {
        let one = match (self.spins(), self.one_cpu) {
            (true, _) => 500,
            (_, true) => 8_000,
            (_, false) => 40_000,
        };
        one + match self.what {
            What::Null | What::Flood | What::Waits | What::Objects(_) | What::Stream => 0,
            What::Sum(count) | What::Untouched(count) => 8 * count / 4,
            What::Structs(count) => STRUCT * count,
        }
    }
}

/// Target duration of a sample in nanoseconds.
const SAMPLE_NS: usize = 10_000;
/// Maximum duration of a round in nanoseconds, unless a single sample takes longer.
const ROUND_NS: usize = 2_000_000;

/// Numbers of calls in a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Work {
    /// Calls per sample, that is, between two readings of the clock.
    pub(super) batch: usize,
    /// Number of samples. One more sample precedes them and is not counted.
    pub(super) batches: usize,
    /// Calls that are timed individually, if a sample consists of several calls.
    pub(super) alone: usize,
}

impl Work {
    /// Returns the number of all calls in a round.
    pub(super) fn calls(&self) -> usize {
        self.batch * (self.batches + 1) + self.alone
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_a_case() {
        for name in NAMES.iter().copied() {
            let case = Case::named(name).unwrap();
            let work = case.work();
            assert!(work.batch > 0 && work.batches > 1, "{name}");
            assert_eq!(case.flood() % IN_FLIGHT, 0);
        }
        assert!(Case::named("shm/one-cpu/null-65").is_err());
    }
}
