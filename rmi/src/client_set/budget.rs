//! Budget of repeated calls.
//!
//! Decision 120 has the reasons.

use std::sync::Mutex;
use std::time::Instant;

use crate::support::lock;

/// Maximum number of repetitions that are saved up, and the number of a new budget.
const MOST: f64 = 100.0;

/// Number of repetitions that every second adds.
const EACH_SECOND: f64 = 10.0;

/// Budget of repetitions (token bucket): calls and time add to it.
#[derive(Debug)]
pub(super) struct RetryBudget {
    share: f64,
    state: Mutex<BudgetState>,
}

#[derive(Debug)]
struct BudgetState {
    left: f64,
    /// Time and number of calls at the last use.
    at: Instant,
    calls: u64,
}

impl RetryBudget {
    pub(super) fn new(share: f64) -> Self {
        let state = Mutex::new(BudgetState {
            left: MOST,
            at: Instant::now(),
            calls: 0,
        });
        Self { share, state }
    }

    /// Takes one repetition at this time, after this number of calls. Returns false if there is
    /// none left.
    pub(super) fn spend(&self, now: Instant, calls: u64) -> bool {
        let mut state = lock(&self.state);
        let seconds = now.saturating_duration_since(state.at).as_secs_f64();
        // Members that have left take their counts with them.
        let more = calls.saturating_sub(state.calls) as f64 * self.share;
        state.left = (state.left + seconds * EACH_SECOND + more.max(0.0)).min(MOST);
        (state.at, state.calls) = (now, calls);
        let is_left = state.left >= 1.0;
        if is_left {
            state.left -= 1.0;
        }
        is_left
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn calls_and_time_add_to_the_budget() {
        let budget = RetryBudget::new(0.5);
        let begun = lock(&budget.state).at;
        let taken = |now, calls| (0..200).take_while(|_| budget.spend(now, calls)).count();
        assert_eq!(taken(begun, 0), 100);
        assert_eq!(taken(begun, 20), 10);
        assert_eq!(taken(begun + Duration::from_secs(2), 20), 20);
        // Fewer calls than before add nothing, and there is a maximum.
        assert_eq!(taken(begun + Duration::from_secs(2), 5), 0);
        assert_eq!(taken(begun + Duration::from_secs(1000), 1_000_000), 100);
    }
}
