//! Tasks and threads that wait for events of streams.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Wake, Waker};
use std::time::{Duration, Instant};

use jstream_sync::parker::Parker;
use jstream_sync::wakers::WakerList;

use crate::support::lock;

/// Tasks that wait for the same event. Each is woken once per registration.
#[derive(Debug, Default)]
pub(crate) struct Tasks {
    waiting: Mutex<WakerList>,
}

impl Tasks {
    /// Registers `task` for the next wake-up.
    pub(crate) fn register(&self, task: &Waker) {
        lock(&self.waiting).insert(task);
    }

    pub(crate) fn wake_all(&self) {
        // The list is taken under the lock, and the wakers are called without it.
        let waiting = lock(&self.waiting).take();
        waiting.wake_all();
    }
}

impl Wake for Tasks {
    fn wake(self: Arc<Self>) {
        self.wake_all();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.wake_all();
    }
}

/// A flag for which a thread waits. A wake-up sets it; it stays set until it is cleared.
#[derive(Debug, Default)]
pub(crate) struct Signal {
    set: AtomicBool,
    tasks: Tasks,
}

impl Signal {
    /// Blocks until the signal is set, or the time is over.
    pub(crate) fn park(&self, until: Option<Instant>) {
        let parker = Parker::of_thread();
        while !self.is_set_or_tells(Some(parker.waker())) {
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            if left == Some(Duration::ZERO) {
                return;
            }
            parker.park(left);
        }
    }

    pub(crate) fn clear(&self) {
        self.set.store(false, Ordering::SeqCst);
    }

    /// Returns true if the signal is set. If not, `task` is woken when it is.
    pub(crate) fn is_set_or_tells(&self, task: Option<&Waker>) -> bool {
        if let Some(task) = task {
            // Registered before the flag is read. `wake_by_ref` sets the flag before it takes the
            // list, so one of both sees the other.
            self.tasks.register(task);
        }
        self.set.load(Ordering::SeqCst)
    }
}

impl Wake for Signal {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.set.store(true, Ordering::SeqCst);
        self.tasks.wake_all();
    }
}
