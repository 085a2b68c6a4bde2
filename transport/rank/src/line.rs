//! Connection to another rank.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::credit::{Passed, window};
use super::inbox::Inbox;
use super::message_sink::RankSink;
use super::outbound::{announcement, without_payload};
use super::wire::{Frame, VERSION};
use super::work_queue::DeferredWork;
use jstream_device::connection::Outbound;
use jstream_endpoint::Endpoint;
use jstream_endpoint::gate::Credit;
use jstream_endpoint::ops::{Notify, OpId, Sink};
use jstream_endpoint::receiving::Receipt;
use jstream_endpoint::sending::SendOutcome;

/// Number of polls of a connection through memory that is not the only one.
const MEMORY_POLLS: u32 = 16;

/// The connection to another rank.
pub(super) struct Line {
    pub(super) endpoint: Endpoint,
    /// Maximum length in bytes of an eager message.
    pub(super) eager: u64,
    /// Maximum length in bytes of a message whose jbuf is moved without an announcement.
    pub(super) max_moved: u64,
    /// Number of times that a receive polls this connection on the fast path, if it is not the only
    /// one. The poll of a socket is a system call, which is not repeated.
    pub(super) polls: u32,
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
        // A poll of memory takes some nanoseconds, and that of a socket is a system call.
        let polls = match endpoint.info().scheme {
            "inproc" | "shm" => MEMORY_POLLS,
            _ => 1,
        };
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
        // Set before the hello: the peer may answer it at once.
        let is_ours = endpoint.shared().set_receive_sink(Arc::new(sink));
        let line = Self {
            eager,
            max_moved,
            polls,
            gone,
            whole,
            offers,
            passed,
            endpoint,
        };
        // Another layer uses the endpoint. The sink was told that the rank is lost.
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

/// Ends the requests of messages when these are sent.
struct Whole {
    inbox: Arc<Inbox>,
    offers: Arc<dyn Sink>,
    /// True for payloads that the other rank has requested.
    is_awaited: bool,
}

impl Sink for Whole {
    fn sent(self: Arc<Self>, user: u64, sent: SendOutcome) {
        let mut deferred = DeferredWork::default();
        let mut state = self.inbox.lock();
        state.complete_sent(OpId::of_number(user), sent, &mut deferred);
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
        announce_instead(&self.inbox, user, message)?;
        Some((self.offers.clone(), Credit::of_message(0)))
    }
}

/// Handles the outcomes of messages with an offer: records that they were sent, or ends their
/// requests.
struct Offers(Arc<Inbox>);

impl Sink for Offers {
    fn sent(self: Arc<Self>, user: u64, sent: SendOutcome) {
        let mut deferred = DeferredWork::default();
        let mut state = self.0.lock();
        state.record_offer_sent(OpId::of_number(user), sent, &mut deferred);
    }

    fn received(self: Arc<Self>, _: u64, _: Receipt) {}

    fn shorten(
        self: Arc<Self>,
        user: u64,
        message: &mut Outbound<'static>,
    ) -> Option<(Arc<dyn Sink>, Credit)> {
        announce_instead(&self.0, user, message)?;
        Some((self, Credit::of_message(0)))
    }
}

/// Replaces a message that waits for room at the peer by its announcement. Returns `None` if it has
/// to be sent.
fn announce_instead(inbox: &Inbox, user: u64, message: &mut Outbound<'static>) -> Option<()> {
    let announced = {
        let mut state = inbox.lock();
        state.announce_instead(OpId::of_number(user), message)
    };
    let (label, offer) = announced?;
    *message = announcement(label, offer, message.header.length, inbox.pool());
    Some(())
}
