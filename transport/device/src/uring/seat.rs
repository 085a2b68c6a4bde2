//! Registration of a socket with the ring of the thread that drives it.
//!
//! Decision 044 has the reasons.

use std::cell::OnceCell;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::sync::Arc;

use super::ring::{Issuer, ReceiveRing};

thread_local! {
    static RINGS: Rings = const { Rings { any: OnceCell::new(), first: OnceCell::new() } };
}

/// The rings of a thread, which end with it.
struct Rings {
    any: OnceCell<Arc<ReceiveRing>>,
    first: OnceCell<Arc<ReceiveRing>>,
}

impl Rings {
    fn get(&self, issuer: Issuer) -> io::Result<Arc<ReceiveRing>> {
        let place = match issuer {
            Issuer::Any => &self.any,
            Issuer::First => &self.first,
        };
        if let Some(ring) = place.get() {
            return Ok(ring.clone());
        }
        let ring = ReceiveRing::new(issuer)?;
        Ok(place.get_or_init(|| ring).clone())
    }
}

impl Drop for Rings {
    fn drop(&mut self) {
        for ring in [self.any.get(), self.first.get()].into_iter().flatten() {
            ring.end();
        }
    }
}

/// Returns the ring of this thread, which is created by the first call.
///
/// # Errors
///
/// The kernel refuses a ring, or the thread is about to end.
pub(super) fn ring_of_thread(issuer: Issuer) -> io::Result<Arc<ReceiveRing>> {
    let ring = RINGS.try_with(|rings| rings.get(issuer));
    ring.unwrap_or_else(|_| Err(io::Error::other("the thread is ending")))
}

/// The number of a socket at a ring. [`leave`](Self::leave) must be called before the socket is
/// closed.
pub(super) struct SocketNumber {
    pub(super) ring: Arc<ReceiveRing>,
    pub(super) number: usize,
}

impl SocketNumber {
    pub(super) fn of_thread(issuer: Issuer, socket: BorrowedFd<'_>) -> io::Result<Self> {
        let ring = ring_of_thread(issuer)?;
        Ok(Self {
            number: ring.add(socket.as_raw_fd()),
            ring,
        })
    }

    /// Removes the socket from the ring. Returns true if no receive is in progress any more;
    /// otherwise the receive ends with the stream.
    pub(super) fn remove(self) -> bool {
        self.ring.remove(self.number)
    }
}
