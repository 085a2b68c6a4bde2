//! A call on its way, and its result.

use std::cell::RefCell;
use std::fmt;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use jstream::{Covariant, Filled, Limits, ReadError, Reader, Received, Transportable};
use jstream_transport::Reminder;

use crate::connection::Connection;
use crate::error::{CallError, Outcome, shown};
use crate::frame::Code;
use crate::interface::Method;
use crate::stream::{Pumps, until_ready};

/// A call that was sent. Waiting for it gives its result: by [`wait`](Self::wait), which blocks, or as a
/// future, which needs no runtime. Dropping it before gives it up: the server does not begin it, or ends
/// its method where that waits.
///
/// The calls of one connection begin in the order in which they were sent, and run one after another,
/// but for async methods that wait. When the last handle of a connection is dropped, calls that were not
/// waited for may not run.
#[must_use = "a call's result, or failure, is known only after waiting for it, and dropping it gives it up"]
pub struct Call<R: Transportable + 'static> {
    /// Not here once the outcome was given.
    sent: Option<Result<Sent, CallError>>,
    /// Wakes the task at the deadline.
    reminder: Option<Reminder>,
    /// Streams that are arguments.
    pumps: Pumps,
    result: PhantomData<fn() -> R>,
}

/// A call whose reply is to come.
pub(crate) struct Sent {
    pub(crate) connection: Arc<Connection>,
    pub(crate) number: u64,
    pub(crate) method: &'static Method,
    pub(crate) deadline: Option<Instant>,
}

impl Drop for Sent {
    fn drop(&mut self) {
        if self.connection.forget(self.number) {
            self.connection.cancel(self.number);
        }
    }
}

/// What came for a call.
pub(crate) enum Answer {
    Reply(Filled),
    Error(Code, Filled),
}

/// Why nothing came for a call.
pub(crate) enum Unanswered {
    Lost(Arc<str>),
    /// Its time is over.
    Overdue,
}

thread_local! {
    /// Replies are read by the thread that waited for them.
    static READER: RefCell<Reader> = RefCell::default();
}

impl<R: Transportable + 'static> Call<R> {
    pub(crate) fn new(sent: Result<Sent, CallError>, pumps: Pumps) -> Self {
        Self {
            sent: Some(sent),
            reminder: None,
            pumps,
            result: PhantomData,
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
        let Some(sent) = self.sent.take() else {
            panic!("the call has given its result before");
        };
        let sent = sent?;
        let answer = sent.connection.wait(sent.number, sent.deadline);
        sent.result(answer)
    }

    /// The same while there are streams to be sent.
    fn wait_and_send(mut self) -> Result<Reply<R>, CallError> {
        let line = match &self.sent {
            Some(Ok(sent)) => Some(sent.connection.line()),
            _ => None,
        };
        let result = until_ready(
            || line.clone(),
            None,
            |context| Pin::new(&mut self).poll(context),
        );
        match result {
            Some(result) => result,
            None => unreachable!("it is waited for without an end"),
        }
    }
}

impl Sent {
    fn result<R>(self, answer: Result<Answer, Unanswered>) -> Result<Reply<R>, CallError>
    where
        R: Transportable + 'static,
    {
        let method = self.method.name();
        match answer {
            Ok(Answer::Reply(filled)) => read::<R>(filled, self.connection.limits())
                .map(Reply)
                .map_err(|source| CallError::Result { method, source }),
            Ok(Answer::Error(code, text)) => Err(failure(self.method, code, text)),
            Err(Unanswered::Lost(reason)) => Err(CallError::Lost {
                method,
                reason: reason.to_string(),
                idempotent: self.method.is_idempotent(),
            }),
            Err(Unanswered::Overdue) => Err(CallError::Deadline {
                method,
                outcome: Outcome::MayHaveRun,
                idempotent: self.method.is_idempotent(),
            }),
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
        this.pumps.drive(context.waker());
        let polled = match &this.sent {
            Some(Ok(sent)) => sent.connection.poll(sent.number, sent.deadline, context),
            Some(Err(_)) => Poll::Ready(Err(Unanswered::Overdue)),
            None => panic!("the call has given its result before"),
        };
        match (polled, this.sent.take()) {
            (Poll::Ready(answer), Some(Ok(sent))) => {
                this.reminder = None;
                Poll::Ready(sent.result(answer))
            }
            (Poll::Ready(_), Some(Err(error))) => Poll::Ready(Err(error)),
            (_, sent) => {
                if let Some(Ok(Sent {
                    deadline: Some(deadline),
                    ..
                })) = &sent
                {
                    // Where none is to be had the server keeps the deadline alone.
                    this.reminder = this.reminder.take().or_else(|| Reminder::new().ok());
                    if let Some(reminder) = &this.reminder {
                        reminder.set(*deadline, context.waker());
                    }
                }
                this.sent = sent;
                Poll::Pending
            }
        }
    }
}

fn read<R: Transportable + 'static>(
    filled: Filled,
    limits: Limits,
) -> Result<Received<R>, ReadError> {
    READER
        .with_borrow_mut(|reader| {
            reader.set_limits(limits);
            reader.read::<R>(filled)
        })
        .map_err(|failure| failure.error)
}

/// The error that a peer reported, whose words are not to be trusted with more than being shown.
fn failure(method: &'static Method, code: Code, text: Filled) -> CallError {
    let text = read::<String>(text, Limits::default())
        .map_or_else(|_| "no reason given".to_owned(), |text| shown(text.get()));
    let name = method.name();
    let overdue = |outcome| CallError::Deadline {
        method: name,
        outcome,
        idempotent: method.is_idempotent(),
    };
    let given_up = |outcome| CallError::Cancelled {
        method: name,
        outcome,
    };
    match code {
        Code::UnknownObject => CallError::UnknownObject { method: name },
        Code::UnknownMethod => CallError::UnknownMethod {
            signature: method.signature(),
            known: text,
        },
        Code::Arguments => CallError::Refused {
            method: name,
            reason: text,
        },
        Code::Panicked => CallError::Panicked {
            method: name,
            idempotent: method.is_idempotent(),
        },
        Code::Result => CallError::NoResult {
            method: name,
            reason: text,
        },
        Code::TooLate => overdue(Outcome::DidNotRun),
        Code::Overdue => overdue(Outcome::MayHaveRun),
        Code::NotBegun => given_up(Outcome::DidNotRun),
        Code::GivenUp => given_up(Outcome::MayHaveRun),
        Code::Busy => CallError::Busy { method: name },
    }
}

impl<R: Transportable + 'static> fmt::Debug for Call<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut call = f.debug_struct("Call");
        match &self.sent {
            Some(Ok(sent)) => call
                .field("method", &sent.method.name())
                .field("number", &sent.number),
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
