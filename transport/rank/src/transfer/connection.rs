//! Events of the connection to a peer: messages, payloads and answers that arrive, and messages
//! that were sent.
//!
//! An announced message whose payload was requested and has not begun to arrive stays in the
//! matcher, claimed by its receive. If the receive is cancelled, the message keeps its position,
//! and the next receive that matches it gets the payload. The message continues to use credit of
//! its source, so the window limits the number of messages that a peer announces without sending
//! the payload.
//!
//! Decisions 071 and 114 have the reasons.

use super::Violation;
use super::incoming::{Arriving, Incoming, Requester, Want};
use super::letter::{Leaving, Letter};
use super::offers::{AnswerEffect, EndedOffer, OfferAnswer, SentFrame};
use crate::error::Error;
use crate::failures::has_text;
use crate::matching::over_limit;
use crate::outcome::{RequestOutcome, unsendable};
use crate::state::RankState;
use crate::table::Number;
use crate::wire::{Frame, Label};
use crate::work_queue::{DeferredTask, DeferredWork};
use jstream::buffer::{EmptyBuffer, PoolError};
use jstream_device::connection::{Body, Outbound, Payload};
use jstream_endpoint::ops::OpId;
use jstream_endpoint::receiving::Choice;
use jstream_endpoint::sending::SendOutcome;
use jstream_matching::{Arrival, Claim, Envelope, Heading};

/// A payload that a peer has requested.
pub(crate) struct RequestedPayload {
    pub(crate) want: Number,
    pub(crate) offer: EndedOffer,
}

/// Messages that arrive.
impl RankState {
    #[inline]
    fn incoming(&mut self, rank: u32) -> Result<&mut Incoming, Violation> {
        self.peers.incoming(rank).ok_or(Violation)
    }

    /// Sets the destination of the payload that is arriving.
    #[inline]
    fn direct(&mut self, rank: u32, arriving: Arriving) {
        if let Ok(incoming) = self.incoming(rank) {
            incoming.direct(arriving);
        }
    }

    /// Handles a message of `length` bytes whose payload begins to arrive. It may have a number, by
    /// which the peer wants to know that it is matched. Returns the destination of the payload.
    pub(crate) fn begin_message(
        &mut self,
        rank: u32,
        label: Label,
        offer: Option<Number>,
        length: u64,
        deferred: &mut DeferredWork,
    ) -> Result<Choice, Violation> {
        // Charged before anything else: the sender had to have credit, whatever becomes of the
        // message.
        if !self.peers.charge(rank, length) {
            return Err(Violation);
        }
        let heading = label.heading(rank, length);
        if self.is_dropped(&heading, deferred) {
            self.drop_letter(&heading, Letter::arriving(offer), deferred);
            return Ok(Choice::Discard);
        }
        match self.arrivals.match_receive(&heading) {
            Ok(Some(request)) => {
                self.release_credit(rank, heading.held, deferred);
                if let Some(offer) = offer {
                    self.send_frame(rank, Frame::Matched { offer }, deferred);
                }
                Ok(self.direct_to_receive(rank, request, heading, deferred))
            }
            Ok(None) => {
                // A peer that keeps to its window finds room in the matcher.
                let queued = self.arrivals.push(heading, Letter::arriving(offer));
                let id = queued.map_err(|_| Violation)?;
                let incoming = self.incoming(rank)?;
                incoming.direct(Arriving::Letter(id));
                // Only a queued message can be withdrawn. One that has a receive is answered at
                // once.
                if let Some(offer) = offer {
                    incoming.allow_withdrawal(offer, id);
                }
                self.waiters.notify_of_arrival();
                Ok(Choice::Pool)
            }
            // The rank has ended, but messages that were sent to it before may still arrive.
            Err(_) if self.is_closed() => {
                self.direct(rank, Arriving::Nowhere);
                Ok(Choice::Discard)
            }
            Err(_) => Err(Violation),
        }
    }

