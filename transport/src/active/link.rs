//! A connection, as all who use it share it.

mod arrival;
mod queue;
mod sending;
mod unread;

pub(super) use self::arrival::returned;
use self::queue::Queue;
pub(super) use self::queue::{Grant, Message, Turn};
pub(super) use self::sending::Haste;
use std::any::Any;
use std::collections::VecDeque;
use std::io::IoSlice;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::task::Waker;
use std::time::{Duration, Instant};

use self::unread::Unread;
use super::driving::{Core, Directly, Wait};
use super::error::{JoinError, RequestError, Returned};
use super::frame::{Credit, Frame};
use super::handlers::Handlers;
use super::hello::{Known, Theirs};
use super::ledger::{Accounts, Answer, Ledger, Number, Violation, Window};
use super::settings::Settings;
use super::sync::MutexGuard as LedgerGuard;
use super::tap::{Tap, tapped};
use super::task::Cancel;
use crate::device::deadline::Deadline;
use crate::endpoint::{Endpoint, Message as EndpointMessage};
use crate::error::RecvError;
use crate::header::Header;

/// A request that is on its way.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asked {
    pub(super) number: u32,
    /// How many answers there were before.
    pub(super) answers: u64,
}

/// A request that was begun, and is to be sent.
pub(super) struct Begun {
    pub(super) asked: Asked,
    pub(super) header: Header,
    /// What it gives back.
    pub(super) credit: Credit,
    pub(super) haste: Haste,
}

/// One side of a connection, on cache lines of its own: the other one may be another thread's.
#[repr(align(128))]
pub(super) struct Link {
    /// By which bundles know it.
    pub(super) id: u64,
    endpoint: Endpoint,
    handlers: Handlers,
    known: Vec<Known>,
    pub(super) settings: Settings,
    accounts: Accounts,
    /// How many answers were noted in the ledger, and whether it has ended; both change under its lock.
    answers: AtomicU64,
    ended: AtomicBool,
    /// Where it is served as long as it was not moved.
    first: Arc<Core>,
    seat: Mutex<Seat>,
    /// Held by who moves it, or posts a receive where it is.
    moving: Mutex<()>,
    /// As the seat says; changes under its lock.
    posted: AtomicBool,
    /// How often it was moved from one bundle to another.
    moves: AtomicUsize,
    /// How many bytes wait for the peer to take them, when that was last looked at; changes under the ledger's lock.
    backlog: AtomicU64,
    /// Who waits for room at the other side.
    queue: Queue,
    /// What waits for that; and whether something does, which changes under its lock.
    unread: Mutex<Unread>,
    has_unread: AtomicBool,
    returned: Mutex<VecDeque<Returned>>,
    /// It takes no more requests.
    stopping: AtomicBool,
    /// What the program has of it.
    attached: OnceLock<Arc<dyn Any + Send + Sync>>,
    /// What is to be done when it has ended; nothing after that.
    at_end: Mutex<Option<Vec<AtEnd>>>,
    /// The peer has sent a message.
    served: AtomicBool,
    /// There while `starves`.
    starved: Mutex<Option<Starved>>,
    starves: AtomicBool,
}

/// A message has come for which the pool has no room.
struct Starved {
    /// When that was seen last, and for how long it was looked for until then.
    seen: Instant,
    waited: Duration,
    /// When a caller that waits for an answer was told so last.
    told: Instant,
    /// What the pool says.
    why: String,
}

/// What is done once.
type AtEnd = Box<dyn FnOnce() + Send>;

/// Where it is served.
struct Seat {
    bundle: Arc<Core>,
    /// A receive is posted in the queue of that bundle.
    posted: bool,
}

