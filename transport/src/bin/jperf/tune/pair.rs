//! Connections to servers with different settings, measured in turn.

use std::slice;
use std::time::Duration;

use jstream_transport::{Endpoint, connect};

use super::table::TimeTable;
use crate::arguments::Tune;
use crate::failure::Failure;
use crate::greeting;
use crate::output::ProgressLine;
use crate::own::Own;
use crate::run::{RunSettings, measure};
use crate::work::{Op, Order, Plan, Receive, Touch, Work};

/// Time for which a server may take to answer.
const PATIENCE: Duration = Duration::from_secs(30);
/// Spin time that is longer than any wait during a measurement, and short enough that servers sleep
/// while they are not measured.
const BUSY: Duration = Duration::from_millis(50);
/// Number of exchanges that are not counted.
const WARMUP: u64 = 20;

/// A server, and a connection to it.
pub(crate) struct Pair {
    /// Dropped before the server.
    pub(crate) endpoint: Endpoint,
    _own: Own,
}

/// Settings that all measurements share.
pub(crate) struct Bench<'a> {
    arguments: &'a Tune,
    progress: &'a ProgressLine,
    /// The default spin time of the library.
    pub(crate) spin: Duration,
}

impl<'a> Bench<'a> {
    pub(crate) fn new(arguments: &'a Tune, progress: &'a ProgressLine) -> Self {
        Self {
            arguments,
            progress,
            spin: RunSettings::usual().spin,
        }
    }

    /// Returns the settings for studies that do not vary the spin time. Neither side sleeps while
    /// it waits for the other, because wake-ups take longer than the effects that are studied, and
    /// their time varies.
    pub(crate) fn busy(&self, longest: u64) -> RunSettings {
        RunSettings {
            spin: match self.spin {
                // There is only one processor.
                Duration::ZERO => Duration::ZERO,
                _ => BUSY,
            },
            longest,
            ..RunSettings::usual()
        }
    }

    /// Starts a server of this scheme with the same settings as this side, and connects to it.
    pub(crate) fn pair(&self, scheme: &str, settings: &RunSettings) -> Result<Pair, Failure> {
        let own = Own::start(scheme, settings, self.arguments.pin.get(1).copied())?;
        let endpoint = connect(own.address(), &settings.options())?;
        greeting::join(&endpoint, PATIENCE)?;
        Ok(Pair {
            endpoint,
            _own: own,
        })
    }

    /// Measures each choice at each point, round by round, so that disturbances of the machine
    /// affect all choices equally. Times are half of a round trip, without the delay of the server.
    pub(crate) fn fill<'p>(
        &self,
        subject: &str,
        table: &mut TimeTable,
        cell: impl Fn(u64, usize) -> Result<(&'p Pair, Work), Failure>,
    ) -> Result<(), Failure> {
        let plan = Plan {
            warmup: WARMUP,
            warming: self.arguments.seconds,
            iterations: u64::MAX,
            time: self.arguments.seconds,
            batch: 1,
        };
        let rounds = self.arguments.rounds;
        for round in 1..=rounds {
            self.progress
                .show(&format!("{subject}, round {round} of {rounds}"));
            for point in 0..table.points.len() {
                for choice in 0..table.choices.len() {
                    let at = table.points.get(point).copied().unwrap_or(0);
                    let (pair, work) = cell(at, choice)?;
                    let row = measure(slice::from_ref(&pair.endpoint), work, &plan, PATIENCE)?;
                    let thinking = u64::from(work.think).saturating_mul(1000 / 2);
                    let ps = row.times.quantile(500).saturating_sub(thinking);
                    table.add(point, choice, ps);
                }
            }
        }
        Ok(())
    }
}

/// Returns a ping-pong whose payloads are read on arrival.
pub(crate) fn ping(size: u64) -> Result<Work, Failure> {
    Ok(Work {
        op: Op::Pingpong,
        receive: Receive::Into,
        touch: Touch::Clean,
        check: false,
        size: usize::try_from(size)?,
        window: 1,
        places: 1,
        order: Order::In,
        depth: 0,
        think: 0,
    })
}
