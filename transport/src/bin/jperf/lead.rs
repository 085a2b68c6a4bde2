//! The side that starts each exchange and takes the times.

use std::time::{Duration, Instant};

use crate::failure::Failure;
use crate::times::Times;
use crate::work::{Plan, Work};

/// The client's part of an exchange.
pub(crate) trait Exchange: Send {
    /// Performs one exchange, which may be the last.
    fn exchange(&mut self, is_last: bool) -> Result<(), Failure>;
}

/// The result of one connection.
#[derive(Debug)]
pub(crate) struct Taken {
    pub(crate) times: Times,
    pub(crate) begun: Instant,
    pub(crate) ended: Instant,
    /// Number of exchanges that count.
    pub(crate) exchanges: u64,
}

/// Converts a time to picoseconds, the unit of [`Times`].
#[inline]
pub(crate) fn picoseconds(time: Duration) -> u64 {
    let nanos = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    nanos.saturating_mul(1000)
}

/// Performs all exchanges of a plan. Calls `ready` after the warm-up.
pub(crate) fn lead(
    party: &mut impl Exchange,
    work: &Work,
    plan: &Plan,
    ready: impl FnOnce(),
) -> Result<Taken, Failure> {
    let cold = Instant::now();
    for _ in 0..plan.warmup {
        party.exchange(false)?;
        if cold.elapsed() > plan.warming {
            break;
        }
    }
    ready();
    let mut times = Times::default();
    let share = work.share().saturating_mul(plan.batch);
    let begun = Instant::now();
    let (mut at, mut exchanges) = (begun, 0u64);
    loop {
        let after = exchanges.saturating_add(plan.batch);
        let is_last = after >= plan.iterations || at.duration_since(begun) >= plan.time;
        for left in (0..plan.batch).rev() {
            party.exchange(is_last && left == 0)?;
        }
        // One reading of the clock ends this sample and begins the next.
        let now = Instant::now();
        times.add(
            picoseconds(now.duration_since(at))
                .checked_div(share)
                .unwrap_or(0),
        );
        (at, exchanges) = (now, after);
        if is_last {
            break;
        }
    }
    Ok(Taken {
        times,
        begun,
        ended: at,
        exchanges,
    })
}
