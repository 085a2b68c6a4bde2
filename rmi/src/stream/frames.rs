//! Encoded frames of a stream from the peer.
//!
//! The outcome of a call can be known before the frames that its server has sent earlier: a thread
//! that receives for the connection, but runs no handlers, records answers and leaves frames to the
//! next thread that serves. So a task that knows the outcome serves the connection itself. It would
//! otherwise wait for a thread that need not exist, or miss items that came before an error.
//!
//! Decision 013 has the reasons.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use jstream_active::Attendant;

use crate::frame::{CloseReason, Key, Word};
use crate::interface::{MessageConversion, Method};
use crate::session::{Alarm, Clock, Frame, Inbox, Line, Stop, Taken};
use crate::stream::error::StreamError;
use crate::support::{CallError, Outcome};

/// Future of a call whose result is a stream. Returns the number of frames of the stream.
pub(crate) type Ending = Pin<Box<dyn Future<Output = Result<u64, CallError>> + Send>>;

/// The receiving side of a stream, independent of the item type.
pub(super) struct Frames {
    line: Arc<dyn Line>,
    key: Key,
    inbox: Arc<Inbox>,
    /// The call, if the stream is its result and it has not ended.
    call: Option<Ending>,
    /// True if the stream is the result of a call of this side.
    is_result: bool,
    /// Error of the call. It is returned after the items that have arrived.
    failed: Option<CallError>,
    /// The method of the call and its deadline, if the stream is its result and has one.
    deadline: Option<(&'static Method, Instant)>,
    /// Clock of the deadline.
    clock: Clock,
    /// Wakes the task at the deadline, if items are missing after the call has ended.
    alarm: Option<Alarm>,
    /// Serves the connection while items may be missing after the call has ended.
    attendant: Option<Box<Attendant>>,
    ended: bool,
    /// Conversion of the frames of another version.
    conversion: Option<Arc<MessageConversion>>,
}

impl Frames {
    pub(super) fn new(line: Arc<dyn Line>, key: Key, inbox: Arc<Inbox>) -> Self {
        Self {
            line,
            key,
            inbox,
            call: None,
            is_result: false,
            failed: None,
            deadline: None,
            clock: Clock::SYSTEM,
            alarm: None,
            attendant: None,
            ended: false,
            conversion: None,
        }
    }

    /// Sets the conversion of the frames.
    pub(super) fn convert(&mut self, conversion: Option<Arc<MessageConversion>>) {
        self.conversion = conversion;
    }

