//! Plans that a communicator keeps, because programs repeat few operations many times.
//!
//! Decision 088 has the reasons.

use std::sync::{Arc, OnceLock};

use jstream_collective::{Algorithm, Collective, Schedule};

/// Maximum number of plans that a communicator keeps. Plans that are made later are not kept, so
/// that a kept one is found without a lock.
const KEPT: usize = 32;

/// Maximum number of steps of a schedule that is kept. Longer ones take less time to make than to
/// execute.
const STEPS: usize = 64;

/// The arguments on which a plan depends, for a rank of one communicator.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct PlanKey {
    pub(super) collective: Collective,
    /// The algorithm that the handle of the rank chooses.
    pub(super) algorithm: Option<Algorithm>,
    pub(super) root: u32,
    pub(super) count: usize,
    /// The descriptor of the elements.
    pub(super) element: u64,
    pub(super) is_commutative: bool,
}

/// The steps of a rank in an operation.
#[derive(Clone)]
pub(super) struct KeptPlan {
    /// Number that stands for the element type and the arguments.
    pub(super) descriptor: u64,
    pub(super) schedule: Arc<Schedule>,
}

/// The first plans of a communicator, in the order in which they were made.
#[derive(Default)]
pub(crate) struct KeptPlans([OnceLock<(PlanKey, KeptPlan)>; KEPT]);

impl KeptPlans {
    /// Returns the plan for these arguments, if it is kept.
    #[inline]
    pub(super) fn find(&self, key: &PlanKey) -> Option<&KeptPlan> {
        // Places are filled from the front and never emptied, so the first empty one ends the
        // search.
        let mut kept = self.0.iter().map_while(|place| place.get());
        kept.find(|(other, _)| other == key).map(|(_, plan)| plan)
    }

    /// Keeps a plan, if there is a place for it.
    pub(super) fn keep(&self, key: PlanKey, plan: &KeptPlan) {
        let is_short = plan.schedule.steps().len() <= STEPS;
        let free = self.0.iter().find(|place| place.get().is_none());
        if let Some(free) = free.filter(|_| is_short) {
            // If another thread has taken the place, the next call makes the plan again.
            let _ = free.set((key, plan.clone()));
        }
    }
}

#[cfg(test)]
mod tests {
    use jstream_collective::Position;

    use super::*;

    #[test]
    fn the_first_short_plans_are_kept() {
        let plan = |size| KeptPlan {
            descriptor: 1,
            schedule: Arc::new(Schedule::barrier(Position { rank: 0, size })),
        };
        let key = |count| PlanKey {
            collective: Collective::Barrier,
            algorithm: None,
            root: 0,
            count,
            element: 0,
            is_commutative: true,
        };
        let plans = KeptPlans::default();
        assert!(plans.find(&key(0)).is_none());
        for count in 0..=KEPT {
            plans.keep(key(count), &plan(2));
        }
        let is_kept = |count| plans.find(&key(count)).is_some();
        assert!((0..KEPT).all(is_kept) && !is_kept(KEPT));
        let plans = KeptPlans::default();
        let long = plan(1 << 22);
        assert!(long.schedule.steps().len() > STEPS);
        plans.keep(key(0), &long);
        assert!(plans.find(&key(0)).is_none());
    }
}
