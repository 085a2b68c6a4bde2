//! A rank on the other side of a connection.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::error::Error;
use super::inbox::Inbox;
use super::request::Outcome;
use super::taker::LineTaker;
use super::todo::Todo;
use super::wire::Frame;
use crate::device::connection::{Body, Outbound};
use crate::endpoint::Endpoint;
use crate::endpoint::ops::{Notify, OpId, Sink};
use crate::endpoint::receiving::Receipt;
use crate::endpoint::sending::Sent;
use crate::error::SendError;

/// The connection to another rank.
pub(super) struct Line {
    pub(super) endpoint: Endpoint,
    /// Up to which length messages travel at once.
    pub(super) eager: u64,
    /// The other rank has gone.
    gone: Arc<AtomicBool>,
    /// Gets the outcomes of messages whose sending ends their request.
    pub(super) whole: Arc<dyn Sink>,
    /// Those of messages that are to be answered.
    pub(super) offers: Arc<dyn Sink>,
}

impl Line {
    /// The messages that come over `endpoint` go to `inbox` from now on.
    pub(super) fn new(rank: u32, endpoint: Endpoint, inbox: &Arc<Inbox>) -> Self {
        let eager = inbox
            .options
            .eager_over(endpoint.scheme(), endpoint.limits());
        let gone = Arc::new(AtomicBool::new(false));
        let whole: Arc<dyn Sink> = Arc::new(Whole(inbox.clone()));
        let taker = LineTaker {
            inbox: inbox.clone(),
            rank,
            max_receive: endpoint.limits().max_receive,
            whole: whole.clone(),
            gone: gone.clone(),
        };
        endpoint.shared().set_taker(Arc::new(taker));
        Self {
            eager,
            gone,
            whole,
            offers: Arc::new(Offers(inbox.clone())),
            endpoint,
        }
    }

    #[inline]
    pub(super) fn is_gone(&self) -> bool {
        self.gone.load(Ordering::Acquire)
    }

    /// Says something that carries no payload, behind everything posted.
    pub(super) fn say(&self, frame: Frame) {
        let message = without_payload(frame);
        let shared = self.endpoint.shared();
        shared.post_send(message, None, Notify::Nobody);
        shared.carry_what_is_left();
    }
}

/// Why a message was not sent to a rank.
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
        source => Error::NotSent { rank, source },
    }
}

pub(super) fn without_payload(frame: Frame) -> Outbound<'static> {
    outbound(frame, 0, Body::Borrowed(&[]))
}

pub(super) fn outbound(frame: Frame, length: u64, body: Body<'static>) -> Outbound<'static> {
    Outbound {
        header: frame.header().with_length(length),
        body,
        taken: 0,
    }
}

/// Ends the requests of messages when these are sent.
struct Whole(Arc<Inbox>);

impl Sink for Whole {
    fn sent(self: Arc<Self>, user: u64, sent: Sent) {
        let id = OpId::of_number(user);
        let mut todo = Todo::default();
        let mut state = self.0.lock();
        let to = state.requests.get(id).and_then(|request| request.sends);
        let outcome = match (sent.result, to) {
            (Ok(()), _) => Outcome::sent_from(Some(sent.body)),
            (Err(error), to) => {
                let rank = to.map_or(u32::MAX, |to| to.to);
                Outcome::unsent(unsendable(rank, error), Some(sent.body))
            }
        };
        state.complete(id, outcome, &mut todo);
        self.0.leave(state);
    }

    fn received(self: Arc<Self>, _: u64, _: Receipt) {}
}

/// Ends the requests of messages that were not even offered.
struct Offers(Arc<Inbox>);

impl Sink for Offers {
    fn sent(self: Arc<Self>, user: u64, sent: Sent) {
        let Err(error) = sent.result else {
            return;
        };
        let id = OpId::of_number(user);
        let mut todo = Todo::default();
        let mut state = self.0.lock();
        let sends = state.requests.get(id).and_then(|request| request.sends);
        let Some(sends) = sends else {
            return;
        };
        let offer = sends.offer.and_then(|number| {
            let peer = state.peer(sends.to)?;
            peer.offers.remove(number)
        });
        // What was offered is what is left, or else what was to go with the offer.
        let body = offer.and_then(|offer| offer.body).or(Some(sent.body));
        state.complete(
            id,
            Outcome::unsent(unsendable(sends.to, error), body),
            &mut todo,
        );
        self.0.leave(state);
    }

    fn received(self: Arc<Self>, _: u64, _: Receipt) {}
}
