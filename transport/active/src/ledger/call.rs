//! The state of an outstanding request of this side.

use std::task::Waker;

use jstream::buffer::MessageBuffer;
use jstream_sync::callbacks;

/// The answer to a request.
#[derive(Debug)]
pub(crate) enum Answer {
    Reply {
        word: u64,
        payload: MessageBuffer,
    },
    Returned {
        reason: u16,
        word: u64,
        /// The payload that was sent, followed by `text` bytes of explanation.
        payload: MessageBuffer,
        text: u16,
    },
}

/// State of a request slot of this side.
#[derive(Debug)]
pub(crate) enum Call {
    Free,
    /// The answer has not come. The waker is called when it does.
    Waiting(Option<Waker>),
    /// The answer is not wanted.
    Forgotten,
    Done(Answer),
}

/// Drops the state of a request, whose waker may be the last handle of a task of the program.
pub(crate) fn discard(call: Option<Call>) {
    if let Some(Call::Waiting(waker)) = call {
        callbacks::discard(waker);
    }
}

#[derive(Debug)]
pub(super) struct CallSlot {
    pub(super) generation: u16,
    pub(super) call: Call,
}
