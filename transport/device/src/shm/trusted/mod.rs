//! Messages that are read in place, between sides that trust each other.
//!
//! Each side has an outbox, a sealed memory file that the peer maps too:
//!
//! ```text
//! page of words | blocks
//! ```
//!
//! A message in a block is announced in the ring with a place number, an offset and a capacity
//! ([`Spot`]), and the receiver reads it in place. When the receiver drops the message, it gives
//! the place back ([`returns`]), and the block is free. If the outbox has no room, or all places
//! are in use, messages are copied as without trust, so the sender never waits for messages that
//! the receiver holds.
//!
//! The announced range is checked to be inside the outbox. The unsafe code here relies on the
//! promise of [`trust_peer`](jstream_base::Options::trust_peer) that no process writes to the range
//! meanwhile.
//!
//! Decision 035 has the reasons.

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

pub(super) use self::inbox::TrustedInbox;
pub(super) use self::offered::Offered;
pub use self::outbox::Outbox;
use self::returns::WORDS;
use super::mapping;

/// Alignment and minimum length of blocks, in bytes.
const UNIT: usize = 256;
/// Offset of the blocks.
const BLOCKS_AT: usize = 4096;
/// Maximum length of an outbox, in bytes.
const MOST: usize = 16 << 30;
/// Minimum length, in bytes, from which a message in the program's memory is copied to the outbox
/// rather than to the ring, from which the receiver has to copy it again.
const IN_PLACE_FROM: usize = 2 << 10;

/// Number of words that encode a [`Spot`].
pub(super) const SPOT_WORDS: usize = 3;

/// Position of a message in its sender's outbox.
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
/// Invariant: The memory file has the seals SHRINK and GROW and is as long as the mapping, which is
/// longer than [`BLOCKS_AT`], so no access inside it faults. The words are accessed only as
/// atomics. A block is accessed by the owner that has taken it, and after its announcement by the
/// receiver, until its place is given back.
struct Memory {
    map: MmapRaw,
}

impl Memory {
    /// Creates and maps a memory file with room for `bytes`. Returns its descriptor too, for the
    /// peer.
    fn create(bytes: usize) -> io::Result<(Self, OwnedFd)> {
        let length = bytes
            .clamp(UNIT, MOST)
            .checked_next_multiple_of(BLOCKS_AT)
            .and_then(|bytes| bytes.checked_add(BLOCKS_AT))
            .ok_or(io::ErrorKind::OutOfMemory)?;
        let file = mapping::sealed(length)?;
        Ok((Self::map(&file, length)?, file.into()))
    }

    /// Maps the memory file that a peer sent. Fails if its length could still change.
    fn open(fd: OwnedFd) -> io::Result<Self> {
        let file = mapping::sealed_by_peer(fd)?;
        match usize::try_from(file.metadata()?.len()) {
            Ok(length) if length > BLOCKS_AT => Self::map(&file, length),
            _ => Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "the peer's outbox has no room for messages",
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

    /// Returns the words whose bits mark the places that were given back.
    #[inline]
    fn returns(&self) -> &[AtomicU64; WORDS] {
        // SAFETY: The mapping is not empty.
        let words = unsafe { self.at(0) }.cast::<[AtomicU64; WORDS]>();
        // SAFETY: The words are at the beginning of the mapping, which is aligned to a page, longer
        // than the words, and valid for as long as `self`. They are accessed only as atomics.
        unsafe { words.as_ref() }
    }

    /// Returns a pointer to a byte of the mapping.
    ///
    /// # Safety
    ///
    /// `offset` must be less than the length of the mapping.
    #[inline]
    unsafe fn at(&self, offset: usize) -> NonNull<u8> {
        // SAFETY: The caller guarantees that the offset is inside the mapping.
        let at = unsafe { self.map.as_mut_ptr().add(offset) };
        // SAFETY: A mapping does not contain address 0, so the pointer is not null.
        unsafe { NonNull::new_unchecked(at) }
    }
}
