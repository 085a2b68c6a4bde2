//! The shared memory of a connection.
//!
//! ```text
//! lane from client to server:  page of words | slots | data
//! lane from server to client:  page of words | slots | data
//! ```
//!
//! Invariant: The memory file has the seals SHRINK and GROW and is as long as both lanes, so no
//! access inside them faults, whatever the peer does. All of it is accessed only as atomics or with
//! the copy functions of [`copy`](super::copy). Every value that is read is checked, because the
//! peer may write at any time.
//!
//! Decision 037 has the reasons.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::ptr::NonNull;
use std::slice;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64};

use memmap2::{MmapOptions, MmapRaw};
use rustix::fs::{MemfdFlags, SealFlags};

/// Length of a slot in bytes: two cache lines, which processors tend to fetch together.
pub(super) const SLOT: usize = 128;
/// Number of slots of a lane; a power of two.
pub(super) const SLOTS: usize = 256;
/// Length of a lane's data area in bytes; a power of two. It exceeds a processor's private caches,
/// so that older data is in the cache that both sides share. It also exceeds 1 MiB by enough for
/// other data: if both sides share one processor, a message that does not fit costs each side a
/// sleep.
pub(super) const DATA: usize = 2 << 20;
/// Offset of the slots in a lane.
const SLOTS_AT: usize = 4096;
const DATA_AT: usize = SLOTS_AT + SLOTS * SLOT;
/// Length of a lane in bytes: whole pages.
const LANE: usize = DATA_AT + DATA;
/// Length of the memory file in bytes.
pub(super) const LENGTH: usize = 2 * LANE;

/// Offsets of the control words of a lane. Words that the same side writes share a pair of cache
/// lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
pub(super) enum Control {
    /// Number of slots that the consumer has consumed.
    Consumed = 0,
    /// Not 0 if the consumer sleeps and must be woken when a slot is published.
    ConsumerArmed = 128,
    /// Not 0 if the producer sleeps and must be woken when a slot is consumed.
    ProducerArmed = 256,
    /// Not 0 if the producer will not publish anything more.
    Ended = 384,
    /// Not 0 if the producer gave up the message that it had begun.
    Abandoned = 392,
    /// Not 0 if the consumer is gone.
    Gone = 512,
    /// Not 0 while the consumer copies from the producer's own memory.
    Copying = 640,
}

/// Creates a memory file whose length cannot change.
pub(super) fn sealed(length: usize) -> io::Result<File> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let file = File::from(rustix::fs::memfd_create("jstream-shm", flags)?);
    // Checked first, because the kernel kills a process that extends a file beyond this limit.
    let limit = rustix::process::getrlimit(rustix::process::Resource::Fsize).current;
    if limit.is_some_and(|limit| limit < length as u64) {
        return Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            "the shared memory exceeds this process's file size limit (RLIMIT_FSIZE)",
        ));
    }
    file.set_len(length as u64)?;
    seal(&file, length)?;
    Ok(file)
}

/// Fixes the length of a memory file, and checks that it is `length`: another process of the same
/// user may have shortened the file before.
fn seal(file: &File, length: usize) -> io::Result<()> {
    let seals = SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL;
    rustix::fs::fcntl_add_seals(file, seals)?;
    let sealed = file.metadata()?.len();
    if sealed != length as u64 {
        return Err(io::Error::other(format!(
            "the shared memory was changed to {sealed} bytes by another process, instead of {length}"
        )));
    }
    Ok(())
}

/// Returns the memory file that a peer sent, or an error if its length could still change.
pub(super) fn sealed_by_peer(fd: OwnedFd) -> io::Result<File> {
    let refused = |details| Err(io::Error::new(io::ErrorKind::InvalidData, details));
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
    /// Creates and maps a memory file. Returns its descriptor too, for the peer.
    pub(super) fn create() -> io::Result<(Self, OwnedFd)> {
        let file = sealed(LENGTH)?;
        Ok((Self::map(&file)?, file.into()))
    }

    /// Maps the memory file that a peer sent. Fails if its length is wrong or could still change.
    pub(super) fn open(fd: OwnedFd) -> io::Result<Self> {
        let file = sealed_by_peer(fd)?;
        if file.metadata()?.len() != LENGTH as u64 {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "the peer's memory file has a different length than this version uses",
            ));
        }
        Self::map(&file)
    }

    fn map(file: &File) -> io::Result<Self> {
        let map = MmapOptions::new().len(LENGTH).map_raw(file)?;
        Ok(Self { map })
    }

    /// Returns the lanes: from client to server, and from server to client.
    pub(super) fn lanes(self) -> [Lane; 2] {
        let mapping = Arc::new(self);
        [0, LANE].map(|at| {
            // SAFETY: The mapping is as long as two lanes.
            let base = unsafe { mapping.map.as_mut_ptr().add(at) };
            // SAFETY: A mapping does not contain address 0, so the pointer is not null.
            let base = unsafe { NonNull::new_unchecked(base) };
            Lane {
                base,
                _mapping: mapping.clone(),
            }
        })
    }
}

