//! A call in flight, and its result.

use std::fmt;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use jstream::{Limits, MessageBuffer, Transportable};
use jstream_active as active;

use crate::call::outgoing::layered_poll::LayeredPoll;
use crate::call::outgoing::local_call::LocalRun;
use crate::call::outgoing::reply::{Reply, UnreadResult, read_result};
use crate::call::outgoing::retry::{NextAttempt, RetryState};
use crate::call::outgoing::sent::{Answered, Sent, is_result, is_small};
use crate::frame::nothing;
use crate::interface::Method;
use crate::reference::RenewalWait;
use crate::session::{Alarm, Clock, Connection, Line, until_ready};
use crate::stream::Pumps;
use crate::support::{CallError, RareBox, may_block};

/// A call in flight. Wait for its result with [`wait`](Self::wait), which blocks, or await it as a
/// future, which needs no runtime. Dropping the call before that cancels it: the server does not
/// start the method, or ends an async method at its current `.await`.
///
/// If the flow-control window of the server is full, the arguments are queued. Any thread that
/// waits on the connection sends them when the window opens, so making a call does not block and
/// tasks may do it. Large arguments are the exception: from 32 KiB on, the call blocks while the
/// connection takes the bytes; from 256 KiB on, it also blocks until the window opens.
///
/// If one thread serves a connection, its calls start in the order in which they were sent. Each
/// runs to its end, or to the first `.await` at which its async method suspends, before the next
/// one starts. If a method runs for long, another thread of the server takes over. When the last
/// handle of a connection is dropped, calls whose results were not awaited may not run.
#[must_use = "the outcome of a call is known only after waiting for it, and dropping it cancels it"]
pub struct Call<R: Transportable + 'static> {
    flight: Flight,
    result: PhantomData<fn() -> R>,
}

/// A call whose result may have any type. Not generic, so that waiting is compiled once.
struct Flight {
    /// Outcome of sending. `None` once the result was returned.
    sent: Option<Result<Sent, CallError>>,
    more: RareBox<More>,
    /// Wakes the task at the deadline.
    reminder: Option<Alarm>,
}

/// State that most calls do not need.
#[derive(Default)]
struct More {
    /// State for retrying the call.
    retry: Option<RetryState>,
    pause: Option<Instant>,
    /// The second attempt, at another server, while the first one has no answer.
    second: Option<Sent>,
    /// Streams among the arguments.
    pumps: Pumps,
    /// The call of an object of this program.
    local: Option<LocalRun>,
    /// The call within its layers, whose attempts are calls of their own.
    layered: Option<Box<dyn LayeredPoll>>,
}

