//! Payloads of messages that arrive over connections: those that are requested, and those that are
//! arriving.
//!
//! An announced message whose payload was requested and has not begun to arrive stays in the
//! matcher, claimed by its receive. If the receive is cancelled, the message keeps its position,
//! and the next receive that matches it gets the payload. The message continues to use credit of
//! its source, so the window limits the number of messages that a peer announces without sending
//! the payload.
//!
//! Decisions 071 and 114 have the reasons.

use super::error::Error;
use super::failures::has_text;
use super::letter::{Ack, Letter};
use super::matching::over_limit;
use super::names::Status;
use super::outcome::RequestOutcome;
use super::peers::{ExpectedPayload, Requester, Want};
use super::state::RankState;
use super::wire::Frame;
use super::work_queue::{DeferredTask, DeferredWork};
use jstream::buffer::PoolError;
use jstream_device::connection::Payload;
use jstream_endpoint::ops::OpId;
use jstream_endpoint::receiving::Choice;
use jstream_matching::Claim;

impl RankState {
    /// Gives an announced message to a receive: requests the payload, unless it was requested
    /// before.
    pub(super) fn request_payload(
        &mut self,
        request: OpId,
        claim: Claim,
        deferred: &mut DeferredWork,
    ) {
        let heading = *claim.heading();
        let source = heading.envelope.source;
        let is_over_limit = self.is_over_limit(request, &heading);
        if !self.accept(request, &heading, &[], deferred) {
            let (heading, letter) = self.arrivals.take(claim);
            return match is_over_limit {
                true => self.refuse_letter(&heading, letter, deferred),
                false => self.drop_letter(&heading, letter, deferred),
            };
        }
        if self.peers.is_gone(source) {
            drop(self.arrivals.take(claim));
            return self.complete_lost(request, source, deferred);
        }
        let message = claim.message();
        let Some(letter) = self.arrivals.letter(message) else {
            return;
        };
        let requester = Requester { request, claim };
        let want = match *letter {
            Letter::Asked { want } => {
                self.peers.set_requester(source, want, requester);
                want
            }
            Letter::Announced { offer } => {
                let requester = Some(requester);
                let want = self.peers.insert_want(
                    source,
                    Want {
                        heading,
                        message,
                        requester,
                    },
                );
                let Some(want) = want else {
                    return;
                };
                *letter = Letter::Asked { want };
                self.arrivals.forbid_withdrawal(source, offer);
                let frame = Frame::Wanted { offer, want };
                deferred.push(DeferredTask::SendFrame { to: source, frame });
                want
            }
            _ => unreachable!("only the payloads of announced messages are requested"),
        };
        self.requests.set_want(request, source, want);
    }

    /// Refuses a claimed message if it is too long to allocate memory for it.
    pub(super) fn claim_to_allocate(
        &mut self,
        claim: Claim,
        deferred: &mut DeferredWork,
    ) -> Result<Claim, Error> {
        if claim.heading().length <= self.max_allocated {
            return Ok(claim);
        }
        let (heading, letter) = self.arrivals.take(claim);
        let error = over_limit(&heading, self.max_allocated);
        self.refuse_letter(&heading, letter, deferred);
        self.admit_backlogs(deferred);
        Err(error)
    }

    /// Returns the destination of a requested payload that begins to arrive from `rank`.
    pub(super) fn begin_wanted(
        &mut self,
        rank: u32,
        want: Want,
        deferred: &mut DeferredWork,
    ) -> Choice {
        let (expected, choice) = match want.requester {
            Some(Requester { request, claim }) => {
                let (heading, _) = self.arrivals.take(claim);
                self.release_credit(rank, heading.held, deferred);
                let _ = self.requests.take_want(request);
                let expected = ExpectedPayload::Receive { request, heading };
                (expected, self.target_of(request))
            }
            None => match self.arrivals.letter(want.message) {
                Some(letter) => {
                    *letter = Letter::Coming { ack: Ack::Nobody };
                    (ExpectedPayload::Message(want.message), Choice::Pool)
                }
                None => (ExpectedPayload::Unwanted, Choice::Discard),
            },
        };
        self.peers.expect(rank, expected);
        choice
    }

    /// Returns the destination of a payload that a connection delivers for a receive.
    pub(super) fn target_of(&mut self, request: OpId) -> Choice {
        match self.requests.take_jbuf(request) {
            Some(empty) => Choice::Jbuf(empty),
            None => Choice::Pool,
        }
    }

    /// Fails the receive of a payload that will never arrive.
    pub(super) fn lose_wanted(&mut self, want: Want, error: Error, deferred: &mut DeferredWork) {
        if let Some(Requester { request, claim }) = want.requester {
            drop(self.arrivals.take(claim));
            self.complete(request, RequestOutcome::failed(error), deferred);
        }
    }

    /// Drops the payload that is about to arrive from `rank`, because the pool has no room for it.
    pub(super) fn drop_expected(
        &mut self,
        rank: u32,
        length: u64,
        source: PoolError,
        deferred: &mut DeferredWork,
    ) {
        match self.peers.take_expected(rank) {
            ExpectedPayload::Receive { request, .. }
            | ExpectedPayload::LateReceive { request, .. } => {
                let error = Error::NoBuffer { length, source };
                self.complete(request, RequestOutcome::failed(error), deferred);
            }
            ExpectedPayload::Message(id) => {
                if let Some(letter) = self.arrivals.letter(id) {
                    *letter = Letter::Dropped(source);
                }
            }
            ExpectedPayload::Nothing | ExpectedPayload::Unwanted => {}
        }
        self.peers.expect(rank, ExpectedPayload::Unwanted);
    }

    /// Completes the message whose payload has arrived.
    pub(super) fn complete_expected(
        &mut self,
        rank: u32,
        payload: Payload,
        deferred: &mut DeferredWork,
    ) {
        match self.peers.take_expected(rank) {
            ExpectedPayload::Receive { request, heading } => {
                let outcome = RequestOutcome::received(Status::from_heading(&heading), payload);
                self.complete(request, outcome, deferred);
            }
            ExpectedPayload::LateReceive { request, heading } => {
                let is_accepted = match &payload {
                    Payload::Bytes(filled) if has_text(&heading) => {
                        self.accept(request, &heading, filled.as_bytes(), deferred)
                    }
                    _ => true,
                };
                self.deliver_payload(request, &heading, payload, is_accepted, deferred);
            }
            ExpectedPayload::Message(id) => match self.arrivals.letter(id) {
                Some(letter) => {
                    let ack = match std::mem::replace(letter, Letter::Lost) {
                        Letter::Coming { ack } => ack,
                        _ => Ack::Nobody,
                    };
                    *letter = Letter::Here { payload, ack };
                    // Wakes threads that wait for the complete message, such as probes.
                    self.waiters.notify();
                }
                None => deferred.drop_later(payload),
            },
            ExpectedPayload::Nothing | ExpectedPayload::Unwanted => deferred.drop_later(payload),
        }
    }
}