/// The part of the shared memory for one direction.
///
/// Invariant: `base` is aligned to a page and valid for [`LANE`] bytes for as long as the mapping
/// exists. All of these bytes are accessed only as atomics, or with the copy functions that take
/// atomics.
#[derive(Clone)]
pub(super) struct Lane {
    base: NonNull<u8>,
    _mapping: Arc<Mapping>,
}

// SAFETY: The memory is not tied to a thread.
unsafe impl Send for Lane {}
// SAFETY: The memory is accessed only as atomics.
unsafe impl Sync for Lane {}

impl Lane {
    /// Returns a control word.
    #[inline]
    pub(super) fn control(&self, word: Control) -> &AtomicU64 {
        // SAFETY: All words are in the first page, each at a multiple of 8.
        let at = unsafe { self.base.add(word as usize) };
        // SAFETY: By the invariant, the memory is valid for as long as `self` is borrowed, and it
        // is accessed only as atomics.
        unsafe { at.cast::<AtomicU64>().as_ref() }
    }

    /// Returns the slot for a position, as words.
    #[inline]
    pub(super) fn slot(&self, position: u64) -> &[AtomicU64; SLOT / 8] {
        #[expect(clippy::cast_possible_truncation, reason = "only the low bits count")]
        let index = position as usize % SLOTS;
        // SAFETY: `index` is less than `SLOTS`, so the whole slot is inside the lane.
        let at = unsafe {
            self.base
                .add(SLOTS_AT.wrapping_add(index.wrapping_mul(SLOT)))
        };
        // SAFETY: As in `control`. A slot is aligned to its size.
        unsafe { at.cast::<[AtomicU64; SLOT / 8]>().as_ref() }
    }

    /// Returns `length` bytes of data from a place on, wrapping around at the end of the area: a
    /// part up to the end and a part at the beginning. The length is limited to that of the area.
    #[inline]
    pub(super) fn data(&self, place: u64, length: usize) -> [&[AtomicU8]; 2] {
        #[expect(clippy::cast_possible_truncation, reason = "only the low bits count")]
        let at = place as usize % DATA;
        let length = length.min(DATA);
        let first = length.min(DATA.wrapping_sub(at));
        // SAFETY: `at` is less than `DATA`, and `first` bytes from there end inside the lane.
        let start = unsafe { self.base.add(DATA_AT.wrapping_add(at)) };
        // SAFETY: As in `control`. Bytes need no alignment.
        let end = unsafe { slice::from_raw_parts(start.as_ptr().cast_const().cast(), first) };
        // SAFETY: The data area begins inside the lane.
        let start = unsafe { self.base.add(DATA_AT) };
        let rest = length.wrapping_sub(first);
        // SAFETY: As above. `rest` is at most `DATA`.
        let begin = unsafe { slice::from_raw_parts(start.as_ptr().cast_const().cast(), rest) };
        [end, begin]
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn memory_that_another_process_shortened_is_refused() {
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let file = File::from(rustix::fs::memfd_create("test", flags).unwrap());
        file.set_len(4096).unwrap();
        let error = seal(&file, LENGTH).unwrap_err().to_string();
        assert!(error.contains("to 4096 bytes"), "{error}");
    }

    #[test]
    fn mapping_has_the_length_of_the_protocol() {
        let page = include_str!("../../../PROTOCOL.md");
        for (bytes, details) in [
            (LENGTH, "a memory file (`memfd`) of {} bytes"),
            (LANE, "two lanes of {} bytes"),
            (DATA, "| {} | data |"),
        ] {
            let digits = bytes.to_string();
            let groups: Vec<_> = digits.as_bytes().rchunks(3).rev().collect();
            let number = String::from_utf8(groups.join(&b',')).unwrap();
            let says = details.replace("{}", &number);
            assert!(page.contains(&says), "{says}");
        }
    }
}
