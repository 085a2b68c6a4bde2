//! The outbox of this side.

use std::io::{self, IoSlice};
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use jstream::buffer::{EmptyBuffer, Keeper, MessageBuffer};

use super::blocks::{Block, Blocks};
use super::returns::{PLACES, WORDS, collect};
use super::{BLOCKS_AT, IN_PLACE_FROM, Memory, Spot};
use crate::shm::ring::malformed;
use jstream_base::HeaderError;
use jstream_sync::lock;

/// Allocator of buffers that the peer reads in place. Cheap to clone. The memory exists for as long
/// as one of the buffers does.
#[derive(Clone)]
pub struct Outbox {
    inner: Arc<Inner>,
    /// Frees blocks by their numbers when their buffers are dropped.
    keeper: Arc<Keeper>,
}

struct Inner {
    memory: Memory,
    state: Mutex<OutboxState>,
    /// Length of the last object in bytes.
    usual: AtomicUsize,
}

struct OutboxState {
    blocks: Blocks,
    /// For each place, the number of the block that the peer holds, or `NONE`.
    out: [u32; PLACES],
    /// A set bit for each free place.
    free: [u64; WORDS],
    /// Protocol error: the peer gave back a place that it did not hold.
    odd: Option<HeaderError>,
}

const NONE: u32 = u32::MAX;

impl OutboxState {
    /// Frees the blocks that the peer has given back.
    #[inline]
    fn collect(&mut self, memory: &Memory) {
        let words = memory.returns().iter().zip(&mut self.free).enumerate();
        for (n, (word, free)) in words {
            let mut back = collect(word);
            while back != 0 {
                let bit = back.trailing_zeros();
                back &= back.wrapping_sub(1);
                let place = n.wrapping_mul(64).wrapping_add(bit as usize);
                let out = self
                    .out
                    .get_mut(place)
                    .map(|out| std::mem::replace(out, NONE));
                match out.filter(|out| *out != NONE) {
                    Some(number) => {
                        *free |= 1 << bit;
                        self.blocks.free(Block::from_number(number));
                    }
                    None => self.odd = Some(malformed("place given back", place as u64)),
                }
            }
        }
    }

    /// Returns a free place.
    #[inline]
    fn allocate_place(&mut self, memory: &Memory) -> Option<u32> {
        if self.free.iter().all(|word| *word == 0) {
            self.collect(memory);
        }
        if self.odd.is_some() {
            return None;
        }
        let mut words = (0_u32..).zip(&self.free);
        words.find_map(|(n, word)| {
            (*word != 0).then(|| n.wrapping_mul(64).wrapping_add(word.trailing_zeros()))
        })
    }

    /// Records that the peer holds a block at a place.
    #[inline]
    fn announce(&mut self, place: u32, number: u32) {
        if let Some(out) = self.out.get_mut(place as usize) {
            *out = number;
        }
        if let Some(word) = self.free.get_mut(place as usize / 64) {
            *word &= !(1 << (place % 64));
        }
    }
}

impl Inner {
    #[inline]
    fn state(&self) -> MutexGuard<'_, OutboxState> {
        lock(&self.state)
    }
}

impl Outbox {
    /// Creates an outbox with room for `bytes`. Returns the descriptor of its memory file too, for
    /// the peer.
    pub(in super::super) fn create(bytes: usize) -> io::Result<(Self, OwnedFd)> {
        let (memory, fd) = Memory::create(bytes)?;
        let state = OutboxState {
            blocks: Blocks::new(memory.len().saturating_sub(BLOCKS_AT)),
            out: [NONE; PLACES],
            free: [u64::MAX; WORDS],
            odd: None,
        };
        let inner = Arc::new(Inner {
            memory,
            state: Mutex::new(state),
            usual: AtomicUsize::new(0),
        });
        let owner = inner.clone();
        let keeper = Keeper::new(move |number| {
            owner.state().blocks.free(Block::from_number(number));
        });
        Ok((Self { inner, keeper }, fd))
    }

    /// Returns a buffer of at least `bytes`, if there is room.
    pub fn allocate(&self, bytes: usize) -> Option<EmptyBuffer> {
        let mut state = self.inner.state();
        state.collect(&self.inner.memory);
        let block = state.blocks.allocate(bytes)?;
        drop(state);
        let at = BLOCKS_AT.wrapping_add(block.offset());
        // SAFETY: Blocks are inside the mapping, behind the words.
        let base = unsafe { self.inner.memory.at(at) };
        let (capacity, number) = (block.capacity(), block.to_number());
        // SAFETY: The block is inside the mapping, which the keeper owns, and aligned to 256 bytes.
        // The block was free: no buffer of this process uses it, and if it was announced, its place
        // was given back, which was read with acquire order. The caller of `Options::trust_peer`
        // has promised that the peer does not access memory that was not announced to it, or that
        // it has given back.
        Some(unsafe { EmptyBuffer::kept(base, capacity, self.keeper.clone(), number) })
    }

    /// Returns a buffer of the length of the last object. Returns `None` if that was too short for
    /// the outbox, or if there is no room.
    pub fn take_usual(&self) -> Option<EmptyBuffer> {
        let usual = self.inner.usual.load(Ordering::Relaxed);
        if usual < IN_PLACE_FROM {
            return None;
        }
        self.allocate(usual)
    }

    /// Records the length of an object.
    pub fn note_usual(&self, length: usize) {
        self.inner.usual.store(length, Ordering::Relaxed);
    }

    /// Announces a message that is in this outbox. Returns the message if it is in other memory or
    /// if all places are in use.
    #[inline]
    pub(in super::super) fn announce(&self, message: MessageBuffer) -> Result<Spot, MessageBuffer> {
        let mut state = self.inner.state();
        let Some(place) = state.allocate_place(&self.inner.memory) else {
            return Err(message);
        };
        // This does not call the keeper, which would need the lock.
        let number = message.into_kept(&self.keeper)?;
        state.announce(place, number);
        let block = Block::from_number(number);
        Ok(Spot {
            place,
            offset: BLOCKS_AT.wrapping_add(block.offset()),
            capacity: block.capacity(),
        })
    }

    /// Copies a message from other memory and announces the copy, if it is long enough and there is
    /// room.
    pub(in super::super) fn announce_copy(&self, parts: &[IoSlice<'_>]) -> Option<Spot> {
        let length = parts
            .iter()
            .fold(0_usize, |sum, part| sum.saturating_add(part.len()));
        if length < IN_PLACE_FROM {
            return None;
        }
        // Checks for a free place before anything is copied.
        self.inner.state().allocate_place(&self.inner.memory)?;
        let mut filling = self.allocate(length)?.writer();
        if !parts.iter().all(|part| filling.extend(part)) {
            return None;
        }
        self.announce(filling.finish()).ok()
    }

    /// Returns the error if the peer gave back a place that it did not hold.
    #[cold]
    pub(in super::super) fn odd(&self) -> Option<HeaderError> {
        self.inner.state().odd
    }

    /// Returns the number of buffers that are announced to the peer.
    #[cfg(all(test, not(loom)))]
    pub(in super::super) fn announced(&self) -> usize {
        let mut state = self.inner.state();
        state.collect(&self.inner.memory);
        state.out.iter().filter(|out| **out != NONE).count()
    }
}
