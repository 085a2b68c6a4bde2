//! The memory that both sides map.
//!
//! ```text
//! lane from client to server:  page of words | slots | data
//! lane from server to client:  page of words | slots | data
//! ```
//!
//! Invariant: the memory file has the seals SHRINK and GROW and is as long as both lanes, so no
//! access inside them faults, whatever the peer does. Everything in it is reached as atomics or by
//! the copies of [`copy`](super::copy), and nothing that is read is believed: the peer may write at
//! any time.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::ptr::NonNull;
use std::slice;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64};

use memmap2::{MmapOptions, MmapRaw};
use rustix::fs::{MemfdFlags, SealFlags};

/// How many bytes a slot has: two cache lines, which processors like to fetch together.
pub(super) const SLOT: usize = 128;
/// How many slots a lane has; a power of two.
pub(super) const SLOTS: usize = 256;
/// How many bytes of data a lane has; a power of two. More than fits a processor's own caches: what was
/// written before is then in one that both sides share. And more than a mebibyte with something in front of
/// it: where both sides share one processor, a message that does not fit costs each of them a sleep.
pub(super) const DATA: usize = 2 << 20;
/// Where the slots begin in a lane.
const SLOTS_AT: usize = 4096;
const DATA_AT: usize = SLOTS_AT + SLOTS * SLOT;
/// How many bytes a lane has: whole pages.
const LANE: usize = DATA_AT + DATA;
/// How long the memory file is.
pub(super) const LENGTH: usize = 2 * LANE;

/// The words of a lane, each in a pair of cache lines with what the same side writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
pub(super) enum Control {
    /// How many slots the consumer is done with.
    Consumed = 0,
    /// Whether the consumer sleeps, and wants to be woken when something is published.
    ConsumerArmed = 128,
    /// Whether the producer sleeps, and wants to be woken when something is consumed.
    ProducerArmed = 256,
    /// Whether the producer publishes nothing more.
    Ended = 384,
    /// Whether the producer gave up the message that it had begun.
    Abandoned = 392,
    /// Whether the consumer is gone.
    Gone = 512,
    /// Whether the consumer is copying out of the producer's own memory.
    Copying = 640,
}

/// Makes a memory file that keeps its length.
pub(super) fn sealed(length: usize) -> io::Result<File> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let file = File::from(rustix::fs::memfd_create("jstream-shm", flags)?);
    // The system ends a process that makes a file longer than it may.
    let limit = rustix::process::getrlimit(rustix::process::Resource::Fsize).current;
    if limit.is_some_and(|limit| limit < length as u64) {
        return Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            "the shared memory would be longer than files of this process may be",
        ));
    }
    file.set_len(length as u64)?;
    let seals = SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL;
    rustix::fs::fcntl_add_seals(&file, seals)?;
    Ok(file)
}

/// The memory file that a peer gave, unless it could still change its length.
pub(super) fn sealed_by_peer(fd: OwnedFd) -> io::Result<File> {
    let refused = |what| Err(io::Error::new(io::ErrorKind::InvalidData, what));
    let Ok(seals) = rustix::fs::fcntl_get_seals(&fd) else {
        return refused("the peer's descriptor is not of a memory file");
    };
    if !seals.contains(SealFlags::SHRINK | SealFlags::GROW) {
        return refused("the peer's memory file is not sealed against changes of its length");
    }
    Ok(File::from(fd))
}

/// A mapping of the memory file.
pub(super) struct Mapping {
    map: MmapRaw,
}

impl Mapping {
    /// Makes the memory file, for the peer to be given.
    pub(super) fn create() -> io::Result<(Self, OwnedFd)> {
        let file = sealed(LENGTH)?;
        Ok((Self::map(&file)?, file.into()))
    }

