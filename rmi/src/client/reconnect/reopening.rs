//! Operations that begin when the connection is open again.

use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use super::reconnection::Reconnection;
use crate::session::{Alarm, Clock, until_ready};
use crate::support::{Operation, StepEnd, Steps};

/// The wait for a connection that is open. Ends when the patience of the client is over.
struct Reopening<F> {
    link: Arc<Reconnection>,
    key: Option<u64>,
    until: Option<Instant>,
    /// Ends the wait of a task in time.
    alarm: Option<Alarm>,
    then: Option<F>,
}

/// Returns an operation that waits for a connection, and calls `then` with true if it is open.
pub(crate) fn when_open<T: 'static>(
    link: Arc<Reconnection>,
    then: impl FnOnce(bool) -> StepEnd<T> + Send + 'static,
) -> Operation<T> {
    let until = Instant::now().checked_add(link.patience());
    Operation::new(Reopening {
        link,
        key: None,
        until,
        alarm: None,
        then: Some(then),
    })
}

impl<F> Reopening<F> {
    fn end<T>(&mut self, is_open: bool) -> StepEnd<T>
    where
        F: FnOnce(bool) -> StepEnd<T>,
    {
        match self.then.take() {
            Some(then) => then(is_open),
            None => panic!("the operation has already returned its result"),
        }
    }
}

impl<T, F: FnOnce(bool) -> StepEnd<T> + Send> Steps<T> for Reopening<F> {
    fn wait(mut self: Box<Self>) -> StepEnd<T> {
        let (link, mut key) = (self.link.clone(), self.key);
        let poll = |context: &mut Context<'_>| link.poll_open(&mut key, context);
        let is_open = until_ready(|| None, self.until, poll);
        // The drop removes the waker of this wait.
        self.key = key;
        self.end(is_open.unwrap_or(false))
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<StepEnd<T>> {
        let polled = self.link.poll_open(&mut self.key, context);
        match (polled, self.until) {
            (Poll::Ready(is_open), _) => Poll::Ready(self.end(is_open)),
            // After the poll, so that a connection which is open counts.
            (Poll::Pending, Some(until)) if until <= Instant::now() => Poll::Ready(self.end(false)),
            (Poll::Pending, Some(until)) => {
                // Without an alarm, each attempt to connect wakes this wait.
                self.alarm = self
                    .alarm
                    .take()
                    .or_else(|| Alarm::new(&Clock::SYSTEM).ok());
                if let Some(alarm) = &self.alarm {
                    alarm.set(until, context.waker());
                }
                Poll::Pending
            }
            (Poll::Pending, None) => Poll::Pending,
        }
    }
}

impl<F> Drop for Reopening<F> {
    fn drop(&mut self) {
        if let Some(key) = self.key {
            self.link.cancel(key);
        }
    }
}
