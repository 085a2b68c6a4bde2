//! The switch by which the layers around a call end its method.

use std::sync::Mutex;
use std::task::Waker;

use jstream_sync::callbacks;

use crate::support::lock;

/// A switch that ends an async method at its current `.await`.
#[derive(Debug, Default)]
pub(crate) struct StopSwitch(Mutex<SwitchState>);

#[derive(Debug, Default)]
struct SwitchState {
    is_stopped: bool,
    /// The task of the method.
    waker: Option<Waker>,
}

impl StopSwitch {
    /// Ends the method.
    pub(crate) fn stop(&self) {
        let mut state = lock(&self.0);
        state.is_stopped = true;
        if let Some(waker) = state.waker.take() {
            callbacks::wake(waker);
        }
    }

    /// Returns true if the method has to end. Else registers its task.
    pub(crate) fn is_stopped(&self, task: &Waker) -> bool {
        // The waker is cloned without the lock, because that may run code of the program.
        let task = task.clone();
        let mut state = lock(&self.0);
        if state.is_stopped {
            callbacks::discard([task]);
        } else {
            callbacks::discard(state.waker.replace(task));
        }
        state.is_stopped
    }

    /// Returns true if the method has to end, or must not begin.
    pub(crate) fn is_set(&self) -> bool {
        lock(&self.0).is_stopped
    }
}
