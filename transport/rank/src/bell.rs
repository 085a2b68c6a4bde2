//! Wake-ups for a thread of a rank that sleeps on all its connections.
//!
//! The sleeping thread blocks on the descriptors of a [`Watcher`], so each ring is a system call.
//! Only threads that have found the sleeping thread registered, under a lock, ring. The bell
//! therefore needs no barrier on the path of a message, as a
//! [`DekkerFlag`](jstream_sync::flag::DekkerFlag) does: its flag only saves system calls.

#[cfg(all(test, loom))]
mod models;

use std::io;
use std::sync::{Arc, Mutex};
use std::task::{Wake, Waker};

use jstream_device::deadline::Deadline;
use jstream_sync::watcher::{WatchBuffers, Watcher};
use jstream_sync::{AtomicBool, Ordering, lock};

/// A wake-up source for one sleeping thread.
pub(super) struct Bell {
    clapper: Arc<Clapper>,
    waker: Waker,
    /// Memory for the sleeping thread.
    room: Mutex<WatchBuffers>,
}

struct Clapper {
    watcher: Arc<Watcher>,
    expected: Expected,
}

/// True if a thread sleeps or is about to. Only the first ring after each `set` reaches the
/// operating system.
struct Expected(AtomicBool);

impl Expected {
    fn new() -> Self {
        Self(AtomicBool::new(false))
    }

    fn set(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    fn forget(&self) {
        self.0.store(false, Ordering::SeqCst);
    }

    /// Clears the flag. Returns true if it was set, so that this ring has to wake the thread.
    fn take(&self) -> bool {
        self.0.swap(false, Ordering::SeqCst)
    }
}

impl Bell {
    pub(super) fn new() -> io::Result<Self> {
        let clapper = Arc::new(Clapper {
            watcher: Watcher::new()?,
            expected: Expected::new(),
        });
        Ok(Self {
            waker: clapper.clone().into(),
            clapper,
            room: Mutex::default(),
        })
    }

    /// Returns the waker that rings the bell.
    pub(super) fn waker(&self) -> &Waker {
        &self.waker
    }

    /// Returns the watcher whose sources ring the bell.
    pub(super) fn watcher(&self) -> &Arc<Watcher> {
        &self.clapper.watcher
    }

    /// Enables rings: from now on, a ring ends the next sleep.
    pub(super) fn expect(&self) {
        self.clapper.expected.set();
    }

    /// Disables rings: no thread is going to sleep before it has polled again.
    pub(super) fn forget(&self) {
        self.clapper.expected.forget();
    }

    pub(super) fn ring(&self) {
        self.clapper.ring();
    }

    /// Sleeps until the bell rings or the deadline has passed.
    pub(super) fn sleep(&self, until: Deadline) {
        let mut room = lock(&self.room);
        self.clapper.watcher.sleep(&mut room, until.left());
        // Callbacks that ring the bell now would find this thread awake.
        self.forget();
        self.clapper.watcher.call(&mut room);
    }
}

impl Clapper {
    fn ring(&self) {
        if self.expected.take() {
            self.watcher.ring();
        }
    }
}

impl Wake for Clapper {
    fn wake(self: Arc<Self>) {
        self.ring();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.ring();
    }
}
