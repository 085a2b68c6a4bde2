//! How rings end: with their threads, or when the last socket is gone.

use std::io;
use std::time::Duration;

use io_uring::types::Timespec;

use super::ring::Ring;
use super::state::State;
use super::system::enter;
use crate::device::deadline::Deadline;

/// How long whoever ends a ring waits for the system to let go of its buffers.
const LET_GO: Duration = Duration::from_secs(2);
/// After how long it asks again.
const AGAIN: Duration = Duration::from_millis(50);

impl Ring {
    /// Its thread ends.
    pub(super) fn end(&self) {
        let mut state = self.state();
        if self.let_go(&mut state).unwrap_or(false) {
            state.over = true;
        }
        state.wake_all();
        self.leave(state);
    }

    /// Ends all receives for good. Whether they have ended, so that the system writes to no buffer any
    /// more.
    fn let_go(&self, state: &mut State) -> io::Result<bool> {
        let deadline = Deadline::after(LET_GO);
        while state.receivers.iter().flatten().any(|it| it.receiving) {
            if !self.obeys() || deadline.has_passed() {
                return Ok(false);
            }
            for number in 0..state.receivers.len() {
                self.cancel(state, number)?;
            }
            if state.receivers.iter().flatten().any(|it| it.receiving) {
                let soon = deadline.or_sooner(Deadline::after(AGAIN));
                enter(&self.uring, 0, 1, soon.left().map(Timespec::from).as_ref())?;
                self.look(state)?;
            }
        }
        Ok(true)
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        let state = &mut *self.state();
        if !self.let_go(state).unwrap_or(false) {
            state.buffers.leak();
        }
    }
}
