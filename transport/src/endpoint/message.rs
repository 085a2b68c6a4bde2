//! What programs are given of an operation.

use jstream::buffer::{Filled, Spent};

use super::receiving::{Arrived, Receipt};
use super::sending::Sent;
use super::shared::Shared;
use crate::device::connection::Body;
use crate::error::{RecvError, Unreceived, Unsent};
use crate::header::Header;

/// A message that was received.
#[derive(Debug)]
#[non_exhaustive]
pub struct Message {
    /// What the sender said about it.
    pub header: Header,
    /// The payload, in a jbuf; nobody has believed its bytes yet. Where there is none, the jbuf may be one
    /// without memory.
    pub payload: Filled,
}

impl Message {
    /// What stands where a message is received to.
    #[inline]
    pub(crate) fn nothing() -> Self {
        Self {
            header: Header::default(),
            payload: Filled::nothing(),
        }
    }
}

/// The bytes of what arrived. An object that can't become bytes is received next.
#[inline]
pub(super) fn bytes_of(arrived: Arrived, shared: &Shared) -> Result<Message, RecvError> {
    match arrived.into_bytes(&shared.facts().pool) {
        Ok((header, payload)) => Ok(Message { header, payload }),
        Err(unwritten) => {
            if let Some(arrived) = unwritten.arrived {
                shared.keep(arrived);
            }
            Err(unwritten.error)
        }
    }
}

/// The outcome of a posted receive.
pub(super) fn message_of(receipt: Receipt, shared: &Shared) -> Result<Message, Unreceived> {
    match receipt {
        Ok(arrived) => bytes_of(arrived, shared).map_err(|error| Unreceived { error, spent: None }),
        Err(missed) => Err(Unreceived {
            error: missed.error,
            spent: missed.spent,
        }),
    }
}

/// The outcome of a posted send of a jbuf.
pub(super) fn outcome_of(sent: Sent) -> Result<Option<Spent>, Unsent> {
    let filled = match sent.body {
        Body::Owned(filled) => Some(filled),
        _ => None,
    };
    match sent.result {
        Ok(()) => Ok(filled.map(Filled::into_spent)),
        Err(error) => Err(Unsent {
            error,
            filled: unmoved(filled),
        }),
    }
}

/// The jbuf of a message that was not sent. Devices that move jbufs do so only when they take them.
pub(super) fn unmoved(filled: Option<Filled>) -> Filled {
    filled.unwrap_or_else(Filled::nothing)
}
