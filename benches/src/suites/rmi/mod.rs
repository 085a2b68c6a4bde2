//! Remote calls between two threads or two processes: latency and throughput.

mod address;
mod case;
#[cfg(feature = "tls")]
mod certificates;
#[cfg(feature = "peers")]
mod generated;
mod pair;
mod raw;
mod resident;
mod samples;
mod scenes;
mod service;
mod subject;
mod with_added;
#[cfg(feature = "peers")]
mod with_capnp;
mod with_endpoint;
mod with_jstream;
mod with_objects;
mod with_streams;
#[cfg(feature = "peers")]
mod with_tarpc;
#[cfg(feature = "peers")]
mod with_tokio;
#[cfg(feature = "peers")]
mod with_tonic;

use std::time::Instant;

use self::case::{Case, IN_FLIGHT, NAMES, What};
pub(crate) use self::pair::other_process;
use self::pair::{Allocs, Pair};
use self::samples::Samples;
use super::transport::Cores;
use super::{Bench, Effort, Outcome};
use crate::Failure;
use crate::measure::{self, Times, since};
use crate::progress::Progress;
use crate::suites;

const SUITE: &str = "rmi";

/// Returns the names of all cases, in the order in which they are run.
pub(crate) fn names() -> Vec<&'static str> {
    NAMES.iter().copied().chain(scenes::names()).collect()
}

/// Runs the cases whose names are `chosen`.
pub(crate) fn run(
    effort: &Effort,
    progress: &mut Progress,
    chosen: impl Fn(&str) -> bool + Sync,
) -> Result<Outcome, Failure> {
    // There are many cases, and their rounds are long.
    let effort = Effort {
        at_most: effort.at_most / 3,
        rounds: effort.rounds / 5,
        ..*effort
    };
    let cores = Cores::find();
    suites::measured(SUITE, &effort, progress, |bench| {
        for name in NAMES.iter().copied().filter(|name| chosen(name)) {
            bench.calls(&Case::named(name)?, cores)?;
        }
        for name in scenes::names().filter(|name| chosen(name)) {
            scenes::run(bench, name, cores)?;
        }
        Ok(())
    })
}

/// A running subject, with the results of all its rounds except the first.
struct Subject {
    name: &'static str,
    case: Case,
    pair: Pair,
    samples: Samples,
    rounds: usize,
    allocs: Allocs,
}

impl Subject {
    fn start(
        case: &Case,
        name: &'static str,
        cores: Cores,
        effort: &Effort,
    ) -> Result<Self, Failure> {
        Ok(Self {
            name,
            case: *case,
            pair: Pair::start(case, name, cores)?,
            samples: Samples::new(case.work(), effort.rounds),
            rounds: 0,
            allocs: Allocs::default(),
        })
    }

    /// Runs a round and returns nanoseconds per call.
    fn round(&mut self) -> Result<f64, Failure> {
        let (ns, allocs) = if self.case.has_rate() {
            let calls = self.case.flood();
            self.pair.round(|caller| {
                // These calls wake the server, which may be asleep.
                caller.flood(IN_FLIGHT)?;
                let start = Instant::now();
                caller.flood(calls)?;
                Ok(since(start, calls))
            })?
        } else {
            let samples = &mut self.samples;
            let ((), allocs) = self.pair.round(|caller| caller.calls(samples))?;
            (self.samples.round(), allocs)
        };
        if self.rounds == 0 {
            self.samples.forget();
        } else {
            self.allocs.ours += allocs.ours;
            if let Some(server) = allocs.server {
                *self.allocs.server.get_or_insert(0) += server;
            }
        }
        self.rounds += 1;
        Ok(ns)
    }

    /// Returns the number of calls in all rounds except the first.
    fn calls(&self) -> f64 {
        let calls = if self.case.has_rate() {
            self.case.flood() + IN_FLIGHT
        } else {
            self.case.work().calls()
        };
        (self.rounds.saturating_sub(1) * calls) as f64
    }
}

impl Bench<'_> {
    /// Measures all subjects of a case in turn.
    fn calls(&mut self, case: &Case, cores: Cores) -> Result<(), Failure> {
        self.progress.step(&format!("{SUITE} / {}", case.name));
        let effort = self.effort;
        let mut subjects = Vec::new();
        for name in subject::subjects(case) {
            subjects.push(Box::new(Subject::start(case, name, cores, &effort)?));
        }
        let times = measure::interleave(&mut subjects, &effort, Subject::round)?;
        for (subject, times) in subjects.iter_mut().zip(times) {
            self.figures(subject, &times);
            for (metric, value, unit) in subject.pair.more()? {
                self.row(case.name, subject.name, metric, value, unit);
            }
        }
        if !self.pinned || !(case.one_cpu || cores.apart) {
            let text = "the two sides were not on the cores that the name of the case specifies";
            self.note(case.name, text.to_owned());
        }
        Ok(())
    }

    fn figures(&mut self, subject: &mut Subject, times: &Times) {
        let (case, name) = (subject.case.name, subject.name);
        if subject.case.has_rate() {
            self.timed(case, name, "rate", 1e9 / times.median, "1/s", times);
        } else {
            self.timed(case, name, "rtt_p50", times.median, "ns", times);
            let (p99, calls) = (subject.samples.p99(), subject.samples.calls());
            self.timed(case, name, "rtt_p99", p99, "ns", &calls);
            if let (true, What::Sum(count)) = (subject.case.is_encrypted(), subject.case.what) {
                let each = (count * size_of::<f64>()) as f64;
                let bandwidth = each * 1e9 / times.median;
                self.timed(case, name, "bandwidth", bandwidth, "B/s", times);
            }
        }
        if let Some(each) = subject.samples.computed() {
            self.row(case, name, "server_cpu", each, "ns");
        }
        let calls = subject.calls();
        let Allocs { ours, server } = subject.allocs;
        let metric = if server.is_some() {
            "allocs_client"
        } else {
            "allocs"
        };
        self.row(case, name, metric, ours as f64 / calls, "count");
        if let Some(server) = server {
            let each = server as f64 / calls;
            self.row(case, name, "allocs_server", each, "count");
        }
    }
}