impl<R: Transportable + 'static> Call<R> {
    /// Creates a call that is about to be sent.
    #[inline]
    pub(crate) fn empty() -> Self {
        Self {
            flight: Flight {
                sent: None,
                more: RareBox::none(),
                reminder: None,
            },
            result: PhantomData,
        }
    }

    /// Stores the outcome of sending.
    #[inline]
    pub(crate) fn put(&mut self, sent: Result<Sent, CallError>) {
        self.flight.sent = Some(sent);
    }

    /// Keeps the state for repeating the call.
    pub(crate) fn keep(&mut self, retry: Option<RetryState>) {
        if retry.is_some() {
            self.flight.more.get_or_insert_default().retry = retry;
        }
    }

    /// Creates a call from the outcome of sending it.
    #[inline]
    pub(crate) fn from_sent(sent: Result<Sent, CallError>) -> Self {
        Self {
            flight: Flight {
                sent: Some(sent),
                more: RareBox::none(),
                reminder: None,
            },
            result: PhantomData,
        }
    }

    pub(crate) fn failed(error: CallError) -> Self {
        Self::from_sent(Err(error))
    }

    /// Creates a call that is about to be sent, with streams among its arguments.
    pub(crate) fn carrying(pumps: Pumps) -> Self {
        let mut call = Self::empty();
        if !pumps.is_empty() {
            call.flight.more.get_or_insert_default().pumps = pumps;
        }
        call
    }

    /// Sends a call that is repeated if it fails, or waits for the object of a set.
    pub(crate) fn retrying(mut retry: RetryState) -> Self {
        let mut call = Self::empty();
        call.flight.sent = retry.begin();
        call.flight.more.get_or_insert_default().retry = Some(retry);
        call
    }

    /// Creates a call of an object of this program.
    pub(crate) fn local(running: LocalRun) -> Self {
        let mut call = Self::empty();
        call.flight.more.get_or_insert_default().local = Some(running);
        call
    }

    /// Creates a call within layers.
    pub(super) fn layered(layered: impl LayeredPoll + 'static) -> Self {
        let mut call = Self::empty();
        call.flight.more.get_or_insert_default().layered = Some(Box::new(layered));
        call
    }

    /// Polls for the message of the result.
    pub(super) fn poll_unread(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Result<UnreadResult, CallError>> {
        self.flight.poll_message(context)
    }

    /// Blocks until the message of the result arrives.
    pub(super) fn wait_for_unread(mut self) -> Result<UnreadResult, CallError> {
        self.flight.wait_with_more()
    }

    /// Takes the arguments, if they were kept so that the call could be repeated.
    pub(super) fn take_arguments(&mut self) -> Option<MessageBuffer> {
        let retry = self.flight.more.as_mut()?.retry.take()?;
        Some(retry.into_message())
    }

    /// Returns the call, or its error if it could not be sent.
    pub(crate) fn into_failure(mut self) -> Result<Self, CallError> {
        match self.flight.sent.take() {
            Some(Err(error)) => Err(error),
            sent => {
                self.flight.sent = sent;
                Ok(self)
            }
        }
    }

    /// Returns true if the call could not be sent.
    pub(crate) fn has_failed(&self) -> bool {
        matches!(self.flight.sent, Some(Err(_)))
    }

    /// Ends the call of a one-way method of an object of this program. The method must have
    /// returned already.
    pub(crate) fn end_local(mut self, method: &'static Method) -> Result<(), CallError> {
        let local = self.flight.more.take().and_then(|more| more.local);
        match (self.flight.sent.take(), local) {
            (Some(Err(error)), _) => Err(error),
            (_, Some(running)) if running.is_over() => Ok(()),
            _ => Err(CallError::Here {
                method: method.name(),
            }),
        }
    }

    /// Blocks until the result arrives.
    ///
    /// # Errors
    ///
    /// A [`CallError`], which states what failed and whether the method ran.
    ///
    /// # Panics
    ///
    /// If the call was polled before and has returned its result. With the feature `tokio`, in
    /// debug builds, also if the thread runs tasks of tokio: these must `.await` the call.
    #[track_caller]
    pub fn wait(self) -> Result<Reply<R>, CallError> {
        may_block("Call::wait");
        self.outcome()
    }

    /// Does the same as [`wait`](Self::wait) on any thread.
    #[inline]
    pub(crate) fn outcome(mut self) -> Result<Reply<R>, CallError> {
        // The check for all rare parts at once.
        if self.flight.more.is_some() {
            return self.flight.wait_with_more().and_then(UnreadResult::read);
        }
        self.wait_for_sent()
    }

    /// Waits for the answer without moving `Sent`, which is large.
    #[inline]
    fn wait_for_sent(&mut self) -> Result<Reply<R>, CallError> {
        let Some(Ok(sent)) = &mut self.flight.sent else {
            return Err(self.flight.failure());
        };
        match sent.wait() {
            Some(Ok(active::Reply {
                word: 0, payload, ..
            // A word of 0 and a small payload need no record: there are no references,
            // interceptors, conversions or kept results.
            })) if sent.ends_with(&payload) => self.read(payload),
            answer => {
                let result = self.flight.wait_further(answer);
                self.flight
                    .wait_for_repetition(result)
                    .and_then(UnreadResult::read)
            }
        }
    }

    /// Fast path: converts a payload that is the complete result.
    #[inline(always)]
    fn read(&mut self, payload: MessageBuffer) -> Result<Reply<R>, CallError> {
        match nothing(&payload) {
            Some(nothing) => {
                // The call is over, so that its drop does not cancel it.
                self.flight.sent = None;
                Ok(Reply(nothing))
            }
            None => self.read_message(payload),
        }
    }

    /// Reads a payload that is not empty.
    #[inline(never)]
    fn read_message(&mut self, payload: MessageBuffer) -> Result<Reply<R>, CallError> {
        let Some(Ok(sent)) = &self.flight.sent else {
            unreachable!("the call was sent");
        };
        let (method, limits) = (sent.method, sent.limits());
        self.flight.sent = None;
        read_result(method, limits, payload)
    }
}

