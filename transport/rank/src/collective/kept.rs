//! Schedules that a communicator keeps, because programs repeat few operations many times.

use std::sync::{Arc, Mutex};

use jstream_collective::{Algorithm, Collective, Schedule, ScheduleError};

/// Maximum number of schedules that a communicator keeps.
const KEPT: usize = 8;

/// Maximum number of steps of a schedule that is kept. Longer ones take less time to make than to
/// execute.
const STEPS: usize = 64;

/// The arguments on which a schedule depends, for a rank of one communicator.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct ScheduleKey {
    pub(super) collective: Collective,
    pub(super) algorithm: Algorithm,
    pub(super) root: u32,
    pub(super) count: usize,
    pub(super) is_commutative: bool,
}

/// The last schedules of a communicator, the oldest first.
#[derive(Default)]
pub(crate) struct KeptSchedules(Mutex<Vec<(ScheduleKey, Arc<Schedule>)>>);

impl KeptSchedules {
    /// Returns the schedule for these arguments, which `make` makes if it is not kept.
    pub(super) fn get(
        &self,
        key: ScheduleKey,
        make: impl FnOnce() -> Result<Schedule, ScheduleError>,
    ) -> Result<Arc<Schedule>, ScheduleError> {
        let found = |kept: &Vec<(_, Arc<Schedule>)>| {
            let mut kept = kept.iter();
            kept.find(|(other, _)| *other == key)
                .map(|(_, schedule)| schedule.clone())
        };
        if let Some(schedule) = found(&jstream_sync::lock(&self.0)) {
            return Ok(schedule);
        }
        let schedule = Arc::new(make()?);
        if schedule.steps().len() <= STEPS {
            let mut kept = jstream_sync::lock(&self.0);
            if kept.len() >= KEPT {
                kept.remove(0);
            }
            kept.push((key, schedule.clone()));
        }
        Ok(schedule)
    }
}
