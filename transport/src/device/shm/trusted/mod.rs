//! Messages that stay where they are: for sides that trust each other.
//!
//! Each side has an outbox, a sealed memory file that the other maps as well:
//!
//! ```text
//! page of words | blocks
//! ```
//!
//! A message that stands in a block is announced in the ring by a place, an offset and a capacity
//! ([`Spot`]), and the receiver reads it there. When that drops it, it gives the place back
//! ([`returns`]), and the block is free. Where the outbox has no room, or all places are out, messages
//! are copied as they are without trust, so nobody waits for what the receiver holds.
//!
//! What is announced is checked to lie in the outbox. That nobody writes there meanwhile is what
//! [`trust_peer`](crate::Options::trust_peer) promises, and what the unsafe code here relies on.

mod blocks;
mod inbox;
#[cfg(all(test, loom))]
mod models;
mod offered;
mod outbox;
mod returns;
#[cfg(all(test, not(loom)))]
mod tests;

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::ptr::NonNull;
use std::sync::atomic::AtomicU64;

use memmap2::{MmapOptions, MmapRaw};

pub(super) use self::inbox::Inbox;
pub(super) use self::offered::Offered;
pub(crate) use self::outbox::Outbox;
use self::returns::WORDS;
use super::mapping;

/// Blocks begin at a multiple of so many bytes, and are at least so long.
const UNIT: usize = 256;
/// Where the blocks begin.
const BLOCKS_AT: usize = 4096;
/// The longest outbox.
const MOST: usize = 16 << 30;
/// From how many bytes on a message of the program's memory is copied to the outbox rather than to the
/// ring, where the receiver copies it once more.
const IN_PLACE_FROM: usize = 2 << 10;

/// How many words say where a message stands.
pub(super) const SPOT_WORDS: usize = 3;

/// Where a message stands in its sender's outbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Spot {
    place: u32,
    offset: usize,
    capacity: usize,
}

impl Spot {
    #[inline]
    pub(super) fn to_words(self) -> [u64; SPOT_WORDS] {
        [
            u64::from(self.place),
            self.offset as u64,
            self.capacity as u64,
        ]
    }
}

/// An outbox, as both sides map it.
///
/// Invariant: the memory file has the seals SHRINK and GROW and is as long as the mapping, which is
/// more than [`BLOCKS_AT`], so no access inside it faults. The words are reached as atomics only. A
/// block is reached by who has taken it, and then by who was announced it, until its place is back.
struct Memory {
    map: MmapRaw,
}

impl Memory {
    /// Makes the memory file, for the peer to be given, with room for so many bytes.
    fn create(bytes: usize) -> io::Result<(Self, OwnedFd)> {
        let length = bytes
            .clamp(UNIT, MOST)
            .checked_next_multiple_of(BLOCKS_AT)
            .and_then(|bytes| bytes.checked_add(BLOCKS_AT))
            .ok_or(io::ErrorKind::OutOfMemory)?;
        let file = mapping::sealed(length)?;
        Ok((Self::map(&file, length)?, file.into()))
    }

    /// Maps what a peer gave, unless it could still change its length.
    fn open(fd: OwnedFd) -> io::Result<Self> {
        let file = mapping::sealed_by_peer(fd)?;
        match usize::try_from(file.metadata()?.len()) {
            Ok(length) if length > BLOCKS_AT => Self::map(&file, length),
            _ => Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "the peer's outbox has no room",
            )),
        }
    }

    fn map(file: &File, length: usize) -> io::Result<Self> {
        let map = MmapOptions::new().len(length).map_raw(file)?;
        Ok(Self { map })
    }

    fn len(&self) -> usize {
        self.map.len()
    }

    /// Whose bits say which places are back.
    #[inline]
    fn returns(&self) -> &[AtomicU64; WORDS] {
        // SAFETY: the mapping is not empty.
        let words = unsafe { self.at(0) }.cast::<[AtomicU64; WORDS]>();
        // SAFETY: the words stand at the beginning of the mapping, which is aligned to a page, longer
        // than they are, and there as long as `self`; they are reached as atomics only.
        unsafe { words.as_ref() }
    }

    /// The byte at a place of the mapping.
    ///
    /// # Safety
    ///
    /// `offset` must be less than its length.
    #[inline]
    unsafe fn at(&self, offset: usize) -> NonNull<u8> {
        // SAFETY: the caller says that it lies inside.
        let at = unsafe { self.map.as_mut_ptr().add(offset) };
        // SAFETY: a mapping does not begin at address 0, and so no part of it does.
        unsafe { NonNull::new_unchecked(at) }
    }
}
