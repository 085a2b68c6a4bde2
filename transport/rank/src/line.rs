//! Connection to another rank.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::credit::{Passed, window};
use super::error::Error;
use super::inbox::Inbox;
use super::message_sink::RankSink;
use super::offers::SentFrame;
use super::outbound::{announcement, without_payload};
use super::outcome::RequestOutcome;
use super::wire::{Frame, VERSION};
use super::work_queue::DeferredWork;
use jstream_base::SendError;
use jstream_device::connection::{Body, Outbound};
use jstream_endpoint::Endpoint;
use jstream_endpoint::gate::Credit;
use jstream_endpoint::ops::{Notify, OpId, Sink};
use jstream_endpoint::receiving::Receipt;
use jstream_endpoint::sending::SendOutcome;

/// The connection to another rank.
pub(super) struct Line {
    pub(super) endpoint: Endpoint,
    /// Maximum length in bytes of an eager message.
    pub(super) eager: u64,
    /// Maximum length in bytes of a message whose jbuf is moved without an announcement.
    pub(super) max_moved: u64,
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
        let max_moved = endpoint.info().limits.max_send.min(inbox.max_allocated);
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
        let sink = RankSink {
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
        let is_ours = endpoint.shared().set_receive_sink(Arc::new(sink));
        let line = Self {
            eager,
            max_moved,
            gone,
            whole,
            offers,
            passed,
            endpoint,
        };
        if is_ours {
            let Credit { messages, bytes } = window;
            line.send_frame(Frame::Hello {
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
    pub(super) fn send_frame(&self, frame: Frame) {
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
            reason: error.to_string().into(),
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
        let outcome = match sent.result {
            Ok(()) => RequestOutcome::sent_from(Some(sent.body)),
            Err(error) => {
                let sending = state.requests.sending(id);
                let rank = sending.map_or(u32::MAX, |sending| sending.to);
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
        let Ok(Frame::Eager { label }) = Frame::parse(&message.header) else {
            return None;
        };
        let id = OpId::of_number(user);
        let offer = {
            let mut state = self.inbox.lock();
            let to = state.requests.sending(id)?.to;
            let offers = state.peers.offers(to).ok()?;
            let body = std::mem::replace(&mut message.body, Body::Taken);
            let offer = offers.announce(id, body, message.header.length, message.is_exchange);
            state.requests.set_offer(id, Some(offer));
            offer
        };
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
        let sending = state.requests.sending(id);
        let offer = sending.and_then(|sending| Some((sending.to, sending.offer?)));
        let Some((to, offer)) = offer else {
            return;
        };
        let Ok(offers) = state.peers.offers(to) else {
            return;
        };
        // If there is no offer, the request has ended, or will end with the answer to it.
        let outcome = match sent.result {
            Ok(()) => match offers.record_sent(offer, id) {
                Some(SentFrame::Ends) => RequestOutcome::sent_from(Some(sent.body)),
                Some(SentFrame::Waits) => return state.waiters.notify(),
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
        state.complete(id, outcome, &mut deferred);
    }

    fn received(self: Arc<Self>, _: u64, _: Receipt) {}

    fn shorten(
        self: Arc<Self>,
        user: u64,
        message: &mut Outbound<'static>,
    ) -> Option<(Arc<dyn Sink>, Credit)> {
        let Ok(Frame::EagerConfirmed { label, offer }) = Frame::parse(&message.header) else {
            return None;
        };
        let id = OpId::of_number(user);
        {
            let mut state = self.0.lock();
            let to = state.requests.sending(id)?.to;
            let offers = state.peers.offers(to).ok()?;
            if !offers.keep_body(offer, id, &mut message.body) {
                return None;
            }
        }
        *message = announcement(label, offer, message.header.length, self.0.pool());
        Some((self, Credit::of_message(0)))
    }
}
