//! Announced messages whose payload was requested and has not begun to arrive.
//!
//! Such a message stays in the matcher, claimed by its receive. If the receive is cancelled, the
//! message keeps its position, and the next receive that matches it gets the payload. The message
//! continues to use credit of its source, so the window limits the number of messages that a peer
//! announces without sending the payload.

use super::error::Error;
use super::letter::{Ack, ExpectedPayload, Letter, Requester, Want};
use super::request::RequestOutcome;
use super::state::RankState;
use super::table::Number;
use super::wire::Frame;
use super::work_queue::{DeferredTask, DeferredWork};
use jstream_endpoint::ops::OpId;
use jstream_endpoint::receiving::Choice;
use jstream_matching::{Claim, Heading};

impl RankState {
    /// Gives an announced message to a receive: requests the payload, unless it was requested
    /// before.
    pub(super) fn ask(&mut self, request: OpId, claim: Claim, deferred: &mut DeferredWork) {
        let heading = *claim.heading();
        let source = heading.envelope.source;
        if !self.accept(request, &heading, deferred) {
            return self.decline(claim, deferred);
        }
        let has_memory = self
            .requests
            .get(request)
            .is_some_and(|request| request.capacity.is_some());
        if let (false, Some((offer, max))) = (has_memory, self.over_limit(&claim)) {
            let error = over_limit(&heading, max);
            self.complete(request, RequestOutcome::failed(error), deferred);
            return self.refuse(claim, offer, max, deferred);
        }
        if self.is_over(source) {
            drop(self.matcher.take(claim));
            return self.complete_lost(request, source, deferred);
        }
        let RankState {
            matcher,
            requests,
            peers,
            ..
        } = self;
        let message = claim.message();
        let letter = matcher.message_mut(message);
        let (Some(letter), Some(peer)) = (letter, peers.get_mut(source as usize)) else {
            return;
        };
        let asker = Some(Requester { request, claim });
        let want = match *letter {
            Letter::Asked { want } => {
                if let Some(entry) = peer.wants.get_mut(want) {
                    entry.asker = asker;
                }
                want
            }
            Letter::Announced { offer } => {
                peer.withdrawable.remove(&offer);
                let want = peer.wants.insert(Want {
                    heading,
                    message,
                    asker,
                });
                *letter = Letter::Asked { want };
                let frame = Frame::Wanted { offer, want };
                deferred.push(DeferredTask::Say { to: source, frame });
                want
            }
            _ => unreachable!("only the payloads of announced messages are requested"),
        };
        if let Some(request) = requests.get_mut(request) {
            request.asked = Some((source, want));
        }
    }

    /// Declines a message whose receive has ended with an error.
    fn decline(&mut self, claim: Claim, deferred: &mut DeferredWork) {
        let (heading, letter) = self.matcher.take(claim);
        let source = heading.envelope.source;
        self.settle(source, heading.held, deferred);
        // A payload that was requested before is dropped when it arrives.
        if let Letter::Announced { offer } = letter {
            self.acknowledge(source, Ack::Line(offer), deferred);
        }
    }

    /// Returns the offer and the limit of a claimed message that is too long to allocate memory for
    /// it. A payload that was requested before is received in any case.
    fn over_limit(&mut self, claim: &Claim) -> Option<(Number, u64)> {
        let heading = claim.heading();
        let max = self.peer(heading.envelope.source)?.max_allocated;
        match self.matcher.message_mut(claim.message())? {
            Letter::Announced { offer } if heading.length > max => Some((*offer, max)),
            _ => None,
        }
    }

    /// Refuses a message for which `max` bytes at most are allocated.
    fn refuse(&mut self, claim: Claim, offer: Number, max: u64, deferred: &mut DeferredWork) {
        let (heading, _) = self.matcher.take(claim);
        let source = heading.envelope.source;
        self.settle(source, heading.held, deferred);
        if let Some(peer) = self.peer(source).filter(|peer| peer.gone.is_none()) {
            peer.withdrawable.remove(&offer);
            let frame = Frame::Refused { offer, max };
            deferred.push(DeferredTask::Say { to: source, frame });
        }
    }

    /// Refuses a claimed message if it is too long to allocate memory for it.
    pub(super) fn claim_to_allocate(
        &mut self,
        claim: Claim,
        deferred: &mut DeferredWork,
    ) -> Result<Claim, Error> {
        let Some((offer, max)) = self.over_limit(&claim) else {
            return Ok(claim);
        };
        let error = over_limit(claim.heading(), max);
        self.refuse(claim, offer, max, deferred);
        self.let_in(deferred);
        Err(error)
    }

    /// Cancels a receive whose message has not begun to arrive. Returns false if it has, or if the
    /// receive has ended.
    pub(super) fn give_up(&mut self, id: OpId, error: Error, deferred: &mut DeferredWork) -> bool {
        let request = self.requests.get_mut(id);
        let Some((source, want)) = request.and_then(|request| request.asked.take()) else {
            return self.cancel(id, error, deferred);
        };
        let want = self.peer(source).and_then(|peer| peer.wants.get_mut(want));
        let Some(asker) = want.and_then(|want| want.asker.take()) else {
            return false;
        };
        self.complete(id, RequestOutcome::failed(error), deferred);
        self.restore(asker.claim, deferred);
        true
    }

    /// Returns the destination of a requested payload that begins to arrive from `rank`.
    pub(super) fn begin_wanted(
        &mut self,
        rank: u32,
        want: Want,
        deferred: &mut DeferredWork,
    ) -> Choice {
        let (incoming, choice) = match want.asker {
            Some(Requester { request, claim }) => {
                let (heading, _) = self.matcher.take(claim);
                self.settle(rank, heading.held, deferred);
                if let Some(request) = self.requests.get_mut(request) {
                    request.asked = None;
                }
                let incoming = ExpectedPayload::Receive { request, heading };
                (incoming, self.place_of(request))
            }
            None => match self.matcher.message_mut(want.message) {
                Some(letter) => {
                    *letter = Letter::Coming { ack: Ack::Nobody };
                    (ExpectedPayload::Message(want.message), Choice::Pool)
                }
                None => (ExpectedPayload::Unwanted, Choice::Discard),
            },
        };
        if let Some(peer) = self.peer(rank) {
            peer.incoming = incoming;
        }
        choice
    }

    /// Drops all receives and claims when the rank ends. Payloads that still arrive are dropped.
    pub(super) fn forget_wanted(&mut self) {
        for want in self.peers.iter_mut().flat_map(|peer| peer.wants.values()) {
            want.asker = None;
        }
    }

    /// Fails the receive of a payload that will never arrive.
    pub(super) fn lose_wanted(&mut self, want: Want, error: Error, deferred: &mut DeferredWork) {
        if let Some(Requester { request, claim }) = want.asker {
            drop(self.matcher.take(claim));
            self.complete(request, RequestOutcome::failed(error), deferred);
        }
    }
}

/// Returns the error of a receive without memory.
fn over_limit(heading: &Heading, max: u64) -> Error {
    Error::OverLimit {
        length: heading.length,
        max,
        rank: heading.envelope.source,
        tag: heading.envelope.tag,
    }
}
