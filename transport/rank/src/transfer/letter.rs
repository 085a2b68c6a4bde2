//! A message at its receiver, from its arrival until a receive has it.
//!
//! A letter is a state machine without I/O. It consists of its payload, whose state is one of
//!
//! | state       | the payload                                                     |
//! |-------------|-----------------------------------------------------------------|
//! | `Here`      | has arrived                                                     |
//! | `Arriving`  | is arriving in a buffer that no receive has                     |
//! | `Announced` | is at the source, which sends it on request                     |
//! | `Requested` | was requested, and has not begun to arrive                      |
//! | `Lent`      | is in memory that a blocked thread lends                        |
//! | `Lost`      | never arrives, because the source was lost before               |
//! | `NoRoom`    | was dropped, because the pool had no room                       |
//! | `Absent`    | never arrives, because the source does not send it              |
//!
//! and of the acknowledgement that its sender expects: none, that of a rank with a connection, or
//! the end of the request of a thread. These events change a letter that is queued:
//!
//! | event                    | `Announced`   | `Requested`  | `Arriving` | all others |
//! |--------------------------|---------------|--------------|------------|------------|
//! | a receive takes it       | → `Requested` | –            | leaves     | leaves     |
//! | its payload begins       | –             | → `Arriving` | –          | –          |
//! | its payload has arrived  | –             | –            | → `Here`   | –          |
//! | its payload has no room  | –             | → `NoRoom`   | → `NoRoom` | –          |
//! | its payload is not sent  | –             | → `Absent`   | –          | –          |
//! | its source is lost       | –             | –            | → `Lost`   | –          |
//!
//! A letter that leaves the queue is answered, by the reason for which it leaves:
//!
//! | the sender expects   | received  | unwanted  | unwanted, with an error | too long        |
//! |----------------------|-----------|-----------|-------------------------|-----------------|
//! | nothing              | –         | –         | –                       | –               |
//! | a frame, `Announced` | *matched* | *matched* | *matched*               | *refused*       |
//! | a frame, otherwise   | *matched* | *matched* | *matched*               | *matched*       |
//! | the end of a request | success   | success   | the error               | the error       |
//!
//! A request that ends with an error gets its payload back. Memory that a thread lends is released
//! before its request ends.
//!
//! Decision 122 has the reasons.

mod sender;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use jstream::buffer::{MessageBuffer, PoolError};

use crate::error::Error;
use crate::inbox::Inbox;
use crate::layout::runs::Runs;
use crate::table::Number;
use jstream_device::connection::Payload;
use jstream_endpoint::ops::OpId;

/// A message that is queued until a receive matches it.
///
/// A letter must not be dropped under the lock of an inbox, because dropping it may lock the inbox
/// of the sender.
pub(crate) struct Letter {
    payload: LetterPayload,
    ack: Ack,
}

/// The payload of a letter.
pub(crate) enum LetterPayload {
    Here(Payload),
    Arriving,
    Announced,
    Requested(Number),
    Lent {
        bytes: MessageBuffer,
        /// The selected parts of the memory, unless the message is all of it.
        gather: Option<Box<Runs>>,
    },
    Lost,
    NoRoom(PoolError),
    Absent,
}

/// The acknowledgement that the sender of a letter expects.
enum Ack {
    Nothing,
    /// A frame to the rank on the other side of the connection, with its number for the message.
    Frame(Number),
    /// The end of the request of a thread.
    End(Sender),
    /// The end of the request of a thread whose message had no room, as soon as it is queued.
    EndWhenQueued(Sender),
}

/// The reason for which a letter leaves the queue.
pub(crate) enum Leaving {
    /// A receive has it.
    Received,
    /// No receive gets it. If there is an error, a thread that has sent it is told.
    Unwanted(Option<Error>),
    /// The receiver would have to allocate more than `max` bytes.
    TooLong { length: u64, max: u64 },
}

/// The answer to the sender of a letter that has left the queue.
pub(crate) enum LetterAnswer {
    Nothing,
    Matched(Number),
    Refused(Number),
    /// Ends the request of a thread.
    Finish(Sender),
    /// Ends the request of a thread with an error.
    Fail(Sender, Option<Payload>, Error),
}

