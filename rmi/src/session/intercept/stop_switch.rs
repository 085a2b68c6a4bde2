//! The switch by which the layers around a call end its method.

use std::sync::Mutex;
use std::task::Waker;

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
        let waker = {
            let mut state = lock(&self.0);
            state.is_stopped = true;
            state.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Returns true if the method has to end. Else registers its task.
    pub(crate) fn is_stopped(&self, task: &Waker) -> bool {
        let mut state = lock(&self.0);
        if !state.is_stopped {
            state.waker = Some(task.clone());
        }
        state.is_stopped
    }

    /// Returns true if the method has to end, or must not begin.
    pub(crate) fn is_set(&self) -> bool {
        lock(&self.0).is_stopped
    }
}
