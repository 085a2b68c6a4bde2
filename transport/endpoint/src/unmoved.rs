//! Errors that return the buffer of an operation that failed.

use jstream::buffer::{EmptyBuffer, MessageBuffer};
use jstream_base::{RecvError, SendError};
use jstream_derive::ErrorDebug;
use thiserror::Error;

/// A buffer that was not sent, and the reason.
#[derive(ErrorDebug, Error)]
#[error("{error}")]
#[non_exhaustive]
pub struct Unsent {
    /// The reason.
    pub error: SendError,
    /// The buffer, unchanged.
    pub filled: MessageBuffer,
}

impl From<Unsent> for SendError {
    fn from(unsent: Unsent) -> Self {
        unsent.error
    }
}

/// A posted receive that failed, and the reason.
#[derive(ErrorDebug, Error)]
#[error("{error}")]
#[non_exhaustive]
pub struct Unreceived {
    /// The reason.
    pub error: RecvError,
    /// The posted buffer, if there was one and it holds no part of a message.
    pub buffer: Option<EmptyBuffer>,
}

impl From<Unreceived> for RecvError {
    fn from(unreceived: Unreceived) -> Self {
        unreceived.error
    }
}
