//! The receive sink, which gets all messages of a direction on arrival, regardless of which thread
//! polls. There are two stages: the sink chooses the destination of a payload when the header has
//! arrived, and takes the message when it is complete.

use jstream::buffer::EmptyBuffer;

use crate::gate::Credit;
use crate::ops::Notify;
use jstream_base::Header;
use jstream_base::{HeaderError, RecvError};
use jstream_device::connection::{Outbound, Payload};

/// A receive sink. It is called under the lock of the direction: it may lock, wake and reply, but
/// must not use an endpoint.
///
/// From the call that makes it the sink of a connection on, the device accepts messages of any
/// length: the sink [chooses](Self::choose) a destination, or refuses the message, before memory is
/// reserved for its payload.
///
/// After a message was chosen for, it is either taken or [lost](Self::lose). No other call comes in
/// between.
pub trait ReceiveSink: Send + Sync {
    /// Chooses the destination of the payload of the next message.
    fn choose(&self, header: &Header, replies: &mut Replies) -> Choice;

    /// Takes a message. Its payload is in the chosen buffer, unless the device moves its own
    /// buffers.
    ///
    /// # Errors
    ///
    /// If the peer violates the protocol. The error ends the connection.
    fn take(
        &self,
        header: &Header,
        payload: Payload,
        replies: &mut Replies,
    ) -> Result<(), HeaderError>;

    /// Takes a message for which [`Brief`](Choice::Brief) was chosen.
    ///
    /// # Errors
    ///
    /// As for [`take`](Self::take).
    fn take_brief(
        &self,
        header: &Header,
        payload: &[u8],
        replies: &mut Replies,
    ) -> Result<(), HeaderError>;

    /// Called if the pool has no buffer for the next message. The message waits until
    /// [`Shared::resume`](super::Shared::resume) is called.
    fn starve(&self);

    /// Called when no more messages arrive. If a destination was chosen for a message that was not
    /// taken, that memory is dropped.
    fn lose(&self, error: RecvError);
}

/// Destination of a payload.
pub enum Choice {
    /// A buffer of the pool.
    Pool,
    /// This buffer, which has room for the payload.
    Jbuf(EmptyBuffer),
    /// Memory that is lent for the duration of the call. For payloads of a few bytes only.
    Brief,
    /// None: the payload is dropped as it arrives, so it needs no memory. The sink takes an empty
    /// payload, unless the device moves its own buffers.
    Discard,
    /// None: the peer violates the protocol, which ends the connection.
    Refuse(HeaderError),
}

/// Messages and credit changes that a receive sink produces.
#[derive(Default)]
pub struct Replies {
    pub(super) messages: Vec<(Outbound<'static>, Notify)>,
    /// The window that the peer announced, the credit that it returned, and the error to report if
    /// either is too large.
    pub(super) opened: Option<Credit>,
    pub(super) restored: Credit,
    pub(super) overfull: Option<HeaderError>,
    /// True if no caller waits that would drive the posted messages.
    pub alone: bool,
}

impl Replies {
    /// Adds a message that is sent after the call.
    pub fn push(&mut self, message: Outbound<'static>, notify: Notify) {
        self.messages.push((message, notify));
    }

    /// Opens the window that the peer announced, which lets waiting messages go. A second
    /// announcement is the error `wrong`.
    pub fn open(&mut self, window: Credit, wrong: HeaderError) {
        self.opened = Some(window);
        self.overfull = Some(wrong);
    }

    /// Restores credit that the peer returned. More than was taken is the error `wrong`.
    pub fn restore(&mut self, credit: Credit, wrong: HeaderError) {
        let restored = &mut self.restored;
        // A sum that saturates exceeds every window, so it is reported as the error.
        restored.messages = restored.messages.saturating_add(credit.messages);
        restored.bytes = restored.bytes.saturating_add(credit.bytes);
        self.overfull = Some(wrong);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.messages.is_empty() && self.overfull.is_none()
    }
}

/// Outcome of a receive on the fast path, which bypasses the receive sink.
pub enum BypassedMessages {
    /// A message was received, with this header.
    Received(Header),
    /// No message has arrived.
    Nothing,
    /// A message or the end has arrived that has to go to the receive sink.
    Other,
}
