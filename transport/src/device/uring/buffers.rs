//! The buffers that the system receives into.

use std::io;
use std::ptr::NonNull;
use std::slice;
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};

use io_uring::IoUring;
use io_uring::types::BufRingEntry;
use jstream::buffer::{Region, Registration};

/// How many buffers a ring has; a power of two, at most what fits [`ENTRIES`].
pub(super) const COUNT: u16 = 64;
/// The length of each, in bytes.
pub(super) const SIZE: usize = 4096;
/// What the list of the free ones takes at the region's beginning: a page, as it must begin at one.
const ENTRIES: usize = 4096;

const LENGTH: usize = ENTRIES + COUNT as usize * SIZE;

/// The number of the only group of buffers that a ring has.
pub(super) const GROUP: u16 = 0;

/// Buffers of one ring, and the list by which the system is told which ones are free.
///
/// Invariant: the system writes only to buffers that stand in the list. One that it has filled
/// stands in no list until [`free`](Self::free) puts it back.
pub(super) struct Buffers {
    registration: Registration,
    region: Arc<Region>,
    /// How many buffers were put into the list so far, modulo 2^16.
    tail: u16,
    /// How many of them stand in the list, as far as is known.
    listed: u16,
}

impl Buffers {
    /// Maps the buffers, in memory that stays in memory if the system lets it.
    pub(super) fn new() -> io::Result<Self> {
        let region = Arc::new(Region::anonymous(LENGTH)?);
        Ok(Self {
            registration: region.register(),
            region,
            tail: 0,
            listed: 0,
        })
    }

    /// Why the system does not keep them in memory.
    pub(super) fn refused(&self) -> Option<&io::Error> {
        self.registration.refused()
    }

    /// Makes them those that `uring` receives into, all of them free.
    ///
    /// # Safety
    ///
    /// The region has to stay mapped for as long as the system may receive by `uring`: either every
    /// receive has ended before `self` is dropped, or [`leak`](Self::leak) was called.
    pub(super) unsafe fn register(&mut self, uring: &IoUring) -> io::Result<()> {
        let at = self.base().addr().get() as u64;
        // SAFETY: the list has a page for itself, zeroed, which stays mapped as the caller promises.
        unsafe {
            uring
                .submitter()
                .register_buf_ring_with_flags(at, COUNT, GROUP, 0)
        }?;
        for number in 0..COUNT {
            self.free(number);
        }
        Ok(())
    }

    /// Whether the system has none left to receive into.
    pub(super) fn are_used_up(&self) -> bool {
        self.listed == 0
    }

    /// The system has filled one of them.
    pub(super) fn note_filled(&mut self) {
        self.listed = self.listed.saturating_sub(1);
    }

    /// The first `length` bytes of a buffer that the system has filled.
    ///
    /// # Safety
    ///
    /// The system has filled the buffer, and it was not freed since.
    pub(super) unsafe fn filled(&self, number: u16, length: usize) -> &[u8] {
        let start = self.buffer(number);
        let length = length.min(SIZE);
        // SAFETY: the bytes lie in the region, whose memory was zeroed at first, and nobody writes
        // to a buffer that is not in the list: it is put there through `&mut self`.
        unsafe { slice::from_raw_parts(start.as_ptr(), length) }
    }

    /// Gives a buffer (back) to the system.
    pub(super) fn free(&mut self, number: u16) {
        let start = self.buffer(number);
        let place = usize::from(self.tail & (COUNT - 1));
        // SAFETY: `place` is less than `COUNT`, and so many entries fit the list.
        let entry = unsafe { self.list().add(place) };
        // SAFETY: the entry lies in the region at a multiple of its size, was zeroed at first, and
        // the system only reads it, once the tail says that it is there.
        let entry = unsafe { &mut *entry.as_ptr() };
        entry.set_addr(start.addr().get() as u64);
        // `SIZE` fits.
        entry.set_len(u32::try_from(SIZE).unwrap_or(0));
        entry.set_bid(number);
        self.tail = self.tail.wrapping_add(1);
        self.listed = self.listed.saturating_add(1);
        // SAFETY: the first entry is at the list's beginning, and was zeroed at first.
        let tail = unsafe { BufRingEntry::tail(self.list().as_ptr()) };
        // SAFETY: the field is aligned, lies in the region, and is reached by nobody else of this
        // process: `&mut self` is exclusive. The system reads it at any time, hence the atomic.
        let tail = unsafe { AtomicU16::from_ptr(tail.cast_mut()) };
        // SYNC POINT: the system, which loads the tail with acquire, finds the entry written.
        tail.store(self.tail, Ordering::Release);
    }

    /// Keeps the memory for ever: the system may still write to it.
    pub(super) fn leak(&self) {
        std::mem::forget(self.region.clone());
    }

    fn base(&self) -> NonNull<u8> {
        NonNull::new(self.region.as_ptr().cast_mut()).expect("a mapping is not at address 0")
    }

    fn list(&self) -> NonNull<BufRingEntry> {
        self.base().cast()
    }

    /// Where a buffer begins; numbers beyond the last one are that of another.
    fn buffer(&self, number: u16) -> NonNull<u8> {
        let number = usize::from(number & (COUNT - 1));
        let offset = number.saturating_mul(SIZE).saturating_add(ENTRIES);
        // SAFETY: `number` is less than `COUNT`, so that the buffer lies in the region.
        unsafe { self.base().add(offset) }
    }
}