    /// Directs a payload to the receive that has matched the message.
    #[inline]
    fn direct_to_receive(
        &mut self,
        rank: u32,
        request: OpId,
        heading: Heading,
        deferred: &mut DeferredWork,
    ) -> Choice {
        let choice = if has_text(&heading) {
            // The receive ends with the text, which needs no room in the pool.
            self.await_text(request);
            let length = usize::try_from(heading.length).unwrap_or_default();
            Choice::Jbuf(EmptyBuffer::heap(length))
        } else if self.accept(request, &heading, &[], deferred).is_ok() {
            self.target_of(request)
        } else {
            self.direct(rank, Arriving::Nowhere);
            return Choice::Discard;
        };
        self.direct(rank, Arriving::Receive { request, heading });
        choice
    }

    /// Handles a payload that begins to arrive because it was requested. Returns its destination.
    pub(crate) fn begin_payload(
        &mut self,
        rank: u32,
        want: Number,
        length: u64,
        deferred: &mut DeferredWork,
    ) -> Result<Choice, Violation> {
        // The peer may send any number. It must be one that was asked for, and each is answered
        // once.
        let want = self.incoming(rank)?.begin(want, length).ok_or(Violation)?;
        let (arriving, choice) = match want.requester {
            Some(Requester { request, claim }) => {
                // The message leaves the matcher only now. Until here, the receive could be
                // cancelled without changing the order of messages.
                let (heading, _) = self.arrivals.take(claim);
                self.release_credit(rank, heading.held, deferred);
                // From here on, the receive cannot be separated from the payload.
                let _ = self.requests.take_want(request);
                let arriving = Arriving::Receive { request, heading };
                (arriving, self.target_of(request))
            }
            // The receive was cancelled meanwhile. The payload is for the message then, which waits
            // for another one.
            None => match self.arrivals.letter(want.message).map(Letter::begin) {
                Some(true) => (Arriving::Letter(want.message), Choice::Pool),
                // The message was dropped meanwhile.
                Some(false) | None => (Arriving::Nowhere, Choice::Discard),
            },
        };
        self.direct(rank, arriving);
        Ok(choice)
    }

    /// Returns the destination of a payload that a connection delivers for a receive.
    fn target_of(&mut self, request: OpId) -> Choice {
        match self.requests.take_jbuf(request) {
            Some(empty) => Choice::Jbuf(empty),
            None => Choice::Pool,
        }
    }

    /// Drops the payload that is about to arrive, because the pool has no room for it.
    pub(crate) fn drop_payload(
        &mut self,
        rank: u32,
        length: u64,
        source: PoolError,
        deferred: &mut DeferredWork,
    ) {
        match self.incoming(rank).map(Incoming::take_arriving) {
            Ok(Arriving::Receive { request, .. }) => {
                let error = Error::NoBuffer { length, source };
                self.complete(request, RequestOutcome::failed(error), deferred);
            }
            Ok(Arriving::Letter(id)) => {
                if let Some(letter) = self.arrivals.letter(id) {
                    letter.lose_room(source);
                }
            }
            Ok(Arriving::Nowhere) | Err(Violation) => {}
        }
    }

    /// Handles the end of a payload that has arrived.
    #[inline]
    pub(crate) fn complete_payload(
        &mut self,
        rank: u32,
        payload: Payload,
        deferred: &mut DeferredWork,
    ) {
        let unused = match self.incoming(rank).map(Incoming::take_arriving) {
            Ok(Arriving::Receive { request, heading }) => {
                // The text of a failure becomes a part of the error, so the receive is checked only
                // when the text is here.
                let accepted = match &payload {
                    Payload::Bytes(filled) if has_text(&heading) => {
                        self.accept(request, &heading, filled.as_bytes(), deferred)
                    }
                    _ => Ok(()),
                };
                match accepted {
                    Ok(()) => return self.deliver_payload(request, &heading, payload, deferred),
                    Err(_) => Some(payload),
                }
            }
            Ok(Arriving::Letter(id)) => match self.arrivals.letter(id) {
                Some(letter) => {
                    let unused = letter.complete(payload);
                    // Wakes threads that wait for the complete message, such as probes.
                    self.waiters.notify();
                    unused
                }
                None => Some(payload),
            },
            Ok(Arriving::Nowhere) | Err(Violation) => Some(payload),
        };
        if let Some(payload) = unused {
            deferred.drop_later(payload);
        }
    }

