//! Receive sink of a connection to a rank.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::credit::Passed;
use super::error::Error;
use super::failures::has_text;
use super::inbox::Inbox;
use super::letter::{Ack, ExpectedPayload, Half, Letter, Offer, strange};
use super::names::Status;
use super::outbound::{outbound, without_payload};
use super::request::RequestOutcome;
use super::state::RankState;
use super::table::Number;
use super::wire::{
    ABSENT, ANNOUNCED, ANNOUNCEMENT, Frame, Label, MATCHED, REFUSED, WANTED, WITHDRAWN,
};
use super::work_queue::{DeferredTask, DeferredWork};
use jstream::buffer::{EmptyBuffer, Pool, PoolError};
use jstream_base::Header;
use jstream_base::{HeaderError, RecvError};
use jstream_device::connection::{Body, Payload};
use jstream_endpoint::gate::Credit;
use jstream_endpoint::ops::{Notify, OpId, Sink};
use jstream_endpoint::receiving::{Choice, ReceiveSink, Replies};
use jstream_matching::{Arrival, Envelope, Matched, Matcher};

/// The receive sink for the messages of one rank.
///
/// The methods are called under the lock of the receive direction, so there is one call at a time.
pub(super) struct RankSink {
    pub(super) inbox: Arc<Inbox>,
    pub(super) rank: u32,
    /// Maximum length in bytes of an eager message, and of a payload that waits until the pool of
    /// the connection has room for it.
    pub(super) max_receive: u64,
    /// True if the device moves buffers, so that payloads need no memory.
    pub(super) moves: bool,
    pub(super) pool: Pool,
    /// Receives the outcomes of payloads that the other rank has requested.
    pub(super) requested: Arc<dyn Sink>,
    /// True if nothing more arrives. Set after the inbox has been notified.
    pub(super) gone: Arc<AtomicBool>,
    /// Counter of messages that bypassed this sink.
    pub(super) passed: Arc<Passed>,
    /// True once the peer has sent its hello frame.
    pub(super) greeted: AtomicBool,
}

impl RankSink {
    fn with<R>(
        &self,
        replies: &mut Replies,
        work: impl FnOnce(&mut RankState, &mut DeferredWork) -> R,
    ) -> R {
        let mut deferred = DeferredWork::default();
        let mut state = self.inbox.lock();
        let result = work(&mut state, &mut deferred);
        state.release();
        if !deferred.is_empty() {
            self.carry_out(deferred, replies);
        }
        result
    }

    #[cold]
    fn carry_out(&self, deferred: DeferredWork, replies: &mut Replies) {
        self.inbox.carry_out(deferred, |task| {
            // Frames that a message of a rank gives rise to are addressed to that rank, and they
            // free no room.
            if let DeferredTask::Say { frame, .. } = task {
                replies.alone |= !self.inbox.somebody_waits();
                // The number of pending answers is limited, so that a peer that asks and does not
                // read can't exhaust the memory.
                let notify = match frame {
                    Frame::Withdrawn { .. } => Notify::Answer,
                    _ => Notify::Request,
                };
                replies.push(without_payload(frame), notify);
            }
        });
    }

    fn eager(
        &self,
        header: &Header,
        label: Label,
        offer: Option<Number>,
        replies: &mut Replies,
    ) -> Choice {
        let heading = label.heading(self.rank, header.length);
        let ack = offer.map_or(Ack::Nobody, Ack::Line);
        self.with(replies, |state, deferred| {
            if header.length > self.max_receive {
                return Choice::Refuse(strange(header.kind));
            }
            if !self.count(state, header.length, deferred) {
                return Choice::Refuse(strange(header.kind));
            }
            if state.is_dropped(&heading, deferred) {
                state.drop_letter(&heading, Letter::Coming { ack }, deferred);
                if let Some(peer) = state.peer(self.rank) {
                    peer.incoming = ExpectedPayload::Unwanted;
                }
                return Choice::Discard;
            }
            match state.matcher.arrive(heading, Letter::Coming { ack }) {
                Ok(Arrival::Matched(matched)) => self.matched(state, matched, deferred),
                Ok(Arrival::Waits(id)) => {
                    if let Some(peer) = state.peer(self.rank) {
                        peer.incoming = ExpectedPayload::Message(id);
                        if let Some(offer) = offer {
                            peer.withdrawable.insert(offer, id);
                        }
                    }
                    state.record_arrival();
                    Choice::Pool
                }
                // The rank has ended, but messages that were sent to it before may still arrive.
                Err(stray) if state.closed => {
                    deferred.drop_later(stray.message);
                    if let Some(peer) = state.peer(self.rank) {
                        peer.incoming = ExpectedPayload::Unwanted;
                    }
                    Choice::Discard
                }
                // Unreachable for a correct peer: its window is no larger than the room in the
                // matcher.
                Ok(Arrival::Full(_)) | Err(_) => Choice::Refuse(strange(header.kind)),
            }
        })
    }

