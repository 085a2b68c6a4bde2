//! End of rings: with their threads, or when the last socket is gone.

use std::io;
use std::time::Duration;

use io_uring::types::Timespec;

use super::ring::ReceiveRing;
use super::state::RingState;
use super::system::enter;
use crate::deadline::Deadline;

/// Maximum time for which the end of a ring waits until the kernel has released its buffers.
const LET_GO: Duration = Duration::from_secs(2);
/// Interval of new attempts.
const AGAIN: Duration = Duration::from_millis(50);

impl ReceiveRing {
    /// Ends the ring when its thread ends.
    pub(super) fn end(&self) {
        let mut state = self.state();
        if self.let_go(&mut state).unwrap_or(false) {
            state.over = true;
        }
        state.wake_all();
        self.unlock(state);
    }

    /// Ends all receives. Returns true if all of them have ended, so that the kernel does not write
    /// to the buffers any more.
    fn let_go(&self, state: &mut RingState) -> io::Result<bool> {
        let deadline = Deadline::after(LET_GO);
        while state.receivers.iter().flatten().any(|it| it.receiving) {
            if !self.obeys() || deadline.has_passed() {
                return Ok(false);
            }
            for number in 0..state.receivers.len() {
                self.cancel(state, number)?;
            }
            if state.receivers.iter().flatten().any(|it| it.receiving) {
                let retry_deadline = deadline.or_sooner(Deadline::after(AGAIN));
                enter(
                    &self.uring,
                    0,
                    1,
                    retry_deadline.left().map(Timespec::from).as_ref(),
                )?;
                self.process_completions(state)?;
            }
        }
        Ok(true)
    }
}

impl Drop for ReceiveRing {
    fn drop(&mut self) {
        let state = &mut *self.state();
        if !self.let_go(state).unwrap_or(false) {
            state.buffers.leak();
        }
    }
}