    /// Handles a frame of a transfer that has no payload, or a brief one. Returns the payload that
    /// it requests.
    pub(crate) fn handle_frame(
        &mut self,
        rank: u32,
        frame: Frame,
        payload: &[u8],
        deferred: &mut DeferredWork,
    ) -> Result<Option<RequestedPayload>, Violation> {
        let (offer, answer) = match frame {
            Frame::Announced { label, offer } => {
                self.add_announced(rank, label, offer, payload, deferred)?;
                return Ok(None);
            }
            Frame::Withdraw { offer } => {
                self.withdraw_letter(rank, offer, deferred);
                return Ok(None);
            }
            Frame::Absent { want } => {
                self.end_want(rank, want, deferred)?;
                return Ok(None);
            }
            Frame::Wanted { offer, .. } => (offer, OfferAnswer::Wanted),
            Frame::Matched { offer } => (offer, OfferAnswer::Matched),
            Frame::Refused { offer, .. } => (offer, OfferAnswer::Refused),
            Frame::Withdrawn { offer, was_there } => {
                let was_there = was_there == 1;
                (offer, OfferAnswer::Withdrawn { was_there })
            }
            Frame::Eager { .. }
            | Frame::EagerConfirmed { .. }
            | Frame::Data { .. }
            | Frame::Hello { .. }
            | Frame::Credit { .. }
            | Frame::Revoked { .. } => return Err(Violation),
        };
        let offers = self.peers.offers(rank).map_err(|_| Violation)?;
        let offer = match offers.answer(offer, answer)? {
            AnswerEffect::Waits => {
                self.waiters.notify();
                return Ok(None);
            }
            AnswerEffect::Ends(offer) => offer,
        };
        let outcome = match frame {
            Frame::Wanted { want, .. } if offer.is_abandoned => {
                let frame = Frame::Absent { want };
                deferred.push(DeferredTask::SendFrame { to: rank, frame });
                return Ok(None);
            }
            Frame::Wanted { want, .. } => {
                // The body goes with the payload, so there is nothing left to be withdrawn, and the
                // number may be given out again.
                self.requests.set_offer(offer.request, None);
                return Ok(Some(RequestedPayload { want, offer }));
            }
            Frame::Refused { max, .. } => {
                let length = offer.length;
                RequestOutcome::unsent(Error::TooLong { length, max, rank }, offer.body)
            }
            Frame::Withdrawn { .. } => RequestOutcome::unsent(Error::Cancelled, offer.body),
            _ => {
                let context = self.requests.context(offer.request);
                // A rank drops the messages of a communicator after it has told that it is revoked.
                match context.and_then(|context| self.contexts.revocation(context)) {
                    Some(error) => RequestOutcome::unsent(error, offer.body),
                    None => RequestOutcome::sent_from(offer.body),
                }
            }
        };
        self.complete(offer.request, outcome, deferred);
        Ok(None)
    }

