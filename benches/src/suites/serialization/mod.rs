//! Writing a graph of objects, checking and reading it in place, and walking what was read.
//!
//! A case is a pair of equal graphs: one of references, which jstream writes as it is, and one of
//! owners, as rkyv wants it. What reading costs includes every check that makes the result safe
//! to use. Reading with jstream consumes the wire form, so both subjects read copies made outside
//! the measured time.

mod list;
mod records;
mod tree;
mod with_jstream;
mod with_rkyv;

use std::thread;

use jstream::{Covariant, Transportable};

use self::with_jstream::Jstream;
use self::with_rkyv::{Archivable, ArchivedOf, Rkyv};
use super::{Effort, Note, Outcome};
use crate::Failure;
use crate::measure::{self, Times};
use crate::progress::Progress;
use crate::row::Row;
use crate::table::number;

const SUITE: &str = "serialization";

/// The names of all cases, in the order in which they are run.
pub(crate) const NAMES: [&str; 4] = [
    records::Ascii::NAME,
    records::Unicode::NAME,
    list::List::NAME,
    tree::Tree::NAME,
];

/// rkyv's serialization, its check, and the drop of owned graphs recurse over what they work on;
/// address space is all that an unused stack costs.
const STACK: usize = 256 << 20;
/// More copies would add nothing to the accuracy of a round.
const MOST_COPIES: usize = 32;

/// A graph to send, as each subject wants it.
trait Case {
    const NAME: &'static str;
    /// How large it is when it is measured.
    const SIZE: usize;
    /// The graph as references; arrives as itself.
    type Graph: Transportable + Covariant + 'static;
    /// The graph as owners.
    type Owned: Archivable + 'static;

    /// What the case is, for its note.
    fn about() -> String;
    /// The data, the same in every run.
    fn data(size: usize) -> Data<Self>;
    /// [`Data::sum`] of a graph that was received.
    fn sum_graph<'b>(graph: &'b <Self::Graph as Transportable>::InPlace<'b>) -> u64;
    /// [`Data::sum`] of a graph that was archived.
    fn sum_archived(archived: &ArchivedOf<Self::Owned>) -> u64;
}

/// The same graph twice.
///
/// It is never freed: references into it are part of what is sent, and a program that measures
/// ends soon.
struct Data<C: Case + ?Sized> {
    graph: &'static C::Graph,
    owned: &'static C::Owned,
    /// All numbers and all bytes of strings, added up; wraps around. Of an `f32` its bits are
    /// added, so that walking is not a measure of floating-point latency.
    sum: u64,
}

fn forever<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}

/// One way to send the graph of a case. The rounds return nanoseconds per operation.
trait Subject {
    fn name(&self) -> &'static str;
    /// The length of the message in bytes.
    fn bytes(&self) -> usize;
    /// Sets how many messages a round reads.
    fn keep(&mut self, copies: usize);
    /// Writes into one buffer again and again.
    fn write(&mut self) -> Result<f64, Failure>;
    /// Reads each copy once.
    fn read(&mut self) -> Result<f64, Failure>;
    /// Walks each copy once, after reading it.
    fn traverse(&mut self) -> Result<f64, Failure>;
    /// Allocations per read.
    fn allocations(&mut self) -> Result<f64, Failure>;
    /// The sum that walking a read message comes to.
    fn sum(&mut self) -> Result<u64, Failure>;
}

type Round = fn(&mut (dyn Subject + 'static)) -> Result<f64, Failure>;

/// Runs the cases that are `chosen` by their names.
pub(crate) fn run(
    effort: &Effort,
    progress: &mut Progress,
    chosen: impl Fn(&str) -> bool + Sync,
) -> Result<Outcome, Failure> {
    let mut outcome = Outcome::default();
    thread::scope(|scope| {
        let measuring = thread::Builder::new()
            .name(SUITE.to_owned())
            .stack_size(STACK)
            .spawn_scoped(scope, || {
                let mut bench = Bench {
                    effort: *effort,
                    pinned: measure::pin(),
                    progress,
                    outcome: &mut outcome,
                };
                bench.case_if::<records::Ascii>(&chosen)?;
                bench.case_if::<records::Unicode>(&chosen)?;
                bench.case_if::<list::List>(&chosen)?;
                bench.case_if::<tree::Tree>(&chosen)
            })?;
        measuring
            .join()
            .unwrap_or_else(|_| Err("the measuring thread panicked".into()))
    })?;
    Ok(outcome)
}

struct Bench<'a> {
    effort: Effort,
    pinned: bool,
    progress: &'a mut Progress,
    outcome: &'a mut Outcome,
}

impl Bench<'_> {
    fn case_if<C: Case + 'static>(&mut self, chosen: impl Fn(&str) -> bool) -> Result<(), Failure> {
        if chosen(C::NAME) {
            self.case::<C>(C::SIZE)
        } else {
            Ok(())
        }
    }

    fn case<C: Case + 'static>(&mut self, size: usize) -> Result<(), Failure> {
        let data = C::data(size);
        let mut subjects: Vec<Box<dyn Subject>> = vec![
            Box::new(Jstream::<C>::new(&data)?),
            Box::new(Rkyv::<C>::new(&data)?),
        ];
        let longest = subjects.iter().map(|subject| subject.bytes()).max();
        let l2 = measure::l2_bytes();
        // Half of the cache is left to the source, the work lists and the rest.
        let copies = (l2 / 2 / longest.unwrap_or(0).max(1)).clamp(1, MOST_COPIES);
        for subject in &mut subjects {
            subject.keep(copies);
            let sum = subject.sum()?;
            if sum != data.sum {
                let (name, case, expected) = (subject.name(), C::NAME, data.sum);
                return Err(format!(
                    "{case}: what {name} read sums up to {sum} instead of {expected}"
                )
                .into());
            }
        }

        let rounds: [(&str, Round); 3] = [
            ("write", |subject| subject.write()),
            ("read", |subject| subject.read()),
            ("traverse", |subject| subject.traverse()),
        ];
        for (metric, round) in rounds {
            self.progress
                .step(&format!("{SUITE} / {}: {metric}", C::NAME));
            let times = measure::interleave(&mut subjects, self.effort.rounds, round)?;
            for (subject, times) in subjects.iter().zip(times) {
                self.time::<C>(subject.name(), metric, times);
            }
        }
        for subject in &mut subjects {
            let bytes = subject.bytes() as f64;
            self.row::<C>(subject.name(), "bytes", bytes, "B");
        }
        for subject in &mut subjects {
            let allocations = subject.allocations()?;
            self.row::<C>(subject.name(), "allocs", allocations, "count");
        }

        self.note::<C>(C::about());
        self.note::<C>(format!(
            "read and traverse: {copies} copies per round, in half of an L2 cache of {} KiB; \
             {} rounds",
            l2 >> 10,
            number(self.effort.rounds as f64)
        ));
        if !self.pinned {
            self.note::<C>("the system did not let the thread stay on one core".to_owned());
        }
        Ok(())
    }

    fn time<C: Case>(&mut self, subject: &str, metric: &str, times: Times) {
        self.row::<C>(subject, metric, times.min, "ns");
        if let Some(row) = self.outcome.rows.last_mut() {
            row.median = Some(times.median);
        }
    }

    fn row<C: Case>(&mut self, subject: &str, metric: &str, value: f64, unit: &str) {
        self.outcome.rows.push(Row {
            suite: SUITE.to_owned(),
            case: C::NAME.to_owned(),
            subject: subject.to_owned(),
            metric: metric.to_owned(),
            value,
            unit: unit.to_owned(),
            median: None,
        });
    }

    fn note<C: Case>(&mut self, text: String) {
        self.outcome.notes.push(Note {
            suite: SUITE.to_owned(),
            case: C::NAME.to_owned(),
            text,
        });
    }
}

