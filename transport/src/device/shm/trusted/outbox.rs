//! This side's outbox.

use std::io::{self, IoSlice};
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jstream::buffer::{Filled, Keeper, Spent};

use super::blocks::{Block, Blocks};
use super::returns::{PLACES, WORDS, collect};
use super::{BLOCKS_AT, IN_PLACE_FROM, Memory, Spot};
use crate::device::connection::Body;
use crate::device::shm::ring::malformed;
use crate::error::HeaderError;

/// Where jbufs are taken that the peer reads in place. Cheap to clone; it is there as long as one of
/// its jbufs is.
#[derive(Clone)]
pub(crate) struct Outbox {
    inner: Arc<Inner>,
    /// Gets blocks back by their numbers.
    keeper: Arc<Keeper>,
}

struct Inner {
    memory: Memory,
    state: Mutex<State>,
    /// How long the last object was.
    usual: AtomicUsize,
}

struct State {
    blocks: Blocks,
    /// The number of the block that is out at each place, or `NONE`.
    out: [u32; PLACES],
    /// A bit for each place at which nothing is out.
    free: [u64; WORDS],
    /// A place that was given back and was not out.
    odd: Option<HeaderError>,
}

const NONE: u32 = u32::MAX;

impl State {
    /// Frees what the peer has given back.
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
                        self.blocks.give(Block::from_number(number));
                    }
                    None => self.odd = Some(malformed("place given back", place as u64)),
                }
            }
        }
    }

    /// A place at which nothing is out.
    #[inline]
    fn place(&mut self, memory: &Memory) -> Option<u32> {
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

    /// Notes that a block is out there.
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
    /// A panic elsewhere can't leave it half changed: nothing in here panics.
    #[inline]
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Outbox {
    /// Makes one with room for so many bytes, and its memory file, for the peer to be given.
    pub(in super::super) fn create(bytes: usize) -> io::Result<(Self, OwnedFd)> {
        let (memory, fd) = Memory::create(bytes)?;
        let state = State {
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
            owner.state().blocks.give(Block::from_number(number));
        });
        Ok((Self { inner, keeper }, fd))
    }

    /// A jbuf of at least so many bytes, if there is room.
    pub(crate) fn take(&self, bytes: usize) -> Option<Spent> {
        let mut state = self.inner.state();
        state.collect(&self.inner.memory);
        let block = state.blocks.take(bytes)?;
        drop(state);
        let at = BLOCKS_AT.wrapping_add(block.offset());
        // SAFETY: blocks lie inside the mapping, behind the words.
        let base = unsafe { self.inner.memory.at(at) };
        let (capacity, number) = (block.capacity(), block.to_number());
        // SAFETY: the block lies inside the mapping, which the keeper has, at a multiple of 256 bytes. It
        // was free: no jbuf of ours is there, and if it was announced, its place is back, which was read
        // with acquire order. The peer was promised, by whoever called `Options::trust_peer`, to leave
        // alone what was not announced to it, or what it has given back.
        Some(unsafe { Spent::kept(base, capacity, self.keeper.clone(), number) })
    }

    /// A jbuf of the length of the last object, if objects are long enough for one, and there is room.
    pub(crate) fn take_usual(&self) -> Option<Spent> {
        let usual = self.inner.usual.load(Ordering::Relaxed);
        if usual < IN_PLACE_FROM {
            return None;
        }
        self.take(usual)
    }

    /// Notes how long an object was.
    pub(crate) fn note_usual(&self, length: usize) {
        self.inner.usual.store(length, Ordering::Relaxed);
    }

    /// Leaves a message here, as it is or as a copy, and says where to announce it: then it is the
    /// peer's. What was not copied is taken from the body.
    #[inline]
    pub(in super::super) fn leave(&self, body: &mut Body<'_>) -> Option<Spot> {
        match body {
            Body::Owned(_) => {
                let Body::Owned(filled) = std::mem::replace(body, Body::Taken) else {
                    return None;
                };
                match self.announce(filled) {
                    Ok(spot) => Some(spot),
                    Err(filled) => {
                        let spot = self.announce_copy(&[IoSlice::new(filled.as_bytes())]);
                        *body = Body::Owned(filled);
                        spot
                    }
                }
            }
            Body::Borrowed(parts) => self.announce_copy(parts),
            Body::Object(_) | Body::Taken => None,
        }
    }

    /// A message that stands here; or the message, if it stands elsewhere or all places are out.
    #[inline]
    fn announce(&self, message: Filled) -> Result<Spot, Filled> {
        let mut state = self.inner.state();
        let Some(place) = state.place(&self.inner.memory) else {
            return Err(message);
        };
        // It gives nothing back to the keeper, which would want the lock.
        let number = message.into_kept(&self.keeper)?;
        state.announce(place, number);
        let block = Block::from_number(number);
        Ok(Spot {
            place,
            offset: BLOCKS_AT.wrapping_add(block.offset()),
            capacity: block.capacity(),
        })
    }

    /// A copy of a message that stands elsewhere, if that is worth it and there is room.
    fn announce_copy(&self, parts: &[IoSlice<'_>]) -> Option<Spot> {
        let length = parts
            .iter()
            .fold(0_usize, |sum, part| sum.saturating_add(part.len()));
        if length < IN_PLACE_FROM {
            return None;
        }
        // Before anything is copied.
        self.inner.state().place(&self.inner.memory)?;
        let mut filling = self.take(length)?.filling();
        if !parts.iter().all(|part| filling.extend(part)) {
            return None;
        }
        self.announce(filling.finish()).ok()
    }

    /// What the peer gave back that it did not have.
    #[cold]
    pub(in super::super) fn odd(&self) -> Option<HeaderError> {
        self.inner.state().odd
    }

    /// Jbufs that the peer has, or is to have.
    #[cfg(test)]
    pub(in super::super) fn announced(&self) -> usize {
        let mut state = self.inner.state();
        state.collect(&self.inner.memory);
        state.out.iter().filter(|out| **out != NONE).count()
    }
}
