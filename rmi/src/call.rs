//! A call on its way, and its result.

mod fetched;
mod timed;

use std::fmt;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use jstream::{Covariant, Filled, Limits, Received, Transportable};
use jstream_transport::SendError;
use jstream_transport::active::{self, Reason, RequestError, Returned, Ticket};

pub use self::fetched::RemoteCall;
pub(crate) use self::fetched::drop_result;
use crate::again::Again;
use crate::clock::{Alarm, Clock};
use crate::error::{CallError, Outcome, shown};
use crate::frame::Code;
use crate::here::Running;
use crate::intercept::Watched;
use crate::interface::Method;
use crate::message::read;
use crate::object::DropResult;
use crate::promise::Became;
use crate::reference::{Giving, Import};
use crate::session::{Connection, MUCH, Session};
use crate::stream::{Line, Pumps, until_ready};

/// A call that was sent. Waiting for it gives its result: by [`wait`](Self::wait), which blocks, or as a
/// future, which needs no runtime. Dropping it before gives it up: the server does not begin it, or ends
/// its method where that waits.
///
/// Where the server has to be done with others first, the arguments are kept and sent at their turn, by whoever waits
/// for anything of the connection: making a call does not block, so that tasks may. Those with many bytes do, from
/// 32 KiB on while the connection takes them, and from 256 KiB on for their turn too.
///
/// The calls of one connection begin in the order in which they were sent, where one thread serves them, and each runs
/// to its end or to where its async method waits before the next one begins. A method that takes long is not waited
/// for: another thread of the server goes on. When the last handle of a connection is dropped, calls that were not
/// waited for may not run.
#[must_use = "a call's result, or failure, is known only after waiting for it, and dropping it gives it up"]
pub struct Call<R: Transportable + 'static> {
    /// Not here once the outcome was given.
    sent: Option<Result<Sent, CallError>>,
    /// What it is made again by, and when, where it has failed.
    again: Option<Box<Again>>,
    pause: Option<Instant>,
    /// Wakes the task at the deadline.
    reminder: Option<Alarm>,
    /// Streams that are arguments.
    pumps: Pumps,
    /// It is of an object of this program.
    here: Option<Box<Running>>,
    result: PhantomData<fn() -> R>,
}

/// A call whose reply is to come. The server is told when it is dropped before.
pub(crate) struct Sent {
    pub(crate) ticket: Ticket,
    pub(crate) method: &'static Method,
    pub(crate) deadline: Option<Instant>,
    /// The object is not given back before the call is over.
    pub(crate) _import: Option<Arc<Import>>,
    /// Those that call the same object behind it call it by the same number.
    pub(crate) _ahead: Option<Arc<Became>>,
    /// The references that it has.
    pub(crate) kept: Option<Box<Kept>>,
    pub(crate) watched: Option<Arc<Watched>>,
    /// It has run, and its result is asked for.
    pub(crate) is_fetching: bool,
}

/// The references of a call on its way.
pub(crate) struct Kept {
    pub(crate) giving: Giving,
    /// Drops its result, if that has some.
    pub(crate) result: Option<DropResult>,
}

impl Kept {
    /// It is known what came of the call, or it is given up.
    fn settle(self, ticket: Ticket, answer: Option<&Result<active::Reply, RequestError>>) {
        if answer.is_some() {
            return self.giving.arrived(answer.is_some_and(has_arrived));
        }
        let connection = Connection::of(ticket.peer());
        let settle = move |connection: &Connection, answer: Answered| {
            self.giving
                .arrived(answer.as_ref().is_some_and(has_arrived));
            if let (Some(drop_result), Some(Ok(reply))) = (self.result, answer) {
                if reply.word == 0 {
                    drop_result(connection, reply.payload);
                }
            }
        };
        let references = connection.references().clone();
        references.follow(&connection, ticket, Box::new(settle));
    }
}

