//! The shared state of a connection.

mod arrival;
mod deferred;
mod membership;
mod outgoing;
mod queue;
mod returned;
mod sending;
mod shortage;
pub(super) mod waiting;

use self::deferred::DeferredRequests;
use self::membership::Membership;
pub(super) use self::outgoing::{Asked, BegunRequest, Grant, Message};
use self::queue::Queue;
pub(super) use self::queue::Turn;
use self::returned::ReturnedMessages;
use self::shortage::PoolShortage;
use std::any::Any;
use std::io::IoSlice;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, Weak};

use jstream::buffer::MessageBuffer;

use super::error::{JoinError, Reason, RequestError, Returned};
use super::frame::{Frame, NO_HANDLER};
use super::handlers::Handlers;
use super::hello::{Known, Theirs};
use super::ledger::{Accounts, Answer, Cancel, Haste, Ledger, Number, Violation, Window};
use super::other_version::OtherVersions;
use super::poll_loop::PollLoop;
use super::settings::Settings;
use super::tap::{Tap, tapped};
use jstream_base::Header;
use jstream_base::byte_limit::ByteHolder;
use jstream_base::events::emit;
use jstream_base::{RecvError, SendError};
use jstream_endpoint::Endpoint;
use jstream_endpoint::shared::Shared;
use jstream_sync::MutexGuard as LedgerGuard;
use jstream_sync::callbacks;
use jstream_sync::panics::catch_panic;
use tracing::Level;

/// Maximum number of times that a thread yields to one that reads what the peer has sent last.
const MOST_YIELDS: u32 = 64;

/// One side of a connection, on cache lines of its own, because the other side may belong to
/// another thread.
#[repr(align(128))]
pub(super) struct Link {
    /// Identifier of the connection in poll groups.
    pub(super) id: u64,
    endpoint: Endpoint,
    handlers: Handlers,
    known: Vec<Known>,
    pub(super) settings: Settings,
    accounts: Accounts,
    membership: Membership,
    /// Share of the connection in the bytes that all peers have not taken.
    backlog_bytes: Arc<ByteHolder>,
    /// Senders that wait for credit.
    queue: Queue,
    deferred: DeferredRequests,
    returned: ReturnedMessages,
    shortage: PoolShortage,
    /// True if the connection accepts no more requests.
    stopping: AtomicBool,
    /// True if the peer has announced that it has answered all requests, and runs no more.
    peer_is_done: AtomicBool,
    /// State of calls between versions. Most connections have none.
    other_versions: OnceLock<Box<OtherVersions>>,
    /// Value that the program attached.
    attached: OnceLock<Arc<dyn Any + Send + Sync>>,
    /// Callbacks for the end of the connection; `None` after they ran.
    at_end: Mutex<Option<Vec<AtEnd>>>,
    /// True if the peer has sent a request or a one-way message.
    served: AtomicBool,
}

/// A callback that runs once.
type AtEnd = Box<dyn FnOnce() + Send>;

impl Link {
    /// Creates a connection after the handshake.
    pub(super) fn new(
        endpoint: Endpoint,
        handlers: Handlers,
        theirs: Theirs,
        settings: Settings,
    ) -> Result<Arc<Self>, JoinError> {
        // 0 stands for no connection.
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let inward = Window::new(settings.window_messages(), settings.window_bytes.max(1));
        let group = PollLoop::new(endpoint.shared().info().spin);
        // The limit of all backlogs may end this connection, and must not keep it.
        let shared: Weak<Shared> = Arc::downgrade(endpoint.shared());
        let backlog_bytes = settings.backlog_in_all.holder(shared);
        let link = Arc::new(Self {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            accounts: Accounts::new(Ledger::new(theirs.window, inward)),
            known: theirs.known,
            endpoint,
            handlers,
            settings,
            membership: Membership::new(&group),
            backlog_bytes,
            queue: Queue::new(),
            deferred: DeferredRequests::new(),
            returned: ReturnedMessages::default(),
            shortage: PoolShortage::new(),
            stopping: AtomicBool::new(false),
            peer_is_done: AtomicBool::new(false),
            other_versions: OnceLock::new(),
            attached: OnceLock::new(),
            at_end: Mutex::new(Some(Vec::new())),
            served: AtomicBool::new(false),
        });
        if let Some(tap) = &link.settings.tap {
            let ours: Vec<_> = link.handlers.entries().iter().map(|of| &*of.name).collect();
            let theirs: Vec<_> = link.known.iter().map(|of| &*of.name).collect();
            catch_panic(|| tap.joined(&ours, &theirs));
        }
        group.enter(&link);
        let attached: Weak<Self> = Arc::downgrade(&link);
        if link.endpoint.shared().attach(attached) {
            return Ok(link);
        }
        Err(JoinError::NotActive {
            peer: link.endpoint.peer().clone(),
            reason: "this endpoint was joined before",
        })
    }

