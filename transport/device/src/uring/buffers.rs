//! Receive buffers of a ring.

use std::io;
use std::ptr::NonNull;
use std::slice;
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};

use io_uring::IoUring;
use io_uring::types::BufRingEntry;
use jstream::buffer::{Region, Registration};

/// Number of buffers of a ring; a power of two, of which the list fits [`ENTRIES`].
pub(super) const COUNT: u16 = 64;
/// Length of a buffer in bytes.
pub(super) const SIZE: usize = 4096;
/// Length in bytes of the list of free buffers at the start of the region: one page, because the
/// list must start at a page boundary.
const ENTRIES: usize = 4096;

const LENGTH: usize = ENTRIES + COUNT as usize * SIZE;

/// The id of the ring's only buffer group.
pub(super) const GROUP: u16 = 0;

/// Buffers of one ring, and the list that tells the kernel which of them are free.
///
/// Invariant: the kernel writes only to buffers in the list. A buffer that it has filled is in no
/// list until [`free`](Self::free) puts it back.
pub(super) struct Buffers {
    registration: Registration,
    region: Arc<Region>,
    /// Number of buffers that were put into the list so far, modulo 2^16.
    tail: u16,
    /// Number of buffers in the list, as far as is known.
    listed: u16,
}

impl Buffers {
    /// Maps the buffers, and locks them in memory if the kernel permits it.
    pub(super) fn new() -> io::Result<Self> {
        let region = Arc::new(Region::anonymous(LENGTH)?);
        Ok(Self {
            registration: region.register(),
            region,
            tail: 0,
            listed: 0,
        })
    }

    /// Returns the error of locking the buffers in memory, if it failed.
    pub(super) fn refused(&self) -> Option<&io::Error> {
        self.registration.refused()
    }

    /// Registers the buffers with `uring`, all of them free.
    ///
    /// # Safety
    ///
    /// The region has to stay mapped for as long as the kernel may receive through `uring`: either
    /// every receive has ended before `self` is dropped, or [`leak`](Self::leak) was called.
    pub(super) unsafe fn register(&mut self, uring: &IoUring) -> io::Result<()> {
        let at = self.base().addr().get() as u64;
        // SAFETY: the list has a page of its own, which is zeroed and stays mapped as the caller
        // promises.
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

    /// Returns true if the kernel has no free buffer to receive into.
    pub(super) fn are_used_up(&self) -> bool {
        self.listed == 0
    }

    /// Records that the kernel has filled a buffer.
    pub(super) fn note_filled(&mut self) {
        self.listed = self.listed.saturating_sub(1);
    }

    /// Returns the first `length` bytes of a buffer that the kernel has filled.
    ///
    /// # Safety
    ///
    /// The kernel must have filled the buffer, and the buffer must not have been freed since.
    pub(super) unsafe fn filled(&self, number: u16, length: usize) -> &[u8] {
        let start = self.buffer(number);
        let length = length.min(SIZE);
        // SAFETY: the bytes are in the region, whose memory was zeroed at first. The kernel does
        // not write to a buffer that is not in the list, and putting the buffer into the list
        // requires `&mut self`.
        unsafe { slice::from_raw_parts(start.as_ptr(), length) }
    }

    /// Puts a buffer into the list of free buffers.
    pub(super) fn free(&mut self, number: u16) {
        let start = self.buffer(number);
        let place = usize::from(self.tail & (COUNT - 1));
        // SAFETY: `place` is less than `COUNT`, and the list has room for `COUNT` entries.
        let entry = unsafe { self.list().add(place) };
        // SAFETY: the entry is in the region at a multiple of its size, and was zeroed at first.
        // The kernel only reads it, and does so only after the tail has been advanced past it.
        let entry = unsafe { &mut *entry.as_ptr() };
        entry.set_addr(start.addr().get() as u64);
        // `SIZE` fits a `u32`.
        entry.set_len(u32::try_from(SIZE).unwrap_or(0));
        entry.set_bid(number);
        self.tail = self.tail.wrapping_add(1);
        self.listed = self.listed.saturating_add(1);
        // SAFETY: the first entry is at the start of the list, and was zeroed at first.
        let tail = unsafe { BufRingEntry::tail(self.list().as_ptr()) };
        // SAFETY: the field is aligned and in the region. No other thread of this process accesses
        // it, because `&mut self` is exclusive. The kernel may read it at any time, hence the
        // atomic.
        let tail = unsafe { AtomicU16::from_ptr(tail.cast_mut()) };
        // SYNC POINT: the kernel loads the tail with acquire, so it sees the entry that was
        // written.
        tail.store(self.tail, Ordering::Release);
    }

    /// Keeps the memory mapped forever, because the kernel may still write to it.
    pub(super) fn leak(&self) {
        std::mem::forget(self.region.clone());
    }

    fn base(&self) -> NonNull<u8> {
        NonNull::new(self.region.as_ptr().cast_mut()).expect("a mapping is not at address 0")
    }

    fn list(&self) -> NonNull<BufRingEntry> {
        self.base().cast()
    }

    /// Returns the start of a buffer. A number that is too large wraps around.
    fn buffer(&self, number: u16) -> NonNull<u8> {
        let number = usize::from(number & (COUNT - 1));
        let offset = number.saturating_mul(SIZE).saturating_add(ENTRIES);
        // SAFETY: `number` is less than `COUNT`, so that the buffer lies in the region.
        unsafe { self.base().add(offset) }
    }
}