impl Letter {
    /// Returns a message whose payload has arrived, and whose sender expects nothing.
    #[inline]
    pub(crate) fn whole(payload: Payload) -> Self {
        Self {
            payload: LetterPayload::Here(payload),
            ack: Ack::Nothing,
        }
    }

    /// Returns a message of a thread whose request ends when the message is matched.
    pub(crate) fn confirmed(payload: Payload, sender: Sender) -> Self {
        Self {
            payload: LetterPayload::Here(payload),
            ack: Ack::End(sender),
        }
    }

    /// Returns a message of a thread whose request ends when the message is queued.
    pub(crate) fn stalled(payload: Payload, sender: Sender) -> Self {
        Self {
            payload: LetterPayload::Here(payload),
            ack: Ack::EndWhenQueued(sender),
        }
    }

    /// Returns a message in memory that a blocked thread lends.
    pub(crate) fn lent(bytes: MessageBuffer, gather: Option<Box<Runs>>, sender: Sender) -> Self {
        Self {
            payload: LetterPayload::Lent { bytes, gather },
            ack: Ack::End(sender),
        }
    }

    /// Returns a message whose payload is arriving over a connection. Its sender expects a frame if
    /// the message has a number.
    #[inline]
    pub(crate) fn arriving(offer: Option<Number>) -> Self {
        Self {
            payload: LetterPayload::Arriving,
            ack: offer.map_or(Ack::Nothing, Ack::Frame),
        }
    }

    /// Returns a message whose payload is sent on request.
    pub(crate) fn announced(offer: Number) -> Self {
        Self {
            payload: LetterPayload::Announced,
            ack: Ack::Frame(offer),
        }
    }

    /// Returns true if the payload is still at the source.
    #[inline]
    pub(crate) fn is_announced(&self) -> bool {
        matches!(
            self.payload,
            LetterPayload::Announced | LetterPayload::Requested(_)
        )
    }

    /// Returns true if the payload is arriving.
    #[inline]
    pub(crate) fn is_arriving(&self) -> bool {
        matches!(self.payload, LetterPayload::Arriving)
    }

    /// Returns true if the payload was lost with its source.
    pub(crate) fn is_lost(&self) -> bool {
        matches!(self.payload, LetterPayload::Lost)
    }

    /// Returns true if the source does not send the payload.
    pub(crate) fn is_absent(&self) -> bool {
        matches!(self.payload, LetterPayload::Absent)
    }

    /// Returns true if the payload has arrived, and the sender expects nothing.
    #[inline]
    pub(crate) fn is_plain(&self) -> bool {
        matches!(
            (&self.payload, &self.ack),
            (LetterPayload::Here(_), Ack::Nothing)
        )
    }

    /// Returns true if this send request of a thread owns the message.
    pub(crate) fn is_of(&self, request: OpId) -> bool {
        match &self.ack {
            Ack::End(sender) | Ack::EndWhenQueued(sender) => sender.is_of(request),
            Ack::Nothing | Ack::Frame(_) => false,
        }
    }

    /// Returns the bytes of the payload, or no bytes if it has not arrived or is an object.
    #[inline]
    pub(crate) fn bytes(&self) -> &[u8] {
        match &self.payload {
            LetterPayload::Here(Payload::Bytes(filled)) => filled.as_bytes(),
            _ => &[],
        }
    }

    /// Returns the payload, if it has arrived. The sender must not expect anything.
    #[inline]
    pub(crate) fn into_payload(self) -> Option<Payload> {
        match self.payload {
            LetterPayload::Here(payload) => Some(payload),
            _ => None,
        }
    }

    /// Returns the number of the request for the payload, if it was requested.
    pub(crate) fn want(&self) -> Option<Number> {
        match self.payload {
            LetterPayload::Requested(want) => Some(want),
            _ => None,
        }
    }

    /// Records that the payload is requested. Returns the number of the message at its source, or
    /// `None` if the payload is not to be requested.
    pub(crate) fn request(&mut self, want: Number) -> Option<Number> {
        match (&self.payload, &self.ack) {
            (LetterPayload::Announced, &Ack::Frame(offer)) => {
                *self = Self {
                    payload: LetterPayload::Requested(want),
                    // The peer is answered by the request itself. The payload then comes under its
                    // own number.
                    ack: Ack::Nothing,
                };
                Some(offer)
            }
            _ => None,
        }
    }