impl Link {
    pub(super) fn new(
        endpoint: Endpoint,
        handlers: Handlers,
        theirs: Theirs,
        settings: Settings,
    ) -> Result<Arc<Self>, JoinError> {
        // 0 is nobody.
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let inward = Window::new(settings.window_messages(), settings.window_bytes.max(1));
        let bundle = Core::new(endpoint.shared().info().spin);
        let link = Arc::new(Self {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            accounts: Accounts::new(Ledger::new(theirs.window, inward)),
            known: theirs.known,
            endpoint,
            handlers,
            settings,
            answers: AtomicU64::new(0),
            ended: AtomicBool::new(false),
            first: bundle.clone(),
            seat: Mutex::new(Seat {
                bundle: bundle.clone(),
                posted: false,
            }),
            moving: Mutex::default(),
            posted: AtomicBool::new(false),
            moves: AtomicUsize::new(0),
            backlog: AtomicU64::new(0),
            queue: Queue::default(),
            unread: Mutex::default(),
            has_unread: AtomicBool::new(false),
            returned: Mutex::default(),
            stopping: AtomicBool::new(false),
            attached: OnceLock::new(),
            at_end: Mutex::new(Some(Vec::new())),
            served: AtomicBool::new(false),
            starved: Mutex::new(None),
            starves: AtomicBool::new(false),
        });
        if let Some(tap) = &link.settings.tap {
            let ours: Vec<_> = link.handlers.entries().iter().map(|of| &*of.name).collect();
            let theirs: Vec<_> = link.known.iter().map(|of| &*of.name).collect();
            tap.joined(&ours, &theirs);
        }
        bundle.enter(&link);
        let attached: Weak<Self> = Arc::downgrade(&link);
        if link.endpoint.shared().attach(attached) {
            return Ok(link);
        }
        Err(JoinError::NotActive {
            peer: link.endpoint.peer().clone(),
            reason: "this endpoint was joined before",
        })
    }

    pub(super) fn attach(&self, attached: Arc<dyn Any + Send + Sync>) -> bool {
        self.attached.set(attached).is_ok()
    }

    #[inline]
    pub(super) fn attached<T: Any>(&self) -> Option<&T> {
        self.attached.get()?.downcast_ref()
    }

    /// Has something done when it has ended: now, if it has.
    pub(super) fn on_end(&self, work: AtEnd) {
        let mut work = Some(work);
        if let Some(at_end) = lock_plainly(&self.at_end).as_mut() {
            at_end.extend(work.take());
        }
        if let Some(work) = work {
            work();
        }
    }

    pub(super) fn has_served(&self) -> bool {
        self.served.load(Ordering::Relaxed)
    }

    /// The pool has no room for what has come. False if that has been so for longer than the settings allow.
    #[cold]
    pub(super) fn note_no_room(&self, error: &RecvError) -> bool {
        let mut starved = lock_plainly(&self.starved);
        let now = Instant::now();
        let starved = starved.get_or_insert_with(|| Starved {
            seen: now,
            waited: Duration::ZERO,
            told: now,
            why: error.to_string(),
        });
        // A pause of the program counts as a part only.
        let most = self.settings.buffer_timeout;
        let elapsed = now
            .saturating_duration_since(starved.seen)
            .min(most.checked_div(4).unwrap_or_default());
        starved.seen = now;
        starved.waited = starved.waited.saturating_add(elapsed);
        let is_late = starved.waited >= most;
        self.starves.store(true, Ordering::Relaxed);
        !is_late
    }

    #[inline]
    pub(super) fn starves(&self) -> bool {
        self.starves.load(Ordering::Relaxed)
    }

    /// What the pool says, where it has had no room for what has come for too long.
    #[inline]
    pub(super) fn starved(&self) -> Option<String> {
        if !self.starves() {
            return None;
        }
        let mut starved = lock_plainly(&self.starved);
        let starved = starved.as_mut()?;
        if starved.told.elapsed() < self.settings.room_timeout {
            return None;
        }
        // Who waits next waits as long.
        starved.told = Instant::now();
        Some(starved.why.clone())
    }

    /// Nothing waits for room in the pool, as was just seen.
    #[inline]
    pub(super) fn note_room(&self) {
        if self.starves() {
            self.has_room();
        }
    }

    #[cold]
    fn has_room(&self) {
        self.starves.store(false, Ordering::Relaxed);
        *lock_plainly(&self.starved) = None;
    }

    /// The one that stands on an endpoint.
    pub(super) fn of(endpoint: &Endpoint) -> Option<Arc<Self>> {
        endpoint.shared().attached()?.downcast().ok()
    }