/// Numbers without pattern, the same in every run (splitmix64).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `end`, which must not be 0.
    fn below(&mut self, end: usize) -> usize {
        self.next() as usize % end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs a small `C`, and returns its rows.
    fn small<C: Case + 'static>(size: usize) -> Vec<Row> {
        let mut outcome = Outcome::default();
        let mut bench = Bench {
            effort: Effort { rounds: 2 },
            pinned: true,
            progress: &mut Progress::new(false),
            outcome: &mut outcome,
        };
        bench.case::<C>(size).unwrap();
        assert_eq!(outcome.notes.len(), 2);
        outcome.rows
    }

    /// All sums were right, or else there would be no rows; and the rows are complete.
    fn check<C: Case + 'static>(sizes: &[usize]) {
        assert!(NAMES.contains(&C::NAME));
        for &size in sizes {
            let rows = small::<C>(size);
            assert_eq!(rows.len(), 2 * 5);
            assert!(
                rows.iter()
                    .all(|row| row.case == C::NAME && row.value.is_finite())
            );
            let ours = |row: &&Row| row.subject == "jstream" && row.metric == "bytes";
            assert!(rows.iter().find(ours).unwrap().value > 0.0);
        }
    }

    #[test]
    fn records_are_read_as_they_were() {
        check::<records::Ascii>(&[0, 1, 50]);
        check::<records::Unicode>(&[0, 1, 50]);
    }

    #[test]
    fn lists_are_read_as_they_were() {
        check::<list::List>(&[1, 2, 100]);
    }

    #[test]
    fn trees_are_read_as_they_were() {
        check::<tree::Tree>(&[1, 2, 7]);
    }

    /// A list whose sum is known wrongly.
    struct Wrong;

    impl Case for Wrong {
        const NAME: &'static str = "wrong";
        const SIZE: usize = 3;
        type Graph = <list::List as Case>::Graph;
        type Owned = <list::List as Case>::Owned;

        fn about() -> String {
            list::List::about()
        }

        fn data(size: usize) -> Data<Self> {
            let Data { graph, owned, sum } = list::List::data(size);
            let sum = sum.wrapping_add(1);
            Data { graph, owned, sum }
        }

        fn sum_graph<'b>(graph: &'b <Self::Graph as Transportable>::InPlace<'b>) -> u64 {
            list::List::sum_graph(graph)
        }

        fn sum_archived(archived: &ArchivedOf<Self::Owned>) -> u64 {
            list::List::sum_archived(archived)
        }
    }

    #[test]
    fn a_wrong_sum_ends_the_run() {
        let mut bench = Bench {
            effort: Effort { rounds: 1 },
            pinned: true,
            progress: &mut Progress::new(false),
            outcome: &mut Outcome::default(),
        };
        let failure = bench.case::<Wrong>(Wrong::SIZE).unwrap_err();
        assert!(
            failure
                .to_string()
                .contains("wrong: what jstream read sums up to")
        );
    }

    #[test]
    fn data_is_the_same_in_every_run() {
        assert_eq!(records::Ascii::data(9).sum, records::Ascii::data(9).sum);
        assert_ne!(records::Ascii::data(9).sum, records::Ascii::data(8).sum);
    }

    #[test]
    fn only_chosen_cases_run() {
        let effort = Effort { rounds: 1 };
        let outcome = run(&effort, &mut Progress::new(false), |name| name == "list").unwrap();
        assert!(outcome.rows.iter().all(|row| row.case == "list"));
        assert_eq!(outcome.rows.len(), 2 * 5);
    }
}
