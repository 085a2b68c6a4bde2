//! Services with several servers, in processes of their own, while servers are replaced or fail.
//!
//! Three servers have the same object, and two clients call it all the time. A ledger outside the
//! processes holds which orders were executed and what their callers were told: a run fails if an
//! answer is wrong, a call has no end, an order was executed twice without being idempotent, or a
//! caller was told something wrong about that. Each fault is measured beside the time before it.

mod calls;
mod ledger;
mod network;
mod process;
mod scenario;
mod with_jstream;
#[cfg(feature = "peers")]
mod with_tarpc;
#[cfg(feature = "peers")]
mod with_tokio;
#[cfg(feature = "peers")]
mod with_tonic;

use std::sync::OnceLock;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use self::ledger::{CallCounts, ExecutedFile};
use self::network::Network;
use self::process::Part;
use self::scenario::{Load, RunFigures, Scenario, run as run_scenario};
use super::{Bench, Effort, Outcome};
use crate::Failure;
use crate::measure::Times;
use crate::progress::Progress;
use crate::suites;

const SUITE: &str = "services";

/// Number of servers of a service.
const SERVERS: usize = 3;

/// Maximum number of phases of a run.
const MOST_PHASES: usize = 8;

/// Time after which a call fails without an answer, for all subjects.
const CALL_TIMEOUT: Duration = Duration::from_millis(500);

/// Implementation of the service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Subject {
    /// A client set over TCP.
    Jstream,
    /// A client set over local sockets.
    JstreamUds,
    #[cfg(feature = "peers")]
    Tonic,
    #[cfg(feature = "peers")]
    Tarpc,
}

impl Subject {
    const ALL: &'static [Self] = &[
        Self::Jstream,
        Self::JstreamUds,
        #[cfg(feature = "peers")]
        Self::Tonic,
        #[cfg(feature = "peers")]
        Self::Tarpc,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Jstream => "jstream",
            Self::JstreamUds => "jstream-uds",
            #[cfg(feature = "peers")]
            Self::Tonic => "tonic",
            #[cfg(feature = "peers")]
            Self::Tarpc => "tarpc",
        }
    }

    fn is_ours(self) -> bool {
        matches!(self, Self::Jstream | Self::JstreamUds)
    }

    /// Returns true if a server and a client of two versions understand one another.
    fn has_versions(self) -> bool {
        match self {
            Self::Jstream | Self::JstreamUds => true,
            #[cfg(feature = "peers")]
            Self::Tonic => true,
            #[cfg(feature = "peers")]
            Self::Tarpc => false,
        }
    }

    /// Returns true if its calls stay on this machine.
    fn is_local(self) -> bool {
        self == Self::JstreamUds
    }
}

/// Returns the names of all scenarios, in the order in which they are run.
pub(crate) fn names() -> Vec<&'static str> {
    Scenario::ALL.into_iter().map(Scenario::name).collect()
}

/// Returns the names of all subjects.
pub(crate) fn subjects() -> Vec<&'static str> {
    Subject::ALL.iter().map(|subject| subject.name()).collect()
}

/// Extent of the runs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Extent {
    /// Number of runs of each scenario.
    pub(crate) runs: usize,
    /// Number of calls of all subjects together before which the runs do not end.
    pub(crate) calls: u64,
    /// Duration of the period before each fault, and of the fault.
    pub(crate) span: Duration,
    /// Pause after each call.
    pub(crate) pause: Duration,
    /// Number of calls that each client makes at the same time.
    pub(crate) lanes: u16,
}

impl Extent {
    pub(crate) const fn full() -> Self {
        Self {
            runs: 10,
            calls: 0,
            span: Duration::from_secs(2),
            pause: Duration::from_millis(2),
            lanes: 8,
        }
    }

    pub(crate) const fn quick() -> Self {
        Self {
            runs: 1,
            span: Duration::from_millis(200),
            ..Self::full()
        }
    }
}

/// Runs the scenarios and subjects whose names are `chosen`.
pub(crate) fn run(
    extent: &Extent,
    progress: &mut Progress,
    chosen: impl Fn(&str, &str) -> bool + Sync,
) -> Result<Outcome, Failure> {
    let no_network = Network::new().err();
    let mut cases = Vec::new();
    for scenario in Scenario::ALL {
        let suits =
            |subject: &Subject| scenario.suits(*subject) && chosen(scenario.name(), subject.name());
        let subjects = Subject::ALL.iter().copied().filter(suits);
        let figures: Vec<_> = subjects.map(|subject| (subject, Vec::new())).collect();
        if !figures.is_empty() {
            cases.push((scenario, figures));
        }
    }
    suites::on_thread(SUITE, &Effort::full(), progress, |bench| {
        if let Some(reason) = &no_network {
            bench.skip_partition(&mut cases, reason);
        }
        let (mut run, mut calls) = (0, 0);
        while !cases.is_empty() && (run < extent.runs || calls < extent.calls) {
            for (scenario, subjects) in &mut cases {
                // The subject that begins changes with each run.
                let count = subjects.len();
                for turn in 0..count {
                    let Some((subject, all)) = subjects.get_mut((run + turn) % count) else {
                        continue;
                    };
                    let figures = bench.run_once((*scenario, *subject), (run, extent), calls)?;
                    calls += figures.counts.calls;
                    all.push(figures);
                }
            }
            run += 1;
        }
        for (scenario, subjects) in &cases {
            for (subject, figures) in subjects {
                bench.service_figures(*scenario, *subject, figures);
            }
        }
        Ok(())
    })
}

