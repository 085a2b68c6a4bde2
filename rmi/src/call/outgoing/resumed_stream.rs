//! Streams that are resumed over another connection.
//!
//! The call is made again with the number of the next item, when its connection is lost, or when
//! its server is shutting down and another one has the object. It is repeated like calls of
//! idempotent methods, by the same [`RetryState`]; an item ends the count of failures.
//!
//! Invariant: `items` is the number of items that were handed out, whatever has arrived.
//!
//! Decision 128 has the reasons.

use std::mem;
use std::task::{Context, Poll};
use std::time::Instant;

use jstream::{EmptyBuffer, MessageBuffer, Transportable};

use crate::call::outgoing::failure::lost;
use crate::call::outgoing::retry::{NextAttempt, RetryState};
use crate::frame::read;
use crate::interface::{Interface, Method};
use crate::reference::{Object, RenewalWait};
use crate::session::{self, Alarm, Clock, MoveWait};
use crate::stream::{Item, Resumption, Stream, StreamError};
use crate::support::{CallError, Outcome};

/// Function that calls a method over the connection of a handle, with these arguments, after this
/// number of items. Returns `None` if the number of the next item is too large for its type.
pub(super) type RequestItems<M, T> =
    for<'x> fn(&Object, &'x <M as Transportable>::InPlace<'x>, u64) -> Option<Stream<T>>;

/// Calls a method of an object whose result is a stream that is resumed. The arguments are kept as
/// a message of type `M`.
pub(super) fn begin<A, M, T>(
    of: &Object,
    interface: &'static Interface,
    index: usize,
    arguments: &A,
    request: RequestItems<M, T>,
) -> Stream<T>
where
    A: Transportable,
    M: Transportable + 'static,
    T: Transportable + 'static,
{
    let method = interface.method(index);
    let (terms, message) = match of.copy_arguments(method, arguments) {
        Ok(kept) => kept,
        Err(error) => return Stream::failed(StreamError::Call(error)),
    };
    let limits = of.argument_limits();
    let request = move |object: &Object, items: u64| {
        let unresumable = |reason| StreamError::Unresumable {
            method: method.name(),
            reason,
        };
        let copy = read::<M>(copy_of(&message), limits);
        let copy = copy.map_err(|error| unresumable(error.to_string()))?;
        let stream = copy.with(|arguments| request(object, arguments, items));
        stream.ok_or_else(|| {
            unresumable(format!(
                "after {items} items, the number of the next one is too large for its type"
            ))
        })
    };
    if of.renewal().is_none() {
        return request(of, 0).unwrap_or_else(Stream::failed);
    }
    let (deadline, metadata) = terms.clone();
    let object = of.with_metadata(metadata);
    let named = (interface.name(), method, index);
    let retry = RetryState::new(object, named, MessageBuffer::nothing(), terms, None);
    let mut resumed = ResumedCall {
        request,
        retry,
        method,
        deadline,
        items: 0,
        state: AttemptState::Renewal,
        alarm: None,
    };
    let attempt = resumed.retry.finds_object().then(|| resumed.make());
    Stream::resumed(attempt, resumed)
}

fn copy_of(message: &MessageBuffer) -> MessageBuffer {
    let bytes = message.as_bytes();
    match EmptyBuffer::heap(bytes.len()).copy_from(bytes) {
        Ok(copy) => copy,
        Err(_) => unreachable!("the buffer has room for all bytes"),
    }
}

/// A call that is made again when the connection of its stream is lost.
struct ResumedCall<F> {
    request: F,
    retry: RetryState,
    method: &'static Method,
    /// The deadline of all attempts.
    deadline: Option<Instant>,
    /// Number of items that were handed out.
    items: u64,
    state: AttemptState,
    /// Ends a pause, or the wait for the object.
    alarm: Option<Alarm>,
}

