//! The shared state of a connection.

mod arrival;
mod deferred;
mod joining;
mod outgoing;
mod queue;
mod sending;
mod waiting;

pub(super) use self::outgoing::{Asked, BegunRequest, Grant, Message};
use self::queue::Queue;
pub(super) use self::queue::Turn;
use std::any::Any;
use std::collections::VecDeque;
use std::io::IoSlice;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::{Duration, Instant};

use jstream::buffer::MessageBuffer;

use super::error::{Reason, RequestError, Returned};
use super::frame::{Frame, NO_HANDLER};
use super::handlers::Handlers;
use super::hello::Known;
use super::ledger::{Accounts, Cancel, Haste, Ledger, Number, Violation};
use super::poll_loop::PollLoop;
use super::request::DeferredRequest;
use super::settings::Settings;
use super::tap::{Tap, tapped};
use jstream_base::Header;
use jstream_base::byte_limit::ByteHolder;
use jstream_base::events::emit;
use jstream_base::{RecvError, SendError};
use jstream_endpoint::Endpoint;
use jstream_sync::MutexGuard as LedgerGuard;
use jstream_sync::callbacks;
use jstream_sync::panics::catch_panic;
use jstream_sync::publishing_lock::{Publish, PublishingLock, Word};
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
    /// Number of answers recorded in the ledger. It and `ended` change under the ledger's lock.
    answers: AtomicU64,
    ended: AtomicBool,
    /// The group that serves the connection until it is moved for the first time.
    first: Arc<PollLoop>,
    /// The summary is true if a receive is posted in that group, and the number of moves.
    seat: PublishingLock<ServedBy>,
    /// Held while the connection is moved, or a receive is posted in its group.
    moving: Mutex<()>,
    /// Number of bytes that the peer has not taken, when last checked; changes under the ledger's
    /// lock.
    backlog: AtomicU64,
    /// Share of the connection in the bytes that all peers have not taken.
    backlog_bytes: Arc<ByteHolder>,
    /// Senders that wait for credit.
    queue: Queue,
    /// Requests deferred until the peer drains its receive side. The summary is true if there are
    /// any.
    unread: PublishingLock<Unread>,
    returned: Mutex<VecDeque<Returned>>,
    /// True if the connection accepts no more requests.
    stopping: AtomicBool,
    /// True if the peer has announced that it has answered all requests, and runs no more.
    peer_is_done: AtomicBool,
    /// Value that the program attached.
    attached: OnceLock<Arc<dyn Any + Send + Sync>>,
    /// Callbacks for the end of the connection; `None` after they ran.
    at_end: Mutex<Option<Vec<AtEnd>>>,
    /// True if the peer has sent a request or a one-way message.
    served: AtomicBool,
    /// The summary is true if a received message waits for room in the pool.
    starved: PublishingLock<Starvation>,
}

/// State of a received message that waits for room in the pool, if there is one.
#[derive(Default)]
struct Starvation(Option<Starved>);

impl Publish for Starvation {
    type Summary = Word<bool>;
    type Listeners = ();

    fn summary(&self) -> bool {
        self.0.is_some()
    }
}

/// State of a received message for which the pool has no room.
struct Starved {
    /// Time of the last failed attempt, and total time waited until then.
    seen: Instant,
    waited: Duration,
    /// Time at which this was last reported to a caller that waits for an answer.
    told: Instant,
    /// Error of the pool.
    why: String,
}

/// Deferred requests in the order of arrival, each with the backlog in bytes at which it may run.
#[derive(Default)]
struct Unread(VecDeque<(DeferredRequest, u64)>);

impl Publish for Unread {
    type Summary = Word<bool>;
    type Listeners = ();

    fn summary(&self) -> bool {
        !self.0.is_empty()
    }
}

/// A callback that runs once.
type AtEnd = Box<dyn FnOnce() + Send>;

