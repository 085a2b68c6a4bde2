//! Worlds of processes that have several ranks each.

use std::ops::Range;

use super::World;
use super::environment::{Assembly, ProcessRole};
use super::error::WorldError;
use super::options::WorldOptions;
use super::seat::Seat;

/// Creates the world of one rank.
pub(super) type Make<'m> = Box<dyn FnOnce() -> Result<World, WorldError> + Send + 'm>;

/// Returns what creates the worlds of the ranks of this process.
pub(super) fn joining(
    process: ProcessRole,
    options: &WorldOptions,
) -> Result<Vec<Make<'static>>, WorldError> {
    let (near, size) = (process.ranks(), process.size);
    let Assembly {
        addresses,
        options,
        mut meeting,
    } = process.assemble(options)?;
    let seats = Seat::of_threads(&near, size, &options.rank);
    let makes = seats.into_iter().map(|seat| -> Make<'static> {
        // Rank 0 is the first rank of its process, so the meeting goes to the first seat.
        if let Some(meeting) = meeting.take() {
            return Box::new(move || meeting.join(seat));
        }
        let (addresses, options) = (addresses.clone(), options.clone());
        Box::new(move || seat.join(&addresses, &options))
    });
    Ok(makes.collect())
}

impl ProcessRole {
    /// Returns the ranks of this process.
    fn ranks(&self) -> Range<u32> {
        self.rank..self.rank.saturating_add(self.threads)
    }
}
