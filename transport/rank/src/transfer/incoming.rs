//! Messages of one peer whose payload is under way, or that the peer may withdraw.
//!
//! At most one payload arrives at a time. Its destination is a receive, a queued
//! [letter](super::letter), or none if nobody wants it any more:
//!
//! | event                            | no payload      | for a receive    | for a letter       |
//! |----------------------------------|-----------------|------------------|--------------------|
//! | a message begins to arrive       | → its receive, or its letter, or no destination      |||
//! | a receive takes the letter       | –               | –                | → for the receive  |
//! | the letter leaves unreceived     | –               | –                | → no destination   |
//! | the payload has arrived          | drop it         | ends the receive | the letter is here |
//! | there is no room for the payload | –               | fails the receive| the letter has none|
//! | the peer is lost                 | –               | fails the receive| the letter is lost |
//!
//! A requested payload has a number that this rank gives out (*want*). The peer answers each want
//! once, by *data* or *absent*. A want outlives the receive that made it: the payload is then for
//! the letter, or dropped if that has left the queue.
//!
//! Decision 122 has the reasons.

use std::collections::HashMap;

use crate::table::{Number, NumberTable};
use jstream_endpoint::ops::OpId;
use jstream_matching::{Claim, Heading, MessageId};

/// The messages of one peer whose payload is under way, or that it may withdraw.
#[derive(Default)]
pub(crate) struct Incoming {
    arriving: Arriving,
    wants: NumberTable<Want>,
    /// Letters that the peer may withdraw, by its numbers for them.
    withdrawable: HashMap<Number, MessageId>,
}

/// The destination of the payload that is arriving.
#[derive(Default)]
pub(crate) enum Arriving {
    /// None, or the payload is dropped.
    #[default]
    Nowhere,
    Receive {
        request: OpId,
        heading: Heading,
    },
    Letter(MessageId),
}

/// A payload that was requested from a peer.
pub(crate) struct Want {
    pub(crate) heading: Heading,
    pub(crate) message: MessageId,
    /// The receive that waits for it, or `None` if it was cancelled.
    pub(crate) requester: Option<Requester>,
}

/// A receive that waits for a payload.
pub(crate) struct Requester {
    pub(crate) request: OpId,
    pub(crate) claim: Claim,
}

impl Incoming {
    /// Sets the destination of the payload that begins to arrive, or is arriving.
    #[inline]
    pub(crate) fn direct(&mut self, arriving: Arriving) {
        self.arriving = arriving;
    }

    /// Takes the destination of the payload that has arrived.
    #[inline]
    pub(crate) fn take_arriving(&mut self) -> Arriving {
        std::mem::take(&mut self.arriving)
    }

    /// Adds a request for a payload.
    pub(crate) fn insert_want(&mut self, want: Want) -> Number {
        self.wants.insert(want)
    }

    /// Sets the receive that waits for a payload that was requested before.
    ///
    /// # Errors
    ///
    /// Returns the receive if the payload of its message is not expected by this number.
    pub(crate) fn set_requester(
        &mut self,
        want: Number,
        requester: Requester,
    ) -> Result<(), Requester> {
        let message = requester.claim.message();
        match self.wants.get_mut(want) {
            // The peer may have answered that number meanwhile, and it may stand for another
            // message now.
            Some(want) if want.message == message => {
                want.requester = Some(requester);
                Ok(())
            }
            _ => Err(requester),
        }
    }

    /// Detaches the receive that waits for a payload.
    pub(crate) fn take_requester(&mut self, want: Number) -> Option<Requester> {
        self.wants.get_mut(want)?.requester.take()
    }

    /// Removes the request for a payload that begins to arrive. Returns `None` if no payload of
    /// this length was requested.
    pub(crate) fn begin(&mut self, want: Number, length: u64) -> Option<Want> {
        // The length is checked before memory is reserved for the payload.
        if self.wants.get(want)?.heading.length != length {
            return None;
        }
        self.wants.remove(want)
    }

    /// Removes the request for a payload that the peer does not send.
    pub(crate) fn remove_want(&mut self, want: Number) -> Option<Want> {
        self.wants.remove(want)
    }

    /// Records that the peer may withdraw a letter.
    pub(crate) fn allow_withdrawal(&mut self, offer: Number, message: MessageId) {
        self.withdrawable.insert(offer, message);
    }

    /// Takes the letter that the peer may withdraw, because it does, or must not any more.
    pub(crate) fn take_withdrawable(&mut self, offer: Number) -> Option<MessageId> {
        self.withdrawable.remove(&offer)
    }

    /// Removes everything, because the peer is lost.
    pub(crate) fn lose(&mut self) -> (Arriving, Vec<Want>) {
        self.withdrawable.clear();
        (self.take_arriving(), self.wants.drain().collect())
    }

    /// Drops all receives and claims when this rank ends. Payloads that still arrive are dropped.
    pub(crate) fn drop_requesters(&mut self) {
        // The numbers stay: payloads that are on their way still have to be recognized.
        for want in self.wants.values() {
            want.requester = None;
        }
    }

    /// Returns true if nothing is under way.
    #[cfg(test)]
    pub(crate) fn is_empty(&self) -> bool {
        let is_directed = !matches!(self.arriving, Arriving::Nowhere);
        !is_directed && self.wants.is_empty() && self.withdrawable.is_empty()
    }
}
