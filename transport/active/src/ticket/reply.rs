//! The outcome of a request.

use jstream::buffer::MessageBuffer;

use crate::error::RequestError;

/// The answer of a handler.
#[derive(Debug)]
#[non_exhaustive]
pub struct Reply {
    /// The word of the answer.
    pub word: u64,
    /// The payload; its bytes are not validated.
    pub payload: MessageBuffer,
}

/// The outcome of a request.
pub(super) type Outcome = Result<Reply, RequestError>;