    /// Charges a message that uses `bytes` of the window. Returns false if it exceeds the window.
    #[inline]
    fn count(&self, state: &mut RankState, bytes: u64, deferred: &mut DeferredWork) -> bool {
        let passed = self.passed.take();
        if passed != Credit::FREE {
            state.settle_passed(self.rank, passed, deferred);
        }
        let account = state.peer(self.rank);
        let account = account.and_then(|peer| peer.account.as_mut());
        account.is_some_and(|account| account.arrive(bytes))
    }

    /// Directs the payload to the receive that matched the message.
    fn matched(
        &self,
        state: &mut RankState,
        matched: Matched<OpId, Letter>,
        deferred: &mut DeferredWork,
    ) -> Choice {
        let (request, heading) = (matched.receive, matched.heading);
        state.settle(self.rank, heading.held, deferred);
        if let Letter::Coming { ack } = matched.message {
            state.acknowledge(self.rank, ack, deferred);
        }
        if has_text(&heading) {
            // The receive ends with the text, which needs no room in the pool.
            state.await_text(request);
            let length = usize::try_from(heading.length).unwrap_or_default();
            if let Some(peer) = state.peer(self.rank) {
                peer.incoming = ExpectedPayload::Late { request, heading };
            }
            return Choice::Jbuf(EmptyBuffer::heap(length));
        }
        let accepted = state.accept(request, &heading, deferred);
        let incoming = if accepted {
            ExpectedPayload::Receive { request, heading }
        } else {
            ExpectedPayload::Unwanted
        };
        if let Some(peer) = state.peer(self.rank) {
            peer.incoming = incoming;
        }
        if accepted {
            state.place_of(request)
        } else {
            Choice::Discard
        }
    }

    /// Directs a payload that was requested to its destination.
    fn data(&self, header: &Header, want: Number, replies: &mut Replies) -> Choice {
        self.with(replies, |state, deferred| {
            let refused = Choice::Refuse(strange(header.kind));
            let Some(peer) = state.peer(self.rank) else {
                return refused;
            };
            // The length is checked before memory is reserved for the payload.
            let expected = peer.wants.get(want);
            if expected.is_none_or(|want| want.heading.length != header.length) {
                return refused;
            }
            let Some(want) = peer.wants.remove(want) else {
                return refused;
            };
            let length = want.heading.length;
            let choice = state.begin_wanted(self.rank, want, deferred);
            let is_long = length > self.max_receive && !self.moves;
            match choice {
                // A payload beyond the limit does not wait for room. All other messages of the
                // connection would wait, too.
                Choice::Pool if is_long => {
                    let capacity = usize::try_from(length).unwrap_or(usize::MAX);
                    match self.pool.take(capacity) {
                        Ok(empty) => Choice::Jbuf(empty),
                        Err(source) => {
                            state.drop_incoming(self.rank, length, source, deferred);
                            Choice::Discard
                        }
                    }
                }
                choice => choice,
            }
        })
    }