    /// Records that the payload begins to arrive. Returns false if it was not requested.
    pub(crate) fn begin(&mut self) -> bool {
        let is_requested = matches!(self.payload, LetterPayload::Requested(_));
        if is_requested {
            self.payload = LetterPayload::Arriving;
        }
        is_requested
    }

    /// Adds the payload that has arrived. Returns it if none was arriving.
    #[must_use = "is dropped without the lock"]
    pub(crate) fn complete(&mut self, payload: Payload) -> Option<Payload> {
        if !self.is_arriving() {
            return Some(payload);
        }
        self.payload = LetterPayload::Here(payload);
        None
    }

    /// Records that the payload is dropped, because the pool has no room for it.
    pub(crate) fn lose_room(&mut self, source: PoolError) {
        if self.is_arriving() || self.want().is_some() {
            self.payload = LetterPayload::NoRoom(source);
        }
    }

    /// Records that the source does not send the payload that was requested.
    pub(crate) fn lose_payload(&mut self) {
        if self.want().is_some() {
            self.payload = LetterPayload::Absent;
        }
    }

    /// Records that the source was lost while the payload was arriving.
    pub(crate) fn lose_source(&mut self) {
        if self.is_arriving() {
            *self = Self {
                payload: LetterPayload::Lost,
                // Nobody is left to be answered.
                ack: Ack::Nothing,
            };
        }
    }

    /// Records that the message is queued. Returns the sender whose request ends with that.
    pub(crate) fn admit(&mut self) -> Option<Sender> {
        match std::mem::replace(&mut self.ack, Ack::Nothing) {
            Ack::EndWhenQueued(sender) => Some(sender),
            ack => {
                self.ack = ack;
                None
            }
        }
    }

    /// Removes the message from the queue. Returns the answer to its sender, and its payload unless
    /// the answer has it. Memory that is lent is released, unless the message was received.
    #[inline]
    pub(crate) fn leave(self, leaving: Leaving) -> (LetterAnswer, LetterPayload) {
        let Self { payload, ack } = self;
        let sender = match ack {
            Ack::Nothing => return (LetterAnswer::Nothing, payload),
            Ack::Frame(offer) => {
                // An announced message keeps its body at the sender, which gets it back with the
                // error. Of any other one, the sender has nothing left that could be refused.
                let is_refused = matches!(leaving, Leaving::TooLong { .. })
                    && matches!(payload, LetterPayload::Announced);
                let answer = match is_refused {
                    true => LetterAnswer::Refused(offer),
                    false => LetterAnswer::Matched(offer),
                };
                return (answer, payload);
            }
            Ack::End(sender) | Ack::EndWhenQueued(sender) => sender,
        };
        let error = match leaving {
            Leaving::Received => return (LetterAnswer::Finish(sender), payload),
            Leaving::Unwanted(error) => error,
            Leaving::TooLong { length, max } => Some(sender.too_long(length, max)),
        };
        match (error, payload) {
            (Some(error), LetterPayload::Here(payload)) => (
                LetterAnswer::Fail(sender, Some(payload), error),
                LetterPayload::Lost,
            ),
            (Some(error), payload) => {
                // Memory that is lent is released before the request of its owner ends.
                drop(payload);
                (LetterAnswer::Fail(sender, None, error), LetterPayload::Lost)
            }
            (None, LetterPayload::Lent { bytes, .. }) => {
                drop(bytes);
                (LetterAnswer::Finish(sender), LetterPayload::Lost)
            }
            (None, payload) => (LetterAnswer::Finish(sender), payload),
        }
    }
}

/// The send request of a thread. Dropping this ends the request with an error.
pub(crate) struct Sender {
    inbox: Arc<Inbox>,
    request: OpId,
    /// The rank that the message is sent to.
    to: u32,
    is_done: bool,
}

impl Sender {
    pub(crate) fn new(inbox: Arc<Inbox>, request: OpId, to: u32) -> Self {
        Self {
            inbox,
            request,
            to,
            is_done: false,
        }
    }

    fn is_of(&self, request: OpId) -> bool {
        self.request == request
    }

    /// Returns the error of a message for which the receiver allocates at most `max` bytes.
    fn too_long(&self, length: u64, max: u64) -> Error {
        let rank = self.to;
        Error::TooLong { length, max, rank }
    }
}
