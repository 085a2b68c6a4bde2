//! A call on its way, and its result.

use std::cell::RefCell;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use jstream::{Covariant, Filled, Limits, ReadError, Reader, Received, Transportable};

use crate::connection::Connection;
use crate::error::{CallError, shown};
use crate::frame::Code;
use crate::interface::Method;

/// A call that was sent. Waiting for it gives its result; dropping it forgets the result.
///
/// The calls of one connection run one after another, in the order in which they were sent. When
/// the last handle of a connection is dropped, calls that were not waited for may not run.
#[must_use = "a call's result, or failure, is known only after waiting for it"]
pub struct Call<R: Transportable + 'static> {
    sent: Result<Sent, CallError>,
    result: PhantomData<fn() -> R>,
}

/// A call whose reply is to come.
pub(crate) struct Sent {
    pub(crate) connection: Arc<Connection>,
    pub(crate) number: u64,
    pub(crate) method: &'static Method,
}

impl Drop for Sent {
    fn drop(&mut self) {
        self.connection.forget(self.number);
    }
}

/// What came for a call.
pub(crate) enum Outcome {
    Reply(Filled),
    Error(Code, Filled),
}

thread_local! {
    /// Replies are read by the thread that waited for them.
    static READER: RefCell<Reader> = RefCell::default();
}

impl<R: Transportable + 'static> Call<R> {
    pub(crate) fn new(sent: Result<Sent, CallError>) -> Self {
        Self {
            sent,
            result: PhantomData,
        }
    }

    /// Blocks until the result has come.
    ///
    /// # Errors
    ///
    /// A [`CallError`] that says what failed, and whether the method ran.
    pub fn wait(self) -> Result<Reply<R>, CallError> {
        let sent = self.sent?;
        let method = sent.method.name();
        let outcome = sent
            .connection
            .wait(sent.number)
            .map_err(|reason| CallError::Lost {
                method,
                reason: reason.to_string(),
            })?;
        match outcome {
            Outcome::Reply(filled) => read::<R>(filled, sent.connection.limits())
                .map(Reply)
                .map_err(|source| CallError::Result { method, source }),
            Outcome::Error(code, text) => Err(failure(sent.method, code, text)),
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
        Code::Panicked => CallError::Panicked { method: name },
        Code::Result => CallError::NoResult {
            method: name,
            reason: text,
        },
    }
}

impl<R: Transportable + 'static> fmt::Debug for Call<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut call = f.debug_struct("Call");
        match &self.sent {
            Ok(sent) => call
                .field("method", &sent.method.name())
                .field("number", &sent.number),
            Err(error) => call.field("failed", error),
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
