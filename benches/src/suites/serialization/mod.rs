//! Benchmarks of serialization: writing values, checking and reading them in place, and walking the
//! result.
//!
//! A case is a value that owns its parts, and all subjects write that value. The time of reading
//! includes every check that is necessary to use the result safely, unless a note says otherwise.
//! For a peer that does not read in place, it includes deserializing the value. Reading with
//! jstream consumes the wire form, so all subjects read copies that are made outside the measured
//! time.

pub(in crate::suites) mod cases;
#[cfg(feature = "peers")]
pub(in crate::suites) mod generated;
pub(in crate::suites) mod subjects;
pub(in crate::suites) mod walk;

use self::cases::Case;
pub(crate) use self::cases::table::{HELP, Source};
use self::subjects::Restorer;
pub(in crate::suites) use self::subjects::Subject;
use super::{Bench, Effort, Outcome};
use crate::progress::Progress;
use crate::table::number;
use crate::{Failure, measure, suites};

const SUITE: &str = "serialization";

/// Returns the names of all cases, in the order in which they are run.
pub(crate) fn names() -> [&'static str; cases::ALL.len()] {
    cases::ALL.map(|(name, ..)| name)
}

/// Returns jstream's subject of the case `name`, and the number of copies of its message in a
/// round.
pub(super) fn jstream(name: &str) -> Result<(Box<dyn Subject>, usize), Failure> {
    let known = cases::ALL.iter().find(|(of, ..)| *of == name);
    let (_, size, case) = known.ok_or_else(|| format!("there is no case {name}"))?;
    let subject = case(*size)?.subjects.into_iter().next();
    let mut subject = subject.ok_or("the case has no subjects")?;
    let copies = copies(subject.bytes());
    subject.keep(copies);
    Ok((subject, copies))
}

/// Returns the number of copies that fit into half of the L2 cache. The other half is left to the
/// source value, the work lists and so on.
pub(super) fn copies(longest: usize) -> usize {
    (measure::l2_bytes() / 2 / longest.max(1)).clamp(1, MOST_COPIES)
}

/// Maximum number of copies. More copies would not make a round more accurate.
const MOST_COPIES: usize = 32;