    /// Returns the state of calls between versions.
    #[cold]
    pub(super) fn other_versions(&self) -> &OtherVersions {
        self.other_versions.get_or_init(Box::default)
    }

    pub(super) fn attach(&self, attached: Arc<dyn Any + Send + Sync>) -> bool {
        self.attached.set(attached).is_ok()
    }

    #[inline]
    pub(super) fn attached<T: Any>(&self) -> Option<&T> {
        self.attached.get()?.downcast_ref()
    }

    /// Runs a callback when the connection has ended, or immediately if it has.
    pub(super) fn on_end(&self, work: AtEnd) {
        // The callback runs without the lock, because it may register another one.
        let mut work = Some(work);
        if let Some(at_end) = jstream_sync::lock(&self.at_end).as_mut() {
            at_end.extend(work.take());
        }
        if let Some(work) = work {
            catch_panic(work);
        }
    }

    pub(super) fn has_served(&self) -> bool {
        self.served.load(Ordering::Relaxed)
    }

    /// Returns the wait of a received message for room in the pool.
    #[inline]
    pub(super) fn shortage(&self) -> &PoolShortage {
        &self.shortage
    }

    /// Returns the requests that are deferred because the peer does not drain its receive side.
    #[inline]
    pub(super) fn deferred(&self) -> &DeferredRequests {
        &self.deferred
    }

    /// Returns the membership in a poll group.
    #[inline]
    pub(super) fn membership(&self) -> &Membership {
        &self.membership
    }

    /// Returns the connection that uses the endpoint with this state.
    pub(super) fn of_shared(shared: &Shared) -> Option<Arc<Self>> {
        shared.attached()?.downcast().ok()
    }

    /// Shows a message to the tap.
    #[cold]
    fn show(&self, tap: &dyn Tap, sent: bool, header: &Header, payload: &[IoSlice<'_>]) {
        // A header that is to be sent has no length yet.
        let length = payload.iter().map(|part| part.len() as u64).sum();
        let frame = Frame::parse(&header.with_length(length)).map(|(frame, _)| frame);
        if let Some(tapped) = frame.and_then(|frame| tapped(sent, frame, payload)) {
            catch_panic(|| tap.message(&tapped));
        }
    }

    /// Sends frames that were held back for coalescing.
    pub(super) fn flush(&self) {
        self.endpoint.shared().flush();
    }

    pub(super) fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// Returns true if the connection belongs to the parent process.
    #[inline]
    pub(super) fn is_elsewhere(&self) -> bool {
        self.endpoint.shared().is_elsewhere()
    }

    /// Returns an error if the connection belongs to the parent process.
    #[inline]
    pub(super) fn check(&self) -> Result<(), RequestError> {
        if self.is_elsewhere() {
            let peer = self.endpoint.peer().clone();
            return Err(RequestError::Forked { peer });
        }
        Ok(())
    }

    pub(super) fn handlers(&self) -> &Handlers {
        &self.handlers
    }

    /// Returns the handlers of the peer.
    pub(super) fn known(&self) -> &[Known] {
        &self.known
    }

    pub(super) fn ledger(&self) -> LedgerGuard<'_, Ledger> {
        self.accounts.lock()
    }

    /// Handles the available messages, up to a limit. Returns their number.
    pub(super) fn poll(&self) -> usize {
        self.membership.with_group(|group| group.poll(None).0)
    }

    /// As [`poll`](Self::poll), but stops at the answer to the request `number`, and returns it.
    pub(super) fn poll_for(&self, number: Option<u32>) -> Option<Answer> {
        let wanted = number.map(|number| (self.id, number));
        self.membership.with_group(|group| group.poll(wanted).1)
    }

    /// Returns the number of answers recorded so far; see [`Accounts::answers`].
    #[inline]
    pub(super) fn answers(&self) -> u64 {
        self.accounts.answers()
    }

    /// Registers the task of a suspended handler. Returns true if its request is still wanted.
    pub(super) fn register_task(&self, number: Number, task: &Arc<dyn Cancel>) -> bool {
        self.ledger().register_task(number, task)
    }

    /// Returns true if the answer to an open request is not wanted.
    pub(super) fn is_cancelled(&self, number: Number) -> bool {
        self.ledger().is_cancelled(number)
    }

    /// Stops accepting requests: new ones are returned.
    pub(super) fn stop(&self) {
        self.stopping.store(true, Ordering::Relaxed);
    }

