//! Messages that stay in the sender's memory until the receiver copies them.
//!
//! Decision 107 has the reasons.

use std::io;
use std::mem::MaybeUninit;

use jstream::buffer::BufferWriter;

use super::copy::{copy_out, words_out};
use super::mapping::{Control, Lane};
use super::remote::{MOST_RANGES, Range, Remote};
use super::ring::{Consumer, HEADER_WORDS, INLINE, Kind, SLOT_RANGES, SlotMark, malformed};
use super::signal;
use jstream_base::HeaderError;

/// Maximum number of bytes copied from the peer's memory in one call. Takes about a millisecond.
const MOST_AT_ONCE: usize = 16 << 20;

/// Ranges of the peer's memory that are still to be read. Each range was checked.
pub(super) struct Ranges {
    /// Access to the peer's memory, if it can be read.
    remote: Option<Remote>,
    all: Vec<Range>,
    /// Number of ranges that were read completely.
    done: usize,
    /// Ranges of the current call.
    now: Vec<Range>,
}

impl Ranges {
    pub(super) fn new(remote: Option<Remote>) -> Self {
        Self {
            remote,
            all: Vec::new(),
            done: 0,
            now: Vec::new(),
        }
    }

    /// Copies the list of ranges from a slot, or from the data that the slot refers to, and checks
    /// it.
    pub(super) fn list(
        &mut self,
        ring: &Consumer,
        mark: SlotMark,
        length: usize,
    ) -> Result<(), HeaderError> {
        (self.done, _) = (0, self.all.clear());
        let inside = mark.kind == Kind::Ranges;
        let most = if inside { SLOT_RANGES } else { MOST_RANGES };
        if self.remote.is_none() || mark.n == 0 || mark.n > most {
            return Err(malformed("count of ranges", mark.n as u64));
        }
        let mut total = 0_u64;
        let mut words = [MaybeUninit::<u8>::uninit(); INLINE];
        let slot = ring.slot().get(HEADER_WORDS.end..);
        if inside {
            words_out(&mut words, slot.unwrap_or_default());
        }
        for number in 0..mark.n {
            let mut range = [MaybeUninit::new(0_u8); 16];
            let at = number.wrapping_mul(16);
            if inside {
                let from = words.get(at..at.wrapping_add(16)).unwrap_or_default();
                for (to, from) in range.iter_mut().zip(from) {
                    *to = *from;
                }
            } else {
                let place = ring.data_at(mark).wrapping_add(at as u64);
                let [from, _] = ring.lane().data(place, 16);
                copy_out(&mut range, from);
            }
            // SAFETY: All bytes were initialised, and then overwritten by copied bytes.
            let range = range.map(|byte| unsafe { byte.assume_init() });
            let word = |at: usize| {
                let mut bytes = [0; 8];
                bytes.copy_from_slice(range.get(at..at.wrapping_add(8)).unwrap_or(&[0; 8]));
                u64::from_ne_bytes(bytes)
            };
            let (address, bytes) = (word(0), word(8));
            total = match total.checked_add(bytes) {
                Some(total) if bytes > 0 => total,
                _ => return Err(malformed("length of a range", bytes)),
            };
            self.all.push((address, bytes));
        }
        if total != length as u64 {
            return Err(malformed("length of all ranges", total));
        }
        Ok(())
    }

    /// Copies the next part from the peer's memory. Returns its number of bytes.
    pub(super) fn read(
        &mut self,
        lane: &Lane,
        filling: &mut BufferWriter,
    ) -> Result<usize, io::ErrorKind> {
        let n = self.advance(MOST_AT_ONCE);
        let (Some(remote), Some(to)) = (&mut self.remote, filling.rest_mut().get_mut(..n)) else {
            return Err(io::ErrorKind::InvalidInput);
        };
        let copying = lane.control(Control::Copying);
        let abandoned = lane.control(Control::Abandoned);
        let read = || remote.read(&self.now, to);
        match signal::borrow(copying, abandoned, read) {
            None => return Err(io::ErrorKind::UnexpectedEof),
            // The process has ended, and its memory with it.
            Some(Err(error)) if error.raw_os_error() == Some(libc::ESRCH) => {
                return Err(io::ErrorKind::ConnectionReset);
            }
            Some(copied) => copied.map_err(|error| error.kind())?,
        }
        // SAFETY: The peer's memory was copied to all of the first `n` free bytes.
        unsafe { filling.advance(n) };
        Ok(n)
    }

    /// Selects the ranges that are read next, at most `most` bytes. Returns their number of bytes.
    fn advance(&mut self, most: usize) -> usize {
        self.now.clear();
        let mut left = most as u64;
        while let Some((address, length)) = self.all.get_mut(self.done) {
            let n = (*length).min(left);
            if n == 0 {
                break;
            }
            self.now.push((*address, n));
            left = left.wrapping_sub(n);
            *address = address.wrapping_add(n);
            *length = length.wrapping_sub(n);
            if *length > 0 {
                break;
            }
            self.done = self.done.wrapping_add(1);
        }
        most.wrapping_sub(usize::try_from(left).unwrap_or_default())
    }
}
