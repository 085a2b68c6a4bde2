//! The peer's outbox, as this side reads it.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use jstream::buffer::{Filled, Keeper, Spent};

use super::returns::{PLACES, give_back};
use super::{BLOCKS_AT, Memory, SPOT_WORDS, UNIT};
use crate::device::shm::ring::malformed;
use crate::error::HeaderError;

/// Where messages stand that the peer has announced.
pub(in super::super) struct Inbox {
    memory: Arc<Memory>,
    /// Gives the peer its places back. It has the memory, so what was received can be read for as
    /// long as somebody holds it, whatever has become of the peer.
    keeper: Arc<Keeper>,
}

impl Inbox {
    /// Maps what the peer gave.
    pub(in super::super) fn open(fd: OwnedFd) -> io::Result<Self> {
        let memory = Arc::new(Memory::open(fd)?);
        let kept = memory.clone();
        let keeper = Keeper::new(move |place| give_back(kept.returns(), place as usize));
        Ok(Self { memory, keeper })
    }

    /// The message of `length` bytes that was announced, once its slot was seen to be published.
    pub(in super::super) fn message(
        &self,
        spot: [u64; SPOT_WORDS],
        length: usize,
    ) -> Result<Filled, HeaderError> {
        let [place, offset, capacity] = spot;
        let place = u32::try_from(place)
            .ok()
            .filter(|place| (*place as usize) < PLACES)
            .ok_or(malformed("place of a message", place))?;
        let at = usize::try_from(offset)
            .ok()
            .filter(|at| at % UNIT == 0 && (BLOCKS_AT..self.memory.len()).contains(at))
            .ok_or(malformed("offset of a message", offset))?;
        let room = self.memory.len().saturating_sub(at);
        let size = usize::try_from(capacity)
            .ok()
            .filter(|size| (length..=room).contains(size))
            .ok_or(malformed("capacity of a message", capacity))?;
        // SAFETY: it lies inside the mapping.
        let base = unsafe { self.memory.at(at) };
        // SAFETY: the block lies inside the mapping, at a multiple of 256 bytes, and the keeper has the
        // mapping. The peer was promised, by whoever called `Options::trust_peer`, to leave the block
        // alone from its announcement, which was read with acquire order, until the place is back, and
        // not to announce it again before. Nobody else in this process reaches it.
        let spent = unsafe { Spent::kept(base, size, self.keeper.clone(), place) };
        let mut filling = spent.filling();
        // SAFETY: all bytes of a memory file have values, and `length` is at most its capacity.
        unsafe { filling.advance(length) };
        Ok(filling.finish())
    }
}
