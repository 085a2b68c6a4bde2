//! Slots in shared memory, one ring of them each way: a message is copied in and copied out.

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

/// A cache line, and the one that the processor fetches with it.
const LINES: usize = 128;

/// Where everything is, which both sides work out alike.
#[derive(Debug, Clone, Copy)]
struct Layout {
    /// The length of a payload.
    bytes: usize,
    slots: usize,
    /// From one slot to the next.
    stride: usize,
}

impl Layout {
    fn new(bytes: usize) -> Self {
        Self {
            bytes,
            // Large ones would leave the caches.
            slots: if bytes <= 4096 { 64 } else { 2 },
            stride: (Ring::PAYLOAD + bytes).next_multiple_of(64),
        }
    }

    /// What one way takes: how many were received, and the slots.
    fn one_way(&self) -> usize {
        LINES + (self.slots * self.stride).next_multiple_of(LINES)
    }
}

/// Makes the memory, and waits for nobody: whoever joins begins.
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

/// The other side.
pub(crate) fn join(case: &Case, address: &str) -> Result<Over<Slots>, Failure> {
    let memory = OpenOptions::new().read(true).write(true).open(address)?;
    Ok(Over::new(Slots::new(memory, Layout::new(case.bytes), 0)?))
}

/// One side of a ring each way, with its own copy of what it sends and receives.
pub(crate) struct Slots {
    out: Ring,
    back: Ring,
    sent: Vec<u8>,
    received: Vec<u8>,
    /// By which the other side opens it.
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

/// One end of a ring with one writer and one reader.
struct Ring {
    map: MmapRaw,
    /// Where the ring begins in the map.
    start: usize,
    layout: Layout,
    /// How many messages went through this end.
    next: u64,
    /// How many the reader had taken when the writer looked last.
    taken: u64,
}

impl Ring {
    /// Where a slot's payload begins, behind the number of its message.
    const PAYLOAD: usize = 8;

    /// The word at `offset` of the ring, which is a multiple of 8.
    fn word(&self, offset: usize) -> &AtomicU64 {
        let place = self.map.as_mut_ptr().wrapping_add(self.start + offset);
        // SAFETY: `offset` is that of a word inside the ring, which the map holds as long as `self`
        // lives; the map begins at a page, and all parts of the ring at multiples of 64. Nobody uses
        // these words but as atomics.
        unsafe { AtomicU64::from_ptr(place.cast()) }
    }

    /// The offset of the slot that the next message goes through.
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
        // SAFETY: a slot has room for `bytes` behind its word, and the map holds it. The reader has
        // taken what was in it, and touches it only once its word has this message's number.
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
        // SAFETY: as above; the writer is done with the slot, whose word says so, and leaves it alone
        // until the reader has said that it took the message.
        unsafe {
            self.payload(slot)
                .copy_to_nonoverlapping(into.as_mut_ptr(), length)
        };
        self.next = number;
        // The writer need not know each.
        if number % (self.layout.slots as u64 / 2) == 0 {
            self.word(0).store(number, Ordering::Release);
        }
        Ok(())
    }
}
