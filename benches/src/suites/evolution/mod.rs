//! Benchmarks of messages of another version: reading them as the program's own version, and
//! walking the result.
//!
//! A case is a message of one version of a type and the type as which all subjects read it. The
//! versions differ in one field or variant. jstream has learnt the other version and made its plan
//! before the measurement, as a program has after the first message. Its time is that of checking,
//! converting and reading. For peers that decode, it is that of making the value, and for peers
//! with accessors that of verifying the message, so only reading and traversing together compares
//! all of them. Subjects that cannot read the other version are left out of the case;
//! the function that makes the case says why.

mod array;
mod case;
mod converted;
mod mesh;
mod peers;
mod plans;
mod record;

use std::hint::black_box;

use self::case::{Case, added, extended, removed, renamed, widened};
use self::record::Record;
use super::{Bench, Effort, Outcome};
use crate::progress::Progress;
use crate::suites::serialization::cases::log::Logs;
use crate::suites::serialization::cases::mesh::versions::Model;
use crate::suites::serialization::cases::minecraft::Players;
use crate::suites::serialization::cases::mk48::Updates;
use crate::suites::serialization::subjects::Subject;
use crate::suites::serialization::{copies, what_is_cached};
use crate::{Failure, measure, suites};

const SUITE: &str = "evolution";

/// A case: the constructor of a case and its measured size, or the schemas of many types.
enum Kind {
    Versions(usize, fn(usize) -> Result<Case, Failure>),
    Plans,
}

use Kind::{Plans, Versions};

/// All cases in the order in which they are run.
const ALL: [(&str, Kind); 24] = [
    ("record/added", Versions(8, added::<Record>)),
    ("record/removed", Versions(8, removed::<Record>)),
    ("record/widened", Versions(8, widened::<Record>)),
    ("record/renamed", Versions(8, renamed::<Record>)),
    ("record/variant", Versions(8, extended::<Record>)),
    ("log/added", Versions(10_000, added::<Logs>)),
    ("log/removed", Versions(10_000, removed::<Logs>)),
    ("log/widened", Versions(10_000, widened::<Logs>)),
    ("log/renamed", Versions(10_000, renamed::<Logs>)),
    ("mesh/added", Versions(125_000, mesh::added)),
    ("mesh/removed", Versions(125_000, removed::<Model>)),
    ("mesh/widened", Versions(125_000, mesh::widened)),
    ("mesh/renamed", Versions(125_000, renamed::<Model>)),
    ("minecraft_savedata/added", Versions(500, added::<Players>)),
    (
        "minecraft_savedata/removed",
        Versions(500, removed::<Players>),
    ),
    (
        "minecraft_savedata/widened",
        Versions(500, widened::<Players>),
    ),
    (
        "minecraft_savedata/renamed",
        Versions(500, renamed::<Players>),
    ),
    (
        "minecraft_savedata/variant",
        Versions(500, extended::<Players>),
    ),
    ("mk48/added", Versions(1_000, added::<Updates>)),
    ("mk48/removed", Versions(1_000, removed::<Updates>)),
    ("mk48/widened", Versions(1_000, widened::<Updates>)),
    ("mk48/renamed", Versions(1_000, renamed::<Updates>)),
    ("mk48/variant", Versions(1_000, extended::<Updates>)),
    ("plans", Plans),
];

/// Returns the names of all cases, in the order in which they are run.
pub(crate) fn names() -> [&'static str; ALL.len()] {
    ALL.map(|(name, ..)| name)
}

