//! Sources of the frames that a stream sends: values of this program, or frames from another peer.
//!
//! Decision 013 has the reasons.

use std::io::IoSlice;
use std::sync::Weak;
use std::task::{Context, Poll};

use jstream::{Limits, Transportable, WriteError};
use jstream_base::SendError;

use crate::frame::{CloseReason, MOST_ITEMS, written};
use crate::session::Frame;
use crate::stream::channel::Made;
use crate::stream::error::StreamError;
use crate::stream::frames::Frames;
use crate::stream::pump::{Drive, Ended, Fed, Feed, Sends};
use crate::stream::source::Source;
use crate::support::CallError;

/// Target size in bytes of a frame of small items.
const TOGETHER: usize = 32 << 10;

/// Values, which are encoded to frames when they are sent.
pub(super) struct Values<T> {
    source: Source<T>,
    /// Items of the next frame.
    items: Vec<T>,
    /// Average size in bytes of the items of the last frame.
    item_bytes: usize,
    /// True if the producer has panicked after making `items`.
    has_failed: bool,
}

impl<T> Values<T> {
    pub(super) fn new(source: Source<T>) -> Self {
        Self {
            source,
            items: Vec::new(),
            item_bytes: 1,
            has_failed: false,
        }
    }
}

impl<T: Transportable + Send + 'static> Feed for Values<T> {
    fn poll_fill(&mut self, room: usize, context: &mut Context<'_>) -> Poll<Fed> {
        // The last frame found no room or credit. Its items were made, and must not be made twice.
        if !self.items.is_empty() {
            return Poll::Ready(Fed::Some);
        }
        let failed = || Fed::Failed(Ended::Failed(CloseReason::Panicked));
        // Asked after the items that were made before the panic have been sent.
        if self.has_failed {
            return Poll::Ready(failed());
        }
        // The size of items is only known from those that were sent. Small items share a frame, and
        // a large one has its own.
        let most = TOGETHER.checked_div(self.item_bytes).unwrap_or(TOGETHER);
        let most = most.clamp(1, MOST_ITEMS.into()).min(room);
        let made = self.source.poll_make(&mut self.items, most, context);
        made.map(|made| match made {
            Made::Some => Fed::Some,
            Made::Last => Fed::Last,
            Made::Failed if self.items.is_empty() => failed(),
            Made::Failed => {
                self.has_failed = true;
                Fed::Some
            }
        })
    }

    fn count(&self) -> u16 {
        u16::try_from(self.items.len()).unwrap_or(MOST_ITEMS)
    }

    fn send(
        &mut self,
        limits: Limits,
        send: &mut Sends<'_>,
    ) -> Result<Poll<Result<(), SendError>>, WriteError> {
        written(&self.items.as_slice(), limits, send)
    }

    fn sent(&mut self, bytes: usize) {
        let items = self.items.len();
        self.item_bytes = bytes.checked_div(items).unwrap_or(bytes);
        self.items.clear();
    }

    fn attach(&self, pump: Weak<dyn Drive>) {
        if let Source::Channel(channel) = &self.source {
            channel.attach(pump);
        }
    }
}

/// Frames of a stream from a peer, which are forwarded without being decoded.
pub(super) struct Relayed {
    from: Result<Frames, Option<Ended>>,
    /// The next frame.
    next: Option<Frame>,
}

impl Relayed {
    /// Creates the source. `from` is `None` if items were already taken from the stream.
    pub(super) fn new(from: Option<Frames>) -> Self {
        Self {
            from: from.ok_or(Some(Ended::Received)),
            next: None,
        }
    }

    /// Creates the source for the result of a call that has failed.
    pub(super) fn failed(error: Option<StreamError>) -> Self {
        Self {
            from: Err(error.map(Ended::Passed)),
            next: None,
        }
    }
}

impl Feed for Relayed {
    fn poll_fill(&mut self, _: usize, context: &mut Context<'_>) -> Poll<Fed> {
        if self.next.is_some() {
            return Poll::Ready(Fed::Some);
        }
        let from = match &mut self.from {
            Ok(from) => from,
            // The reason is reported once. A later poll finds an end, like that of any stream.
            Err(ended) => return Poll::Ready(ended.take().map_or(Fed::Last, Fed::Failed)),
        };
        Poll::Ready(match from.poll_next(context) {
            Poll::Ready(Some(Ok(frame))) => {
                self.next = Some(frame);
                Fed::Some
            }
            Poll::Ready(Some(Err(error))) => Fed::Failed(match error {
                // Passed on as a panic, which it is for the final receiver as well.
                StreamError::Panicked | StreamError::Call(CallError::Panicked { .. }) => {
                    Ended::Failed(CloseReason::Panicked)
                }
                error => Ended::Passed(error),
            }),
            Poll::Ready(None) => Fed::Last,
            Poll::Pending => return Poll::Pending,
        })
    }

    fn count(&self) -> u16 {
        self.next.as_ref().map_or(0, |frame| frame.items)
    }

    fn send(
        &mut self,
        _: Limits,
        send: &mut Sends<'_>,
    ) -> Result<Poll<Result<(), SendError>>, WriteError> {
        let bytes = self.next.as_ref().map(|frame| frame.payload.as_bytes());
        Ok(send(&[IoSlice::new(bytes.unwrap_or_default())]))
    }

    fn sent(&mut self, _: usize) {
        if let (Some(frame), Ok(from)) = (self.next.take(), &self.from) {
            // The buffer goes back to its pool before the first sender may fill another one.
            let (items, bytes) = (frame.items, frame.bytes);
            drop(frame);
            from.done(items, bytes);
        }
    }
}
