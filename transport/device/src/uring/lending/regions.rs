//! Pool regions that are registered with a ring, so that the kernel need not look up their pages
//! for each message.

use std::io;
use std::sync::Arc;

use io_uring::IoUring;
use jstream::buffer::{MessageBuffer, Pool, Region, Registration};
use jstream_base::events::emit;
use libc::iovec;
use tracing::Level;

/// Maximum number of registered regions of a ring.
const MOST: u16 = 64;

/// Length of the region that is registered on trial, in bytes: that of small regions of a pool.
const TRIED: usize = 256 << 10;

/// The registered regions of a ring, indexed by their numbers.
///
/// Invariant: the region under a number stays mapped, because its registration keeps it, until the
/// kernel has replaced or removed the entry of that number. Operations that the kernel has begun
/// keep the pages themselves.
pub(super) struct Regions {
    known: Vec<Option<Registration>>,
    /// The number of the next region. It wraps around when the table is full.
    next: u16,
    /// The error if the kernel refuses to register regions.
    refused: Option<io::Error>,
}

impl Regions {
    /// Creates the table of a ring without registered regions. Registers one region on trial, so
    /// that a refusal is known before the first message.
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

    /// Returns the error if the kernel refuses to register regions.
    pub(super) fn refused(&self) -> Option<&io::Error> {
        self.refused.as_ref()
    }

    /// Returns the number of the region that contains a buffer, and registers the region if
    /// necessary. Returns `None` if the buffer is not of `pool` or the kernel refuses the
    /// registration.
    pub(super) fn number(
        &mut self,
        uring: &IoUring,
        jbuf: &MessageBuffer,
        pool: &Pool,
    ) -> Option<u16> {
        let bytes = jbuf.as_bytes();
        let known =
            |it: &Option<Registration>| it.as_ref().is_some_and(|it| it.region().contains(bytes));
        if let Some(number) = self.known.iter().position(known) {
            return u16::try_from(number).ok();
        }
        if self.refused.is_some() {
            return None;
        }
        // The buffer's region number may be that of another pool.
        let region = pool.region(jbuf.place()?.region);
        let region = region.filter(|region| region.contains(bytes))?;
        match self.register(uring, &region) {
            Ok(number) => Some(number),
            Err(error) => {
                let reason = error.to_string();
                emit(Level::INFO, move || {
                    tracing::info!(
                        "the memory of jbufs can't be registered with io_uring: {reason}"
                    );
                });
                self.refused = Some(error);
                None
            }
        }
    }

    /// Registers a region. If the table is full, it replaces the region that was registered first.
    fn register(&mut self, uring: &IoUring, region: &Arc<Region>) -> io::Result<u16> {
        let registration = region.register();
        if let Some(error) = registration.refused() {
            return Err(io::Error::new(error.kind(), error.to_string()));
        }
        let number = self.next;
        register(uring, number, region.as_ptr(), region.len())?;
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

    /// Unregisters all regions. A region for which this fails stays mapped.
    pub(super) fn forget(&mut self, uring: &IoUring) {
        for (number, place) in (0..).zip(&mut self.known) {
            if place.is_some() && register(uring, number, std::ptr::null(), 0).is_ok() {
                *place = None;
            }
        }
    }
}

/// Registers memory under a number, or removes the registration if the length is 0.
fn register(uring: &IoUring, number: u16, start: *const u8, length: usize) -> io::Result<()> {
    let memory = [iovec {
        iov_base: start.cast_mut().cast(),
        iov_len: length,
    }];
    let submitter = uring.submitter();
    // SAFETY: the call only reads the array. The kernel only reads the registered memory, and only
    // for later operations, whose loans keep the memory that they send. A region stays mapped while
    // it is registered.
    unsafe { submitter.register_buffers_update(u32::from(number), &memory, None) }
}
