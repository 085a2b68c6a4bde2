//! Rings of slots in shared memory, one per direction. A message is copied in and copied out.

use std::fs::{File, OpenOptions};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

use memmap2::MmapRaw;
use rustix::fs::{MemfdFlags, memfd_create};

use super::spin;
use crate::Failure;
use crate::suites::transport::case::Case;
use crate::suites::transport::pair::Waiting;
use crate::suites::transport::side::{Channel, FILL, Over, sum};

/// Size in bytes of a cache line and the adjacent line that the processor prefetches with it.
const LINES: usize = 128;

/// Layout of the shared memory, which both sides compute in the same way.
#[derive(Debug, Clone, Copy)]
struct Layout {
    /// Length of a payload in bytes.
    bytes: usize,
    slots: usize,
    /// Distance between two slots in bytes.
    stride: usize,
}

impl Layout {
    fn new(bytes: usize) -> Self {
        Self {
            bytes,
            // Many large slots would not fit into the caches.
            slots: if bytes <= 4096 { 64 } else { 2 },
            stride: (Ring::PAYLOAD + bytes).next_multiple_of(64),
        }
    }

    /// Returns the bytes for one direction: the count of received messages, and the slots.
    fn one_way(&self) -> usize {
        LINES + (self.slots * self.stride).next_multiple_of(LINES)
    }
}

/// Creates the shared memory. Does not wait for the other side, which begins as soon as it has
/// opened the memory.
pub(crate) fn serve(case: &Case) -> Result<Waiting, Failure> {
    let layout = Layout::new(case.bytes);
    let memory = File::from(memfd_create("jstream-benches", MemfdFlags::CLOEXEC)?);
    memory.set_len(2 * layout.one_way() as u64)?;
    let address = format!(
        "/proc/{}/fd/{}",
        process::id(),
        std::os::fd::AsRawFd::as_raw_fd(&memory)
    );
    Ok(Waiting::new(address, move || {
        Ok(Box::new(Over::new(Slots::new(memory, layout, 1)?)))
    }))
}

/// Opens the memory that the other side has created.
pub(crate) fn join(case: &Case, address: &str) -> Result<Over<Slots>, Failure> {
    let memory = OpenOptions::new().read(true).write(true).open(address)?;
    Ok(Over::new(Slots::new(memory, Layout::new(case.bytes), 0)?))
}

/// One side of a pair of rings, with private buffers for the messages that it sends and receives.
pub(crate) struct Slots {
    out: Ring,
    back: Ring,
    sent: Vec<u8>,
    received: Vec<u8>,
    /// File through which the other side opens the memory.
    _memory: File,
}

impl Slots {
    fn new(memory: File, layout: Layout, side: usize) -> Result<Self, Failure> {
        let ring = |way: usize| -> Result<Ring, Failure> {
            Ok(Ring {
                map: MmapRaw::map_raw(&memory)?,
                start: way * layout.one_way(),
                layout,
                next: 0,
                taken: 0,
            })
        };
        Ok(Self {
            out: ring(side)?,
            back: ring(1 - side)?,
            sent: vec![FILL; layout.bytes],
            received: vec![0; layout.bytes],
            _memory: memory,
        })
    }
}

impl Channel for Slots {
    fn send(&mut self, fill: Option<u8>) -> Result<(), Failure> {
        if let Some(fill) = fill {
            self.sent.fill(fill);
        }
        self.out.push(&self.sent)
    }

    fn recv(&mut self, look: bool) -> Result<u64, Failure> {
        self.back.pop(&mut self.received)?;
        Ok(if look { sum(&self.received) } else { 0 })
    }
}

/// One end of a ring with a single writer and a single reader.
struct Ring {
    map: MmapRaw,
    /// Offset of the ring in the map.
    start: usize,
    layout: Layout,
    /// Number of messages that went through this end.
    next: u64,
    /// Number of messages that the reader had taken when the writer last checked.
    taken: u64,
}

impl Ring {
    /// Offset of the payload in a slot. The number of the message precedes it.
    const PAYLOAD: usize = 8;

    /// Returns the word at `offset` of the ring. `offset` is a multiple of 8.
    fn word(&self, offset: usize) -> &AtomicU64 {
        let place = self.map.as_mut_ptr().wrapping_add(self.start + offset);
        // SAFETY: `offset` is that of a word within the ring, and the map holds the ring as long as
        // `self` lives. The map begins at a page, and all parts of the ring begin at multiples of
        // 64, so the word is aligned. Both sides access these words only as atomics.
        unsafe { AtomicU64::from_ptr(place.cast()) }
    }

    /// Returns the offset of the slot for the next message.
    fn slot(&self) -> usize {
        let index = self.next as usize % self.layout.slots;
        LINES + index * self.layout.stride
    }

    fn payload(&self, slot: usize) -> *mut u8 {
        let offset = self.start + slot + Self::PAYLOAD;
        self.map.as_mut_ptr().wrapping_add(offset)
    }

    fn push(&mut self, message: &[u8]) -> Result<(), Failure> {
        let slots = self.layout.slots as u64;
        if self.next - self.taken >= slots {
            let oldest = self.next - slots;
            self.taken = spin(|| {
                let taken = self.word(0).load(Ordering::Acquire);
                Ok((taken > oldest).then_some(taken))
            })?;
        }
        let slot = self.slot();
        let length = message.len().min(self.layout.bytes);
        // SAFETY: a slot has room for `bytes` behind its word, and the map holds the slot. The
        // reader has taken the previous message of the slot, and accesses the slot only when its
        // word contains the number of this message.
        unsafe {
            self.payload(slot)
                .copy_from_nonoverlapping(message.as_ptr(), length)
        };
        self.next += 1;
        self.word(slot).store(self.next, Ordering::Release);
        Ok(())
    }

    fn pop(&mut self, into: &mut [u8]) -> Result<(), Failure> {
        let slot = self.slot();
        let number = self.next + 1;
        spin(|| Ok((self.word(slot).load(Ordering::Acquire) == number).then_some(())))?;
        let length = into.len().min(self.layout.bytes);
        // SAFETY: a slot has room for `bytes` behind its word, and the map holds the slot. The word
        // says that the writer has completed the slot. The writer does not access it until the
        // reader has published that it took the message.
        unsafe {
            self.payload(slot)
                .copy_to_nonoverlapping(into.as_mut_ptr(), length)
        };
        self.next = number;
        // The reader publishes its progress only after every half of the ring.
        if number % (self.layout.slots as u64 / 2) == 0 {
            self.word(0).store(number, Ordering::Release);
        }
        Ok(())
    }
}
