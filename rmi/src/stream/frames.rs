//! The frames of a stream that comes from the peer, which nobody has read yet.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use super::StreamError;
use super::flow::Stop;
use super::inbox::{Frame, Inbox, Taken};
use super::line::Line;
use super::word::{Key, CloseReason, Word};
use crate::clock::Clock;
use crate::error::CallError;

/// The end of a call whose result is a stream: how many frames it had.
pub(crate) type Ending = Pin<Box<dyn Future<Output = Result<u64, CallError>> + Send>>;

/// The side of a stream that takes, whatever the items are.
pub(super) struct Frames {
    line: Arc<dyn Line>,
    key: Key,
    inbox: Arc<Inbox>,
    /// The call, if the stream is its result.
    call: Option<Ending>,
    /// How it failed, which is told behind the items that have come.
    failed: Option<CallError>,
    /// When the time of the call is over.
    deadline: Option<Instant>,
    /// What that goes by.
    clock: Clock,
    ended: bool,
}

impl Frames {
    pub(super) fn new(line: Arc<dyn Line>, key: Key, inbox: Arc<Inbox>) -> Self {
        Self {
            line,
            key,
            inbox,
            call: None,
            failed: None,
            deadline: None,
            clock: Clock::SYSTEM,
            ended: false,
        }
    }

    /// It is the result of a call that ends so.
    pub(super) fn belongs_to(&mut self, call: Ending, deadline: Option<Instant>, clock: &Clock) {
        self.call = Some(call);
        self.deadline = deadline;
        self.clock = clock.clone();
    }

    pub(super) fn line(&self) -> &Arc<dyn Line> {
        &self.line
    }

    /// The next one: none when there are no more, or after an error.
    pub(super) fn poll_next(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame, StreamError>>> {
        loop {
            if self.ended {
                return Poll::Ready(None);
            }
            // However much has come: whoever waits for the call would not see the end of its time.
            if self.deadline.is_some_and(|then| then <= self.clock.now()) {
                let _ = self.poll_call(context);
                if let Some(error) = self.failed.take() {
                    return self.fails(error.into());
                }
            }
            match self.inbox.take(context.waker()) {
                Taken::Frame(frame) => return Poll::Ready(Some(Ok(frame))),
                Taken::Nothing => match (self.failed.take(), self.poll_call(context)) {
                    (Some(error), _) => return self.fails(error.into()),
                    // Items may have come before the end of the call.
                    (None, Poll::Ready(())) => {}
                    (None, Poll::Pending) => return Poll::Pending,
                },
                Taken::End(CloseReason::Ended) => self.ended = true,
                Taken::End(CloseReason::GivenUp) => return self.fails(StreamError::GivenUp),
                Taken::End(CloseReason::Panicked) => return self.fails(StreamError::Panicked),
                Taken::End(CloseReason::Unsent) => return self.fails(StreamError::Unsent),
                // What the call has given last may be that all items are here.
                Taken::Stop(Stop::Lost(_)) if self.has_ended_well(context) => {}
                Taken::Stop(stop) => return self.stopped(stop),
            }
        }
    }

    /// Whether the call is over, if there is one that the stream waits for: then it is known how.
    fn poll_call(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let Some(call) = &mut self.call else {
            return Poll::Pending;
        };
        let Poll::Ready(result) = call.as_mut().poll(context) else {
            return Poll::Pending;
        };
        self.call = None;
        match result {
            Ok(frames) => {
                let frames = u16::try_from(frames & u64::from(u16::MAX)).unwrap_or(0);
                self.inbox.close(CloseReason::Ended, frames);
            }
            Err(error) => self.failed = Some(error),
        }
        Poll::Ready(())
    }

    /// Whether the call has just told how many items there were.
    fn has_ended_well(&mut self, context: &mut Context<'_>) -> bool {
        self.poll_call(context).is_ready() && self.failed.is_none()
    }

    /// Why there are no more items, of which the call may know more.
    fn stopped(&mut self, stop: Stop) -> Poll<Option<Result<Frame, StreamError>>> {
        let error = match stop {
            Stop::Broken(rule) => StreamError::Broken { rule },
            Stop::Unwanted => StreamError::GivenUp,
            Stop::Lost(reason) => match self.failed.take() {
                Some(error) => error.into(),
                None => StreamError::Lost {
                    reason: reason.to_string(),
                },
            },
        };
        self.fails(error)
    }

    fn fails(&mut self, error: StreamError) -> Poll<Option<Result<Frame, StreamError>>> {
        self.end();
        Poll::Ready(Some(Err(error)))
    }

    /// There are to be no more.
    pub(super) fn end(&mut self) {
        self.ended = true;
        self.call = None;
    }

    /// A frame is done with: the peer may send others in its place.
    pub(super) fn done(&self, items: u16, bytes: u64) {
        if let Some(frames) = self.inbox.done(items, bytes) {
            self.line.post(Word::Grant { frames }.pack(self.key));
        }
    }
}

impl Drop for Frames {
    fn drop(&mut self) {
        self.line.streams().remove(self.key);
        // A call that is dropped ends its stream by itself.
        if !self.key.ours && !self.inbox.is_closed() {
            let close = Word::Close {
                why: CloseReason::Ended,
                frames: 0,
            };
            self.line.post(close.pack(self.key));
        }
    }
}
