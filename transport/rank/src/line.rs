//! Connection to another rank.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::credit::{Passed, window};
use super::error::Error;
use super::inbox::Inbox;
use super::letter::{Half, Offer};
use super::message_sink::RankSink;
use super::outbound::{announcement, without_payload};
use super::request::{RequestOutcome, Sending};
use super::state::RankState;
use super::table::Number;
use super::wire::{Frame, VERSION};
use super::work_queue::{DeferredTask, DeferredWork};
use jstream_base::SendError;
use jstream_device::connection::{Body, Outbound};
use jstream_endpoint::Endpoint;
use jstream_endpoint::gate::Credit;
use jstream_endpoint::ops::{Notify, OpId, Sink};
use jstream_endpoint::receiving::Receipt;
use jstream_endpoint::remote::MOST_REQUESTS;
use jstream_endpoint::sending::SendOutcome;

/// The connection to another rank.
pub(super) struct Line {
    pub(super) endpoint: Endpoint,
    /// Maximum length in bytes of an eager message.
    pub(super) eager: u64,
    /// True if the other rank is gone.
    gone: Arc<AtomicBool>,
    /// Receives the outcomes of messages whose request ends when they are sent.
    pub(super) whole: Arc<dyn Sink>,
    /// Receives the outcomes of messages that the other rank has to answer.
    pub(super) offers: Arc<dyn Sink>,
    /// Counter of messages that bypassed the matcher.
    pub(super) passed: Arc<Passed>,
}

impl Line {
    /// Directs the messages that arrive over `endpoint` to `inbox`.
    pub(super) fn new(rank: u32, endpoint: Endpoint, inbox: &Arc<Inbox>) -> Self {
        let eager = inbox
            .options
            .eager_over(endpoint.info().scheme, endpoint.info().limits);
        let gone = Arc::new(AtomicBool::new(false));
        let offers: Arc<dyn Sink> = Arc::new(Offers(inbox.clone()));
        let whole = |is_awaited| Whole {
            inbox: inbox.clone(),
            offers: offers.clone(),
            is_awaited,
        };
        let (whole, requested) = (Arc::new(whole(false)), Arc::new(whole(true)));
        let window = window(inbox.options.bounds);
        let passed = Arc::new(Passed::new(window));
        let taker = RankSink {
            inbox: inbox.clone(),
            rank,
            max_receive: endpoint.shared().info().limits.max_receive,
            moves: endpoint.shared().info().limits.moves,
            pool: endpoint.shared().info().pool.clone(),
            requested,
            gone: gone.clone(),
            passed: passed.clone(),
            greeted: AtomicBool::new(false),
        };
        let is_ours = endpoint.shared().set_receive_sink(Arc::new(taker));
        let line = Self {
            eager,
            gone,
            whole,
            offers,
            passed,
            endpoint,
        };
        if is_ours {
            let Credit { messages, bytes } = window;
            line.say(Frame::Hello {
                version: VERSION,
                messages,
                bytes,
            });
        }
        line
    }

    #[inline]
    pub(super) fn is_gone(&self) -> bool {
        self.gone.load(Ordering::Acquire)
    }

    /// Sends a frame without payload, after everything that was posted before.
    pub(super) fn say(&self, frame: Frame) {
        let message = without_payload(frame);
        let shared = self.endpoint.shared();
        // If the frame can't be sent, the connection ends, because the peer would wait for it
        // forever.
        shared.post_send(message, None, Notify::Request);
        shared.carry_unsent();
    }
}

/// Converts the error of a send to a rank.
pub(super) fn unsendable(rank: u32, error: SendError) -> Error {
    match error {
        SendError::TooLarge { length, max, .. } => Error::TooLong { length, max, rank },
        SendError::Cancelled => Error::Cancelled,
        SendError::Closed { .. }
        | SendError::ClosedLocally { .. }
        | SendError::Lost { .. }
        | SendError::Stalled { .. } => Error::PeerGone {
            rank,
            why: error.to_string().into(),
        },
        source => Error::NotSent {
            rank,
            source: Box::new(source),
        },
    }
}

/// Ends the requests of messages when these are sent.
struct Whole {
    inbox: Arc<Inbox>,
    offers: Arc<dyn Sink>,
    /// True for payloads that the other rank has requested.
    is_awaited: bool,
}

impl Sink for Whole {
    fn sent(self: Arc<Self>, user: u64, sent: SendOutcome) {
        let id = OpId::of_number(user);
        let mut deferred = DeferredWork::default();
        let mut state = self.inbox.lock();
        let to = state.requests.get(id).and_then(|request| request.sends);
        let outcome = match (sent.result, to) {
            (Ok(()), _) => RequestOutcome::sent_from(Some(sent.body)),
            (Err(error), to) => {
                let rank = to.map_or(u32::MAX, |to| to.to);
                RequestOutcome::unsent(unsendable(rank, error), Some(sent.body))
            }
        };
        state.complete(id, outcome, &mut deferred);
    }

    fn is_awaited(&self) -> bool {
        self.is_awaited
    }

    fn received(self: Arc<Self>, _: u64, _: Receipt) {}