impl<R: Transportable + 'static> Future for Call<R> {
    type Output = Result<Reply<R>, CallError>;

    /// # Panics
    ///
    /// If the call has returned its result before.
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let polled = self.flight.poll_message(context);
        polled.map(|message| message.and_then(UnreadResult::read))
    }
}

impl<R: Transportable + 'static> fmt::Debug for Call<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut call = f.debug_struct("Call");
        match &self.flight.sent {
            Some(Ok(sent)) => call.field("method", &sent.method.name()),
            Some(Err(error)) => call.field("failed", error),
            None => call.field("ended", &true),
        };
        call.finish()
    }
}

impl Flight {
    /// Slow path of [`Call::wait`], for calls with streams, retries or a local object.
    #[cold]
    fn wait_with_more(&mut self) -> Result<UnreadResult, CallError> {
        let Some(mut more) = self.more.take() else {
            return self.wait_for_message();
        };
        if let Some(mut layered) = more.layered {
            let line = layered.line();
            return match until_ready(
                || line.clone(),
                None,
                |context| {
                    let polled = layered.poll(context);
                    if polled.is_pending() {
                        self.remind_of(&*layered, context);
                    }
                    polled
                },
            ) {
                Some(result) => result,
                None => unreachable!("the wait has no deadline"),
            };
        }
        if !more.pumps.is_empty() {
            *self.more = Some(more);
            return self.wait_and_send();
        }
        if let Some(running) = more.local {
            let method = running.method();
            let filled = running.wait()?;
            return Ok(UnreadResult::new(method, Limits::default(), filled));
        }
        // The call may have been polled before.
        if let (None, Some(retry)) = (&self.sent, &mut more.retry) {
            self.sent = Some(match more.pause.take() {
                Some(then) => {
                    retry.pause(then);
                    retry.send_after_pause()
                }
                None => {
                    if let Err(error) = retry.wait_for_renewal() {
                        return Err(retry.error_of_all(error));
                    }
                    retry.send()
                }
            });
        }
        let hedges = more.retry.as_ref().is_some_and(RetryState::hedges);
        *self.more = Some(more);
        if hedges {
            return self.wait_for_either();
        }
        let result = self.wait_for_message();
        self.wait_for_repetition(result)
    }

    /// Repeats the call while its error allows that.
    fn wait_for_repetition(
        &mut self,
        mut result: Result<UnreadResult, CallError>,
    ) -> Result<UnreadResult, CallError> {
        while let (Err(error), Some(more)) = (&result, self.more.as_mut()) {
            let Some(retry) = &mut more.retry else {
                break;
            };
            self.sent = Some(match retry.after(error) {
                Some(NextAttempt::At(then)) => {
                    retry.pause(then);
                    retry.send_after_pause()
                }
                Some(NextAttempt::AfterRenewal) => {
                    if let Err(error) = retry.wait_for_renewal() {
                        return Err(retry.error_of_all(error));
                    }
                    retry.send()
                }
                None => break,
            });
            result = self.wait_for_message();
        }
        result.map_err(|error| self.error_of_all(error))
    }

    /// Returns the error of all attempts, of which this is the last one's.
    fn error_of_all(&self, error: CallError) -> CallError {
        let retry = self.more.as_ref().and_then(|more| more.retry.as_ref());
        match retry {
            Some(retry) => retry.error_of_all(error),
            None => error,
        }
    }

