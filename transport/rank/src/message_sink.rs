//! Receive sink of a connection to a rank.
//!
//! Decisions 070 and 114 have the reasons.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::credit::Passed;
use super::error::Error;
use super::failures::has_text;
use super::inbox::Inbox;
use super::letter::{Ack, Letter, strange};
use super::offers::{Offers, UnexpectedAnswer};
use super::outbound::{outbound, without_payload};
use super::outcome::RequestOutcome;
use super::peers::ExpectedPayload;
use super::state::RankState;
use super::table::Number;
use super::wire::{
    ABSENT, ANNOUNCED, ANNOUNCEMENT, Frame, Label, MATCHED, REFUSED, WANTED, WITHDRAWN,
};
use super::work_queue::{DeferredTask, DeferredWork};
use jstream::buffer::{EmptyBuffer, Pool};
use jstream_base::Header;
use jstream_base::{HeaderError, RecvError};
use jstream_device::connection::{Body, Payload};
use jstream_endpoint::gate::Credit;
use jstream_endpoint::ops::{Notify, OpId, Sink};
use jstream_endpoint::receiving::{Choice, ReceiveSink, Replies};
use jstream_matching::{Arrival, Envelope, Matched};

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
            if let DeferredTask::SendFrame { frame, .. } = task {
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
                state.peers.expect(self.rank, ExpectedPayload::Unwanted);
                return Choice::Discard;
            }
            match state.arrivals.add(heading, Letter::Coming { ack }) {
                Ok(Arrival::Matched(matched)) => self.matched(state, matched, deferred),
                Ok(Arrival::Waits(id)) => {
                    state.peers.expect(self.rank, ExpectedPayload::Message(id));
                    if let Some(offer) = offer {
                        state.arrivals.allow_withdrawal(self.rank, offer, id);
                    }
                    state.waiters.notify_of_arrival();
                    Choice::Pool
                }
                // The rank has ended, but messages that were sent to it before may still arrive.
                Err(stray) if state.is_closed() => {
                    deferred.drop_later(stray.message);
                    state.peers.expect(self.rank, ExpectedPayload::Unwanted);
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
            state.release_bypassed(self.rank, passed, deferred);
        }
        state.peers.charge(self.rank, bytes)
    }

    /// Directs the payload to the receive that matched the message.
    fn matched(
        &self,
        state: &mut RankState,
        matched: Matched<OpId, Letter>,
        deferred: &mut DeferredWork,
    ) -> Choice {
        let (request, heading) = (matched.receive, matched.heading);
        state.release_credit(self.rank, heading.held, deferred);
        if let Letter::Coming { ack } = matched.message {
            state.acknowledge(self.rank, ack, deferred);
        }
        if has_text(&heading) {
            // The receive ends with the text, which needs no room in the pool.
            state.await_text(request);
            let length = usize::try_from(heading.length).unwrap_or_default();
            let expected = ExpectedPayload::LateReceive { request, heading };
            state.peers.expect(self.rank, expected);
            return Choice::Jbuf(EmptyBuffer::heap(length));
        }
        if state.accept(request, &heading, &[], deferred) {
            let expected = ExpectedPayload::Receive { request, heading };
            state.peers.expect(self.rank, expected);
            state.target_of(request)
        } else {
            state.peers.expect(self.rank, ExpectedPayload::Unwanted);
            Choice::Discard
        }
    }

    /// Directs a payload that was requested to its destination.
    fn data(&self, header: &Header, want: Number, replies: &mut Replies) -> Choice {
        self.with(replies, |state, deferred| {
            let want = state.peers.take_arriving(self.rank, want, header.length);
            let Some(want) = want else {
                return Choice::Refuse(strange(header.kind));
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
                            state.drop_expected(self.rank, length, source, deferred);
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
            match state.arrivals.add(heading, Letter::Announced { offer }) {
                Ok(Arrival::Matched(matched)) => state.deliver(matched, deferred),
                Ok(Arrival::Waits(id)) => {
                    state.arrivals.allow_withdrawal(self.rank, offer, id);
                    state.waiters.notify_of_arrival();
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

    /// Returns the messages that the other rank has to answer.
    fn offers<'s>(
        &self,
        state: &'s mut RankState,
        refused: HeaderError,
    ) -> Result<&'s mut Offers, HeaderError> {
        state.peers.offers(self.rank).map_err(|_| refused)
    }

    /// Sends the payload of a message that the other rank requests.
    fn wanted(
        &self,
        offer: Number,
        want: Number,
        replies: &mut Replies,
    ) -> Result<(), HeaderError> {
        let refused = strange(WANTED);
        let requested = {
            let mut state = self.inbox.lock();
            let requested = self.offers(&mut state, refused)?.take_requested(offer);
            let requested = requested.map_err(|UnexpectedAnswer| refused)?;
            if let Some(offer) = &requested {
                state.requests.set_offer(offer.request, None);
            }
            requested
        };
        let (message, notify) = match requested {
            Some(offer) => {
                let body = offer.body.unwrap_or(Body::Taken);
                let mut message = outbound(Frame::Data { want }, offer.length, body);
                message.is_exchange = offer.is_exchange;
                let sink = self.requested.clone();
                (message, Notify::Sink(sink, offer.request.number()))
            }
            None => (without_payload(Frame::Absent { want }), Notify::Request),
        };
        replies.alone |= !self.inbox.somebody_waits();
        replies.push(message, notify);
        Ok(())
    }

    /// Handles the notice that the other rank has matched a message, or has declined its payload.
    fn answered(&self, offer: Number, replies: &mut Replies) -> Result<(), HeaderError> {
        let refused = strange(MATCHED);
        self.with(replies, |state, deferred| {
            let confirmed = self.offers(state, refused)?.confirm(offer);
            let Some(offer) = confirmed.map_err(|UnexpectedAnswer| refused)? else {
                return Ok(());
            };
            let context = state.requests.context(offer.request);
            // A rank drops the messages of a communicator after it has told that it is revoked.
            let outcome = match context.and_then(|context| state.contexts.revocation(context)) {
                Some(error) => RequestOutcome::unsent(error, offer.body),
                None => RequestOutcome::sent_from(offer.body),
            };
            state.complete(offer.request, outcome, deferred);
            Ok(())
        })
    }

    /// Handles the notice that the other rank does not request a message, for which it would have
    /// to allocate more than `max` bytes.
    fn refused(&self, offer: Number, max: u64, replies: &mut Replies) -> Result<(), HeaderError> {
        let refused = strange(REFUSED);
        self.with(replies, |state, deferred| {
            let ended = self.offers(state, refused)?.refuse(offer);
            let offer = ended.map_err(|UnexpectedAnswer| refused)?;
            let (length, rank) = (offer.length, self.rank);
            let error = Error::TooLong { length, max, rank };
            let outcome = RequestOutcome::unsent(error, offer.body);
            state.complete(offer.request, outcome, deferred);
            Ok(())
        })
    }

    /// Handles the notice that a payload that was requested is not sent.
    fn absent(&self, want: Number, replies: &mut Replies) -> Result<(), HeaderError> {
        let refused = strange(ABSENT);
        self.with(replies, |state, deferred| {
            let want = state.peers.remove_want(self.rank, want).ok_or(refused)?;
            state.release_credit(self.rank, want.heading.held, deferred);
            let Envelope { source, tag, .. } = want.heading.envelope;
            if want.requester.is_some() {
                let error = Error::Withdrawn { rank: source, tag };
                state.lose_wanted(want, error, deferred);
            } else {
                // The message is gone if its communicator was revoked.
                let _ = state.arrivals.withdraw(want.message);
            }
            state.admit_backlogs(deferred);
            Ok(())
        })
    }

    fn withdraw(&self, offer: Number, replies: &mut Replies) {
        self.with(replies, |state, deferred| {
            let withdrawn = state.arrivals.withdraw_offered(self.rank, offer);
            let is_withdrawn = withdrawn.is_some();
            if let Some((letter, freed)) = withdrawn {
                state.release_credit(self.rank, freed, deferred);
                if let Letter::Coming { .. } = &letter {
                    state.peers.expect(self.rank, ExpectedPayload::Unwanted);
                }
                deferred.drop_later(letter);
            }
            let frame = Frame::Withdrawn {
                offer,
                was_there: is_withdrawn.into(),
            };
            deferred.push(DeferredTask::SendFrame {
                to: self.rank,
                frame,
            });
        });
    }

    fn withdrawn(
        &self,
        offer: Number,
        is_withdrawn: bool,
        replies: &mut Replies,
    ) -> Result<(), HeaderError> {
        let refused = strange(WITHDRAWN);
        self.with(replies, |state, deferred| {
            let ended = self
                .offers(state, refused)?
                .end_withdrawal(offer, is_withdrawn);
            match ended.map_err(|UnexpectedAnswer| refused)? {
                Some(offer) => {
                    let outcome = RequestOutcome::unsent(Error::Cancelled, offer.body);
                    state.complete(offer.request, outcome, deferred);
                }
                None => state.waiters.notify(),
            }
            Ok(())
        })
    }
}

impl ReceiveSink for RankSink {
    #[inline]
    fn choose(&self, header: &Header, replies: &mut Replies) -> Choice {
        let refused = || Choice::Refuse(strange(header.kind));
        let frame = Frame::parse(header);
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
            state.complete_expected(self.rank, payload, deferred);
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
        match Frame::parse(header)? {
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
                let mut state = self.inbox.lock();
                match state.record_revocation(context, rank, self.rank) {
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
        let reason = Arc::from(error.to_string());
        let mut deferred = DeferredWork::default();
        self.inbox.lock().lose(self.rank, &reason, &mut deferred);
        self.gone.store(true, Ordering::Release);
        self.inbox.carry_out(deferred, |_| {});
    }
}