    fn shorten(
        self: Arc<Self>,
        user: u64,
        message: &mut Outbound<'static>,
    ) -> Option<(Arc<dyn Sink>, Credit)> {
        let Ok(Frame::Eager { label }) = Frame::of(&message.header) else {
            return None;
        };
        let id = OpId::of_number(user);
        let offer = self.inbox.lock().offer_instead(id, message)?;
        *message = announcement(label, offer, message.header.length, self.inbox.pool());
        Some((self.offers.clone(), Credit::of_message(0)))
    }
}

/// Handles the outcomes of messages with an offer: records that they were sent, or ends their
/// requests.
struct Offers(Arc<Inbox>);

impl Sink for Offers {
    fn sent(self: Arc<Self>, user: u64, sent: SendOutcome) {
        let id = OpId::of_number(user);
        let mut deferred = DeferredWork::default();
        let mut state = self.0.lock();
        let sends = state.requests.get(id).and_then(|request| request.sends);
        let Some(sends) = sends else {
            return;
        };
        // If there is no offer, the request has ended, or will end with the answer to it.
        match (sent.result, state.offer(id, sends)) {
            (_, None) => {}
            (Ok(()), Some(offer)) if offer.half == Half::Matched => {
                state.remove_offer(id, sends);
                state.complete(
                    id,
                    RequestOutcome::sent_from(Some(sent.body)),
                    &mut deferred,
                );
            }
            (Ok(()), Some(offer)) if offer.half == Half::Abandoned => {}
            (Ok(()), Some(offer)) => {
                offer.half = Half::Gone;
                state.notify_waiting();
            }
            (Err(error), Some(_)) => {
                let offer = state.remove_offer(id, sends);
                // The body is either still in the offer, or is the one that was to be sent with it.
                let body = offer.and_then(|offer| offer.body).or(Some(sent.body));
                let outcome = RequestOutcome::unsent(unsendable(sends.to, error), body);
                state.complete(id, outcome, &mut deferred);
            }
        }
    }

    fn received(self: Arc<Self>, _: u64, _: Receipt) {}

    fn shorten(
        self: Arc<Self>,
        user: u64,
        message: &mut Outbound<'static>,
    ) -> Option<(Arc<dyn Sink>, Credit)> {
        let Ok(Frame::EagerConfirmed { label, offer }) = Frame::of(&message.header) else {
            return None;
        };
        let (id, number) = (OpId::of_number(user), offer);
        {
            let mut state = self.0.lock();
            let sends = state.requests.get(id).and_then(|request| request.sends)?;
            let offer = state.offer(id, sends)?;
            offer.body = Some(std::mem::replace(&mut message.body, Body::Taken));
        }
        *message = announcement(label, number, message.header.length, self.0.pool());
        Some((self, Credit::of_message(0)))
    }
}

impl RankState {
    /// Turns the request of an eager message into an offer. Returns its number at the other rank.
    fn offer_instead(&mut self, id: OpId, message: &mut Outbound<'static>) -> Option<Number> {
        let RankState {
            requests, peers, ..
        } = self;
        let sends = requests.get_mut(id)?.sends.as_mut()?;
        let peer = peers.get_mut(sends.to as usize);
        let peer = peer.filter(|peer| peer.gone.is_none())?;
        let number = peer.offers.insert(Offer {
            request: id,
            body: Some(std::mem::replace(&mut message.body, Body::Taken)),
            length: message.header.length,
            is_exchange: message.is_exchange,
            half: Half::Neither,
        });
        sends.offer = Some(number);
        Some(number)
    }

    /// Asks the other rank to withdraw a message of a request, unless it was answered.
    pub(super) fn withdraw(&mut self, id: OpId, deferred: &mut DeferredWork) {
        let sends = self.requests.get(id).and_then(|request| request.sends);
        let Some((sends, offer)) = sends.and_then(|sends| Some((sends, sends.offer?))) else {
            return;
        };
        let is_there = self.offer(id, sends).is_some();
        if let Some(peer) = self.peer(sends.to).filter(|_| is_there) {
            // The number is reserved until the other rank has answered the withdrawal.
            if peer.offers.reserved() < MOST_REQUESTS && peer.offers.reserve(offer) {
                let frame = Frame::Withdraw { offer };
                deferred.push(DeferredTask::Say {
                    to: sends.to,
                    frame,
                });
            }
        }
    }

    /// Ends a request whose message the other rank has not answered. Its offer stays until the
    /// answer arrives.
    pub(super) fn abandon(&mut self, id: OpId, deferred: &mut DeferredWork) {
        let sends = self.requests.get(id).and_then(|request| request.sends);
        let offer = sends.and_then(|sends| self.offer(id, sends));
        // A message that a receive has ends when it has been sent.
        let Some(offer) = offer.filter(|offer| offer.half != Half::Matched) else {
            return;
        };
        offer.half = Half::Abandoned;
        let body = offer.body.take();
        self.withdraw(id, deferred);
        self.complete(id, RequestOutcome::unsent(Error::Cancelled, body), deferred);
    }

    /// Returns the offer of a request that the other rank has not answered. The number may belong
    /// to another request by now.
    fn offer(&mut self, id: OpId, sends: Sending) -> Option<&mut Offer> {
        let offer = self.peer(sends.to)?.offers.get_mut(sends.offer?);
        offer.filter(|offer| offer.request == id)
    }

    fn remove_offer(&mut self, id: OpId, sends: Sending) -> Option<Offer> {
        self.offer(id, sends)?;
        self.peer(sends.to)?.offers.remove(sends.offer?)
    }
}
