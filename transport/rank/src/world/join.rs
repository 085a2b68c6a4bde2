//! Joining of a world.

use super::error::WorldError;
use super::handle::World;
use super::meeting::Meeting;
use super::member::Joining;
use super::options::WorldOptions;
use super::seat::Seat;
use jstream_base::Address;
use jstream_device::deadline::Deadline;

impl Seat {
    /// Joins the world whose rank 0 listens at one of `addresses`. A seat of rank 0 listens there.
    pub(super) fn join(
        self,
        addresses: &[Address],
        options: &WorldOptions,
    ) -> Result<World, WorldError> {
        if self.rank == 0 {
            let meeting = Meeting::open(addresses, self.size, options)?;
            return meeting.join_unless(self, &mut || Ok(()));
        }
        self.join_first(addresses, options, false)
    }

    /// Joins the world whose rank 0 listens at one of `addresses`. If `is_there`, it is an error if
    /// rank 0 does not listen yet.
    pub(super) fn join_first(
        self,
        addresses: &[Address],
        options: &WorldOptions,
        is_there: bool,
    ) -> Result<World, WorldError> {
        let joining = Joining {
            addresses,
            is_there,
            rank: self.rank,
            size: self.size,
            options,
            until: Deadline::after(options.timeout),
        };
        joining.join(self)
    }
}
