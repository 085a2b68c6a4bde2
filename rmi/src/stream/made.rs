//! A stream that this program makes: for a peer, or for the program itself.

use std::sync::Arc;
use std::task::{Context, Poll};

use jstream::{Limits, Received, Spent, Transportable};

use super::StreamError;
use super::feed::Values;
use super::flow::Flow;
use super::line::{Line, length};
use super::pump::{Drive, Ended, Pump};
use super::source::{Made, Over, Source};
use super::word::Key;
use crate::message::{read, written};

/// How many items go through one buffer in a program that takes what it makes: what is sent on then lacks none that
/// were not taken.
const TOGETHER: usize = 1;

/// Items that can be sent, whatever makes them.
pub(super) trait Here<T: Transportable + 'static>: Send {
    /// Takes some here, in a buffer of their own: as they would come from a peer.
    fn poll_frame(&mut self, context: &mut Context<'_>) -> Poll<Option<Frame<T>>>;

    /// Sends them as an argument.
    fn argument(self: Box<Self>, line: Arc<dyn Line>, key: Key, flow: Arc<Flow>) -> Arc<dyn Drive>;

    /// Sends them as a result: how many frames they were.
    fn result(self: Box<Self>, line: Arc<dyn Line>, key: Key, flow: Arc<Flow>) -> Run;
}

/// One item at least.
pub(super) type Frame<T> = Result<Received<&'static [T]>, StreamError>;

/// What sends the items of a result.
pub(super) type Run = std::pin::Pin<Box<dyn Future<Output = Result<u16, Ended>> + Send>>;

struct Local<T> {
    source: Source<T>,
    made: Vec<T>,
    /// How it ends, once that is known.
    last: Option<Made>,
}

pub(super) fn here<T>(source: Source<T>) -> Box<dyn Here<T>>
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
    /// What was not taken here.
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
                self.last = Some(Made::Last);
            }
            return Poll::Ready(Some(frame));
        }
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

/// What a peer would have of these items.
fn frame<T: Transportable + 'static>(items: &[T]) -> Frame<T> {
    let filled = written(&items, |segments| {
        let mut filling = Spent::heap(length(segments)).filling();
        for segment in segments {
            let fits = filling.extend(segment);
            debug_assert!(fits, "there is room for all of them");
        }
        filling.finish()
    });
    let filled = filled.map_err(StreamError::WriteFailure)?;
    read(filled, Limits::default()).map_err(|source| StreamError::Item { source })
}