type Round = fn(&mut (dyn Subject + 'static)) -> Result<f64, Failure>;

/// Runs the cases whose names are `chosen`.
pub(crate) fn run(
    effort: &Effort,
    progress: &mut Progress,
    chosen: impl Fn(&str) -> bool + Sync,
) -> Result<Outcome, Failure> {
    suites::measured(SUITE, effort, progress, |bench| {
        for (name, size, case) in cases::ALL {
            if chosen(name) {
                bench.case(name, case(size)?)?;
            }
        }
        Ok(())
    })
}

/// Runs one case, made from the records of a file.
pub(crate) fn run_file(
    effort: &Effort,
    progress: &mut Progress,
    source: &Source,
) -> Result<Outcome, Failure> {
    suites::measured(SUITE, effort, progress, |bench| {
        bench.case(&source.name(), source.case()?)
    })
}

impl Bench<'_> {
    /// Measures one case.
    fn case(&mut self, name: &str, case: Case) -> Result<(), Failure> {
        let mut subjects = case.subjects;
        // The subjects that only write come last.
        subjects.sort_by_key(|subject| !subject.reads());
        let readers = subjects
            .iter()
            .take_while(|subject| subject.reads())
            .count();
        let longest = subjects.iter().map(|subject| subject.bytes()).max();
        let longest = longest.unwrap_or(0);
        let l2 = measure::l2_bytes();
        let copies = copies(longest);
        for subject in &mut subjects {
            subject.keep(copies);
        }
        for subject in subjects.iter_mut().take(readers) {
            let sum = subject.sum()?;
            if sum != case.sum {
                let (subject, expected) = (subject.name(), case.sum);
                return Err(format!(
                    "{name}: the value read by {subject} has the sum {sum} instead of {expected}"
                )
                .into());
            }
        }

        let rounds: [(&str, usize, Round); 3] = [
            ("write", subjects.len(), |subject| subject.write()),
            ("read", readers, |subject| subject.read()),
            ("traverse", readers, |subject| subject.traverse()),
        ];
        let mut fewest = self.effort.rounds;
        for (metric, takers, round) in rounds {
            self.progress.step(&format!("{SUITE} / {name}: {metric}"));
            let takers = subjects.split_at_mut(takers).0;
            let times = measure::interleave(takers, &self.effort, round)?;
            for (subject, times) in takers.iter().zip(times) {
                fewest = fewest.min(times.rounds);
                self.time(name, subject.name(), metric, times);
            }
        }
        if !case.restorers.is_empty() {
            self.progress.step(&format!("{SUITE} / {name}: restore"));
            let mut restorers = case.restorers;
            let round = |restorer: &mut Restorer| (restorer.round)(copies);
            let times = measure::interleave(&mut restorers, &self.effort, round)?;
            for (restorer, times) in restorers.iter().zip(times) {
                self.time(name, restorer.name, "restore", times);
            }
        }
        for subject in &subjects {
            let bytes = subject.bytes() as f64;
            self.row(name, subject.name(), "bytes", bytes, "B");
        }
        for subject in subjects.iter_mut().take(readers) {
            let allocations = subject.allocations()?;
            self.row(name, subject.name(), "allocs", allocations, "count");
        }

        self.note(name, case.about);
        self.note(name, what_is_cached(copies, longest, l2, fewest));
        for note in case.notes {
            self.note(name, note);
        }
        if !self.pinned {
            let text = "the system did not let the thread be pinned to one core";
            self.note(name, text.to_owned());
        }
        Ok(())
    }
}

/// Returns a note that says whether the messages are in the cache when they are read.
pub(super) fn what_is_cached(copies: usize, longest: usize, l2: usize, rounds: usize) -> String {
    let rounds = number(rounds as f64);
    let l2_kib = l2 >> 10;
    if copies * longest <= l2 / 2 {
        return format!(
            "read and traverse: copies per round: {copies}, in half of an L2 cache of {l2_kib} KiB; \
             {rounds} rounds"
        );
    }
    let longest_kib = number((longest >> 10) as f64);
    format!(
        "read and traverse: one copy per round, restored from front to back immediately before; of \
         the longest message of {longest_kib} KiB, an L2 cache of {l2_kib} KiB holds both ends of \
         256 B and the part copied last, and the rest comes from slower memory; {rounds} rounds"
    )
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
        bench.case(name, case)?;
        assert!(outcome.notes.len() >= 2);
        Ok(outcome.rows)
    }

    #[test]
    fn whatever_the_size_values_are_read_as_they_were() {
        for (name, _, case) in cases::ALL {
            for size in [1, 2, 37] {
                let case = case(size).unwrap();
                let writers = case.subjects.len();
                let readers = case.subjects.iter().filter(|s| s.reads()).count();
                let restorers = case.restorers.len();
                // A wrong sum results in an error.
                let rows = rows(name, case).unwrap();
                let expected = 2 * writers + 3 * readers + restorers;
                assert_eq!(rows.len(), expected, "{name}");
                assert!(
                    rows.iter()
                        .all(|row| row.case == name && row.value.is_finite())
                );
                let ours = |row: &&Row| row.subject == "jstream" && row.metric == "bytes";
                assert!(rows.iter().find(ours).unwrap().value > 0.0);
            }
        }
    }

    #[test]
    fn a_wrong_sum_ends_the_run() {
        let (_, _, case) = cases::ALL[0];
        let mut case = case(3).unwrap();
        case.sum = case.sum.wrapping_add(1);
        let failure = rows("wrong", case).unwrap_err();
        assert!(
            failure
                .to_string()
                .contains("wrong: the value read by jstream has the sum")
        );
    }

    #[test]
    fn data_is_the_same_in_every_run() {
        for (name, _, case) in cases::ALL {
            assert_eq!(case(9).unwrap().sum, case(9).unwrap().sum, "{name}");
            assert_ne!(case(9).unwrap().sum, case(8).unwrap().sum, "{name}");
        }
    }

    #[test]
    fn only_chosen_cases_run() {
        let effort = Effort {
            rounds: 1,
            ..Effort::quick()
        };
        let outcome = run(&effort, &mut Progress::new(false), |name| name == "list").unwrap();
        assert!(outcome.rows.iter().all(|row| row.case == "list"));
        assert_eq!(outcome.rows.len(), 2 * 5);
    }

    #[test]
    fn what_does_not_fit_the_cache_is_said() {
        assert!(what_is_cached(32, 100, 1 << 20, 5).contains("copies per round: 32, in half"));
        let text = what_is_cached(1, 6 << 20, 1 << 20, 5);
        assert!(text.contains("one copy per round") && text.contains("6,144 KiB"));
    }
}