    fn wait_for_message(&mut self) -> Result<UnreadResult, CallError> {
        let Some(Ok(sent)) = &mut self.sent else {
            return Err(self.failure());
        };
        let answer = sent.wait();
        self.wait_further(answer)
    }

    /// Slow path: the call timed out, was refused, or has a result that needs further handling.
    #[cold]
    fn wait_further(&mut self, mut answer: Answered) -> Result<UnreadResult, CallError> {
        if let Some(Ok(sent)) = &mut self.sent {
            answer = sent.answer_behind(answer);
        }
        self.end(answer)
    }

    /// Returns the error of a call that was not sent.
    fn failure(&mut self) -> CallError {
        match self.sent.take() {
            Some(Err(error)) => error,
            _ => panic!("the call has already returned its result"),
        }
    }

    /// Converts an answer into the message of the result.
    #[inline]
    fn end_of_sent(&mut self, answer: Answered) -> Result<UnreadResult, CallError> {
        match (&self.sent, answer) {
            (
                Some(Ok(sent)),
                Some(Ok(active::Reply {
                    word: 0, payload, ..
                })),
            ) if sent.ends_with(&payload) => {
                let result = UnreadResult::new(sent.method, sent.limits(), payload);
                self.sent = None;
                Ok(result)
            }
            (_, answer) => self.end(answer),
        }
    }

    /// Slow path of [`end_of_sent`](Self::end_of_sent).
    #[cold]
    fn end(&mut self, mut answer: Answered) -> Result<UnreadResult, CallError> {
        let Some(Ok(sent)) = &mut self.sent else {
            return Err(self.failure());
        };
        if let Some(retry) = RetryState::of_returned(sent, &mut answer) {
            let kept = &mut self.more.get_or_insert_default().retry;
            // Arguments that were kept are the same.
            kept.get_or_insert(retry);
        }
        let limits = sent.limits();
        let ended = match &answer {
            Some(answer) => sent.end(answer),
            // Without an answer the deadline has passed. The call is given up, and its references
            // are followed.
            None => match self.sent.take() {
                Some(Ok(sent)) => sent.abandon(),
                _ => unreachable!("the call was sent"),
            },
        };
        self.sent = None;
        ended.result(limits, answer)
    }

    /// Schedules a repetition if the error allows one. Returns true if it is due later.
    fn schedules_repetition(&mut self, error: &CallError) -> bool {
        let Some(more) = &mut *self.more else {
            return false;
        };
        match more.retry.as_mut().and_then(|retry| retry.after(error)) {
            Some(NextAttempt::At(then)) => more.pause = Some(then),
            Some(NextAttempt::AfterRenewal) => {}
            None => return false,
        }
        true
    }

    /// Polls for the object of a call that waits for it. The call is sent when it is found.
    fn poll_renewal(&mut self, context: &mut Context<'_>) -> Poll<Result<(), CallError>> {
        let retry = self.more.as_mut().and_then(|more| more.retry.as_mut());
        let Some(retry) = retry.filter(|retry| retry.waiting().is_some()) else {
            return Poll::Ready(Ok(()));
        };
        match retry.poll_renewal(context) {
            Poll::Ready(Ok(())) => {
                self.repeat();
                Poll::Ready(Ok(()))
            }
            Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
            // Without an alarm, the wait ends when the object is found.
            Poll::Pending => {
                if let Some(until) = retry.waiting().and_then(RenewalWait::until) {
                    self.remind(&Clock::SYSTEM, until, context);
                }
                Poll::Pending
            }
        }
    }

    /// Waits for the result of a call that may also be made at another server.
    #[cold]
    fn wait_for_either(&mut self) -> Result<UnreadResult, CallError> {
        let poll = |context: &mut Context<'_>| self.poll_message(context);
        match until_ready(|| None, None, poll) {
            Some(result) => result,
            None => unreachable!("the wait has no deadline"),
        }
    }