/// Scenarios, with the figures of each subject.
type Cases = Vec<(Scenario, Vec<(Subject, Vec<RunFigures>)>)>;

/// A function that selects one of the counts.
type CountOf = fn(&CallCounts) -> u64;

impl Bench<'_> {
    fn skip_partition(&mut self, cases: &mut Cases, reason: &Failure) {
        let before = cases.len();
        cases.retain(|(scenario, _)| *scenario != Scenario::Partition);
        if cases.len() < before {
            eprintln!("skipped: partition needs network namespaces: {reason}");
        }
    }

    fn run_once(
        &mut self,
        (scenario, subject): (Scenario, Subject),
        (run, extent): (usize, &Extent),
        calls: u64,
    ) -> Result<RunFigures, Failure> {
        let (case, name) = (scenario.name(), subject.name());
        let step = format!("{SUITE} / {case}: {name}, run {}, {calls} calls", run + 1);
        self.progress.step(&step);
        let load = Load {
            span: extent.span,
            pause: extent.pause,
            lanes: extent.lanes,
        };
        let figures = run_scenario(scenario, subject, load)
            .map_err(|error| format!("{case}, {name}: {error}"))?;
        let failed = figures.counts.failed();
        if subject.is_ours() && scenario.spares_calls() && failed > 0 {
            return Err(format!("{case}, {name}: {failed} calls have failed").into());
        }
        Ok(figures)
    }

    /// Records the medians of all runs.
    fn service_figures(&mut self, scenario: Scenario, subject: Subject, runs: &[RunFigures]) {
        let (case, name) = (scenario.name(), subject.name());
        let mut median = |metric: &str, unit: &str, values: Vec<f64>| {
            if !values.is_empty() {
                let times = Times::of(values, 1);
                self.timed(case, name, metric, times.median, unit, &times);
            }
        };
        for (suffix, quantile) in [("p50", 0.5), ("p99", 0.99)] {
            let before = |run: &RunFigures| run.undisturbed.value_at_quantile(quantile) as f64;
            let during = |run: &RunFigures| run.fault.value_at_quantile(quantile) as f64;
            let undisturbed = format!("{suffix}_undisturbed");
            median(&undisturbed, "ns", runs.iter().map(before).collect());
            median(suffix, "ns", runs.iter().map(during).collect());
            let ratio = |run: &RunFigures| during(run) / before(run).max(1.0);
            let ratios = runs.iter().map(ratio).collect();
            median(&format!("{suffix}_ratio"), "x", ratios);
        }
        let recovery = runs.iter().filter_map(|run| run.recovery);
        let recovery = recovery.map(|time| time.as_secs_f64() * 1e9);
        median("recovery", "ns", recovery.collect());
        let counts: [(&str, CountOf); 4] = [
            ("calls", |counts| counts.calls),
            ("did_not_run", |counts| counts.did_not_run),
            ("may_have_run", |counts| counts.may_have_run),
            ("ran_and_failed", |counts| counts.ran),
        ];
        for (metric, count) in counts {
            let all: u64 = runs.iter().map(|run| count(&run.counts)).sum();
            self.row(case, name, metric, all as f64, "count");
        }
    }
}

/// Returns true if the processes print the errors of calls to stderr.
fn explains() -> bool {
    static EXPLAINS: OnceLock<bool> = OnceLock::new();
    *EXPLAINS.get_or_init(|| std::env::var_os("JSTREAM_EXPLAIN").is_some())
}

/// Plays the part of a process of a run, which the parent has described.
pub(crate) fn other_process(part: &str) -> Result<(), Failure> {
    // If the system refuses, the end of stdin still ends this process.
    let _ = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL));
    let played = play(serde_json::from_str(part)?);
    if let Err(error) = &played {
        process::tell(&format!("failed {}", error.to_string().replace('\n', " ")))?;
    }
    played
}

fn play(part: Part) -> Result<(), Failure> {
    match part {
        Part::Mute { address } => process::be_mute(&address),
        Part::Server {
            subject,
            version,
            index,
            address,
            folder,
        } => {
            let executed = ExecutedFile::open(&folder, index)?;
            match subject {
                Subject::Jstream | Subject::JstreamUds => {
                    with_jstream::serve(version, index, &address, executed)
                }
                #[cfg(feature = "peers")]
                Subject::Tonic => with_tonic::serve(version, index, &address, executed),
                #[cfg(feature = "peers")]
                Subject::Tarpc => with_tarpc::serve(index, &address, executed),
            }
        }
        Part::Client {
            subject,
            version,
            addresses,
            lanes,
            folder,
            pause_us,
        } => {
            let pause = Duration::from_micros(pause_us);
            match subject {
                Subject::Jstream | Subject::JstreamUds => {
                    with_jstream::call(version, &addresses, lanes, &folder, pause)
                }
                #[cfg(feature = "peers")]
                Subject::Tonic => with_tonic::call(version, &addresses, lanes, &folder, pause),
                #[cfg(feature = "peers")]
                Subject::Tarpc => with_tarpc::call(&addresses, lanes, &folder, pause),
            }
        }
    }
}