    fn announced(
        &self,
        label: Label,
        offer: Number,
        payload: &[u8],
        replies: &mut Replies,
    ) -> Result<(), HeaderError> {
        let refused = strange(ANNOUNCED);
        let length = payload.try_into().map_err(|_| refused)?;
        // Only a receive that has memory of this length, or a limit, gets to use the length.
        let length = u64::from_le_bytes(length);
        let heading = label.heading(self.rank, length).announced();
        self.with(replies, |state, deferred| {
            if !self.count(state, heading.held, deferred) {
                return Err(refused);
            }
            if state.is_dropped(&heading, deferred) {
                state.drop_letter(&heading, Letter::Announced { offer }, deferred);
                return Ok(());
            }
            match state.matcher.arrive(heading, Letter::Announced { offer }) {
                Ok(Arrival::Matched(matched)) => state.meet(matched, deferred),
                Ok(Arrival::Waits(id)) => {
                    if let Some(peer) = state.peer(self.rank) {
                        peer.withdrawable.insert(offer, id);
                    }
                    state.record_arrival();
                }
                Ok(Arrival::Full(letter)) => {
                    deferred.drop_later(letter);
                    return Err(refused);
                }
                Err(stray) => deferred.drop_later(stray.message),
            }
            Ok(())
        })
    }

    /// Sends the payload of a message that the other rank requests.
    fn wanted(
        &self,
        offer: Number,
        want: Number,
        replies: &mut Replies,
    ) -> Result<(), HeaderError> {
        let refused = strange(WANTED);
        let offered = {
            let mut state = self.inbox.lock();
            let peer = state.peer(self.rank).ok_or(refused)?;
            // An eager message has no body here, and must not be requested.
            let is_abandoned = |offer: &Offer| offer.half == Half::Abandoned;
            let may_be_wanted = |offer: &Offer| offer.body.is_some() || is_abandoned(offer);
            if !peer.offers.get(offer).is_some_and(may_be_wanted) {
                return Err(refused);
            }
            let offered = peer.offers.remove(offer).ok_or(refused)?;
            if is_abandoned(&offered) {
                replies.alone |= !self.inbox.somebody_waits();
                replies.push(without_payload(Frame::Absent { want }), Notify::Request);
                return Ok(());
            }
            if let Some(request) = state.requests.get_mut(offered.request) {
                if let Some(sends) = &mut request.sends {
                    sends.offer = None;
                }
            }
            offered
        };
        let body = offered.body.unwrap_or(Body::Taken);
        let mut message = outbound(Frame::Data { want }, offered.length, body);
        message.is_exchange = offered.is_exchange;
        let notify = Notify::Sink(self.requested.clone(), offered.request.number());
        replies.alone |= !self.inbox.somebody_waits();
        replies.push(message, notify);
        Ok(())
    }

    /// Handles the notice that the other rank has matched a message, or has declined its payload.
    fn answered(&self, offer: Number, replies: &mut Replies) -> Result<(), HeaderError> {
        let refused = strange(MATCHED);
        self.with(replies, |state, deferred| {
            let peer = state.peer(self.rank).ok_or(refused)?;
            let offered = peer.offers.get_mut(offer).ok_or(refused)?;
            match (&offered.body, offered.half) {
                // The rest of the message is still being sent.
                (None, Half::Neither) => {
                    offered.half = Half::Matched;
                    return Ok(());
                }
                (None, Half::Matched) => return Err(refused),
                (None, Half::Gone | Half::Abandoned) | (Some(_), _) => {}
            }
            let offered = peer.offers.remove(offer).ok_or(refused)?;
            let request = state.requests.get(offered.request);
            let revoked = request.and_then(|request| state.rare.revocations.error(request.context));
            // A rank drops the messages of a communicator after it has told that it is revoked.
            let outcome = match revoked {
                Some(error) => RequestOutcome::unsent(error, offered.body),
                None => RequestOutcome::sent_from(offered.body),
            };
            state.complete(offered.request, outcome, deferred);
            Ok(())
        })
    }

    /// Handles the notice that the other rank does not request a message, for which it would have
    /// to allocate more than `max` bytes.
    fn refused(&self, offer: Number, max: u64, replies: &mut Replies) -> Result<(), HeaderError> {
        let refused = strange(REFUSED);
        self.with(replies, |state, deferred| {
            let peer = state.peer(self.rank).ok_or(refused)?;
            let is_announced =
                |offer: &Offer| offer.body.is_some() || offer.half == Half::Abandoned;
            if !peer.offers.get(offer).is_some_and(is_announced) {
                return Err(refused);
            }
            let offered = peer.offers.remove(offer).ok_or(refused)?;
            let (length, rank) = (offered.length, self.rank);
            let error = Error::TooLong { length, max, rank };
            let outcome = RequestOutcome::unsent(error, offered.body);
            state.complete(offered.request, outcome, deferred);
            Ok(())
        })
    }