    /// Makes the stream the result of a call.
    pub(super) fn belongs_to(
        &mut self,
        call: Ending,
        (method, deadline): (&'static Method, Option<Instant>),
        clock: &Clock,
    ) {
        self.call = Some(call);
        self.is_result = true;
        self.deadline = deadline.map(|deadline| (method, deadline));
        self.clock = clock.clone();
    }

    /// Returns true if the end of the stream has arrived, or the stream has stopped.
    pub(super) fn has_arrived(&self) -> bool {
        self.ended || self.failed.is_some() || self.inbox.is_closed()
    }

    pub(super) fn line(&self) -> &Arc<dyn Line> {
        &self.line
    }

    /// Polls for the next frame. Returns `None` at the end of the stream and after an error.
    pub(super) fn poll_next(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame, StreamError>>> {
        loop {
            if self.ended {
                return Poll::Ready(None);
            }
            // Check the deadline even if frames are available: polling only the inbox would never
            // notice it.
            if self.overdue_method().is_some() {
                // The call may have ended well at the last moment, which the inbox shows below.
                let _ = self.poll_call(context);
                if let Some(error) = self.failed.take() {
                    return self.fails(error.into());
                }
            }
            match self.inbox.poll_frame(context.waker()) {
                Taken::Frame(frame) => {
                    // A task that takes items must not be woken in place of one that waits.
                    self.attendant = None;
                    let Some(conversion) = &self.conversion else {
                        return Poll::Ready(Some(Ok(frame)));
                    };
                    match conversion.convert(frame.payload.as_bytes()) {
                        Ok(payload) => {
                            // The count of bytes stays that of the frame as it arrived, by which
                            // the window of the sender counts.
                            return Poll::Ready(Some(Ok(Frame { payload, ..frame })));
                        }
                        Err(reason) => return self.fails(StreamError::OtherVersion { reason }),
                    }
                }
                Taken::Nothing if self.failed.is_some() && self.attends(context) => {}
                // Before the call is polled: an error that this poll finds may stand behind items
                // that have arrived since the inbox was looked at.
                Taken::Nothing => match (self.failed.take(), self.poll_call(context)) {
                    (Some(error), _) => return self.fails(error.into()),
                    // Items may have arrived before the call ended.
                    (None, Poll::Ready(())) => {}
                    (None, Poll::Pending) => match self.poll_missing(context) {
                        Poll::Ready(error) => return self.fails(error.into()),
                        Poll::Pending if self.attends(context) => {}
                        Poll::Pending => return Poll::Pending,
                    },
                },
                Taken::End(CloseReason::Ended) => self.ended = true,
                Taken::End(CloseReason::GivenUp) => return self.fails(StreamError::GivenUp),
                Taken::End(CloseReason::Panicked) => return self.fails(StreamError::Panicked),
                Taken::End(CloseReason::Unsent) => return self.fails(StreamError::Unsent),
                // The last answer of the call may state that all items have arrived. Items that
                // were received before the connection was lost may not have been handled.
                Taken::Stop(Stop::Lost(_))
                    if self.has_ended_well(context) || self.attends(context) => {}
                Taken::Stop(stop) => return self.stopped(stop),
            }
        }
    }

    /// Polls the call, if it has not ended, and records its outcome.
    fn poll_call(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let Some(call) = &mut self.call else {
            // The inbox wakes the task.
            return Poll::Pending;
        };
        let Poll::Ready(result) = call.as_mut().poll(context) else {
            return Poll::Pending;
        };
        self.call = None;
        match result {
            Ok(frames) => {
                // Numbers of frames are modulo 65,536, in the answer, too.
                let frames = u16::try_from(frames & u64::from(u16::MAX)).unwrap_or(0);
                self.inbox.close(CloseReason::Ended, frames);
            }
            Err(error) => self.failed = Some(error),
        }
        Poll::Ready(())
    }

    /// Polls for the deadline of a stream whose call has ended, and whose items did not all arrive.
    /// Before that, the call fails at the deadline.
    fn poll_missing(&mut self, context: &Context<'_>) -> Poll<CallError> {
        if self.call.is_some() {
            return Poll::Pending;
        }
        if let Some(method) = self.overdue_method() {
            return Poll::Ready(CallError::Deadline {
                method: method.name(),
                outcome: Outcome::Ran,
                idempotent: method.is_idempotent(),
            });
        }
        if let Some((_, deadline)) = self.deadline {
            let alarm = self.alarm.take();
            self.alarm = alarm.or_else(|| Alarm::new(&self.clock).ok());
            if let Some(alarm) = &self.alarm {
                alarm.set(deadline, context.waker());
            }
        }
        Poll::Pending
    }

    /// Handles the messages that were received for the connection, if the call has ended. Before
    /// that, the poll of the call does so. Returns true if frames may have arrived; otherwise the
    /// task is woken when there are more messages.
    fn attends(&mut self, context: &Context<'_>) -> bool {
        if !self.is_result || self.call.is_some() {
            return false;
        }
        if self.attendant.is_none() {
            self.attendant = self.line.attendant().map(Box::new);
        }
        let attendant = self.attendant.as_mut();
        attendant.is_some_and(|attendant| attendant.attend(context.waker()))
    }

    /// Returns the method of the call if its deadline has passed.
    fn overdue_method(&self) -> Option<&'static Method> {
        let (method, deadline) = self.deadline?;
        (deadline <= self.clock.now()).then_some(method)
    }

    /// Polls the call. Returns true if it has ended just now and without an error.
    fn has_ended_well(&mut self, context: &mut Context<'_>) -> bool {
        self.poll_call(context).is_ready() && self.failed.is_none()
    }

    /// Returns the error of a stream that has stopped. An error of the call takes precedence.
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

    /// Ends the stream.
    pub(super) fn end(&mut self) {
        self.ended = true;
        // Cancels the call, whose remaining items are not wanted.
        self.call = None;
        self.alarm = None;
        self.attendant = None;
    }

    /// Marks a frame as finished, so that the peer may send more.
    pub(super) fn done(&self, items: u16, bytes: u64) {
        if let Some(frames) = self.inbox.done(items, bytes) {
            self.line.post(Word::Grant { frames }.pack(self.key));
        }
    }
}

impl Drop for Frames {
    fn drop(&mut self) {
        // First, so that frames which still arrive find no stream and are dropped.
        self.line.streams().remove(self.key);
        // If the call is dropped, its stream ends without a message.
        if !self.key.ours && !self.inbox.is_closed() {
            let close = Word::Close {
                reason: CloseReason::Ended,
                frames: 0,
            };
            self.line.post(close.pack(self.key));
        }
    }
}