    /// Handles the announcement of a message. Its payload has the length of the message.
    fn add_announced(
        &mut self,
        rank: u32,
        label: Label,
        offer: Number,
        payload: &[u8],
        deferred: &mut DeferredWork,
    ) -> Result<(), Violation> {
        let length = payload.try_into().map_err(|_| Violation)?;
        // Only a receive that has memory of this length, or a limit, gets to use the length.
        let length = u64::from_le_bytes(length);
        let heading = label.heading(rank, length).announced();
        // An announced message takes the place of a message in the window, but none of its bytes.
        if !self.peers.charge(rank, heading.held) {
            return Err(Violation);
        }
        let letter = Letter::announced(offer);
        if self.is_dropped(&heading, deferred) {
            self.drop_letter(&heading, letter, deferred);
            return Ok(());
        }
        match self.arrivals.add(heading, letter) {
            Ok(Arrival::Matched(matched)) => self.deliver(matched, deferred),
            Ok(Arrival::Waits(id)) => {
                self.incoming(rank)?.allow_withdrawal(offer, id);
                self.waiters.notify_of_arrival();
            }
            // The sender had credit for it, so there would be room if it had kept to the window.
            Ok(Arrival::Full(letter)) => {
                deferred.drop_later(letter);
                return Err(Violation);
            }
            Err(stray) => deferred.drop_later(stray.message),
        }
        Ok(())
    }

    /// Gives an announced message to a receive: requests the payload, unless it was requested
    /// before.
    pub(crate) fn request_payload(
        &mut self,
        request: OpId,
        claim: Claim,
        deferred: &mut DeferredWork,
    ) {
        let heading = *claim.heading();
        let source = heading.envelope.source;
        // Checked before the payload is requested, so that a payload that does not fit is not sent.
        if let Err(leaving) = self.accept(request, &heading, &[], deferred) {
            let (heading, letter) = self.arrivals.take(claim);
            return self.discard_letter(&heading, letter, leaving, deferred);
        }
        // Announced messages of a rank stay in the matcher when it is lost, so a receive may still
        // match one.
        if self.peers.is_gone(source) {
            drop(self.arrivals.take(claim));
            return self.complete_lost(request, source, deferred);
        }
        let message = claim.message();
        let (Some(letter), Some(incoming)) =
            (self.arrivals.letter(message), self.peers.incoming(source))
        else {
            unreachable!("a claimed message exists, and so does its source");
        };
        let requester = Requester { request, claim };
        // The payload may have been requested by a receive that was cancelled before it came.
        let want = match letter.want() {
            Some(want) => match incoming.set_requester(want, requester) {
                Ok(()) => want,
                Err(requester) => {
                    self.release_credit(source, heading.held, deferred);
                    let tag = heading.envelope.tag;
                    let error = Error::Withdrawn { rank: source, tag };
                    return self.fail_requester(requester, error, deferred);
                }
            },
            None => {
                let want = incoming.insert_want(Want {
                    heading,
                    message,
                    requester: Some(requester),
                });
                let Some(offer) = letter.request(want) else {
                    unreachable!("only the payloads of announced messages are requested");
                };
                // The peer answers the request instead, by the payload or by telling that there is
                // none.
                incoming.take_withdrawable(offer);
                let frame = Frame::Wanted { offer, want };
                deferred.push(DeferredTask::SendFrame { to: source, frame });
                want
            }
        };
        self.requests.set_want(request, source, want);
    }

    /// Handles the notice that a payload that was requested is not sent.
    fn end_want(
        &mut self,
        rank: u32,
        want: Number,
        deferred: &mut DeferredWork,
    ) -> Result<(), Violation> {
        let want = self.incoming(rank)?.remove_want(want).ok_or(Violation)?;
        let Envelope { source, tag, .. } = want.heading.envelope;
        let is_queued = match want.requester {
            Some(requester) => {
                let error = Error::Withdrawn { rank: source, tag };
                self.fail_requester(requester, error, deferred);
                true
            }
            // The receive was cancelled, so the message is unclaimed in the matcher, and leaves it
            // here.
            None if self.arrivals.withdraw(want.message).is_some() => true,
            None => {
                // The message is claimed, and returns its credit when it leaves the queue; or it
                // has done so, for example because its communicator was revoked.
                if let Some(letter) = self.arrivals.letter(want.message) {
                    letter.lose_payload();
                }
                false
            }
        };
        if is_queued {
            self.release_credit(rank, want.heading.held, deferred);
        }
        self.admit_backlogs(deferred);
        Ok(())
    }

