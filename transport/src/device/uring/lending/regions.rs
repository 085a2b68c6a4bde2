//! Regions of pools that a ring knows, so that the system need not look up their pages for each message.

use std::io;
use std::sync::Arc;

use io_uring::IoUring;
use jstream::buffer::{Filled, Pool, Region, Registration};
use libc::iovec;

/// How many regions a ring knows, at most.
const MOST: u16 = 64;

/// The length of the region that is tried at first, in bytes: that of small regions of a pool.
const TRIED: usize = 256 << 10;

/// The regions that a ring knows, by the numbers under which it does.
///
/// Invariant: the region under a number stays mapped, as its registration keeps it, until the system
/// knows another, or none, under that number; operations that it has begun keep the pages themselves.
pub(super) struct Regions {
    known: Vec<Option<Registration>>,
    /// The number that the next one gets when there is none free.
    next: u16,
    /// Why there are none.
    refused: Option<io::Error>,
}

impl Regions {
    /// Those of a ring that knows none so far. One is tried, so that it is known in time whether there may be
    /// some.
    pub(super) fn new(uring: &IoUring) -> Self {
        let mut regions = Self {
            known: Vec::new(),
            next: 0,
            refused: None,
        };
        let tried = uring
            .submitter()
            .register_buffers_sparse(u32::from(MOST))
            .and_then(|()| regions.register(uring, &Arc::new(Region::anonymous(TRIED)?)));
        match tried {
            Ok(_) => regions.forget(uring),
            Err(error) => regions.refused = Some(error),
        }
        regions
    }

    /// Why the system does not know the memory of jbufs.
    pub(super) fn refused(&self) -> Option<&io::Error> {
        self.refused.as_ref()
    }

    /// The number of the region that a jbuf stands in, if it is of `pool`, and the system lets it be known.
    pub(super) fn number(&mut self, uring: &IoUring, jbuf: &Filled, pool: &Pool) -> Option<u16> {
        let bytes = jbuf.as_bytes();
        let known =
            |it: &Option<Registration>| it.as_ref().is_some_and(|it| it.region().contains(bytes));
        if let Some(number) = self.known.iter().position(known) {
            return u16::try_from(number).ok();
        }
        if self.refused.is_some() {
            return None;
        }
        // The number may be one of another pool.
        let region = pool.region(jbuf.place()?.region);
        let region = region.filter(|region| region.contains(bytes))?;
        match self.register(uring, &region) {
            Ok(number) => Some(number),
            Err(error) => {
                tracing::info!("io_uring does not know the memory of jbufs beforehand: {error}");
                self.refused = Some(error);
                None
            }
        }
    }

    /// Makes a region known, instead of the one that was known for longest if there are too many.
    fn register(&mut self, uring: &IoUring, region: &Arc<Region>) -> io::Result<u16> {
        let registration = region.register();
        if let Some(error) = registration.refused() {
            return Err(io::Error::new(error.kind(), error.to_string()));
        }
        let number = self.next;
        tell(uring, number, region.as_ptr(), region.len())?;
        self.next = if number.saturating_add(1) < MOST {
            number.saturating_add(1)
        } else {
            0
        };
        match self.known.get_mut(usize::from(number)) {
            Some(place) => *place = Some(registration),
            None => self.known.push(Some(registration)),
        }
        Ok(number)
    }

    /// The system knows none any more. What it does not let go of stays.
    pub(super) fn forget(&mut self, uring: &IoUring) {
        for (number, place) in (0..).zip(&mut self.known) {
            if place.is_some() && tell(uring, number, std::ptr::null(), 0).is_ok() {
                *place = None;
            }
        }
    }
}

/// Makes memory known under a number; none where the length is 0.
fn tell(uring: &IoUring, number: u16, start: *const u8, length: usize) -> io::Result<()> {
    let memory = [iovec {
        iov_base: start.cast_mut().cast(),
        iov_len: length,
    }];
    let submitter = uring.submitter();
    // SAFETY: the system only reads what stands there, and does so for operations alone that come later,
    // whose memory their loans keep; a region stays mapped for as long as it is known.
    unsafe { submitter.register_buffers_update(u32::from(number), &memory, None) }
}
