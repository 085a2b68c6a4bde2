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
    /// listens there; the others wait for it. Returns when all members have joined and know each
    /// other's addresses. Two members are connected when they first need each other.
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
    /// addresses. The member that opens a connection chooses the device.
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
