//! Joining of a world.

use super::error::WorldError;
use super::handle::World;
use super::limits::check_size;
use super::meeting::Meeting;
use super::member::Joining;
use super::options::WorldOptions;
use super::seat::Seat;
use jstream_base::Address;
use jstream_device::deadline::Deadline;

impl World {
    /// Joins the world whose rank 0 listens at `address`, as `rank` of `size`. Rank 0 itself
    /// listens there; the others wait for it. Returns when all members have joined and are
    /// connected.
    ///
    /// # Errors
    ///
    /// [`WorldError`] on all ranks, within [`WorldOptions::timeout`].
    pub fn join(
        address: &Address,
        rank: u32,
        size: u32,
        options: &WorldOptions,
    ) -> Result<Self, WorldError> {
        Self::join_cheapest(std::slice::from_ref(address), rank, size, options)
    }

    /// Like [`join`](Self::join), where rank 0 listens on all of `addresses`. The members listen on
    /// the same devices, and each pair is connected by the cheapest one that works: for example,
    /// ranks on one host by shared memory, and others by TCP. All members must be given the same
    /// addresses.
    ///
    /// # Errors
    ///
    /// As for [`join`](Self::join).
    pub fn join_cheapest(
        addresses: &[Address],
        rank: u32,
        size: u32,
        options: &WorldOptions,
    ) -> Result<Self, WorldError> {
        check_size(size)?;
        if rank >= size {
            return Err(WorldError::NoRank { rank, size });
        }
        if addresses.is_empty() {
            return Err(WorldError::NoAddress);
        }
        if rank == 0 {
            return Meeting::open(addresses, size, options)?.join();
        }
        Seat::alone(rank, size, &options.rank).join(addresses, options)
    }
}

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
        let joining = Joining {
            addresses,
            seat: &self,
            options,
            until: Deadline::after(options.timeout),
        };
        let (others, site) = joining.connect_all()?;
        World::new(self, others, site, options)
    }
}