impl<R: Transportable + 'static> Call<R> {
    pub(crate) fn new(
        sent: Result<Sent, CallError>,
        again: Option<Box<Again>>,
        pumps: Pumps,
    ) -> Self {
        Self {
            sent: Some(sent),
            again,
            pause: None,
            reminder: None,
            pumps,
            here: None,
            result: PhantomData,
        }
    }

    /// Of an object of this program.
    pub(crate) fn here(running: Running) -> Self {
        Self {
            sent: None,
            again: None,
            pause: None,
            reminder: None,
            pumps: Pumps::default(),
            here: Some(Box::new(running)),
            result: PhantomData,
        }
    }

    /// The call, unless it has failed already.
    pub(crate) fn into_failure(mut self) -> Result<Self, CallError> {
        match self.sent.take() {
            Some(Err(error)) => Err(error),
            sent => {
                self.sent = sent;
                Ok(self)
            }
        }
    }

    /// Whether it has failed already.
    pub(crate) fn has_failed(&self) -> bool {
        matches!(self.sent, Some(Err(_)))
    }

    /// Ends it, of a method that nobody waits for: it is over already.
    pub(crate) fn end_here(mut self, method: &'static Method) -> Result<(), CallError> {
        match (self.sent.take(), self.here.take()) {
            (Some(Err(error)), _) => Err(error),
            (_, Some(running)) if running.is_over() => Ok(()),
            _ => Err(CallError::Here {
                method: method.name(),
            }),
        }
    }

    /// Blocks until the result has come.
    ///
    /// # Errors
    ///
    /// A [`CallError`] that says what failed, and whether the method ran.
    ///
    /// # Panics
    ///
    /// When the call was polled before, and has given its result.
    pub fn wait(mut self) -> Result<Reply<R>, CallError> {
        if !self.pumps.is_empty() {
            return self.wait_and_send();
        }
        if let Some(running) = self.here.take() {
            let method = running.method();
            let filled = running.wait()?;
            return read_result(method, Limits::default(), filled);
        }
        if let (None, Some(then), Some(again)) = (&self.sent, self.pause.take(), &self.again) {
            again.pause(then);
            self.sent = Some(again.send());
        }
        let mut result = self.wait_for_sent();
        while let (Err(error), Some(again)) = (&result, &mut self.again) {
            let Some(then) = again.after(error) else {
                break;
            };
            again.pause(then);
            self.sent = Some(again.send());
            result = self.wait_for_sent();
        }
        result
    }

    /// Waits for what was sent, where it is: it is large.
    #[inline]
    fn wait_for_sent(&mut self) -> Result<Reply<R>, CallError> {
        let Some(Ok(sent)) = &mut self.sent else {
            return match self.sent.take() {
                Some(Err(error)) => Err(error),
                _ => panic!("the call has given its result before"),
            };
        };
        let answer = sent.answer();
        self.end_of_sent(answer)
    }

    /// What has come of what was sent.
    fn end_of_sent(&mut self, answer: Answered) -> Result<Reply<R>, CallError> {
        match &mut self.sent {
            Some(Ok(sent)) if answer.is_some() && sent.kept.is_none() => {
                let (limits, ended) = (sent.limits(), sent.ended(true));
                self.sent = None;
                ended.result(limits, answer)
            }
            sent => match sent.take() {
                Some(Ok(sent)) => {
                    let limits = sent.limits();
                    sent.end(answer.as_ref()).result(limits, answer)
                }
                Some(Err(error)) => Err(error),
                None => unreachable!("it was here"),
            },
        }
    }

    /// Whether it is made again, later; when it is due, it is made.
    fn is_made_again(&mut self, error: &CallError) -> bool {
        let Some(again) = &mut self.again else {
            return false;
        };
        self.pause = again.after(error);
        self.pause.is_some()
    }

    /// The same while there are streams to be sent.
    fn wait_and_send(mut self) -> Result<Reply<R>, CallError> {
        let line: Option<Arc<dyn Line>> = match &self.sent {
            Some(Ok(sent)) => Some(Arc::new(Connection::of(sent.ticket.peer()))),
            _ => None,
        };
        let poll = |context: &mut Context<'_>| Pin::new(&mut self).poll(context);
        match until_ready(|| line.clone(), None, poll) {
            Some(result) => result,
            None => unreachable!("it is waited for without an end"),
        }
    }
}

/// What came of a request; nothing in time.
type Answered = Option<Result<active::Reply, RequestError>>;

