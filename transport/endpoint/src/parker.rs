//! Thread parking through the [`Waker`] interface.

use std::sync::Arc;
use std::task::{Wake, Waker};
use std::thread::{self, Thread};

use jstream_device::deadline::Deadline;

struct Sleeper(Thread);

impl Wake for Sleeper {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.unpark();
    }
}

thread_local! {
    static WAKER: Waker = Arc::new(Sleeper(thread::current())).into();
}

/// The parker of the current thread.
pub struct Parker(Waker);

impl Parker {
    /// Returns the parker of the current thread.
    #[must_use]
    pub fn of_thread() -> Self {
        let made = || Arc::new(Sleeper(thread::current())).into();
        Self(WAKER.try_with(Waker::clone).unwrap_or_else(|_| made()))
    }

    /// Returns the waker that unparks the thread.
    #[must_use]
    pub fn waker(&self) -> &Waker {
        &self.0
    }

    /// Parks the thread until it is woken, or the deadline has passed. May return spuriously.
    pub fn park(&self, until: Deadline) {
        match until.left() {
            Some(left) => thread::park_timeout(left),
            None => thread::park(),
        }
    }
}