/// State of the present attempt.
enum AttemptState {
    Made(MadeAttempt),
    /// The next attempt is made at this time.
    Pause(Instant),
    /// The next attempt is made when the object is found, for which the retry state waits.
    Renewal,
    Over,
}

/// A call that was made.
struct MadeAttempt {
    since: Instant,
    move_state: MoveState,
}

/// State of the move of an attempt to another server.
enum MoveState {
    /// The server is not shutting down, as far as the attempt knows.
    Awaited(MoveWait),
    /// The server is shutting down, and the attempt waits for the object at another one.
    Begun { server: MoveWait, next: RenewalWait },
    /// The items come from this server until it closes the connection.
    Stays,
}

impl MoveState {
    /// Begins the move, if it was not begun and the server is shutting down.
    fn begin(&mut self, retry: &RetryState) {
        if !matches!(self, Self::Awaited(server) if server.is_moving()) {
            return;
        }
        if let (Self::Awaited(server), Some(next)) =
            (mem::replace(self, Self::Stays), retry.next_object())
        {
            *self = Self::Begun { server, next };
        }
    }
}

impl<F> ResumedCall<F> {
    /// Makes the call with the number of the next item. The attempt before that must have ended.
    fn make<T>(&mut self) -> Box<Stream<T>>
    where
        T: Transportable + 'static,
        F: Fn(&Object, u64) -> Result<Stream<T>, StreamError>,
    {
        self.alarm = None;
        let mut object = self.retry.object().clone();
        if let Some(deadline) = self.deadline {
            let left = deadline.saturating_duration_since(object.clock().now());
            object = object.within(left);
        }
        // The deadline and the metadata of the method that made the call first are part of the
        // handle. Another method may poll the stream now.
        let context = session::Context::default();
        let made = context.enter(|| (self.request)(&object, self.items));
        let connection = object.connection().cloned();
        self.state = AttemptState::Made(MadeAttempt {
            since: Instant::now(),
            move_state: connection.map_or(MoveState::Stays, |connection| {
                MoveState::Awaited(MoveWait::new(connection))
            }),
        });
        Box::new(made.unwrap_or_else(Stream::failed))
    }

    /// Polls for the object at another server, if this one is shutting down. Returns true if the
    /// call is to be made there. Until such a server is known, the items come from the old one.
    fn poll_move(&mut self, has_arrived: bool, context: &mut Context<'_>) -> bool {
        let AttemptState::Made(made) = &mut self.state else {
            return false;
        };
        // If the end of the stream has arrived, or the connection is lost, the call is not made
        // again.
        if has_arrived {
            return false;
        }
        made.move_state.begin(&self.retry);
        let MoveState::Begun { server, next } = &mut made.move_state else {
            return false;
        };
        if !server.is_moving() {
            return false;
        }
        match next.poll(context) {
            Poll::Ready(Ok(renewed)) => {
                self.retry.choose_object(renewed);
                true
            }
            Poll::Ready(Err(_)) => {
                made.move_state = MoveState::Stays;
                false
            }
            Poll::Pending => false,
        }
    }

    /// Registers the task for the end of the server, unless the move has begun. Returns true if the
    /// server is shutting down already, so that the move can begin.
    fn registers_for_move(&mut self, context: &Context<'_>) -> bool {
        match &mut self.state {
            AttemptState::Made(MadeAttempt {
                move_state: MoveState::Awaited(server),
                ..
            }) => {
                server.register(context);
                server.is_moving()
            }
            _ => false,
        }
    }