    /// Waits for the answer that was `asked` for, where nobody but the caller receives over a connection that was never
    /// moved.
    #[inline]
    pub(super) fn receive_answer(
        self: &Arc<Self>,
        asked: &Asked,
        until: Deadline,
        message: &mut EndpointMessage,
    ) -> Directly {
        if self.moves.load(Ordering::Acquire) > 0 || self.is_elsewhere() {
            return Directly::Else;
        }
        self.first.receive_answer(self, asked, until, message)
    }

    /// Serves the bundle that it is in, until `attempt` answers or the time is over; `number` is the request whose
    /// answer is waited for. What `attempt` gets [`Core::wait`] says.
    #[inline]
    pub(super) fn wait<R>(
        self: &Arc<Self>,
        number: Option<u32>,
        until: Deadline,
        attempt: impl FnMut(Option<Answer>, Option<&Waker>) -> Option<R>,
    ) -> Option<R> {
        self.wait_on((number, false), until, attempt)
    }

    /// As [`wait`](Self::wait), where nothing may have come for a while.
    #[inline]
    pub(super) fn wait_on<R>(
        self: &Arc<Self>,
        (number, slept): (Option<u32>, bool),
        until: Deadline,
        mut attempt: impl FnMut(Option<Answer>, Option<&Waker>) -> Option<R>,
    ) -> Option<R> {
        let wait = Wait {
            link: Some(self),
            number,
            until,
            slept,
        };
        loop {
            let moves = self.moves.load(Ordering::Acquire);
            let waited = self.with_bundle(|bundle| {
                bundle.wait(&wait, |found, waker| match attempt(found, waker) {
                    Some(answer) => Some(Some(answer)),
                    None if self.moves.load(Ordering::Acquire) != moves => Some(None),
                    None => None,
                })
            });
            match waited {
                Some(Some(answer)) => return Some(answer),
                Some(None) => {}
                None => return None,
            }
        }
    }

    /// Shows a message to whoever sees them.
    #[cold]
    fn show(&self, tap: &dyn Tap, sent: bool, header: &Header, payload: &[IoSlice<'_>]) {
        // Where it is sent nobody has filled in its length yet.
        let length = payload.iter().map(|part| part.len() as u64).sum();
        let frame = Frame::of(&header.with_length(length)).map(|(frame, _)| frame);
        if let Some(tapped) = frame.and_then(|frame| tapped(sent, frame, payload)) {
            tap.message(&tapped);
        }
    }

    /// Sends what waits for others.
    pub(super) fn flush(&self) {
        self.endpoint.shared().flush();
    }

    pub(super) fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// Whether it belongs to the process that this one was forked from.
    #[inline]
    pub(super) fn is_elsewhere(&self) -> bool {
        self.endpoint.shared().is_elsewhere()
    }

    /// An error where it does.
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

    /// The handlers of the other side.
    pub(super) fn known(&self) -> &[Known] {
        &self.known
    }

    pub(super) fn ledger(&self) -> LedgerGuard<'_, Ledger> {
        self.accounts.lock()
    }

    /// Where it is served now.
    pub(super) fn bundle(&self) -> Arc<Core> {
        self.seat().bundle.clone()
    }

    /// As [`bundle`](Self::bundle), for a while; costs nothing for one that was never moved.
    #[inline]
    fn with_bundle<R>(&self, work: impl FnOnce(&Arc<Core>) -> R) -> R {
        if self.moves.load(Ordering::Acquire) == 0 {
            return work(&self.first);
        }
        work(&self.bundle())
    }

