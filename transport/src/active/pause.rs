//! Making way for others.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use super::turn;

/// Lets others run: an `async` handler that computes for long awaits it now and then. The first time it leaves the
/// receive loop and goes on at the executor.
pub fn yield_now() -> Yield {
    Yield(false)
}

/// See [`yield_now`].
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
        turn::make_way();
        context.waker().wake_by_ref();
        Poll::Pending
    }
}
