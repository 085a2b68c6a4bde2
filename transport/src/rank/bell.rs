//! Where a thread of a rank sleeps for all its connections.

#[cfg(all(test, loom))]
mod models;

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Wake, Waker};

#[cfg(loom)]
use loom::sync::atomic::{AtomicBool, Ordering};
#[cfg(not(loom))]
use std::sync::atomic::{AtomicBool, Ordering};

use crate::device::deadline::Deadline;
use crate::endpoint::watcher::{Room, Watcher};

/// A place for one thread.
pub(super) struct Bell {
    clapper: Arc<Clapper>,
    waker: Waker,
    /// For the one who sleeps.
    room: Mutex<Room>,
}

struct Clapper {
    watcher: Arc<Watcher>,
    expected: Expected,
}

/// Somebody sleeps, or is about to. One ring is let through to the system for each time.
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

    /// Whether this ring is the one.
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

    /// What rings it.
    pub(super) fn waker(&self) -> &Waker {
        &self.waker
    }

    /// Where sources are watched that ring it.
    pub(super) fn watcher(&self) -> &Arc<Watcher> {
        &self.clapper.watcher
    }

    /// From now on a ring ends the next sleep.
    pub(super) fn expect(&self) {
        self.clapper.expected.set();
    }

    /// Nobody is going to sleep who has not looked.
    pub(super) fn forget(&self) {
        self.clapper.expected.forget();
    }

    pub(super) fn ring(&self) {
        self.clapper.ring();
    }

    /// Sleeps until something rings, or the deadline has passed.
    pub(super) fn sleep(&self, until: Deadline) {
        let mut room = self.room.lock().unwrap_or_else(PoisonError::into_inner);
        self.clapper.watcher.sleep(&mut room, until.left());
        // What is called now finds the sleeper awake.
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
