//! What the frames of a stream on its way are made of: values of this program, or what comes from another peer.

use std::io::IoSlice;
use std::sync::Weak;
use std::task::{Context, Poll};

use jstream::{Transportable, WriteError};
use jstream_transport::SendError;

use super::StreamError;
use super::frames::Frames;
use super::inbox::Frame;
use super::pump::{Drive, Ended, Fed, Feed, Sends};
use super::source::{Made, Source};
use super::word::{MOST_ITEMS, CloseReason};
use crate::error::CallError;
use crate::message::written;

/// What small items of one frame come to, in bytes.
const TOGETHER: usize = 32 << 10;

/// Values, which become frames as they are sent.
pub(super) struct Values<T> {
    source: Source<T>,
    /// Items that are to go next.
    items: Vec<T>,
    /// How many bytes an item had last.
    item_bytes: usize,
    /// Who makes them has panicked, behind those that are here.
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
        if !self.items.is_empty() {
            return Poll::Ready(Fed::Some);
        }
        let failed = || Fed::Failed(Ended::Failed(CloseReason::Panicked));
        if self.has_failed {
            return Poll::Ready(failed());
        }
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

    fn send(&mut self, send: &mut Sends<'_>) -> Result<Poll<Result<(), SendError>>, WriteError> {
        written(&self.items.as_slice(), send)
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

/// The frames of a stream that comes from a peer: they go on as they came, and nobody reads them here.
pub(super) struct Relayed {
    from: Result<Frames, Option<Ended>>,
    /// What is to go next.
    next: Option<Frame>,
}

impl Relayed {
    /// None of a stream of which some was taken.
    pub(super) fn new(from: Option<Frames>) -> Self {
        Self {
            from: from.ok_or(Some(Ended::Received)),
            next: None,
        }
    }

    /// That of a call which has failed.
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
            Err(ended) => return Poll::Ready(ended.take().map_or(Fed::Last, Fed::Failed)),
        };
        Poll::Ready(match from.poll_next(context) {
            Poll::Ready(Some(Ok(frame))) => {
                self.next = Some(frame);
                Fed::Some
            }
            Poll::Ready(Some(Err(error))) => Fed::Failed(match error {
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

    fn send(&mut self, send: &mut Sends<'_>) -> Result<Poll<Result<(), SendError>>, WriteError> {
        let bytes = self.next.as_ref().map(|frame| frame.payload.as_bytes());
        Ok(send(&[IoSlice::new(bytes.unwrap_or_default())]))
    }

    fn sent(&mut self, bytes: usize) {
        if let (Some(frame), Ok(from)) = (self.next.take(), &self.from) {
            let items = frame.items;
            drop(frame);
            from.done(items, bytes as u64);
        }
    }
}