    /// Fails the receive of a payload that will never arrive.
    pub(crate) fn fail_requester(
        &mut self,
        requester: Requester,
        error: Error,
        deferred: &mut DeferredWork,
    ) {
        // A letter whose payload was requested expects no answer and has no payload, so it may be
        // dropped under the lock.
        drop(self.arrivals.take(requester.claim));
        let outcome = RequestOutcome::failed(error);
        self.complete(requester.request, outcome, deferred);
    }

    /// Removes a message that the peer withdraws, unless a receive has it, and answers.
    fn withdraw_letter(&mut self, rank: u32, offer: Number, deferred: &mut DeferredWork) {
        let message = self.incoming(rank).ok();
        let message = message.and_then(|incoming| incoming.take_withdrawable(offer));
        let withdrawn = message.and_then(|message| self.arrivals.withdraw_held(rank, message));
        let is_withdrawn = withdrawn.is_some();
        if let Some((letter, freed)) = withdrawn {
            self.release_credit(rank, freed, deferred);
            // The rest of its payload is on its way, and is dropped when it comes.
            if letter.is_arriving() {
                self.direct(rank, Arriving::Nowhere);
            }
            deferred.drop_later(letter);
        }
        // Sent in any case: the peer has reserved the number until this answer.
        let frame = Frame::Withdrawn {
            offer,
            was_there: is_withdrawn.into(),
        };
        deferred.push(DeferredTask::SendFrame { to: rank, frame });
    }

    /// Refuses a claimed message if it is too long to allocate memory for it.
    pub(crate) fn claim_to_allocate(
        &mut self,
        claim: Claim,
        deferred: &mut DeferredWork,
    ) -> Result<Claim, Error> {
        let (length, max) = (claim.heading().length, self.max_allocated);
        if length <= max {
            return Ok(claim);
        }
        let (heading, letter) = self.arrivals.take(claim);
        let error = over_limit(&heading, max);
        self.discard_letter(&heading, letter, Leaving::TooLong { length, max }, deferred);
        self.admit_backlogs(deferred);
        Err(error)
    }

    /// Directs the payload that is arriving for a letter to the receive that has taken the letter,
    /// or nowhere.
    pub(crate) fn redirect(&mut self, rank: u32, receive: Option<Arriving>) {
        self.direct(rank, receive.unwrap_or_default());
    }
}

/// Messages that are sent.
impl RankState {
    /// Adds a send that the rank `to` has to answer, and returns the request and the number of the
    /// message. An announced message has a body. On failure, the body is returned.
    #[allow(clippy::result_large_err, reason = "the message comes back in it")]
    pub(crate) fn offer(
        &mut self,
        to: u32,
        context: u32,
        body: Option<Body<'static>>,
        length: u64,
        is_exchange: bool,
    ) -> Result<(OpId, Number), (Error, Option<Body<'static>>)> {
        // Checked under the lock under which the request is entered: a revocation either is seen
        // here, or finds the request.
        if let Some(error) = self.contexts.revocation(context) {
            return Err((error, body));
        }
        let offers = match self.peers.offers(to) {
            Ok(offers) => offers,
            Err(error) => return Err((error, body)),
        };
        let request = self.requests.insert_send(context, to);
        let number = match body {
            Some(body) => offers.announce(request, body, length, is_exchange),
            None => offers.send(request, length, is_exchange),
        };
        self.requests.set_offer(request, Some(number));
        Ok((request, number))
    }

    /// Ends the request of a message that needs no answer, because it was sent or can't be.
    pub(crate) fn complete_sent(
        &mut self,
        id: OpId,
        sent: SendOutcome,
        deferred: &mut DeferredWork,
    ) {
        let outcome = match sent.result {
            Ok(()) => RequestOutcome::sent_from(Some(sent.body)),
            Err(error) => {
                // A request that was forgotten has no receiver any more. Nobody reads its error
                // then.
                let sending = self.requests.sending(id);
                let rank = sending.map_or(u32::MAX, |sending| sending.to);
                RequestOutcome::unsent(unsendable(rank, error), Some(sent.body))
            }
        };
        self.complete(id, outcome, deferred);
    }