impl Sent {
    /// Waits for the message of the result.
    pub(crate) fn wait_for_message(mut self) -> Result<Filled, CallError> {
        let answer = self.answer();
        let ended = self.end(answer.as_ref());
        let message = ended.message(answer);
        let bytes = message.as_ref().map_or(0, |message| message.len() as u64);
        ended.seen(&message, bytes);
        message
    }

    /// Waits for what comes of it.
    fn answer(&mut self) -> Answered {
        loop {
            let answer = match self.deadline {
                Some(deadline) => self.wait_until(deadline),
                None => self.ticket.wait_timeout(Duration::MAX),
            };
            if let Some(answer) = self.fetch(answer) {
                return answer;
            }
        }
    }

    /// Asks for a result that is kept, which is the answer from now on: any other one comes back.
    #[inline]
    fn fetch(&mut self, answer: Answered) -> Option<Answered> {
        let Some(Ok(reply)) = &answer else {
            return Some(answer);
        };
        if reply.word == Code::Kept as u64 && !self.is_fetching {
            if let Ok(number) = reply.payload.as_bytes().try_into() {
                return self.fetch_kept(number);
            }
        }
        if reply.payload.len() >= MUCH && !self.is_fetching {
            Connection::of(self.ticket.peer()).note_large_result();
        }
        Some(answer)
    }

    #[cold]
    fn fetch_kept(&mut self, number: [u8; 4]) -> Option<Answered> {
        self.is_fetching = true;
        match Connection::of(self.ticket.peer()).fetch(number) {
            Ok(ticket) => {
                self.ticket = ticket;
                None
            }
            Err(error) => Some(Some(Err(error))),
        }
    }

    /// It is known what came of it, or it is given up.
    fn end(mut self, answer: Option<&Result<active::Reply, RequestError>>) -> Ended {
        let was_sent = answer.is_some() || self.is_fetching || !self.ticket.withdraw();
        let ended = self.ended(was_sent);
        match self.kept {
            // The method has them, whatever comes of its result.
            Some(kept) if self.is_fetching => kept.giving.arrived(true),
            Some(kept) if was_sent => kept.settle(self.ticket, answer),
            Some(kept) => kept.giving.arrived(false),
            None => {}
        }
        ended
    }

    fn ended(&mut self, was_sent: bool) -> Ended {
        Ended {
            method: self.method,
            watched: self.watched.take(),
            was_sent,
            has_run: self.is_fetching,
        }
    }

    fn limits(&self) -> Limits {
        let session = self.ticket.attached::<Session>();
        session.map_or_else(Limits::default, |session| session.terms.limits)
    }

    fn is_overdue(&self) -> bool {
        self.deadline
            .is_some_and(|deadline| deadline <= self.clock().now())
    }
}

/// A call that nobody waits for any more.
struct Ended {
    method: &'static Method,
    watched: Option<Arc<Watched>>,
    /// Else the server knows nothing of it.
    was_sent: bool,
    /// It ran, and its result was asked for.
    has_run: bool,
}

impl Ended {
    /// The message of the result.
    fn message(&self, answer: Answered) -> Result<Filled, CallError> {
        match answer {
            Some(Ok(reply)) if reply.word == 0 => Ok(reply.payload),
            Some(_) if self.has_run => Err(CallError::NoResult {
                method: self.method.name(),
                reason: "it was kept by the server, and could not be fetched".to_owned(),
            }),
            Some(Ok(reply)) => {
                let words = reply.payload.as_bytes();
                Err(failure(self.method, reply.word, words))
            }
            Some(Err(error)) => Err(unanswered(self.method, error)),
            None => Err(CallError::Deadline {
                method: self.method.name(),
                outcome: match self.was_sent {
                    true => Outcome::MayHaveRun,
                    false => Outcome::DidNotRun,
                },
                idempotent: self.method.is_idempotent(),
            }),
        }
    }

    fn result<R>(self, limits: Limits, answer: Answered) -> Result<Reply<R>, CallError>
    where
        R: Transportable + 'static,
    {
        let bytes = match &answer {
            Some(Ok(reply)) if self.watched.is_some() => reply.payload.len() as u64,
            _ => 0,
        };
        let message = self.message(answer);
        let result = message.and_then(|message| read_result(self.method, limits, message));
        self.seen(&result, bytes);
        result
    }