    /// Maps the memory file that a peer gave, unless it could still change its length.
    pub(super) fn open(fd: OwnedFd) -> io::Result<Self> {
        let file = sealed_by_peer(fd)?;
        if file.metadata()?.len() != LENGTH as u64 {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "the peer's memory file has another length than ours would have",
            ));
        }
        Self::map(&file)
    }

    fn map(file: &File) -> io::Result<Self> {
        let map = MmapOptions::new().len(LENGTH).map_raw(file)?;
        Ok(Self { map })
    }

    /// The lanes: from client to server, and back.
    pub(super) fn lanes(self) -> [Lane; 2] {
        let mapping = Arc::new(self);
        [0, LANE].map(|at| {
            // SAFETY: the mapping is as long as two lanes.
            let base = unsafe { mapping.map.as_mut_ptr().add(at) };
            // SAFETY: a mapping does not begin at address 0, and so no part of it does.
            let base = unsafe { NonNull::new_unchecked(base) };
            Lane {
                base,
                _mapping: mapping.clone(),
            }
        })
    }
}

/// One direction's part of the shared memory.
///
/// Invariant: `base` is aligned to a page and valid for [`LANE`] bytes as long as the mapping is
/// there; all of them are reached as atomics, or by the copies that take such.
#[derive(Clone)]
pub(super) struct Lane {
    base: NonNull<u8>,
    _mapping: Arc<Mapping>,
}

// SAFETY: the memory is not tied to a thread.
unsafe impl Send for Lane {}
// SAFETY: the memory is reached as atomics only.
unsafe impl Sync for Lane {}

impl Lane {
    /// One of its words.
    #[inline]
    pub(super) fn control(&self, word: Control) -> &AtomicU64 {
        // SAFETY: all words lie in the first page, each at a multiple of 8.
        let at = unsafe { self.base.add(word as usize) };
        // SAFETY: by the invariant the memory is valid for as long as `self` is borrowed, and it is
        // reached as atomics only.
        unsafe { at.cast::<AtomicU64>().as_ref() }
    }

    /// The slot for a position, as words.
    #[inline]
    pub(super) fn slot(&self, position: u64) -> &[AtomicU64; SLOT / 8] {
        #[expect(clippy::cast_possible_truncation, reason = "only the low bits count")]
        let index = position as usize % SLOTS;
        // SAFETY: `index` is less than `SLOTS`, so the whole slot lies inside the lane.
        let at = unsafe {
            self.base
                .add(SLOTS_AT.wrapping_add(index.wrapping_mul(SLOT)))
        };
        // SAFETY: as in `control`; a slot is aligned to its size.
        unsafe { at.cast::<[AtomicU64; SLOT / 8]>().as_ref() }
    }

    /// The data that begins at a place of it, and goes on at its beginning: `length` bytes, at most
    /// all of it.
    #[inline]
    pub(super) fn data(&self, place: u64, length: usize) -> [&[AtomicU8]; 2] {
        #[expect(clippy::cast_possible_truncation, reason = "only the low bits count")]
        let at = place as usize % DATA;
        let length = length.min(DATA);
        let first = length.min(DATA.wrapping_sub(at));
        // SAFETY: `at` is less than `DATA`, and `first` bytes from there end inside the lane.
        let start = unsafe { self.base.add(DATA_AT.wrapping_add(at)) };
        // SAFETY: as in `control`; bytes need no alignment.
        let end = unsafe { slice::from_raw_parts(start.as_ptr().cast_const().cast(), first) };
        // SAFETY: the data begins inside the lane.
        let start = unsafe { self.base.add(DATA_AT) };
        let rest = length.wrapping_sub(first);
        // SAFETY: as above; `rest` is at most `DATA`.
        let begin = unsafe { slice::from_raw_parts(start.as_ptr().cast_const().cast(), rest) };
        [end, begin]
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn the_protocol_says_how_long_the_memory_is() {
        let page = include_str!("../../../PROTOCOL.md");
        for (bytes, what) in [
            (LENGTH, "a memory file (`memfd`) of {} bytes"),
            (LANE, "two lanes of {} bytes"),
            (DATA, "| {} | data |"),
        ] {
            let digits = bytes.to_string();
            let groups: Vec<_> = digits.as_bytes().rchunks(3).rev().collect();
            let number = String::from_utf8(groups.join(&b',')).unwrap();
            let says = what.replace("{}", &number);
            assert!(page.contains(&says), "{says}");
        }
    }
}
