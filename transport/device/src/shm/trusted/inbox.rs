//! The peer's outbox, from the point of view of the receiver.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use jstream::buffer::{EmptyBuffer, Keeper, MessageBuffer};

use super::returns::{PLACES, give_back};
use super::{BLOCKS_AT, Memory, SPOT_WORDS, UNIT};
use crate::shm::ring::malformed;
use jstream_base::HeaderError;

/// Memory of the messages that the peer announces.
pub(in super::super) struct TrustedInbox {
    memory: Arc<Memory>,
    /// Gives places back to the peer. It owns the memory, so a received message can be read for as
    /// long as it is held, whatever happened to the peer.
    keeper: Arc<Keeper>,
}

impl TrustedInbox {
    /// Maps the memory file that the peer sent.
    pub(in super::super) fn open(fd: OwnedFd) -> io::Result<Self> {
        let memory = Arc::new(Memory::open(fd)?);
        let kept = memory.clone();
        let keeper = Keeper::new(move |place| give_back(kept.returns(), place as usize));
        Ok(Self { memory, keeper })
    }

    /// Returns an announced message of `length` bytes. The caller must have seen its published
    /// slot.
    pub(in super::super) fn message(
        &self,
        spot: [u64; SPOT_WORDS],
        length: usize,
    ) -> Result<MessageBuffer, HeaderError> {
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
        // SAFETY: The offset is inside the mapping.
        let base = unsafe { self.memory.at(at) };
        // SAFETY: The block is inside the mapping, which the keeper owns, and aligned to 256 bytes.
        // The caller of `Options::trust_peer` has promised that the peer does not access the block
        // from its announcement, which was read with acquire order, until the place is given back,
        // and does not announce it again before. No other code in this process accesses it.
        let empty = unsafe { EmptyBuffer::kept(base, size, self.keeper.clone(), place) };
        let mut filling = empty.writer();
        // SAFETY: All bytes of a memory file are initialised, and `length` is at most the capacity.
        unsafe { filling.advance(length) };
        Ok(filling.finish())
    }
}