    /// The call has ended.
    #[inline]
    fn seen<T>(&self, result: &Result<T, CallError>, bytes: u64) {
        if let Some(watched) = &self.watched {
            watched.end(result.as_ref().map(drop).map_err(CallError::outcome), bytes);
        }
    }
}

fn read_result<R>(
    method: &'static Method,
    limits: Limits,
    payload: Filled,
) -> Result<Reply<R>, CallError>
where
    R: Transportable + 'static,
{
    read::<R>(payload, limits)
        .map(Reply)
        .map_err(|source| CallError::Result {
            method: method.name(),
            source,
        })
}

/// Whether the arguments of a call have been read, as far as its answer tells.
fn has_arrived(answer: &Result<active::Reply, RequestError>) -> bool {
    match answer {
        Ok(reply) => !matches!(
            Code::of(reply.word),
            Some(
                Code::UnknownObject
                    | Code::UnknownMethod
                    | Code::Arguments
                    | Code::TooLate
                    | Code::NotGiven
            )
        ),
        Err(RequestError::Returned { returned, .. }) => matches!(
            returned.reason,
            Reason::Panicked | Reason::Unanswered | Reason::Unsendable
        ),
        Err(_) => false,
    }
}

/// A call that is given up has references still.
impl<R: Transportable + 'static> Drop for Call<R> {
    fn drop(&mut self) {
        if let Some(Ok(sent)) = self
            .sent
            .take_if(|sent| sent.as_ref().is_ok_and(|sent| sent.kept.is_some()))
        {
            drop(sent.end(None));
        }
    }
}

impl<R: Transportable + 'static> Future for Call<R> {
    type Output = Result<Reply<R>, CallError>;

    /// # Panics
    ///
    /// When it has given its result before.
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        if let Some(running) = &mut this.here {
            let method = running.method();
            let polled = running.poll(context);
            return polled.map(|filled| {
                this.here = None;
                read_result(method, Limits::default(), filled?)
            });
        }
        this.pumps.drive(context.waker());
        loop {
            if let Some(then) = this.pause {
                if then > Instant::now() && this.remind(&Clock::SYSTEM, then, context) {
                    return Poll::Pending;
                }
                this.pause = None;
                this.reminder = None;
                this.sent = this.again.as_ref().map(|again| again.send());
            }
            let answer = match &mut this.sent {
                Some(Ok(sent)) => match Pin::new(&mut sent.ticket).poll(context) {
                    Poll::Ready(answer) => match sent.fetch(Some(answer)) {
                        Some(answer) => answer,
                        None => continue,
                    },
                    Poll::Pending if sent.is_overdue() => None,
                    Poll::Pending => {
                        if let Some(deadline) = sent.deadline {
                            // Where none is to be had the server keeps the deadline alone.
                            let clock = sent.clock().clone();
                            this.remind(&clock, deadline, context);
                        }
                        return Poll::Pending;
                    }
                },
                Some(Err(_)) => None,
                None => panic!("the call has given its result before"),
            };
            match this.end_of_sent(answer) {
                Err(error) if this.is_made_again(&error) => this.reminder = None,
                result => {
                    this.reminder = None;
                    return Poll::Ready(result);
                }
            }
        }
    }
}

impl<R: Transportable + 'static> Call<R> {
    /// Has the task woken at a moment. False where the system has no room for that.
    fn remind(&mut self, clock: &Clock, then: Instant, context: &Context<'_>) -> bool {
        self.reminder = self.reminder.take().or_else(|| Alarm::new(clock).ok());
        if let Some(reminder) = &self.reminder {
            reminder.set(then, context.waker());
        }
        self.reminder.is_some()
    }
}

