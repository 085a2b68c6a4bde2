//! Streams whose items come from the peer.

use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use jstream::Transportable;

use crate::frame::{Key, read};
use crate::interface::{MessageConversion, Method};
use crate::session::{Clock, Inbox, Line};
use crate::stream::error::StreamError;
use crate::stream::frames::{Ending, Frames};
use crate::stream::item::{Item, Items};

/// The receiving side of a stream.
pub(crate) struct Receiving<T: Transportable + 'static> {
    frames: Frames,
    items: Items<T>,
    /// Number and size of the items in the current frame.
    frame: Option<(u16, u64)>,
    /// True if items were taken, or the stream has ended.
    has_begun: bool,
}

impl<T: Transportable + 'static> Receiving<T> {
    pub(super) fn new(line: Arc<dyn Line>, key: Key, inbox: Arc<Inbox>) -> Self {
        Self {
            frames: Frames::new(line, key, inbox),
            items: Items::none(),
            frame: None,
            has_begun: false,
        }
    }

    /// Makes the stream the result of a call.
    pub(super) fn belongs_to(
        &mut self,
        call: Ending,
        terms: (&'static Method, Option<Instant>),
        clock: &Clock,
    ) {
        self.frames.belongs_to(call, terms, clock);
    }

    /// Sets the conversion of the frames.
    pub(super) fn convert(&mut self, conversion: Option<Arc<MessageConversion>>) {
        self.frames.convert(conversion);
    }

    /// Returns true if the end of the stream has arrived, or the stream has stopped.
    pub(super) fn has_arrived(&self) -> bool {
        self.frames.has_arrived()
    }

    pub(super) fn line(&self) -> &Arc<dyn Line> {
        self.frames.line()
    }

    /// Returns the encoded frames, or `None` if items were already taken.
    pub(super) fn into_frames(self) -> Option<Frames> {
        // Items that were taken can't be forwarded any more, so the rest would be a stream with a
        // hole.
        (!self.has_begun).then_some(self.frames)
    }

    pub(super) fn poll_next(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Item<T>, StreamError>>> {
        loop {
            if let Some(item) = self.items.next() {
                return Poll::Ready(Some(Ok(item)));
            }
            // The grant is sent when the next item is asked for. A consumer that stops asking thus
            // stops the sender.
            self.leave_frame();
            let frame = match self.frames.poll_next(context) {
                Poll::Ready(Some(Ok(frame))) => frame,
                Poll::Ready(ended) => {
                    self.has_begun = true;
                    return Poll::Ready(ended.and_then(Result::err).map(Err));
                }
                Poll::Pending => return Poll::Pending,
            };
            self.has_begun = true;
            let limits = self.frames.line().limits();
            let count = match read::<&'static [T]>(frame.payload, limits) {
                Ok(items) => self.items.load(items),
                Err(source) => return self.fails(StreamError::Item { source }),
            };
            // The window was charged by the number in the header, which the receiver believes until
            // here.
            if count != usize::from(frame.items) {
                self.items.release();
                let rule = "a frame has a wrong number of items";
                return self.fails(StreamError::Broken { rule });
            }
            self.frame = Some((frame.items, frame.bytes));
        }
    }

    fn fails(&mut self, error: StreamError) -> Poll<Option<Result<Item<T>, StreamError>>> {
        self.frames.end();
        Poll::Ready(Some(Err(error)))
    }

    /// Finishes the current frame after all its items were taken.
    fn leave_frame(&mut self) {
        if let Some((items, bytes)) = self.frame.take() {
            self.items.release();
            self.frames.done(items, bytes);
        }
    }
}