/// The group that serves a connection.
struct ServedBy {
    group: Arc<PollLoop>,
    /// True if a receive is posted in the queue of that group.
    posted: bool,
    /// Number of moves between groups.
    moves: usize,
}

impl Publish for ServedBy {
    type Summary = (Word<bool>, Word<usize>);
    type Listeners = ();

    fn summary(&self) -> (bool, usize) {
        (self.posted, self.moves)
    }
}

impl Link {
    pub(super) fn attach(&self, attached: Arc<dyn Any + Send + Sync>) -> bool {
        self.attached.set(attached).is_ok()
    }

    #[inline]
    pub(super) fn attached<T: Any>(&self) -> Option<&T> {
        self.attached.get()?.downcast_ref()
    }

    /// Runs a callback when the connection has ended, or immediately if it has.
    pub(super) fn on_end(&self, work: AtEnd) {
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

    /// Records that the pool has no room for a received message. Returns false if that has lasted
    /// longer than [`Settings::buffer_timeout`].
    #[cold]
    pub(super) fn note_no_room(&self, error: &RecvError) -> bool {
        let mut starvation = self.starved.lock();
        let now = Instant::now();
        let starved = starvation.0.get_or_insert_with(|| Starved {
            seen: now,
            waited: Duration::ZERO,
            told: now,
            why: error.to_string(),
        });
        // The time between two attempts counts for at most a quarter of the timeout, so that a
        // pause of the program does not end the connection.
        let most = self.settings.buffer_timeout;
        let elapsed = now
            .saturating_duration_since(starved.seen)
            .min(most.checked_div(4).unwrap_or_default());
        starved.seen = now;
        starved.waited = starved.waited.saturating_add(elapsed);
        starved.waited < most
    }

    #[inline]
    pub(super) fn starves(&self) -> bool {
        self.starved.summary().get()
    }

    /// Returns the error of the pool if it has had no room for a received message for
    /// [`Settings::room_timeout`].
    #[inline]
    pub(super) fn starved(&self) -> Option<String> {
        if !self.starves() {
            return None;
        }
        let mut starvation = self.starved.lock();
        let starved = starvation.0.as_mut()?;
        if starved.told.elapsed() < self.settings.room_timeout {
            return None;
        }
        // The next caller waits for the full timeout again.
        starved.told = Instant::now();
        Some(starved.why.clone())
    }

    /// Records that no received message waits for room in the pool.
    #[inline]
    pub(super) fn note_room(&self) {
        if self.starves() {
            self.has_room();
        }
    }

    #[cold]
    fn has_room(&self) {
        let starved = self.starved.lock().0.take();
        drop(starved);
    }

    /// Returns the connection that uses an endpoint.
    pub(super) fn of(endpoint: &Endpoint) -> Option<Arc<Self>> {
        endpoint.shared().attached()?.downcast().ok()
    }

    /// Shows a message to the tap.
    #[cold]
    fn show(&self, tap: &dyn Tap, sent: bool, header: &Header, payload: &[IoSlice<'_>]) {
        // A header that is to be sent has no length yet.
        let length = payload.iter().map(|part| part.len() as u64).sum();
        let frame = Frame::of(&header.with_length(length)).map(|(frame, _)| frame);
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

    /// Returns the group that serves the connection.
    pub(super) fn group(&self) -> Arc<PollLoop> {
        self.seat.lock().group.clone()
    }

    /// Calls `work` with the group that serves the connection. Takes no lock if the connection was
    /// never moved.
    #[inline]
    fn with_group<R>(&self, work: impl FnOnce(&Arc<PollLoop>) -> R) -> R {
        if self.moves() == 0 {
            return work(&self.first);
        }
        work(&self.group())
    }

    /// Returns the number of moves between groups.
    #[inline]
    fn moves(&self) -> usize {
        self.seat.summary().1.get_acquire()
    }

    /// Locks the connection's place, to move it or to post a receive.
    pub(super) fn moving(&self) -> MutexGuard<'_, ()> {
        jstream_sync::lock(&self.moving)
    }

    /// Handles the available messages, up to a limit. Returns their number.
    pub(super) fn poll(&self) -> usize {
        self.with_group(|group| group.poll())
    }

    /// Returns the number of answers recorded so far. A change means that an awaited answer may be
    /// there.
    #[inline]
    pub(super) fn answers(&self) -> u64 {
        self.answers.load(Ordering::Acquire)
    }

    /// Counts an answer. The caller holds the lock of the ledger.
    fn count_answer(&self) {
        let answers = self.answers.load(Ordering::Relaxed);
        self.answers
            .store(answers.wrapping_add(1), Ordering::Release);
    }

    /// Sets the group that serves the connection. If it differs from the previous one, returns
    /// that, and whether a receive was posted there.
    pub(super) fn sit(&self, group: &Arc<PollLoop>) -> Option<(Arc<PollLoop>, bool)> {
        let mut seat = self.seat.lock();
        if Arc::ptr_eq(&seat.group, group) {
            return None;
        }
        let was_posted = std::mem::take(&mut seat.posted);
        seat.moves = seat.moves.wrapping_add(1);
        let before = std::mem::replace(&mut seat.group, group.clone());
        Some((before, was_posted))
    }

    /// Returns true if a receive is posted in the connection's group.
    #[inline]
    pub(super) fn is_posted(&self) -> bool {
        self.seat.summary().0.get()
    }

    /// Records that a receive is posted in `group`, or no longer is. Returns false if that was
    /// recorded already, or another group serves the connection.
    pub(super) fn set_posted(&self, group: &PollLoop, posted: bool) -> bool {
        let mut seat = self.seat.lock();
        let here = std::ptr::eq(Arc::as_ptr(&seat.group), group);
        if !here || seat.posted == posted {
            return false;
        }
        seat.posted = posted;
        true
    }

    pub(super) fn is_in(&self, group: &PollLoop) -> bool {
        std::ptr::eq(Arc::as_ptr(&self.seat.lock().group), group)
    }

    /// Registers the task of a suspended handler. Returns true if its request is still wanted.
    pub(super) fn note_moved(&self, number: Number, task: &Arc<dyn Cancel>) -> bool {
        self.ledger().note_moved(number, task)
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
        let returned = Returned::of(
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
                self.group().look_aside();
                if self.has_ended() {
                    break;
                }
                std::thread::yield_now();
            }
            if self.has_ended() && self.peer_is_done.load(Ordering::Relaxed) {
                return self.unanswered(handler);
            }
        }
        error.into()
    }

    /// Takes the oldest returned message that no ticket waits for.
    pub(super) fn take_returned(&self) -> Option<Returned> {
        jstream_sync::lock(&self.returned).pop_front()
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
        self.endpoint.shared().info().reject();
        self.endpoint.close();
        self.end();
    }

    fn end(&self) {
        let mut ledger = self.ledger();
        let (wake, tasks) = ledger.end();
        self.ended.store(true, Ordering::Release);
        self.count_answer();
        drop(ledger);
        self.group().leave(self.id);
        wake.into_iter().for_each(callbacks::wake);
        tasks.into_iter().for_each(|task| task.cancel());
        // Runs before the deferred requests are dropped: values attached to these may run other
        // requests, which must find the connection ended.
        let at_end = jstream_sync::lock(&self.at_end).take();
        at_end.into_iter().flatten().for_each(catch_panic);
        self.drop_unread();
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

    pub(super) fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Acquire) || self.is_elsewhere()
    }
}

impl Drop for Link {
    /// Sends the frames that were held back, and drops the deferred work and the attached value.
    fn drop(&mut self) {
        self.flush();
        // In a forked child, the locks may be held forever.
        if !self.is_elsewhere() {
            self.group().bury(self.id);
        }
        if let Some(attached) = self.attached.take() {
            callbacks::run(move || drop(attached));
        }
    }
}
