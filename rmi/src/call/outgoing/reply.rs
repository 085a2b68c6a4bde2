//! The result of a call.

use std::fmt;
use std::sync::Arc;

use jstream::{
    Covariant, Limits, MessageBuffer, ReadError, Received, Restore, RestoreError, Transportable,
};

use crate::frame::read;
use crate::interface::{MessageConversion, Method};
use crate::session::Watched;
use crate::support::CallError;

/// The result of a call, in its receive buffer.
pub struct Reply<R: Transportable + 'static>(pub(crate) Received<R>);

impl<R: Transportable + 'static> Reply<R> {
    /// Returns the result.
    #[must_use]
    pub fn get(&self) -> &R::InPlace<'_>
    where
        R: Covariant,
    {
        self.0.get()
    }

    /// Returns the result as a value that owns its parts, made from copies of all parts.
    ///
    /// # Errors
    ///
    /// As for [`jstream::restore`].
    pub fn to_owned(&self) -> Result<R, RestoreError>
    where
        R: Restore,
    {
        self.0.to_owned()
    }

    /// Returns the result together with its buffer.
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

/// The message of a result that is not read yet.
pub(super) struct UnreadResult {
    method: &'static Method,
    limits: Limits,
    payload: MessageBuffer,
    /// The interceptors that are told the outcome.
    pub(super) watched: Option<Arc<Watched>>,
    /// The conversion of the result, if the server has another version of the method.
    pub(super) conversion: Option<Arc<MessageConversion>>,
}

impl UnreadResult {
    pub(super) fn new(method: &'static Method, limits: Limits, payload: MessageBuffer) -> Self {
        Self {
            method,
            limits,
            payload,
            watched: None,
            conversion: None,
        }
    }

    /// Returns the length of the message in bytes.
    pub(super) fn len(&self) -> u64 {
        self.payload.len() as u64
    }

    /// Returns the message, and reports the outcome to the interceptors.
    pub(super) fn into_message(self) -> MessageBuffer {
        if let Some(watched) = &self.watched {
            watched.end(Ok(()), self.payload.len() as u64);
        }
        self.payload
    }

    /// Reads the result, and reports the outcome to the interceptors.
    pub(super) fn read<R: Transportable + 'static>(self) -> Result<Reply<R>, CallError> {
        // As they have arrived. The conversion may change the length.
        let bytes = self.payload.len() as u64;
        let payload = match &self.conversion {
            Some(conversion) => converted(conversion, self.method, self.payload),
            None => Ok(self.payload),
        };
        let result = payload.and_then(|payload| read_result(self.method, self.limits, payload));
        // Only here is it known whether the result can be read, which interceptors are told as the
        // outcome.
        if let Some(watched) = &self.watched {
            watched.end(result.as_ref().map(drop).map_err(CallError::outcome), bytes);
        }
        result
    }
}

/// Converts a result of another version of the method.
fn converted(
    conversion: &MessageConversion,
    method: &'static Method,
    payload: MessageBuffer,
) -> Result<MessageBuffer, CallError> {
    let converted = conversion.convert(payload.as_bytes());
    converted.map_err(|details| CallError::Result {
        method: method.name(),
        source: ReadError::Value {
            path: String::new(),
            details,
            offset: 0,
        },
    })
}

pub(super) fn read_result<R>(
    method: &'static Method,
    limits: Limits,
    payload: MessageBuffer,
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
