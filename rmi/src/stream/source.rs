//! Sources of the items of a stream.

use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use crate::frame::MOST_ITEMS;
use crate::stream::channel::{Channel, Made};

/// If a batch of items takes less time than this, the batch size is doubled.
const FAST: Duration = Duration::from_micros(50);

/// If a batch takes longer than this, the batch size is reset to one.
const SLOW: Duration = Duration::from_micros(200);

/// A source of items.
pub(super) enum Source<T> {
    /// Code of the program, which runs on the thread that sends the items.
    Made(Box<dyn Make<T>>),
    /// A buffer that senders fill.
    Channel(Arc<Channel<T>>),
}

/// Code that makes items.
pub(super) trait Make<T>: Send {
    /// Appends at most `most` items to `into`. Returns `Pending` only if no item was appended.
    fn poll_make(
        &mut self,
        into: &mut Vec<T>,
        most: usize,
        context: &mut Context<'_>,
    ) -> Poll<Made>;
}

/// Informs the senders that the stream was dropped.
impl<T> Drop for Source<T> {
    fn drop(&mut self) {
        if let Self::Channel(channel) = self {
            // Senders that wait get their items back instead of waiting for ever.
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

/// An iterator. The number of items that are collected before they are sent adapts to the speed of
/// the iterator, so an item of a slow iterator is sent at once.
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
        // Fewer than were asked for mean that the iterator has ended, so it is not called again
        // after its `None`.
        if made < most.min(self.together) {
            return Poll::Ready(Made::Last);
        }
        let took = begun.elapsed();
        // The next item may take as long, so it is sent when it is made.
        if took > SLOW {
            self.together = 1;
        // If the room was the limit, the time says nothing about a larger batch.
        } else if took < FAST && made == self.together {
            self.together = made.saturating_mul(2).min(MOST_ITEMS.into());
        }
        Poll::Ready(Made::Some)
    }
}

/// A function that is polled for items.
pub(crate) struct Polled<F>(pub(crate) F);

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
                // The function is polled again before the stream waits, so the waker is not lost.
                Poll::Pending => break,
            }
        }
        Poll::Ready(Made::Some)
    }
}

/// A source whose items were all taken, and the state in which it ended.
pub(crate) struct Over(pub(crate) Made);

impl<T> Make<T> for Over {
    fn poll_make(&mut self, _: &mut Vec<T>, _: usize, _: &mut Context<'_>) -> Poll<Made> {
        Poll::Ready(self.0)
    }
}
