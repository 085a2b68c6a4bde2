//! Messages known to a rank, in each state of their delivery.

mod sender;

use std::sync::Arc;

use jstream::buffer::{MessageBuffer, PoolError};

use super::error::Error;
use super::inbox::Inbox;
use super::layout::runs::Runs;
use super::table::Number;
use jstream_base::HeaderError;
use jstream_device::connection::Payload;
use jstream_endpoint::ops::OpId;

/// A message that is queued until a receive matches it.
///
/// A letter must not be dropped under the lock of an inbox, because dropping it may lock the inbox
/// of the sender.
pub(super) enum Letter {
    /// A message whose payload has arrived.
    Here { payload: Payload, ack: Ack },
    /// A message whose payload is arriving. The
    /// [`ExpectedPayload`](super::peers::ExpectedPayload) of the source refers to this message.
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

    /// Returns the error of a message for which the receiver allocates at most `max` bytes.
    pub(super) fn too_long(&self, length: u64, max: u64) -> Error {
        let rank = self.to;
        Error::TooLong { length, max, rank }
    }
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

/// Returns the protocol error for an invalid message of a peer.
pub(super) fn strange(kind: u32) -> HeaderError {
    HeaderError::Rank { kind }
}