    /// Polls the second attempt, and makes it when it is due. If it has the result, it becomes the
    /// call, the first attempt is cancelled, and the answer is returned.
    fn poll_second(&mut self, context: &mut Context<'_>) -> Option<Answered> {
        let more = self.more.as_mut()?;
        if more.second.is_none() {
            let due = more.retry.as_ref().and_then(RetryState::hedge_time)?;
            if due > Instant::now() {
                // The alarm for the deadline is set anew by the next poll.
                let deadline = self
                    .sent
                    .as_ref()
                    .and_then(|sent| sent.as_ref().ok()?.deadline);
                let next = deadline.map_or(due, |deadline| deadline.min(due));
                self.remind(&Clock::SYSTEM, next, context);
                return None;
            }
            more.second = more.retry.as_mut().and_then(RetryState::begin_hedge);
        }
        let second = more.second.as_mut()?;
        let Poll::Ready(answer) = Pin::new(&mut second.ticket).poll(context) else {
            return None;
        };
        let (answer, mut second) = (Some(answer), more.second.take()?);
        if !is_result(&answer) {
            // The first attempt may still have a result.
            let limits = second.limits();
            let ended = answer.as_ref().map(|of| second.end(of));
            let result = ended.map(|ended| ended.result(limits, answer));
            if let (Some(Err(error)), Some(retry)) = (result, &mut more.retry) {
                retry.record_failure(&error);
            }
            return None;
        }
        // The second attempt becomes the call, so that a result which the server keeps is fetched
        // from the right one.
        if let Some(Ok(first)) = self.sent.replace(Ok(second)) {
            // Cancelled only now: until the second attempt had a result, the first one might have
            // been quicker.
            first.discard();
        }
        Some(answer)
    }

    /// Lets the second attempt become the call, because the first one has failed without a result.
    /// Returns false if there is none.
    fn adopt_second(&mut self, error: &CallError) -> bool {
        let Some(more) = self.more.as_mut() else {
            return false;
        };
        match more.second.take() {
            // The first attempt says nothing about the second server. Any other error is an answer,
            // which a second attempt must not hide.
            Some(second) if error.is_disconnected() || matches!(error, CallError::Busy { .. }) => {
                if let Some(retry) = more.retry.as_mut() {
                    retry.adopt_second(error);
                }
                self.sent = Some(Ok(second));
                true
            }
            Some(second) => {
                second.discard();
                false
            }
            None => false,
        }
    }

    /// Ends the second attempt, because the call has a result.
    #[cold]
    fn end_second(&mut self) {
        if let Some(more) = &mut *self.more {
            if let Some(second) = more.second.take() {
                second.discard();
            }
            if let Some(retry) = &more.retry {
                retry.record_result();
            }
        }
    }

    /// Waits for the result while sending the items of argument streams.
    fn wait_and_send(&mut self) -> Result<UnreadResult, CallError> {
        let line: Option<Arc<dyn Line>> = match &self.sent {
            Some(Ok(sent)) => Some(Arc::new(Connection::from_peer(sent.ticket.peer()))),
            _ => None,
        };
        let poll = |context: &mut Context<'_>| self.poll_message(context);
        match until_ready(|| line.clone(), None, poll) {
            Some(result) => result,
            None => unreachable!("the wait has no deadline"),
        }
    }

