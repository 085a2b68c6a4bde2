//! Streams whose items this program makes, for a peer or for its own use.

use std::sync::Arc;
use std::task::{Context, Poll};

use jstream::{EmptyBuffer, Limits, Received, Transportable};

use crate::frame::{Key, length, read, written};
use crate::session::{Flow, Line};
use crate::stream::channel::Made;
use crate::stream::error::StreamError;
use crate::stream::feed::Values;
use crate::stream::pump::{Drive, Ended, Pump};
use crate::stream::source::{Over, Source};

/// Number of items per buffer if the program itself takes the items of its stream. With 1, no items
/// are lost if the rest of the stream is then sent to a peer.
const TOGETHER: usize = 1;

/// Items that can be sent or taken, with their source erased.
pub(super) trait Here<T: Transportable + 'static>: Send {
    /// Takes items locally, in a buffer like that of a received frame.
    fn poll_frame(&mut self, context: &mut Context<'_>) -> Poll<Option<Frame<T>>>;

    /// Sends the items as an argument.
    fn argument(self: Box<Self>, line: Arc<dyn Line>, key: Key, flow: Arc<Flow>) -> Arc<dyn Drive>;

    /// Sends the items as a result. The future returns the number of frames.
    fn result(self: Box<Self>, line: Arc<dyn Line>, key: Key, flow: Arc<Flow>) -> Run;
}

/// A frame with at least one item.
pub(super) type Frame<T> = Result<Received<&'static [T]>, StreamError>;

/// Future that sends the items of a result.
pub(super) type Run = std::pin::Pin<Box<dyn Future<Output = Result<u16, Ended>> + Send>>;

struct Local<T> {
    source: Source<T>,
    made: Vec<T>,
    /// The end of the stream, once it is known.
    last: Option<Made>,
}

pub(super) fn local<T>(source: Source<T>) -> Box<dyn Here<T>>
where
    T: Transportable + Send + 'static,
{
    Box::new(Local {
        source,
        made: Vec::new(),
        last: None,
    })
}

impl<T: Transportable + Send + 'static> Local<T> {
    /// Returns the source of the items that were not taken locally.
    fn rest(self) -> Source<T> {
        match self.last {
            None => self.source,
            Some(last) => Source::Made(Box::new(Over(last))),
        }
    }
}

impl<T: Transportable + Send + 'static> Here<T> for Local<T> {
    fn poll_frame(&mut self, context: &mut Context<'_>) -> Poll<Option<Frame<T>>> {
        if self.last.is_none() {
            match self.source.poll_make(&mut self.made, TOGETHER, context) {
                Poll::Ready(Made::Some) => {}
                Poll::Ready(last) => self.last = Some(last),
                Poll::Pending => return Poll::Pending,
            }
        }
        if !self.made.is_empty() {
            let frame = frame(&self.made);
            self.made.clear();
            if frame.is_err() {
                // A stream ends with its first error, like one from a peer.
                self.last = Some(Made::Last);
            }
            return Poll::Ready(Some(frame));
        }
        // A panic is reported once.
        Poll::Ready(match self.last.replace(Made::Last) {
            Some(Made::Failed) => Some(Err(StreamError::Panicked)),
            _ => None,
        })
    }

    fn argument(self: Box<Self>, line: Arc<dyn Line>, key: Key, flow: Arc<Flow>) -> Arc<dyn Drive> {
        Pump::new(line, key, flow, Values::new((*self).rest()), true)
    }

    fn result(self: Box<Self>, line: Arc<dyn Line>, key: Key, flow: Arc<Flow>) -> Run {
        Box::pin(Pump::new(line, key, flow, Values::new((*self).rest()), false).run())
    }
}

/// Encodes the items and reads them in place, as a peer would receive them.
fn frame<T: Transportable + 'static>(items: &[T]) -> Frame<T> {
    // Through the same encoding as for a peer, so that a consumer gets the same types and the same
    // errors.
    let filled = written(&items, Limits::default(), |segments| {
        let mut filling = EmptyBuffer::heap(length(segments)).writer();
        for segment in segments {
            let fits = filling.extend(segment);
            debug_assert!(fits, "there is room for all of them");
        }
        filling.finish()
    });
    let filled = filled.map_err(StreamError::WriteFailure)?;
    read(filled, Limits::default()).map_err(|source| StreamError::Item { source })
}
