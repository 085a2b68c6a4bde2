//! Connections to servers that are set up in different ways, measured in turn.

use std::slice;
use std::time::Duration;

use jstream_transport::{Endpoint, connect};

use super::table::Table;
use crate::arguments::Tune;
use crate::failure::Failure;
use crate::greeting;
use crate::output::Progress;
use crate::own::Own;
use crate::run::{Settings, measure};
use crate::work::{Op, Order, Plan, Receive, Touch, Work};

/// How long a server may take to answer.
const PATIENCE: Duration = Duration::from_secs(30);
/// Longer than anything takes that is waited for, and short enough that servers sleep that are not measured.
const BUSY: Duration = Duration::from_millis(50);
/// Exchanges that don't count, before.
const WARMUP: u64 = 20;

/// A server, and a connection to it.
pub(crate) struct Pair {
    /// Ends before the server.
    pub(crate) endpoint: Endpoint,
    _own: Own,
}

/// How everything is measured.
pub(crate) struct Bench<'a> {
    arguments: &'a Tune,
    progress: &'a Progress,
    /// The time that sides spin by default.
    pub(crate) spin: Duration,
}

impl<'a> Bench<'a> {
    pub(crate) fn new(arguments: &'a Tune, progress: &'a Progress) -> Self {
        Self {
            arguments,
            progress,
            spin: Settings::usual().spin,
        }
    }

    /// How both sides are set up where spinning is not studied: so that neither sleeps while it waits for the
    /// other, which takes longer than what is studied, and not always as long.
    pub(crate) fn busy(&self, longest: u64) -> Settings {
        Settings {
            spin: match self.spin {
                // There is one processor.
                Duration::ZERO => Duration::ZERO,
                _ => BUSY,
            },
            longest,
            ..Settings::usual()
        }
    }

    /// A server of this scheme, set up like this side.
    pub(crate) fn pair(&self, scheme: &str, settings: &Settings) -> Result<Pair, Failure> {
        let own = Own::start(scheme, settings, self.arguments.pin.get(1).copied())?;
        let endpoint = connect(own.address(), &settings.options())?;
        greeting::join(&endpoint, PATIENCE)?;
        Ok(Pair {
            endpoint,
            _own: own,
        })
    }

    /// Measures each choice at each point, round by round, so that whatever disturbs the machine disturbs
    /// all choices alike. Times are halves of round trips, without what the other side thinks.
    pub(crate) fn fill<'p>(
        &self,
        what: &str,
        table: &mut Table,
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
                .step(&format!("{what}, round {round} of {rounds}"));
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

/// A ping-pong whose payloads are read where they arrive.
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