    /// Handles the notice that a payload that was requested is not sent.
    fn absent(&self, want: Number, replies: &mut Replies) -> Result<(), HeaderError> {
        let refused = strange(ABSENT);
        self.with(replies, |state, deferred| {
            let peer = state.peer(self.rank).ok_or(refused)?;
            let want = peer.wants.remove(want).ok_or(refused)?;
            state.settle(self.rank, want.heading.held, deferred);
            let Envelope { source, tag, .. } = want.heading.envelope;
            if want.asker.is_some() {
                let error = Error::Withdrawn { rank: source, tag };
                state.lose_wanted(want, error, deferred);
            } else {
                // The message is gone if its communicator was revoked.
                let _ = state.matcher.withdraw(want.message);
            }
            state.let_in(deferred);
            Ok(())
        })
    }

    fn withdraw(&self, offer: Number, replies: &mut Replies) {
        self.with(replies, |state, deferred| {
            let RankState { matcher, peers, .. } = state;
            let peer = peers.get_mut(self.rank as usize);
            let id = peer.and_then(|peer| peer.withdrawable.remove(&offer));
            let held = |matcher: &Matcher<_, _>| matcher.held(self.rank).map_or(0, |held| held.1);
            let before = held(matcher);
            let letter = id.and_then(|id| matcher.withdraw(id));
            let freed = before.saturating_sub(held(matcher));
            let was_there = letter.is_some();
            if was_there {
                state.settle(self.rank, freed, deferred);
            }
            if let Some(letter) = letter {
                if let (Letter::Coming { .. }, Some(peer)) = (&letter, state.peer(self.rank)) {
                    peer.incoming = ExpectedPayload::Unwanted;
                }
                deferred.drop_later(letter);
            }
            let frame = Frame::Withdrawn {
                offer,
                was_there: was_there.into(),
            };
            deferred.push(DeferredTask::Say {
                to: self.rank,
                frame,
            });
        });
    }

    fn withdrawn(
        &self,
        offer: Number,
        was_there: bool,
        replies: &mut Replies,
    ) -> Result<(), HeaderError> {
        let refused = strange(WITHDRAWN);
        self.with(replies, |state, deferred| {
            let peer = state.peer(self.rank).ok_or(refused)?;
            if !peer.offers.release(offer) {
                return Err(refused);
            }
            if !was_there {
                state.notify_waiting();
                return Ok(());
            }
            let offered = peer.offers.remove(offer).ok_or(refused)?;
            let outcome = RequestOutcome::unsent(Error::Cancelled, offered.body);
            state.complete(offered.request, outcome, deferred);
            Ok(())
        })
    }
}

impl RankState {
    /// Returns the destination of a payload that a connection delivers for a receive.
    pub(super) fn place_of(&mut self, request: OpId) -> Choice {
        let request = self.requests.get_mut(request);
        match request.and_then(|request| request.take_place()) {
            Some(empty) => Choice::Jbuf(empty),
            None => Choice::Pool,
        }
    }

    /// Drops the payload that is about to arrive from `rank`, because the pool has no room for it.
    fn drop_incoming(
        &mut self,
        rank: u32,
        length: u64,
        source: PoolError,
        deferred: &mut DeferredWork,
    ) {
        let Some(peer) = self.peer(rank) else {
            return;
        };
        match std::mem::replace(&mut peer.incoming, ExpectedPayload::Unwanted) {
            ExpectedPayload::Receive { request, .. } | ExpectedPayload::Late { request, .. } => {
                let error = Error::NoBuffer { length, source };
                self.complete(request, RequestOutcome::failed(error), deferred);
            }
            ExpectedPayload::Message(id) => {
                if let Some(letter) = self.matcher.message_mut(id) {
                    *letter = Letter::Dropped(source);
                }
            }
            ExpectedPayload::Nothing | ExpectedPayload::Unwanted => {}
        }
    }

