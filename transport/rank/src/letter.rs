//! Messages known to a rank, in each state of their delivery.

mod sender;

use std::sync::Arc;

use jstream::buffer::{MessageBuffer, PoolError};

use super::inbox::Inbox;
use super::layout::runs::Runs;
use super::table::Number;
use jstream_base::HeaderError;
use jstream_device::connection::{Body, Payload};
use jstream_endpoint::ops::OpId;
use jstream_matching::{Claim, Heading, MessageId};

/// A message that is queued until a receive matches it.
///
/// A letter must not be dropped under the lock of an inbox, because dropping it may lock the inbox
/// of the sender.
pub(super) enum Letter {
    /// A message whose payload has arrived.
    Here { payload: Payload, ack: Ack },
    /// A message whose payload is arriving. The [`ExpectedPayload`] of the source refers to this
    /// message.
    Coming { ack: Ack },
    /// An announced message, whose payload is sent on request.
    Announced { offer: Number },
    /// An announced message whose payload was requested and has not begun to arrive.
    Asked { want: Number },
    /// Borrowed memory of a blocked thread. The bytes are dropped before that thread is notified.
    Lent {
        bytes: MessageBuffer,
        /// The selected parts of the memory, unless the message is all of it.
        gather: Option<Box<Runs>>,
        sender: Sender,
    },
    /// A message whose source was lost before all of it had arrived.
    Lost,
    /// A message that was requested for a receive that has ended, and for which the pool had no
    /// room.
    Dropped(PoolError),
}

impl Letter {
    /// Returns true if the payload is still at the source.
    pub(super) fn is_announced(&self) -> bool {
        matches!(self, Self::Announced { .. } | Self::Asked { .. })
    }

    /// Returns true if this send request of a thread owns the message.
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

/// The sender to notify when a message is matched.
pub(super) enum Ack {
    Nobody,
    /// The rank on the other side of the connection, with its number for the message.
    Line(Number),
    Thread(Sender),
    /// A thread whose message had no room. The thread is notified as soon as the message is queued.
    Admitted(Sender),
}

/// The send request of a thread. Dropping this ends the request with an error.
pub(super) struct Sender {
    inbox: Arc<Inbox>,
    request: OpId,
    /// The rank that the message is sent to.
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

    pub(super) fn is_of(&self, request: OpId) -> bool {
        self.request == request
    }
}

/// The destination of the next payload that a connection delivers.
#[derive(Default)]
pub(super) enum ExpectedPayload {
    #[default]
    Nothing,
    /// A receive whose memory the connection fills.
    Receive { request: OpId, heading: Heading },
    /// A receive that was posted while the message was arriving. Its memory is not lent to the
    /// connection.
    Late { request: OpId, heading: Heading },
    /// A message that is queued for a receive.
    Message(MessageId),
    /// No destination: the payload is dropped.
    Unwanted,
}

/// A payload that was requested from a peer.
pub(super) struct Want {
    pub(super) heading: Heading,
    pub(super) message: MessageId,
    /// The receive that waits for it, or `None` if it was cancelled.
    pub(super) asker: Option<Requester>,
}

/// A receive that waits for a payload.
pub(super) struct Requester {
    pub(super) request: OpId,
    pub(super) claim: Claim,
}

/// Mode of a send: when it ends, and whether it is half of an exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SendMode {
    /// The send ends when the bytes have been sent.
    Standard,
    /// The send ends when the message is matched.
    Confirmed,
    /// As `Standard`, for a message of a rank that receives another one of about the same length
    /// meanwhile.
    Exchange,
}

impl SendMode {
    pub(super) fn is_confirmed(self) -> bool {
        self == Self::Confirmed
    }
}

/// A message that a peer has to answer.
pub(super) struct Offer {
    pub(super) request: OpId,
    /// The body that is sent on request; `None` if it was sent eagerly.
    pub(super) body: Option<Body<'static>>,
    pub(super) length: u64,
    /// True if the message is sent in [`SendMode::Exchange`].
    pub(super) is_exchange: bool,
    /// The progress of a message that was sent eagerly.
    pub(super) half: Half,
}

/// Progress of a message with confirmation. The request ends when the message was both sent and
/// matched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Half {
    Neither,
    Gone,
    Matched,
    /// The request has ended. The other rank has not answered yet.
    Abandoned,
}

/// Returns the protocol error for an invalid message of a peer.
pub(super) fn strange(kind: u32) -> HeaderError {
    HeaderError::Rank { kind }
}
