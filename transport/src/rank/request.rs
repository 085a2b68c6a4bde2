//! Requests: what was asked of a rank and has not ended, or whose outcome nobody has taken.

use std::task::Waker;

use jstream::buffer::Spent;

use super::error::Error;
use super::names::Status;
use super::table::Number;
use crate::device::connection::{Body, Payload};
use crate::matching::ReceiveId;
use crate::rank::error::ElementName;

/// Where a receive wants its message.
pub(super) enum Place {
    /// Wherever it comes.
    Pool,
    /// In this jbuf, or wherever it comes.
    Jbuf(Spent),
    /// In this jbuf, which is memory of somebody who waits.
    Memory(Spent),
}

impl Place {
    fn capacity(&self) -> Option<usize> {
        match self {
            Self::Pool => None,
            Self::Jbuf(spent) | Self::Memory(spent) => Some(spent.capacity()),
        }
    }
}

/// A request.
///
/// Invariant: it has no outcome before the jbuf of its [`Place`], and all that this becomes, is dropped, or is
/// in the outcome. So it is with the message that it sends. Relied upon by `lent`.
pub(super) struct Request {
    place: Place,
    pub(super) capacity: Option<usize>,
    /// What its elements should be; bytes where nothing is asked.
    pub(super) expected: ElementName,
    /// It waits in the matcher.
    pub(super) posted: Option<ReceiveId>,
    /// The rank, and the number with it, of the payload that it waits for.
    pub(super) asked: Option<(u32, Number)>,
    pub(super) outcome: Option<Outcome>,
    /// A task that waits for it.
    pub(super) task: Option<Waker>,
    /// Nobody takes its outcome.
    pub(super) forgotten: bool,
    /// Of one that sends: what cancels it.
    pub(super) sends: Option<Sending>,
}

/// Where a message is that a request sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sending {
    pub(super) to: u32,
    /// Its number with the peer, where that may be asked to withdraw it.
    pub(super) offer: Option<Number>,
}

impl Request {
    pub(super) fn receive(place: Place, expected: ElementName) -> Self {
        Self {
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

    pub(super) fn send(to: u32) -> Self {
        Self {
            sends: Some(Sending { to, offer: None }),
            ..Self::receive(Place::Pool, ElementName::BYTES)
        }
    }

    /// The jbuf that was posted, if it is still here.
    pub(super) fn take_place(&mut self) -> Option<Spent> {
        match std::mem::replace(&mut self.place, Place::Pool) {
            Place::Pool => None,
            Place::Jbuf(spent) | Place::Memory(spent) => Some(spent),
        }
    }

    /// The memory that the message has to be copied to, wherever it comes.
    pub(super) fn take_memory(&mut self) -> Option<Spent> {
        match self.place {
            Place::Memory(_) => self.take_place(),
            Place::Pool | Place::Jbuf(_) => None,
        }
    }
}

/// What came of a request.
pub(super) struct Outcome {
    pub(super) result: Result<Status, Error>,
    pub(super) payload: Option<Payload>,
    /// The jbuf that was posted, where nothing is in it.
    pub(super) spent: Option<Spent>,
}

impl Outcome {
    pub(super) fn received(status: Status, payload: Payload) -> Self {
        Self {
            result: Ok(status),
            payload: Some(payload),
            spent: None,
        }
    }

    pub(super) fn failed(error: Error) -> Self {
        Self {
            result: Err(error),
            payload: None,
            spent: None,
        }
    }

    pub(super) fn sent() -> Self {
        Self {
            result: Ok(Status::NULL),
            payload: None,
            spent: None,
        }
    }

    /// Of a message that was not sent.
    pub(super) fn unsent(error: Error, body: Option<Body<'static>>) -> Self {
        Self {
            payload: body.and_then(payload_of),
            ..Self::failed(error)
        }
    }

    /// Of a message that was sent.
    pub(super) fn sent_from(body: Option<Body<'static>>) -> Self {
        let spent = match body {
            Some(Body::Owned(filled)) => Some(filled.into_spent()),
            _ => None,
        };
        Self {
            spent,
            ..Self::sent()
        }
    }
}

/// What is left of a message's body. Borrowed memory is nobody's.
pub(super) fn payload_of(body: Body<'static>) -> Option<Payload> {
    match body {
        Body::Owned(filled) => Some(Payload::Bytes(filled)),
        Body::Object(object) => Some(Payload::Object(object)),
        Body::Borrowed(_) | Body::Taken => None,
    }
}
