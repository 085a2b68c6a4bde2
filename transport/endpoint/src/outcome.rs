//! Outcomes of operations, as programs get them.

use jstream::buffer::{EmptyBuffer, MessageBuffer};

use super::message::Message;
use super::receiving::Receipt;
use super::sending::SendOutcome;
use super::shared::Shared;
use super::unmoved::{Unreceived, Unsent};
use jstream_device::connection::Body;

/// Converts the outcome of a posted receive.
pub(super) fn message_of(receipt: Receipt, shared: &Shared) -> Result<Message, Unreceived> {
    match receipt {
        Ok(arrived) => shared
            .convert_to_message(arrived)
            .map_err(|error| Unreceived {
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