    /// Polls for the message of the result.
    ///
    /// # Panics
    ///
    /// If the call has returned its result before.
    fn poll_message(&mut self, context: &mut Context<'_>) -> Poll<Result<UnreadResult, CallError>> {
        if let Some(mut layered) = self.more.as_mut().and_then(|more| more.layered.take()) {
            let polled = layered.poll(context);
            if polled.is_ready() {
                self.reminder = None;
                return polled;
            }
            self.remind_of(&*layered, context);
            if let Some(more) = &mut *self.more {
                more.layered = Some(layered);
            }
            return Poll::Pending;
        }
        if let Some(more) = &mut *self.more {
            if let Some(running) = &mut more.local {
                let method = running.method();
                let polled = running.poll(context);
                return polled.map(|filled| {
                    more.local = None;
                    Ok(UnreadResult::new(method, Limits::default(), filled?))
                });
            }
            // Before the call is polled: the method may wait for the items, and return only after
            // them.
            more.pumps.drive(context.waker());
        }
        loop {
            if let Some(then) = self.more.as_ref().and_then(|more| more.pause) {
                // Without an alarm, nothing would wake this task after the pause, so the call is
                // repeated at once.
                if then > Instant::now() && self.remind(&Clock::SYSTEM, then, context) {
                    return Poll::Pending;
                }
                self.repeat();
            }
            match self.poll_renewal(context) {
                Poll::Ready(Ok(())) => {}
                Poll::Ready(Err(error)) => {
                    self.reminder = None;
                    return Poll::Ready(Err(self.error_of_all(error)));
                }
                Poll::Pending => return Poll::Pending,
            }
            let mut answer = match &mut self.sent {
                Some(Ok(sent)) => match Pin::new(&mut sent.ticket).poll(context) {
                    Poll::Ready(answer) => Some(answer),
                    // After the poll, so that an answer which is here counts.
                    Poll::Pending if sent.is_overdue() => None,
                    Poll::Pending => {
                        if let Some(deadline) = sent.deadline {
                            // If no alarm is available, only the server enforces the deadline.
                            let clock = sent.clock().clone();
                            self.remind(&clock, deadline, context);
                        }
                        match self.poll_second(context) {
                            Some(answer) => answer,
                            None => return Poll::Pending,
                        }
                    }
                },
                Some(Err(_)) => None,
                None => panic!("the call has already returned its result"),
            };
            if let (false, Some(Ok(sent))) = (is_small(&answer), &mut self.sent) {
                match sent.fetch(answer) {
                    Some(fetched) => answer = fetched,
                    // The fetch is a request of its own, whose ticket has to be polled before this
                    // task may sleep.
                    None => continue,
                }
            }
            match self.end_of_sent(answer) {
                Err(error) if self.adopt_second(&error) || self.schedules_repetition(&error) => {
                    // The alarm may be one of another clock, or for the time of the last attempt.
                    self.reminder = None;
                }
                result => {
                    self.reminder = None;
                    if result.is_ok() && self.more.is_some() {
                        self.end_second();
                    }
                    return Poll::Ready(result.map_err(|error| self.error_of_all(error)));
                }
            }
        }
    }

    /// Sends the call again after the pause before a retry.
    fn repeat(&mut self) {
        self.reminder = None;
        if let Some(more) = &mut *self.more {
            let is_after_pause = more.pause.take().is_some();
            self.sent = more.retry.as_mut().map(|retry| match is_after_pause {
                true => retry.send_after_pause(),
                false => retry.send(),
            });
        }
    }

    /// Sets an alarm for the deadline of a call within layers.
    fn remind_of(&mut self, layered: &dyn LayeredPoll, context: &Context<'_>) {
        if let Some((deadline, clock)) = layered.deadline() {
            self.remind(&clock, deadline, context);
        }
    }

    /// Sets an alarm that wakes the task at `then`. Returns false if the system cannot provide an
    /// alarm.
    fn remind(&mut self, clock: &Clock, then: Instant, context: &Context<'_>) -> bool {
        self.reminder = self.reminder.take().or_else(|| Alarm::new(clock).ok());
        if let Some(reminder) = &self.reminder {
            reminder.set(then, context.waker());
        }
        self.reminder.is_some()
    }
}

/// Drops a call without its result. If the call still holds references, or the server keeps its
/// result, they are released.
impl Drop for Flight {
    #[inline]
    fn drop(&mut self) {
        if self.sent.is_some() {
            self.give_up();
        }
    }
}

impl Flight {
    fn give_up(&mut self) {
        if let Some(Ok(sent)) = &mut self.sent {
            sent.record_drop();
        }
        if let Some(Ok(sent)) = self
            .sent
            // A call without such parts is cancelled by the drop of its ticket.
            .take_if(|sent| sent.as_ref().is_ok_and(Sent::leaves_something))
        {
            drop(sent.abandon());
        }
        if let Some(second) = self.more.as_mut().and_then(|more| more.second.take()) {
            second.discard();
        }
    }
}