    /// Records that the frame of an offer was sent, or ends the offer if it can't be. If there is
    /// no offer, the request has ended, or will end with the answer to it.
    pub(crate) fn record_offer_sent(
        &mut self,
        id: OpId,
        sent: SendOutcome,
        deferred: &mut DeferredWork,
    ) {
        let sending = self.requests.sending(id);
        let offer = sending.and_then(|sending| Some((sending.to, sending.offer?)));
        // The peer may answer before the device reports that the frame was sent.
        let Some((to, offer)) = offer else {
            return;
        };
        // The rank is gone, and all of its offers have failed with that.
        let Ok(offers) = self.peers.offers(to) else {
            return;
        };
        let outcome = match sent.result {
            Ok(()) => match offers.record_sent(offer, id) {
                Some(SentFrame::Ends) => RequestOutcome::sent_from(Some(sent.body)),
                Some(SentFrame::Waits) => return self.waiters.notify(),
                None => return,
            },
            Err(error) => match offers.fail(offer, id) {
                Some(ended) => {
                    // The body is either still in the offer, or was to be sent with it.
                    let body = ended.body.or(Some(sent.body));
                    RequestOutcome::unsent(unsendable(to, error), body)
                }
                None => return,
            },
        };
        self.complete(id, outcome, deferred);
    }

    /// Announces an eager message instead of sending it, because the peer has no room for it. Takes
    /// its body. Returns the label and the number of the message, or `None` if it has to be sent.
    pub(crate) fn announce_instead(
        &mut self,
        id: OpId,
        message: &mut Outbound<'static>,
    ) -> Option<(Label, Number)> {
        let to = self.requests.sending(id)?.to;
        let offers = self.peers.offers(to).ok()?;
        match Frame::parse(&message.header).ok()?.eager()? {
            (label, None) => {
                // The body waits in the offer until the peer requests it.
                let body = std::mem::replace(&mut message.body, Body::Taken);
                let length = message.header.length;
                let offer = offers.announce(id, body, length, message.is_exchange);
                self.requests.set_offer(id, Some(offer));
                Some((label, offer))
            }
            (label, Some(offer)) => {
                let is_kept = offers.keep_body(offer, id, &mut message.body);
                is_kept.then_some((label, offer))
            }
        }
    }

    /// Asks the other rank to withdraw a message of a request, unless it was answered.
    pub(crate) fn withdraw(&mut self, id: OpId, deferred: &mut DeferredWork) {
        let sending = self.requests.sending(id);
        let Some((to, offer)) = sending.and_then(|sending| Some((sending.to, sending.offer?)))
        else {
            return;
        };
        let offers = self.peers.offers(to);
        if offers.is_ok_and(|offers| offers.begin_withdrawal(offer, id)) {
            let frame = Frame::Withdraw { offer };
            deferred.push(DeferredTask::SendFrame { to, frame });
        }
    }

    /// Ends a request whose message the other rank has not answered. Its offer stays until the
    /// answer arrives.
    pub(crate) fn abandon_send(&mut self, id: OpId, deferred: &mut DeferredWork) {
        let sending = self.requests.sending(id);
        let Some((to, offer)) = sending.and_then(|sending| Some((sending.to, sending.offer?)))
        else {
            return;
        };
        let abandoned = self.peers.offers(to).ok();
        let abandoned = abandoned.and_then(|offers| offers.abandon(offer, id));
        if let Some(body) = abandoned {
            // Before the request ends, because the number of its offer is read from it.
            self.withdraw(id, deferred);
            self.complete(id, RequestOutcome::unsent(Error::Cancelled, body), deferred);
        }
    }
}
