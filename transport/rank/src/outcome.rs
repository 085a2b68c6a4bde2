//! Outcomes of requests.

use jstream::buffer::EmptyBuffer;

use super::error::Error;
use super::names::Status;
use jstream_base::SendError;
use jstream_device::connection::{Body, Payload};

/// The outcome of a request.
pub(super) struct RequestOutcome {
    pub(super) result: Result<Status, Error>,
    pub(super) payload: Option<Payload>,
    /// The jbuf that was posted, if it is unused.
    pub(super) empty: Option<EmptyBuffer>,
}

impl RequestOutcome {
    pub(super) fn received(status: Status, payload: Payload) -> Self {
        Self {
            result: Ok(status),
            payload: Some(payload),
            empty: None,
        }
    }

    /// Returns the outcome of a receive whose message is copied to its destination.
    pub(super) fn copied(status: Status, to: EmptyBuffer, bytes: &[u8]) -> Self {
        let capacity = to.capacity() as u64;
        match to.copy_from(bytes) {
            Ok(filled) => Self::received(status, Payload::Bytes(filled)),
            Err(overfull) => Self {
                empty: Some(overfull.buffer),
                ..Self::failed(Error::Truncated {
                    length: bytes.len() as u64,
                    capacity,
                    rank: status.source,
                    tag: status.tag,
                })
            },
        }
    }

    pub(super) fn failed(error: Error) -> Self {
        Self {
            result: Err(error),
            payload: None,
            empty: None,
        }
    }

    pub(super) fn sent() -> Self {
        Self {
            result: Ok(Status::NULL),
            payload: None,
            empty: None,
        }
    }

    /// Returns the outcome of a message that was not sent.
    pub(super) fn unsent(error: Error, body: Option<Body<'static>>) -> Self {
        Self {
            payload: body.and_then(payload_of),
            ..Self::failed(error)
        }
    }

    /// Returns the outcome of a message that was sent.
    pub(super) fn sent_from(body: Option<Body<'static>>) -> Self {
        let empty = match body {
            Some(Body::Owned(filled)) => Some(filled.into_empty()),
            _ => None,
        };
        Self {
            empty,
            ..Self::sent()
        }
    }
}

/// Returns the payload of a message body. Borrowed memory has none.
pub(super) fn payload_of(body: Body<'static>) -> Option<Payload> {
    match body {
        Body::Owned(filled) => Some(Payload::Bytes(filled)),
        Body::Object(object) => Some(Payload::Object(object)),
        Body::Borrowed(_) | Body::Taken => None,
    }
}

/// Converts the error of a send to a rank.
pub(super) fn unsendable(rank: u32, error: SendError) -> Error {
    match error {
        SendError::TooLarge { length, max, .. } => Error::TooLong { length, max, rank },
        SendError::Cancelled => Error::Cancelled,
        // After each of these, the connection takes nothing any more, so the rank cannot be
        // reached.
        SendError::Closed { .. }
        | SendError::ClosedLocally { .. }
        | SendError::Lost { .. }
        | SendError::Stalled { .. } => Error::PeerGone {
            rank,
            reason: error.to_string().into(),
        },
        source => Error::NotSent {
            rank,
            source: Box::new(source),
        },
    }
}