type Round = fn(&mut (dyn Subject + 'static)) -> Result<f64, Failure>;

/// Runs the cases whose names are `chosen`.
pub(crate) fn run(
    effort: &Effort,
    progress: &mut Progress,
    chosen: impl Fn(&str) -> bool + Sync,
) -> Result<Outcome, Failure> {
    suites::measured(SUITE, effort, progress, |bench| {
        keep_freed_memory();
        for (name, kind) in ALL {
            match kind {
                _ if !chosen(name) => {}
                Versions(size, case) => bench.versions(name, case(size)?)?,
                Plans => plans::run(bench, name)?,
            }
        }
        Ok(())
    })
}

/// Makes glibc keep the memory of large messages that are freed: it takes the largest allocation of
/// at most 32 MiB that was freed as the measure of what it returns to the system. Otherwise the
/// page faults of the next round, which depend on the cases before, take as long as a conversion.
fn keep_freed_memory() {
    drop(black_box(Vec::<u8>::with_capacity(31 << 20)));
}

impl Bench<'_> {
    /// Measures one case.
    fn versions(&mut self, name: &str, case: Case) -> Result<(), Failure> {
        let mut subjects = case.subjects;
        let longest = subjects.iter().map(|subject| subject.bytes()).max();
        let longest = longest.unwrap_or(0);
        let copies = copies(longest);
        for subject in &mut subjects {
            subject.keep(copies);
            let sum = subject.sum()?;
            if sum != case.sum {
                let (subject, expected) = (subject.name(), case.sum);
                return Err(format!(
                    "{name}: the value read by {subject} has the sum {sum} instead of {expected}"
                )
                .into());
            }
        }
        let rounds: [(&str, Round); 2] = [
            ("read", |subject| subject.read()),
            ("read_and_traverse", |subject| subject.read_and_traverse()),
        ];
        let mut fewest = self.effort.rounds;
        for (metric, round) in rounds {
            self.progress.step(&format!("{SUITE} / {name}: {metric}"));
            let times = measure::interleave(&mut subjects, &self.effort, round)?;
            for (subject, times) in subjects.iter().zip(times) {
                fewest = fewest.min(times.rounds);
                self.time(name, subject.name(), metric, times);
            }
        }
        for subject in &subjects {
            let bytes = subject.bytes() as f64;
            self.row(name, subject.name(), "bytes", bytes, "B");
        }
        for subject in &mut subjects {
            let allocations = subject.allocations()?;
            self.row(name, subject.name(), "allocs", allocations, "count");
        }
        self.note(name, case.about);
        let cached = what_is_cached(copies, longest, measure::l2_bytes(), fewest);
        self.note(name, cached);
        if !self.pinned {
            let text = "the system did not let the thread be pinned to one core";
            self.note(name, text.to_owned());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::Row;

    /// Runs a case, and returns its rows.
    fn rows(name: &str, case: Case) -> Result<Vec<Row>, Failure> {
        let mut outcome = Outcome::default();
        let mut bench = Bench {
            suite: SUITE,
            effort: Effort {
                rounds: 2,
                ..Effort::quick()
            },
            pinned: true,
            progress: &mut Progress::new(false),
            outcome: &mut outcome,
        };
        bench.versions(name, case)?;
        assert_eq!(outcome.notes.len(), 2);
        Ok(outcome.rows)
    }

    #[test]
    fn whatever_the_size_other_versions_are_read_as_the_expected_value() {
        for (name, kind) in ALL {
            let Versions(_, case) = kind else {
                continue;
            };
            for size in [1, 2, 37] {
                let case = case(size).unwrap();
                let subjects = case.subjects.len();
                // A wrong sum results in an error.
                let rows = rows(name, case).unwrap();
                assert_eq!(rows.len(), 4 * subjects, "{name}");
                assert!(
                    rows.iter()
                        .all(|row| row.case == name && row.value.is_finite())
                );
            }
        }
    }

    #[test]
    fn a_wrong_sum_ends_the_run() {
        let mut case = added::<Record>(3).unwrap();
        case.sum = case.sum.wrapping_add(1);
        let failure = rows("wrong", case).unwrap_err();
        let text = "wrong: the value read by jstream has the sum";
        assert!(failure.to_string().contains(text));
    }

    #[test]
    fn plans_of_many_types_are_made_or_refused() {
        let effort = Effort {
            rounds: 2,
            ..Effort::quick()
        };
        let outcome = run(&effort, &mut Progress::new(false), |name| name == "plans").unwrap();
        let times: Vec<(&str, f64)> = outcome
            .rows
            .iter()
            .map(|row| (row.subject.as_str(), row.value))
            .collect();
        let [("jstream", first), ("jstream-planned", _)] = times[..] else {
            panic!("{times:?}");
        };
        assert!(first > 0.0);
    }

    #[test]
    fn only_chosen_cases_run() {
        let effort = Effort {
            rounds: 1,
            ..Effort::quick()
        };
        let chosen = |name: &str| name == "record/added";
        let outcome = run(&effort, &mut Progress::new(false), chosen).unwrap();
        assert!(outcome.rows.iter().all(|row| row.case == "record/added"));
        let of = |subject: &str, metric: &str| {
            outcome
                .rows
                .iter()
                .any(|row| row.subject == subject && row.metric == metric)
        };
        assert!(of("jstream", "read_and_traverse") && of("jstream-equal", "read"));
        #[cfg(feature = "peers")]
        for peer in ["fory", "prost", "flatbuffers", "capnp"] {
            assert!(of(peer, "read_and_traverse"), "{peer}");
        }
    }
}