    #[inline]
    pub(super) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }

    /// Announces to the peer that this side has answered all of its requests, and runs no more.
    pub(super) fn announce_end(&self) {
        self.stop();
        let done = Frame::Bounce {
            handler: NO_HANDLER,
            reason: Reason::Ending.code(),
            word: 0,
            text: 0,
        };
        // If it can't be sent, the connection has ended, and the peer assumes the worst.
        let _ = self.send(done.header(), &[], Haste::Now);
    }

    /// Returns the error of a request of this side whose answer did not come before the end of the
    /// connection.
    pub(super) fn unanswered(&self, handler: u16) -> RequestError {
        let peer = self.endpoint.peer().clone();
        if !self.peer_is_done.load(Ordering::Relaxed) {
            return RequestError::Lost { peer };
        }
        let returned = Returned::new(
            handler,
            Reason::Ending.code(),
            0,
            MessageBuffer::nothing(),
            0,
        );
        RequestError::Returned {
            peer,
            returned: Box::new(returned),
        }
    }

    /// Returns the error of a request that was not sent because the connection has ended.
    pub(super) fn unsent(&self, handler: u16) -> RequestError {
        match self.unanswered(handler) {
            RequestError::Lost { peer } => RequestError::Ended { peer },
            returned => returned,
        }
    }

    /// Returns the error of a request whose frame the device did not take.
    #[cold]
    pub(super) fn not_taken(&self, handler: u16, error: SendError) -> RequestError {
        if matches!(error, SendError::Lost { .. } | SendError::Closed { .. }) {
            // The announcement of the peer may have arrived unread, or another thread reads it just
            // now. If that is this thread, it is waited for in vain.
            for _ in 0..MOST_YIELDS {
                self.membership.group().poll_deferring();
                if self.has_ended() {
                    break;
                }
                std::thread::yield_now();
            }
            // The announcement was stored before the end was published, so it is read after the
            // end.
            if self.has_ended() && self.peer_is_done.load(Ordering::Relaxed) {
                return self.unanswered(handler);
            }
        }
        error.into()
    }

    /// Takes the oldest returned message that no ticket waits for.
    pub(super) fn take_returned(&self) -> Option<Returned> {
        self.returned.take_oldest()
    }

    /// Handles the end of the receive direction. Closes the device, though the program may keep its
    /// handles.
    pub(super) fn lost(&self, error: &RecvError) {
        let (peer, error) = (self.endpoint.peer().clone(), error.to_string());
        emit(Level::DEBUG, move || {
            tracing::debug!(%peer, error, "the connection has ended");
        });
        self.hang_up();
    }

    /// Ends the connection because the pool has had no room for too long.
    #[cold]
    pub(super) fn give_up_waiting_for_room(&self, error: &RecvError) {
        let (peer, error) = (self.endpoint.peer().clone(), error.to_string());
        emit(Level::WARN, move || {
            tracing::warn!(%peer, error, "ended: no room in the pool");
        });
        self.hang_up();
    }

    #[cold]
    fn break_off(&self, violation: Violation) {
        let peer = self.endpoint.peer().clone();
        emit(Level::WARN, move || {
            tracing::warn!(%peer, reason = violation.0, "protocol violation");
        });
        // Comes before `close`, which a peer that is still sending would not notice.
        self.endpoint.shared().info().reject();
        self.endpoint.close();
        self.end();
    }

    fn end(&self) {
        // Comes first: all that are woken below find the connection ended.
        let (wake, tasks) = self.accounts.end();
        self.membership.group().remove(self.id);
        // The callbacks wait until this thread has released its locks.
        wake.into_iter().for_each(callbacks::wake);
        tasks.into_iter().for_each(|task| task.cancel());
        // Runs before the deferred requests are dropped: values attached to these may run other
        // requests, which must find the connection ended.
        // Taken out of the lock, so that a callback may register another one, which runs at once.
        let at_end = jstream_sync::lock(&self.at_end).take();
        at_end.into_iter().flatten().for_each(catch_panic);
        self.deferred.clear();
        if let Some(versions) = self.other_versions.get() {
            versions.end();
        }
    }

    /// Ends the connection.
    pub(super) fn hang_up(&self) {
        self.endpoint.close();
        self.end();
        // A large part of the pool may have been used for this peer. In a forked child, the pool's
        // lock may be held forever.
        if !self.is_elsewhere() {
            self.endpoint.shared().info().pool.trim_if_idle();
        }
    }

    pub(super) fn retire(&self) {
        self.accounts.retire();
    }

    pub(super) fn is_retired(&self) -> bool {
        self.accounts.is_retired() || self.is_elsewhere()
    }

    /// Refuses further requests of this side, unless one is outstanding or queued. Returns true if
    /// they are refused.
    pub(super) fn stop_requests(&self) -> bool {
        // In a forked child, the lock of the ledger may be held forever.
        !self.is_elsewhere() && !self.has_queue() && self.accounts.stop_requests()
    }

    pub(super) fn has_ended(&self) -> bool {
        self.accounts.has_ended() || self.is_elsewhere()
    }
}

impl Drop for Link {
    /// Sends the frames that were held back, and drops the deferred work and the attached value.
    fn drop(&mut self) {
        self.flush();
        // In a forked child, the locks may be held forever.
        if !self.is_elsewhere() {
            self.membership.group().remove_dropped(self.id);
        }
        if let Some(attached) = self.attached.take() {
            callbacks::run(move || drop(attached));
        }
    }
}