    /// Schedules the next attempt after an error. Returns the error if there is none.
    fn schedule_after(&mut self, error: StreamError) -> Result<(), StreamError> {
        if let AttemptState::Made(made) = &self.state {
            let outcome = match &error {
                StreamError::Call(error) => error.outcome(),
                _ => Outcome::MayHaveRun,
            };
            self.retry.record_duration(made.since.elapsed(), outcome);
        }
        let next = match &error {
            StreamError::Call(error) => self.retry.after(error),
            StreamError::Lost { reason } => {
                let error = lost(self.method, reason.clone());
                self.retry.after(&error)
            }
            _ => None,
        };
        self.state = match next {
            Some(NextAttempt::At(then)) => AttemptState::Pause(then),
            Some(NextAttempt::AfterRenewal) => AttemptState::Renewal,
            None => {
                return Err(match error {
                    StreamError::Call(error) => self.fail(error),
                    error => {
                        self.state = AttemptState::Over;
                        error
                    }
                });
            }
        };
        Ok(())
    }

    /// Ends the stream with an error of the call.
    fn fail(&mut self, error: CallError) -> StreamError {
        self.state = AttemptState::Over;
        self.alarm = None;
        StreamError::Call(self.retry.error_of_all(error))
    }

    /// Polls for the end of the pause, or for the object. The next attempt is made then.
    fn poll_pause(&mut self, context: &mut Context<'_>) -> Poll<Result<(), CallError>> {
        match &self.state {
            AttemptState::Pause(then) => {
                let then = *then;
                if then > Instant::now() && self.set_alarm(then, context) {
                    return Poll::Pending;
                }
                self.retry.choose_after_pause();
                Poll::Ready(Ok(()))
            }
            _ => {
                let polled = self.retry.poll_renewal(context);
                let until = self.retry.waiting().and_then(RenewalWait::until);
                if let (true, Some(until)) = (polled.is_pending(), until) {
                    self.set_alarm(until, context);
                }
                polled
            }
        }
    }

    /// Sets an alarm that wakes the task at `then`. Returns false if the system cannot provide an
    /// alarm.
    fn set_alarm(&mut self, then: Instant, context: &Context<'_>) -> bool {
        self.alarm = self
            .alarm
            .take()
            .or_else(|| Alarm::new(&Clock::SYSTEM).ok());
        if let Some(alarm) = &self.alarm {
            alarm.set(then, context.waker());
        }
        self.alarm.is_some()
    }
}

impl<T, F> Resumption<T> for ResumedCall<F>
where
    T: Transportable + 'static,
    F: Fn(&Object, u64) -> Result<Stream<T>, StreamError> + Send,
{
    fn poll_next(
        &mut self,
        attempt: &mut Option<Box<Stream<T>>>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Item<T>, StreamError>>> {
        loop {
            if matches!(self.state, AttemptState::Over) {
                return Poll::Ready(None);
            }
            let Some(stream) = attempt else {
                match self.poll_pause(context) {
                    Poll::Ready(Ok(())) => *attempt = Some(self.make()),
                    Poll::Ready(Err(error)) => return Poll::Ready(Some(Err(self.fail(error)))),
                    Poll::Pending => return Poll::Pending,
                }
                continue;
            };
            if self.poll_move(stream.has_arrived(), context) {
                // Cancels the call at the old server.
                *attempt = None;
                *attempt = Some(self.make());
                continue;
            }
            match stream.poll_next(context) {
                Poll::Ready(Some(Ok(item))) => {
                    self.items = self.items.saturating_add(1);
                    self.retry.record_progress();
                    return Poll::Ready(Some(Ok(item)));
                }
                Poll::Ready(Some(Err(error))) => {
                    *attempt = None;
                    if let Err(error) = self.schedule_after(error) {
                        return Poll::Ready(Some(Err(error)));
                    }
                }
                Poll::Ready(None) => {
                    *attempt = None;
                    self.state = AttemptState::Over;
                }
                Poll::Pending => {
                    // A stream whose end has arrived does not move. It may still wait for items
                    // that the end has overtaken.
                    let can_move = !stream.has_arrived();
                    if !(can_move && self.registers_for_move(context)) {
                        return Poll::Pending;
                    }
                }
            }
        }
    }

    fn has_begun(&self) -> bool {
        self.items > 0
    }
}
