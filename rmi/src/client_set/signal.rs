//! Wake-ups of the thread of a set.

use std::sync::{Arc, Condvar, Mutex};
use std::task::Wake;
use std::time::{Duration, Instant};

use jstream_sync::{lock, unpoisoned};

/// Signal that ends the pause of the thread of a set. As a waker, it says that the list of members
/// has changed.
#[derive(Debug, Default)]
pub(super) struct SetSignal {
    state: Mutex<SignalState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct SignalState {
    is_due: bool,
    has_new_list: bool,
    is_over: bool,
}

impl SetSignal {
    fn set(&self, change: impl FnOnce(&mut SignalState)) {
        let mut state = lock(&self.state);
        state.is_due = true;
        change(&mut state);
        drop(state);
        self.changed.notify_all();
    }

    /// Ends the pause.
    pub(super) fn wake_thread(&self) {
        self.set(|_| ());
    }

    /// Ends the thread.
    pub(super) fn end(&self) {
        self.set(|state| state.is_over = true);
    }

    /// Returns true once after the list of members has changed.
    pub(super) fn takes_new_list(&self) -> bool {
        std::mem::take(&mut lock(&self.state).has_new_list)
    }

    /// Pauses for this time, or until the signal is set. Returns false if the thread is to end.
    pub(super) fn pause(&self, time: Duration) -> bool {
        let until = Instant::now().checked_add(time);
        let mut state = lock(&self.state);
        while !state.is_due && !state.is_over {
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            let Some(left) = left.filter(|left| !left.is_zero()) else {
                break;
            };
            state = unpoisoned(self.changed.wait_timeout(state, left)).0;
        }
        state.is_due = false;
        !state.is_over
    }
}

impl Wake for SetSignal {
    fn wake(self: Arc<Self>) {
        self.set(|state| state.has_new_list = true);
    }
}