/// The error that a peer reported, whose words are not to be trusted with more than being shown.
pub(crate) fn failure(method: &'static Method, code: u64, text: &[u8]) -> CallError {
    let text = || match shown(&String::from_utf8_lossy(text)) {
        text if text.is_empty() => "no reason given".to_owned(),
        text => text,
    };
    let name = method.name();
    let overdue = |outcome| CallError::Deadline {
        method: name,
        outcome,
        idempotent: method.is_idempotent(),
    };
    match Code::of(code) {
        Some(Code::Denied) => CallError::Denied {
            method: name,
            reason: text(),
        },
        Some(Code::UnknownObject) => CallError::UnknownObject { method: name },
        Some(Code::UnknownMethod) => CallError::UnknownMethod {
            signature: method.signature(),
            known: text(),
        },
        Some(Code::Arguments) => CallError::Refused {
            method: name,
            reason: text(),
        },
        Some(Code::Result | Code::Kept) => CallError::NoResult {
            method: name,
            reason: text(),
        },
        Some(Code::NotGiven) => CallError::NotGiven {
            method: name,
            reason: text(),
        },
        Some(Code::Streams) => CallError::Busy { method: name },
        Some(Code::Ending) => CallError::Ending { method: name },
        Some(Code::Panicked) => CallError::Panicked {
            method: name,
            idempotent: method.is_idempotent(),
        },
        Some(Code::TooLate) => overdue(Outcome::DidNotRun),
        Some(Code::Overdue) => overdue(Outcome::MayHaveRun),
        None => lost(method, format!("it answers with the unknown code {code}")),
    }
}

pub(crate) fn lost(method: &'static Method, reason: String) -> CallError {
    CallError::Lost {
        method: method.name(),
        reason,
        idempotent: method.is_idempotent(),
    }
}

/// Why a call has no answer.
fn unanswered(method: &'static Method, error: RequestError) -> CallError {
    match error {
        RequestError::Returned { returned, .. } => returned_as(method, &returned),
        RequestError::Lost { .. } | RequestError::NoRoom { .. } | RequestError::Forked { .. } => {
            lost(method, error.to_string())
        }
        error => unsent(method, error),
    }
}

/// Why a call was given back.
fn returned_as(method: &'static Method, returned: &Returned) -> CallError {
    let name = method.name();
    let given_up = |outcome| CallError::Cancelled {
        method: name,
        outcome,
    };
    match returned.reason {
        Reason::Busy => CallError::Busy { method: name },
        Reason::Ending => CallError::Ending { method: name },
        Reason::Panicked => CallError::Panicked {
            method: name,
            idempotent: method.is_idempotent(),
        },
        Reason::Cancelled => given_up(Outcome::DidNotRun),
        Reason::Unanswered => given_up(Outcome::MayHaveRun),
        Reason::Unsendable => CallError::NoResult {
            method: name,
            reason: shown(&returned.text),
        },
        _ => lost(method, shown(&returned.to_string())),
    }
}

/// Why a call was not sent.
pub(crate) fn unsent(method: &'static Method, error: RequestError) -> CallError {
    let name = method.name();
    let not_sent = |source| CallError::NotSent {
        method: name,
        source,
    };
    match error {
        RequestError::Send(source) => not_sent(source),
        RequestError::Ended { peer } => not_sent(SendError::Closed { peer }),
        RequestError::Forked { peer } => not_sent(SendError::Forked { peer }),
        RequestError::TimedOut { peer, after } => not_sent(SendError::TimedOut { after, peer }),
        RequestError::NoCredit => CallError::Busy { method: name },
        error => lost(method, error.to_string()),
    }
}

impl<R: Transportable + 'static> fmt::Debug for Call<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut call = f.debug_struct("Call");
        match &self.sent {
            Some(Ok(sent)) => call.field("method", &sent.method.name()),
            Some(Err(error)) => call.field("failed", error),
            None => call.field("ended", &true),
        };
        call.finish()
    }
}

/// The result of a call, in the buffer that it was received in.
pub struct Reply<R: Transportable + 'static>(Received<R>);

impl<R: Transportable + 'static> Reply<R> {
    /// The result.
    #[must_use]
    pub fn get(&self) -> &R::InPlace<'_>
    where
        R: Covariant,
    {
        self.0.get()
    }

    /// The result and its buffer.
    #[must_use]
    pub fn into_received(self) -> Received<R> {
        self.0
    }
}

impl<R> fmt::Debug for Reply<R>
where
    R: Transportable + 'static,
    for<'b> R::InPlace<'b>: fmt::Debug,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0
            .with(|result| f.debug_tuple("Reply").field(result).finish())
    }
}
