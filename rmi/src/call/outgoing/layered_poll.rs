//! The trait by which a call in flight polls its layers.

use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use crate::call::outgoing::reply::UnreadResult;
use crate::session::{Clock, Line};
use crate::support::CallError;

/// A call within its layers, whose attempts are calls of their own.
pub(super) trait LayeredPoll: Send {
    /// Polls for the message of the result.
    ///
    /// # Panics
    ///
    /// If the call has returned its result before.
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Result<UnreadResult, CallError>>;

    /// Returns the connection that a waiting thread serves.
    fn line(&self) -> Option<Arc<dyn Line>>;

    /// Returns the deadline, and the clock by which it is.
    fn deadline(&self) -> Option<(Instant, Clock)>;
}
