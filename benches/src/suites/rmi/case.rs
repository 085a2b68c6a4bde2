//! What a case measures, which its name says.

use crate::Failure;

/// Which way calls go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// Between two threads.
    Inproc,
    /// Between two processes, as all below.
    Shm,
    Uds,
    Tcp,
    /// The same, encrypted, with certificates of both sides.
    #[cfg(feature = "tls")]
    Tls,
}

/// What is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    /// Nothing goes, nothing comes.
    Null,
    /// The same, with so many on their way at once.
    Flood,
    /// The same, of a method that waits once before it ends.
    Waits,
    /// Numbers come one after another, without an end.
    Stream,
    /// So many numbers go, and their sum comes.
    Sum(usize),
    /// So many structs go, and their count and sum come.
    Structs(usize),
    /// So many numbers go that the method does not look at.
    Untouched(usize),
    /// Names and references are what it is about.
    Objects(Objects),
}

/// What is done with objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Objects {
    /// A name is looked up.
    Lookup,
    /// A reference goes along.
    Reference,
    /// One is called of so many that the server has given, or each in turn.
    Exported(usize),
}

/// A case, as its name says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Case {
    pub(super) name: &'static str,
    pub(super) way: Way,
    /// Whether both sides stay on one core, and whoever waits sleeps. Between cores of their own, those with
    /// shared memory look again and again instead.
    pub(super) one_cpu: bool,
    pub(super) what: What,
}

/// The names of all cases, in the order in which they are run.
pub(super) const NAMES: &[&str] = &[
    "tcp/one-cpu/null",
    "tcp/one-cpu/null-64",
    "tcp/one-cpu/sum-1024",
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
    "shm/two-cpus/sum-1024",
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

/// How many calls are on their way at once where they don't wait for one another.
pub(super) const IN_FLIGHT: usize = 64;
/// The bytes of a struct where it stands packed.
const STRUCT: usize = 52;

impl Case {
    /// The case of that name.
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

    /// The same another way.
    pub(super) fn over(self, way: Way) -> Self {
        Self { way, ..self }
    }

    /// Whether what travels is encrypted.
    pub(super) fn is_encrypted(&self) -> bool {
        self.name.starts_with("tls/")
    }

    /// Whether something goes that can be read where it was left.
    pub(super) fn has_arguments(&self) -> bool {
        matches!(
            self.what,
            What::Sum(_) | What::Structs(_) | What::Untouched(_)
        )
    }

    /// Whether who waits looks again and again, and does not sleep in a round.
    pub(super) fn spins(&self) -> bool {
        !self.one_cpu && matches!(self.way, Way::Inproc | Way::Shm)
    }

    /// How many calls a sample and a round are made of: a sample lasts long enough for the clock, and a round
    /// is short enough that many have the processors for themselves.
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

    /// Whether how many go is measured, and not how long one takes.
    pub(super) fn has_rate(&self) -> bool {
        matches!(self.what, What::Flood | What::Stream)
    }

    /// How many calls a round has where they don't wait for one another, or items of a stream.
    pub(super) fn flood(&self) -> usize {
        if self.what == What::Stream {
            return ROUND_NS / 50 / IN_FLIGHT * IN_FLIGHT;
        }
        let each = if self.spins() { 400 } else { 2_000 };
        IN_FLIGHT * (ROUND_NS / (IN_FLIGHT * each)).max(1)
    }

    /// About how many nanoseconds it takes until the result is here.
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

/// What is sampled at once, in nanoseconds.
const SAMPLE_NS: usize = 10_000;
/// What a round takes at most, where a sample isn't longer.
const ROUND_NS: usize = 2_000_000;

/// The calls of a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Work {
    /// Calls between two looks at the clock.
    pub(super) batch: usize,
    /// Samples; one more comes before, uncounted.
    pub(super) batches: usize,
    /// Calls that are timed each by itself, where a sample has several.
    pub(super) alone: usize,
}

impl Work {
    /// All calls of a round.
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
