//! Requests that have not ended, or whose outcome was not taken.

use std::task::Waker;

use jstream::buffer::EmptyBuffer;

use super::error::Error;
use super::layout::runs::Runs;
use super::names::Status;
use super::table::Number;
use crate::error::ElementName;
use jstream_device::connection::{Body, Payload};
use jstream_matching::{Pattern, ReceiveId};

/// The destination of a received message.
pub(super) enum ReceiveTarget {
    /// The buffer in which the message arrives.
    Pool,
    /// This jbuf, or the buffer in which the message arrives.
    Jbuf(EmptyBuffer),
    /// This jbuf, which is borrowed memory of a waiting thread.
    Memory(EmptyBuffer),
    /// The selected parts of this jbuf, which is borrowed memory of a waiting thread, or the buffer
    /// in which the message arrives.
    Scattered {
        memory: EmptyBuffer,
        runs: Box<Runs>,
        /// Number of bytes of all runs.
        capacity: usize,
    },
}

impl ReceiveTarget {
    fn capacity(&self) -> Option<usize> {
        match self {
            Self::Pool => None,
            Self::Jbuf(empty) | Self::Memory(empty) => Some(empty.capacity()),
            Self::Scattered { capacity, .. } => Some(*capacity),
        }
    }
}

/// A request.
///
/// INVARIANT: it has no outcome before the jbuf of its [`ReceiveTarget`], and every handle that
/// this jbuf is turned into, is dropped or is part of the outcome. The same holds for the message
/// that it sends. `lent` relies on this.
pub(super) struct RankRequest {
    place: ReceiveTarget,
    /// The context of the message.
    pub(super) context: u32,
    /// The messages that a receive was posted for, unless it was posted for a claimed one.
    pub(super) pattern: Option<Pattern>,
    pub(super) capacity: Option<usize>,
    /// The expected element type; bytes accept any type.
    pub(super) expected: ElementName,
    /// The entry in the matcher, while the receive is queued there.
    pub(super) posted: Option<ReceiveId>,
    /// The rank from which the payload was requested, and the number of that request.
    pub(super) asked: Option<(u32, Number)>,
    pub(super) outcome: Option<RequestOutcome>,
    /// The waker of the task that waits for it.
    pub(super) task: Option<Waker>,
    /// True if the outcome is discarded.
    pub(super) forgotten: bool,
    /// For a send: the data needed to cancel it.
    pub(super) sends: Option<Sending>,
}

/// The message that a request sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sending {
    pub(super) to: u32,
    /// The number of the message at the peer, if the peer may be asked to withdraw it.
    pub(super) offer: Option<Number>,
}

impl RankRequest {
    pub(super) fn receive(context: u32, place: ReceiveTarget, expected: ElementName) -> Self {
        Self {
            context,
            pattern: None,
            capacity: place.capacity(),
            place,
            expected,
            posted: None,
            asked: None,
            outcome: None,
            task: None,
            forgotten: false,
            sends: None,
        }
    }

    pub(super) fn send(context: u32, to: u32) -> Self {
        Self {
            sends: Some(Sending { to, offer: None }),
            ..Self::receive(context, ReceiveTarget::Pool, ElementName::BYTES)
        }
    }

    /// Takes the jbuf that was posted, if it is still unused. A message with a layout arrives in
    /// another buffer.
    #[inline]
    pub(super) fn take_place(&mut self) -> Option<EmptyBuffer> {
        match std::mem::replace(&mut self.place, ReceiveTarget::Pool) {
            ReceiveTarget::Pool | ReceiveTarget::Scattered { .. } => None,
            ReceiveTarget::Jbuf(empty) | ReceiveTarget::Memory(empty) => Some(empty),
        }
    }

    /// Takes the borrowed memory that the message has to be copied to.
    pub(super) fn take_memory(&mut self) -> Option<EmptyBuffer> {
        match self.place {
            ReceiveTarget::Memory(_) => self.take_place(),
            ReceiveTarget::Pool | ReceiveTarget::Jbuf(_) | ReceiveTarget::Scattered { .. } => None,
        }
    }

    /// Takes the destination of a message that is still in the memory of its sender: a jbuf, and
    /// the parts of it to copy to unless it is the front.
    pub(super) fn take_target(&mut self) -> (Option<EmptyBuffer>, Option<Box<Runs>>) {
        match std::mem::replace(&mut self.place, ReceiveTarget::Pool) {
            ReceiveTarget::Pool => (None, None),
            ReceiveTarget::Jbuf(empty) | ReceiveTarget::Memory(empty) => (Some(empty), None),
            ReceiveTarget::Scattered { memory, runs, .. } => (Some(memory), Some(runs)),
        }
    }
}

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
