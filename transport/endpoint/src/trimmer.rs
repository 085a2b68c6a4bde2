//! Return of the memory of large messages to the system, once a connection has had none for a
//! while.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::task::{Wake, Waker};
use std::time::Duration;

use jstream::buffer::Pool;

use super::timer::Timer;
use jstream_device::deadline::Deadline;

/// Messages of at least this many bytes are large.
const LARGE: u64 = 1 << 20;

/// Time after the last large message after which the pool is trimmed. As long as it does not become
/// idle, the time doubles, up to `MOST_DOUBLINGS` times.
const DELAY: Duration = Duration::from_secs(4);
const MOST_DOUBLINGS: u32 = 5;

/// Timer of a connection that trims its pool. The end of a connection trims the pool, too, but
/// clients keep their connections.
pub(crate) struct Trimmer {
    pool: Pool,
    /// `None` in the lock if the system has no room for a timer.
    timer: OnceLock<Option<(Timer, Waker)>>,
    doublings: AtomicU32,
}

impl Trimmer {
    pub(crate) fn new(pool: Pool) -> Arc<Self> {
        Arc::new(Self {
            pool,
            timer: OnceLock::new(),
            doublings: AtomicU32::new(0),
        })
    }

    /// Records that a message of `length` bytes was received, or copied to be sent.
    #[inline]
    pub(crate) fn record(self: &Arc<Self>, length: u64) {
        if length >= LARGE {
            // A large message means that the pool is in use again, so the next check comes soon.
            self.doublings.store(0, Ordering::Relaxed);
            self.schedule();
        }
    }

    #[cold]
    fn schedule(self: &Arc<Self>) {
        let timer = self.timer.get_or_init(|| {
            let timer = Arc::new(Late(Arc::downgrade(self)));
            Some((Timer::new().ok()?, timer.into()))
        });
        if let Some((timer, waker)) = timer {
            let doublings = self.doublings.load(Ordering::Relaxed);
            let delay = DELAY.saturating_mul(1 << doublings.min(MOST_DOUBLINGS));
            // Each large message moves the timer. A later time makes no system call.
            timer.set(Deadline::after(delay), waker);
        }
    }

    fn trim(self: &Arc<Self>) {
        let doublings = self.doublings.load(Ordering::Relaxed);
        // Other connections may keep the pool busy, so the checks become rarer and then end.
        if self.pool.trim_if_idle() == 0 && doublings < MOST_DOUBLINGS {
            self.doublings
                .store(doublings.saturating_add(1), Ordering::Relaxed);
            self.schedule();
        }
    }
}

/// Waker that the timer calls.
struct Late(Weak<Trimmer>);

impl Wake for Late {
    fn wake(self: Arc<Self>) {
        if let Some(trimmer) = self.0.upgrade() {
            trimmer.trim();
        }
    }
}
