//! The figures that stand for all others, with the peers and the targets.

use crate::profiles;
use crate::row::{Row, distinct};

/// A figure of ours beside that of a peer.
#[derive(Debug)]
pub(crate) struct Headline {
    /// Operation, for people.
    pub(crate) what: &'static str,
    suite: &'static str,
    case: &'static str,
    metric: &'static str,
    ours: &'static str,
    pub(crate) peer: &'static str,
    /// Largest ratio that the project wants, if it has set one.
    pub(crate) target: Option<f64>,
}

/// All headlines, in the order of the page and of the README.
pub(crate) const HEADLINES: [Headline; 10] = [
    headline(
        "write 1,000 records with strings",
        ["serialization", "records", "write", "jstream", "rkyv"],
        None,
    ),
    headline(
        "read them in place, checked",
        ["serialization", "records", "read", "jstream", "rkyv"],
        None,
    ),
    headline(
        "write a tree of 16,383 nodes",
        ["serialization", "tree", "write", "jstream", "rkyv"],
        Some(0.65),
    ),
    headline(
        "read it in place, checked",
        ["serialization", "tree", "read", "jstream", "rkyv"],
        Some(0.65),
    ),
    headline(
        "8 B there and back between threads",
        [
            "transport",
            "inproc/pingpong/8",
            "half_rtt_p50",
            "jstream-recv-into",
            "rtrb",
        ],
        Some(1.3),
    ),
    headline(
        "8 B there and back over shared memory",
        [
            "transport",
            "shm/pingpong/8",
            "half_rtt_p50",
            "jstream-recv-into",
            "openmpi",
        ],
        None,
    ),
    headline(
        "the same",
        [
            "transport",
            "shm/pingpong/8",
            "half_rtt_p50",
            "jstream-recv-into",
            "iceoryx2",
        ],
        None,
    ),
    headline(
        "64 KiB there and back over TCP, both sides spinning",
        [
            "transport",
            "tcp-spin/pingpong/65536",
            "half_rtt_p50",
            "jstream",
            "raw",
        ],
        Some(1.05),
    ),
    headline(
        "null call over TCP on one processor",
        ["rmi", "tcp/one-cpu/null", "rtt_p50", "jstream", "tarpc"],
        None,
    ),
    headline(
        "call with 1,000 structs over TCP on one processor",
        [
            "rmi",
            "tcp/one-cpu/structs-1000",
            "rtt_p50",
            "jstream",
            "raw",
        ],
        Some(1.5),
    ),
];

const fn headline(
    what: &'static str,
    [suite, case, metric, ours, peer]: [&'static str; 5],
    target: Option<f64>,
) -> Headline {
    Headline {
        what,
        suite,
        case,
        metric,
        ours,
        peer,
        target,
    }
}

impl Headline {
    /// Returns the ratio of our cost to the peer's, or `None` if a row is missing.
    pub(crate) fn ratio(&self, rows: &[Row]) -> Option<f64> {
        self.ratio_in(self.suite, rows)
    }

    /// Returns the largest ratio of all builds, and that of `rows` itself if it is larger. The rows
    /// of builds are those of `jstream-benches profiles`.
    pub(crate) fn worst(&self, rows: &[Row], builds: &[Row]) -> Option<f64> {
        let suites = distinct(builds, |row| &row.suite);
        let of_builds = suites
            .into_iter()
            .filter(|suite| profiles::measured_suite(suite) == Some(self.suite))
            .filter_map(|suite| self.ratio_in(suite, builds));
        self.ratio(rows)
            .into_iter()
            .chain(of_builds)
            .reduce(f64::max)
    }

    fn ratio_in(&self, suite: &str, rows: &[Row]) -> Option<f64> {
        let of = |subject: &str| {
            rows.iter().find(|row| {
                row.suite == suite
                    && row.case == self.case
                    && row.metric == self.metric
                    && row.subject == subject
            })
        };
        cost_ratio(of(self.ours)?, of(self.peer)?)
    }

    /// Returns the command that measures both figures.
    pub(crate) fn command(&self) -> String {
        format!("{} --case {}", self.suite, self.case)
    }
}

/// Returns the ratio of our cost to the peer's, where a rate is an inverse cost. Returns `None` if
/// it has no meaning.
pub(crate) fn cost_ratio(ours: &Row, peer: &Row) -> Option<f64> {
    let (above, below) = if ours.more_is_better() {
        (peer.compared(), ours.compared())
    } else {
        (ours.compared(), peer.compared())
    };
    (above > 0.0 && below > 0.0).then_some(above / below)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::tests::row;

    #[test]
    fn a_ratio_is_that_of_the_costs() {
        let [write, ..] = &HEADLINES;
        let rows = [
            row("serialization/records", "jstream", "write", 1.0),
            row("serialization/records", "rkyv", "write", 4.0),
        ];
        assert_eq!(write.ratio(&rows), Some(0.25));
        assert_eq!(write.ratio(&rows[..1]), None);
        let rate = |value: f64| Row {
            unit: "1/s".to_owned(),
            ..row("s/c", "x", "rate", value)
        };
        assert_eq!(cost_ratio(&rate(2.0), &rate(1.0)), Some(0.5));
        assert_eq!(cost_ratio(&rate(0.0), &rate(1.0)), None);
    }

    #[test]
    fn the_worst_ratio_is_that_of_any_build() {
        let [write, ..] = &HEADLINES;
        let of = |suite: &str, ours: f64| {
            [("jstream", ours), ("rkyv", 4.0)].map(|(subject, value)| Row {
                suite: suite.to_owned(),
                ..row("serialization/records", subject, "write", value)
            })
        };
        let rows = of("serialization", 2.0);
        let builds = [
            of("serialization/default", 1.0),
            of("serialization/lto-fat", 3.0),
            of("transport/units-1", 9.0),
        ]
        .concat();
        assert_eq!(write.worst(&rows, &builds), Some(0.75));
        assert_eq!(write.worst(&rows, &[]), Some(0.5));
        assert_eq!(write.worst(&[], &[]), None);
    }
}
