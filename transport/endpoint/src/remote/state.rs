//! State of puts and gets in the receive direction.

use std::task::Waker;

use super::asker::Asks;
use super::owner::Exposed;

/// State of puts and gets in the receive direction.
#[derive(Default)]
pub(crate) struct RemoteState {
    pub(super) exposed: Exposed,
    pub(super) asks: Asks,
    /// True if no more messages can be kept for later, so that frames behind them have to wait.
    pub(super) stuck: bool,
    /// True if the frame that is being received goes to the scratch buffer.
    pub(super) scratched: bool,
    /// Total length of the kept messages, in bytes.
    pub(crate) kept_bytes: u64,
}

impl RemoteState {
    /// Returns true if frames may arrive. Then a thread that drives the direction receives them,
    /// even if no receive waits for a message.
    pub(crate) fn is_active(&self) -> bool {
        !self.exposed.is_empty() || !self.asks.is_empty()
    }

    /// Returns true if `task` waits for an answer.
    pub(crate) fn is_awaited_by(&self, task: &Waker) -> bool {
        self.asks.is_awaited_by(task)
    }

    /// Returns true if the direction makes progress when bytes arrive.
    pub(crate) fn is_waiting(&self) -> bool {
        self.is_active() && !self.stuck
    }
}
