//! Outcomes of operations, as programs get them.

use jstream::buffer::{EmptyBuffer, MessageBuffer};

use super::message::Message;
use super::receiving::{Arrived, Receipt};
use super::sending::SendOutcome;
use super::shared::Shared;
use super::unmoved::{Unreceived, Unsent};
use jstream_base::RecvError;
use jstream_device::connection::Body;

/// Returns the bytes of a received message. An object that can't be converted to bytes is received
/// next.
#[inline]
pub(super) fn bytes_of(arrived: Arrived, shared: &Shared) -> Result<Message, RecvError> {
    match arrived.into_bytes(&shared.info().pool) {
        Ok((header, payload)) => Ok(Message { header, payload }),
        Err(unwritten) => {
            if let Some(arrived) = unwritten.arrived {
                shared.keep(arrived);
            }
            Err(unwritten.error)
        }
    }
}

/// Converts the outcome of a posted receive.
pub(super) fn message_of(receipt: Receipt, shared: &Shared) -> Result<Message, Unreceived> {
    match receipt {
        Ok(arrived) => bytes_of(arrived, shared).map_err(|error| Unreceived {
            error,
            buffer: None,
        }),
        Err(missed) => Err(Unreceived {
            error: missed.error,
            buffer: missed.empty,
        }),
    }
}

/// Converts the outcome of a posted send of a buffer.
pub(super) fn outcome_of(sent: SendOutcome) -> Result<Option<EmptyBuffer>, Unsent> {
    let filled = match sent.body {
        Body::Owned(filled) => Some(filled),
        _ => None,
    };
    match sent.result {
        Ok(()) => Ok(filled.map(MessageBuffer::into_empty)),
        Err(error) => Err(Unsent {
            error,
            filled: unmoved(filled),
        }),
    }
}

/// Returns the buffer of a message that was not sent. A device moves a buffer only when it takes
/// it.
pub(super) fn unmoved(filled: Option<MessageBuffer>) -> MessageBuffer {
    filled.unwrap_or_else(MessageBuffer::nothing)
}