    /// Completes the message whose payload has arrived.
    fn complete_incoming(&mut self, rank: u32, payload: Payload, deferred: &mut DeferredWork) {
        let Some(peer) = self.peer(rank) else {
            return deferred.drop_later(payload);
        };
        match std::mem::take(&mut peer.incoming) {
            ExpectedPayload::Receive { request, heading } => {
                let outcome = RequestOutcome::received(Status::of(&heading), payload);
                self.complete(request, outcome, deferred);
            }
            ExpectedPayload::Late { request, heading } => {
                let accepted = match &payload {
                    Payload::Bytes(filled) if has_text(&heading) => {
                        self.accept_with(request, &heading, filled.as_bytes(), deferred)
                    }
                    _ => true,
                };
                if accepted {
                    self.hand_over(request, &heading, payload, deferred);
                } else {
                    deferred.drop_later(payload);
                }
            }
            ExpectedPayload::Message(id) => match self.matcher.message_mut(id) {
                Some(letter) => {
                    let ack = match std::mem::replace(letter, Letter::Lost) {
                        Letter::Coming { ack } => ack,
                        _ => Ack::Nobody,
                    };
                    *letter = Letter::Here { payload, ack };
                    // Wakes threads that wait for the complete message, such as probes.
                    self.notify_waiting();
                }
                None => deferred.drop_later(payload),
            },
            ExpectedPayload::Nothing | ExpectedPayload::Unwanted => deferred.drop_later(payload),
        }
    }
}

impl ReceiveSink for RankSink {
    #[inline]
    fn choose(&self, header: &Header, replies: &mut Replies) -> Choice {
        let refused = || Choice::Refuse(strange(header.kind));
        let frame = Frame::of(header);
        if let Ok(Some((label, offer))) = frame.map(Frame::eager) {
            return self.eager(header, label, offer, replies);
        }
        match frame {
            Ok(Frame::Data { want }) => self.data(header, want, replies),
            Ok(Frame::Announced { .. }) if header.length == ANNOUNCEMENT => Choice::Brief,
            Ok(Frame::Announced { .. }) => refused(),
            Ok(_) if header.length == 0 => Choice::Brief,
            Ok(_) => refused(),
            Err(error) => Choice::Refuse(error),
        }
    }

    #[inline]
    fn take(&self, _: &Header, payload: Payload, replies: &mut Replies) -> Result<(), HeaderError> {
        self.with(replies, |state, deferred| {
            state.complete_incoming(self.rank, payload, deferred);
        });
        Ok(())
    }

    fn take_brief(
        &self,
        header: &Header,
        payload: &[u8],
        replies: &mut Replies,
    ) -> Result<(), HeaderError> {
        let strange = strange(header.kind);
        match Frame::of(header)? {
            Frame::Announced { label, offer } => self.announced(label, offer, payload, replies),
            Frame::Wanted { offer, want } => self.wanted(offer, want, replies),
            Frame::Matched { offer } => self.answered(offer, replies),
            Frame::Withdraw { offer } => {
                self.withdraw(offer, replies);
                Ok(())
            }
            Frame::Withdrawn { offer, was_there } => self.withdrawn(offer, was_there == 1, replies),
            Frame::Absent { want } => self.absent(want, replies),
            Frame::Refused { offer, max } => self.refused(offer, max, replies),
            Frame::Revoked { context, rank } => {
                match self.inbox.note_revocation(context, rank, self.rank) {
                    true => Ok(()),
                    false => Err(strange),
                }
            }
            Frame::Hello { .. } if self.greeted.swap(true, Ordering::Relaxed) => Err(strange),
            Frame::Hello {
                messages, bytes, ..
            } => {
                replies.open(Credit { messages, bytes }, strange);
                replies.alone |= !self.inbox.somebody_waits();
                Ok(())
            }
            Frame::Credit { messages, bytes } => {
                replies.restore(Credit { messages, bytes }, strange);
                replies.alone |= !self.inbox.somebody_waits();
                Ok(())
            }
            Frame::Eager { .. } | Frame::EagerConfirmed { .. } | Frame::Data { .. } => Err(strange),
        }
    }

    fn starve(&self) {
        self.inbox.set_starved();
    }

    fn lose(&self, error: RecvError) {
        let why = Arc::from(error.to_string());
        let mut deferred = DeferredWork::default();
        self.inbox.lock().lose(self.rank, &why, &mut deferred);
        self.gone.store(true, Ordering::Release);
        self.inbox.carry_out(deferred, |_| {});
    }
}
