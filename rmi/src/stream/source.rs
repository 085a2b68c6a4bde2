//! Where the items of a stream come from.

use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use super::sender::Channel;
use super::word::MOST_ITEMS;

/// Items that come as fast as that go together.
const FAST: Duration = Duration::from_micros(50);
/// Items that come more slowly go one by one.
const SLOW: Duration = Duration::from_micros(200);

/// What makes items.
pub(super) enum Source<T> {
    /// This program's code, run where the items are sent.
    Made(Box<dyn Make<T>>),
    /// Senders.
    Channel(Arc<Channel<T>>),
}

/// What a source has to say when it has made items, or none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Made {
    /// Some at least.
    Some,
    /// Perhaps some, and no more.
    Last,
    /// None, and no more: its senders have panicked.
    Failed,
}

/// Code that makes items.
pub(super) trait Make<T>: Send {
    /// Puts items behind those in `into`, `most` at most. `Pending` only if it has put none.
    fn poll_make(
        &mut self,
        into: &mut Vec<T>,
        most: usize,
        context: &mut Context<'_>,
    ) -> Poll<Made>;
}

/// Who sends the items of a stream that is dropped is told.
impl<T> Drop for Source<T> {
    fn drop(&mut self) {
        if let Self::Channel(channel) = self {
            channel.refuse();
        }
    }
}

impl<T> Source<T> {
    pub(super) fn poll_make(
        &mut self,
        into: &mut Vec<T>,
        most: usize,
        context: &mut Context<'_>,
    ) -> Poll<Made> {
        match self {
            Self::Made(made) => made.poll_make(into, most, context),
            Self::Channel(channel) => channel.poll_take(into, most, context.waker()),
        }
    }
}

/// An iterator. How many of its items are waited for before they are sent depends on how fast they come: one that
/// takes its time waits for nothing behind it.
pub(super) struct Iterated<I> {
    items: I,
    together: usize,
}

impl<I> Iterated<I> {
    pub(super) fn new(items: I) -> Self {
        Self { items, together: 1 }
    }
}

impl<T, I: Iterator<Item = T> + Send> Make<T> for Iterated<I> {
    fn poll_make(&mut self, into: &mut Vec<T>, most: usize, _: &mut Context<'_>) -> Poll<Made> {
        let begun = Instant::now();
        let before = into.len();
        into.extend(self.items.by_ref().take(most.min(self.together)));
        let made = into.len().saturating_sub(before);
        if made < most.min(self.together) {
            return Poll::Ready(Made::Last);
        }
        let took = begun.elapsed();
        if took > SLOW {
            self.together = 1;
        } else if took < FAST && made == self.together {
            self.together = made.saturating_mul(2).min(MOST_ITEMS.into());
        }
        Poll::Ready(Made::Some)
    }
}

/// A function that is polled for items.
pub(super) struct Polled<F>(pub(super) F);

impl<T, F> Make<T> for Polled<F>
where
    F: FnMut(&mut Context<'_>) -> Poll<Option<T>> + Send,
{
    fn poll_make(
        &mut self,
        into: &mut Vec<T>,
        most: usize,
        context: &mut Context<'_>,
    ) -> Poll<Made> {
        for made in 0..most {
            match (self.0)(context) {
                Poll::Ready(Some(item)) => into.push(item),
                Poll::Ready(None) => return Poll::Ready(Made::Last),
                Poll::Pending if made == 0 => return Poll::Pending,
                // It is asked again before anybody waits.
                Poll::Pending => break,
            }
        }
        Poll::Ready(Made::Some)
    }
}

/// A source of which everything was taken elsewhere, and how it ended.
pub(super) struct Over(pub(super) Made);

impl<T> Make<T> for Over {
    fn poll_make(&mut self, _: &mut Vec<T>, _: usize, _: &mut Context<'_>) -> Poll<Made> {
        Poll::Ready(self.0)
    }
}
