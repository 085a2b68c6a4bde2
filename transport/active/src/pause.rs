//! Cooperative yielding.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use super::turn;

/// Yields to other handlers. An `async` handler that computes for a long time should await this now
/// and then. The first time, the handler leaves the receive loop and continues at the executor.
pub fn yield_now() -> Yield {
    Yield(false)
}

/// Future of [`yield_now`].
#[derive(Debug)]
#[must_use = "a future does nothing unless it is polled"]
pub struct Yield(bool);

impl Future for Yield {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.0 {
            return Poll::Ready(());
        }
        self.0 = true;
        turn::mark_yielding();
        context.waker().wake_by_ref();
        Poll::Pending
    }
}
