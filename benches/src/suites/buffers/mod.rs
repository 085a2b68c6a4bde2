//! Benchmarks of buffers: taking, releasing and viewing them.

mod file;
mod forward;
mod gather;
mod jbuf;
mod region;

use super::{Bench, Effort, Outcome};
use crate::Failure;
use crate::measure;
use crate::progress::Progress;
use crate::suites;

const SUITE: &str = "buffers";

/// A case: its name, and the function that measures it.
type Case = (
    &'static str,
    fn(&mut Bench<'_>, &str) -> Result<(), Failure>,
);

const ALL: [Case; 22] = [
    ("jbuf/256", jbuf::small),
    ("jbuf/4096", jbuf::medium),
    ("jbuf/1048576", jbuf::large),
    ("jbuf/two-threads", jbuf::two_threads),
    ("received", jbuf::received),
    ("view", jbuf::view),
    ("region", region::first_write),
    ("gather/one", gather::one),
    ("gather/many", gather::many),
    ("gather/mesh", gather::mesh),
    ("file/log", file::log),
    ("file/10GB", file::sparse),
    ("forward/records", forward::run),
    ("forward/list", forward::run),
    ("forward/tree", forward::run),
    ("forward/distinct-rc", forward::run),
    ("forward/shared-rc", forward::run),
    ("forward/log", forward::run),
    ("forward/mesh", forward::run),
    ("forward/minecraft_savedata", forward::run),
    ("forward/mk48", forward::run),
    ("forward/array/1MiB", forward::run),
];

/// Returns the names of all cases, in the order in which they are run.
pub(crate) fn names() -> [&'static str; ALL.len()] {
    ALL.map(|(name, _)| name)
}

/// Runs the cases whose names are `chosen`.
pub(crate) fn run(
    effort: &Effort,
    progress: &mut Progress,
    chosen: impl Fn(&str) -> bool + Sync,
) -> Result<Outcome, Failure> {
    suites::measured(SUITE, effort, progress, |bench| {
        for (name, case) in ALL {
            if chosen(name) {
                case(bench, name)?;
            }
        }
        Ok(())
    })
}

/// An implementation that a case measures: runs one round and returns nanoseconds per operation.
struct Subject<'a> {
    name: &'static str,
    round: Box<dyn FnMut() -> Result<f64, Failure> + 'a>,
}

impl<'a> Subject<'a> {
    fn new(name: &'static str, round: impl FnMut() -> Result<f64, Failure> + 'a) -> Box<Self> {
        Box::new(Self {
            name,
            round: Box::new(round),
        })
    }
}

impl Bench<'_> {
    /// Measures all subjects in turn, and records the time of each as `metric`.
    fn compare(
        &mut self,
        case: &str,
        metric: &str,
        mut subjects: Vec<Box<Subject<'_>>>,
    ) -> Result<(), Failure> {
        self.progress.step(&format!("{SUITE} / {case}: {metric}"));
        let times = measure::interleave(&mut subjects, &self.effort, |subject| (subject.round)())?;
        for (subject, times) in subjects.iter().zip(times) {
            self.time(case, subject.name, metric, times);
        }
        if !self.pinned {
            let text = "the system did not let the thread be pinned to one core";
            self.note(case, text.to_owned());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_case_has_figures() {
        let effort = Effort {
            rounds: 2,
            ..Effort::quick()
        };
        for name in names() {
            let outcome = run(&effort, &mut Progress::new(false), |case| case == name).unwrap();
            assert!(!outcome.rows.is_empty(), "{name}");
            assert!(
                outcome
                    .rows
                    .iter()
                    .all(|row| row.case == name && row.value > 0.0)
            );
        }
    }
}