    /// Held while it is moved, or a receive is posted.
    pub(super) fn moving(&self) -> MutexGuard<'_, ()> {
        lock_plainly(&self.moving)
    }

    /// Takes the messages that are here, some at most. How many.
    pub(super) fn poll(&self) -> usize {
        self.with_bundle(|bundle| bundle.poll())
    }

    /// How many answers were noted so far, for who looks for another one.
    #[inline]
    pub(super) fn answers(&self) -> u64 {
        self.answers.load(Ordering::Acquire)
    }

    /// Notes that there is one more. The caller has the ledger.
    fn count_answer(&self) {
        let answers = self.answers.load(Ordering::Relaxed);
        self.answers
            .store(answers.wrapping_add(1), Ordering::Release);
    }

    fn seat(&self) -> MutexGuard<'_, Seat> {
        lock_plainly(&self.seat)
    }

    /// Has it served elsewhere. Where it was, if that is not the same, and whether a receive was posted there.
    pub(super) fn sit(&self, bundle: &Arc<Core>) -> Option<(Arc<Core>, bool)> {
        let mut seat = self.seat();
        if Arc::ptr_eq(&seat.bundle, bundle) {
            return None;
        }
        let was_posted = std::mem::take(&mut seat.posted);
        self.posted.store(false, Ordering::Relaxed);
        self.moves.fetch_add(1, Ordering::Release);
        let before = std::mem::replace(&mut seat.bundle, bundle.clone());
        Some((before, was_posted))
    }

    /// Whether a receive is posted where it is served.
    #[inline]
    pub(super) fn is_posted(&self) -> bool {
        self.posted.load(Ordering::Relaxed)
    }

    /// Notes that a receive is posted in `bundle`, or is there no more. False when that was so, or it is not served
    /// there.
    pub(super) fn set_posted(&self, bundle: &Core, posted: bool) -> bool {
        let mut seat = self.seat();
        let here = std::ptr::eq(Arc::as_ptr(&seat.bundle), bundle);
        if !here || seat.posted == posted {
            return false;
        }
        seat.posted = posted;
        self.posted.store(posted, Ordering::Relaxed);
        true
    }

    pub(super) fn is_in(&self, bundle: &Core) -> bool {
        std::ptr::eq(Arc::as_ptr(&self.seat().bundle), bundle)
    }

    /// A handler waits. Whether its request is still wanted.
    pub(super) fn note_moved(&self, number: Number, task: &Arc<dyn Cancel>) -> bool {
        self.ledger().note_moved(number, task)
    }

    /// Whether nobody wants the answer to a request that is open.
    pub(super) fn is_cancelled(&self, number: Number) -> bool {
        self.ledger().is_cancelled(number)
    }

    /// Takes no more requests: they go back.
    pub(super) fn stop(&self) {
        self.stopping.store(true, Ordering::Relaxed);
    }

    /// What came back though nobody waited for it, the oldest first.
    pub(super) fn take_returned(&self) -> Option<Returned> {
        lock_plainly(&self.returned).pop_front()
    }

    /// Nothing more is received. The device is closed, though the program may keep its handles.
    pub(super) fn lost(&self, error: &RecvError) {
        tracing::debug!(peer = %self.endpoint.peer(), %error, "no more active messages");
        self.hang_up();
    }

    /// The pool has had no room for too long.
    #[cold]
    pub(super) fn give_up_waiting_for_room(&self, error: &RecvError) {
        tracing::warn!(peer = %self.endpoint.peer(), %error, "a message has waited for too long");
        self.hang_up();
    }

    #[cold]
    fn break_off(&self, violation: Violation) {
        tracing::warn!(peer = %self.endpoint.peer(), reason = violation.0, "broke the rules of active messages");
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
        self.bundle().leave(self.id);
        wake.into_iter().for_each(Waker::wake);
        tasks.into_iter().for_each(|task| task.cancel());
        // What is kept with requests may have others run, which end here first.
        let at_end = lock_plainly(&self.at_end).take();
        at_end.into_iter().flatten().for_each(|work| work());
        self.drop_unread();
    }

    /// Ends the connection.
    pub(super) fn hang_up(&self) {
        self.endpoint.close();
        self.end();
        // A peer that has gone may have been what a large part of the pool was for. In a forked child the pool's
        // lock may be held for ever.
        if !self.is_elsewhere() {
            self.endpoint.shared().info().pool.trim_if_idle();
        }
    }

    pub(super) fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Acquire) || self.is_elsewhere()
    }
}

impl Drop for Link {
    /// What waits for others is sent though nobody has the connection any more, and what was put off is given up.
    fn drop(&mut self) {
        self.flush();
        // Whoever had a lock when this process was forked has it for ever.
        if !self.is_elsewhere() {
            self.bundle().bury(self.id);
        }
    }
}

/// As [`lock`], for what no model looks at.
fn lock_plainly<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
