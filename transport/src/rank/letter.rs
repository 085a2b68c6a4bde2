//! Messages that are known to a rank, in the states that they come through.

use std::sync::Arc;

use jstream::buffer::Filled;

use super::inbox::Inbox;
use super::request::Outcome;
use super::table::Number;
use super::todo::Todo;
use crate::device::connection::{Body, Payload};
use crate::endpoint::ops::OpId;
use crate::error::HeaderError;
use crate::matching::{Heading, MessageId};

/// What is kept with a message that waits for its receive.
///
/// It is never dropped under the lock of an inbox, as it may tell another one.
pub(super) enum Letter {
    /// It is here.
    Here { payload: Payload, ack: Ack },
    /// Its payload is on its way, and the source's [`Incoming`] says that it is for this message.
    Coming { ack: Ack },
    /// Its payload comes when it is wanted.
    Announced { offer: Number },
    /// Its payload was asked for, and has not begun to come.
    Asked { want: Number },
    /// It is memory of a thread that waits; the bytes are dropped before that thread is told.
    Lent { bytes: Filled, sender: Sender },
    /// Its source went before all of it was here.
    Lost,
}

impl Letter {
    /// Whether its payload is with its source.
    pub(super) fn is_announced(&self) -> bool {
        matches!(self, Self::Announced { .. } | Self::Asked { .. })
    }

    /// Whether this request of a thread sends it.
    pub(super) fn is_of(&self, request: OpId) -> bool {
        match self {
            Self::Lent { sender, .. }
            | Self::Here {
                ack: Ack::Thread(sender) | Ack::Admitted(sender),
                ..
            } => sender.is_of(request),
            _ => false,
        }
    }
}

/// Who wants to know that a message was matched.
pub(super) enum Ack {
    Nobody,
    /// The rank on the other side of the connection, which gave it this number.
    Line(Number),
    Thread(Sender),
    /// A thread whose message had no room: it is told as soon as it has.
    Admitted(Sender),
}

/// A request of a thread that sends. It ends when this is dropped.
pub(super) struct Sender {
    inbox: Arc<Inbox>,
    request: OpId,
    /// The rank that it is for.
    to: u32,
    is_done: bool,
}

impl Sender {
    pub(super) fn new(inbox: Arc<Inbox>, request: OpId, to: u32) -> Self {
        Self {
            inbox,
            request,
            to,
            is_done: false,
        }
    }

    /// The message has its receive.
    pub(super) fn finish(mut self) {
        self.is_done = true;
        self.end(Outcome::sent());
    }

    pub(super) fn is_of(&self, request: OpId) -> bool {
        self.request == request
    }

    /// The message was taken back. What it was lent is dropped by then; what it had comes back.
    pub(super) fn cancel(mut self, payload: Option<Payload>) {
        self.is_done = true;
        self.end(Outcome {
            payload,
            ..Outcome::failed(super::Error::Cancelled)
        });
    }

    fn end(&self, outcome: Outcome) {
        let mut todo = Todo::default();
        let mut state = self.inbox.lock();
        state.complete(self.request, outcome, &mut todo);
        self.inbox.leave(state);
    }
}

impl Drop for Sender {
    fn drop(&mut self) {
        if !self.is_done {
            let why = Arc::from("it ended before it received the message");
            let error = super::Error::PeerGone { rank: self.to, why };
            self.end(Outcome::failed(error));
        }
    }
}

/// What the payload is for that a connection delivers next.
#[derive(Default)]
pub(super) enum Incoming {
    #[default]
    Nothing,
    /// A receive whose memory the connection has.
    Receive { request: OpId, heading: Heading },
    /// A receive that was posted when it was on its way already, and has its memory still.
    Late { request: OpId, heading: Heading },
    /// A message that waits.
    Message(MessageId),
    /// Nobody.
    Unwanted,
}

/// A message that a peer has to answer.
pub(super) struct Offer {
    pub(super) request: OpId,
    /// What is sent when it is wanted; nothing where it was sent at once.
    pub(super) body: Option<Body<'static>>,
    pub(super) length: u64,
    /// Of one that was sent at once: how far it is.
    pub(super) half: Half,
}

/// A message that is to be confirmed has ended when it has gone, and was matched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Half {
    Neither,
    Gone,
    Matched,
}

/// What a peer said that does not keep to the rules.
pub(super) fn strange(kind: u32) -> HeaderError {
    HeaderError::Rank { kind }
}
