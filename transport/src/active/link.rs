//! A connection, as all who use it share it.

use std::any::Any;
use std::collections::VecDeque;
use std::io::IoSlice;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::task::Waker;
use std::time::{Duration, Instant};

use jstream::buffer::Filled;

use super::driving::{Core, Driving};
use super::error::{JoinError, Reason, Returned};
use super::frame::{Credit, Frame};
use super::handlers::Handlers;
use super::hello::{Known, Theirs, cut};
use super::ledger::{Answer, Held, Ledger, Violation, Window};
use super::request::Request;
use super::settings::Settings;
use super::sync::lock;
use super::task::Cancel;
use super::turn;
use crate::device::connection::Body;
use crate::device::deadline::Deadline;
use crate::endpoint::ops::Notify;
use crate::endpoint::{Endpoint, Message};
use crate::error::{RecvError, SendError};
use crate::header::Header;

/// The longest reason that is told to a peer, in bytes.
const LONGEST_TEXT: usize = 1024;

/// How long who sends much waits for the connection to take it before it looks what has come.
const PATIENCE: Duration = Duration::from_millis(1);

/// One side of a connection.
pub(super) struct Link {
    /// By which bundles know it.
    pub(super) id: u64,
    endpoint: Endpoint,
    handlers: Handlers,
    known: Vec<Known>,
    pub(super) settings: Settings,
    ledger: super::sync::Mutex<Ledger>,
    seat: Mutex<Seat>,
    /// As the seat says; changes under its lock.
    posted: AtomicBool,
    /// How often it was moved from one bundle to another.
    moves: AtomicUsize,
    returned: Mutex<VecDeque<Returned>>,
    /// It takes no more requests.
    stopping: AtomicBool,
    /// How many handles of the program there are.
    pub(super) handles: AtomicUsize,
    /// What the program has of it.
    attached: OnceLock<Arc<dyn Any + Send + Sync>>,
    /// What is to be done when it has ended; nothing after that.
    at_end: Mutex<Option<Vec<AtEnd>>>,
    /// The peer has sent a message.
    served: AtomicBool,
    /// Since when the pool has no room for what has come, and what it says; there while `starves`.
    starved: Mutex<Option<(Instant, String)>>,
    starves: AtomicBool,
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
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let inward = Window::new(settings.window_messages(), settings.window_bytes.max(1));
        let bundle = Core::new(endpoint.shared().facts().spin);
        let link = Arc::new(Self {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            ledger: super::sync::Mutex::new(Ledger::new(theirs.window, inward)),
            known: theirs.known,
            endpoint,
            handlers,
            settings,
            seat: Mutex::new(Seat {
                bundle: bundle.clone(),
                posted: false,
            }),
            posted: AtomicBool::new(false),
            moves: AtomicUsize::new(0),
            returned: Mutex::default(),
            stopping: AtomicBool::new(false),
            handles: AtomicUsize::new(0),
            attached: OnceLock::new(),
            at_end: Mutex::new(Some(Vec::new())),
            served: AtomicBool::new(false),
            starved: Mutex::new(None),
            starves: AtomicBool::new(false),
        });
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

    /// The pool has no room for what has come.
    #[cold]
    pub(super) fn note_no_room(&self, error: &RecvError) {
        let mut starved = lock_plainly(&self.starved);
        starved.get_or_insert_with(|| (Instant::now(), error.to_string()));
        self.starves.store(true, Ordering::Relaxed);
    }

    /// What the pool says, where it has had no room for what has come for too long.
    #[inline]
    pub(super) fn starved(&self) -> Option<String> {
        if !self.starves.load(Ordering::Relaxed) {
            return None;
        }
        let mut starved = lock_plainly(&self.starved);
        let (_, why) =
            starved.take_if(|(since, _)| since.elapsed() >= self.settings.room_timeout)?;
        // Who waits next waits as long.
        self.starves.store(false, Ordering::Relaxed);
        Some(why)
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

    /// Serves the bundle that it is in, until `attempt` answers or the time is over.
    #[inline]
    pub(super) fn wait<R>(
        &self,
        until: Deadline,
        mut attempt: impl FnMut(Option<&Waker>) -> Option<R>,
    ) -> Option<R> {
        loop {
            let moves = self.moves.load(Ordering::Acquire);
            let waited = self.bundle().wait(until, |waker| match attempt(waker) {
                Some(answer) => Some(Some(answer)),
                None if self.moves.load(Ordering::Acquire) != moves => Some(None),
                None => None,
            });
            match waited {
                Some(Some(answer)) => return Some(answer),
                Some(None) => {}
                None => return None,
            }
        }
    }

    pub(super) fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    pub(super) fn handlers(&self) -> &Handlers {
        &self.handlers
    }

    /// The handlers of the other side.
    pub(super) fn known(&self) -> &[Known] {
        &self.known
    }

    pub(super) fn ledger(&self) -> super::sync::MutexGuard<'_, Ledger> {
        lock(&self.ledger)
    }

    /// Where it is served now.
    pub(super) fn bundle(&self) -> Arc<Core> {
        self.seat().bundle.clone()
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

    /// Sends a frame without waiting: one for which there is no room goes on by itself, from a copy. How many
    /// such there are the windows bound.
    #[inline]
    pub(super) fn send(&self, header: Header, segments: &[IoSlice<'_>]) -> Result<(), SendError> {
        match self.endpoint.try_send_message(header, segments) {
            Err(SendError::WouldBlock | SendError::NoBuffer { .. }) => {
                let filled = self.endpoint.shared().gather(segments);
                self.post(header, filled);
                Ok(())
            }
            sent => sent,
        }
    }

    /// The same from where the bytes are: serves until the connection has taken them. The peer may wait for somebody
    /// to receive what it sends itself.
    #[cold]
    pub(super) fn send_large(
        &self,
        header: Header,
        segments: &[IoSlice<'_>],
    ) -> Result<(), SendError> {
        self.endpoint.scope(|scope| {
            let mut sending = scope.post_send(header, segments);
            let mut patience = PATIENCE;
            loop {
                match sending.wait_timeout(patience) {
                    Ok(sent) => return sent,
                    Err(unsent) => sending = unsent,
                }
                let is_served = turn::waiting(|| self.bundle().poll()) > 0;
                patience = if is_served { Duration::ZERO } else { PATIENCE };
            }
        })
    }

    /// The same with a jbuf, which moves where jbufs do. One that was refused comes back.
    pub(super) fn send_filled(
        &self,
        header: Header,
        filled: Filled,
    ) -> Result<(), (SendError, Filled)> {
        let shared = self.endpoint.shared();
        let length = Some(filled.len() as u64);
        let (message, refused) = shared.outbound(header, length, Body::Owned(filled));
        match (refused, message.body) {
            (Some(error), Body::Owned(filled)) => Err((error, filled)),
            (None, Body::Owned(filled)) => {
                self.post(header, filled);
                Ok(())
            }
            _ => unreachable!("what was not sent is here"),
        }
    }

    #[cold]
    fn post(&self, header: Header, filled: Filled) {
        let shared = self.endpoint.shared();
        let length = Some(filled.len() as u64);
        let (message, refused) = shared.outbound(header, length, Body::Owned(filled));
        // Who waits for it would wait for ever: the connection ends when it can't be sent.
        shared.post_send(message, refused, Notify::Request);
        if shared.has_unsent() {
            shared.carry();
        }
    }

    /// Sends an answer. An error says that the other side does not take one like that.
    #[inline]
    pub(super) fn reply(&self, header: Header, segments: &[IoSlice<'_>]) -> Result<(), SendError> {
        only_refused(self.send(header, segments))
    }

    pub(super) fn reply_filled(&self, header: Header, filled: Filled) -> Result<(), SendError> {
        only_refused(self.send_filled(header, filled).map_err(|(error, _)| error))
    }

    /// A message of the peer is done with; what it gets back for it.
    #[inline]
    pub(super) fn close(&self, number: Option<u32>, length: u64) -> Credit {
        let (credit, open) = self.ledger().close(number, length);
        drop(open);
        credit
    }

    /// The same where no frame goes.
    pub(super) fn close_silently(&self, length: u64) {
        let credit = self.ledger().close_silently(length);
        if let Some(credit) = credit {
            let _ = self.send(Frame::Credit.header(credit), &[]);
        }
    }

    /// Gives a message back to its sender, with what is left of its payload.
    pub(super) fn give_back(
        &self,
        (number, handler, word): (Option<u32>, u16, u64),
        credit: Credit,
        reason: Reason,
        payload: &[u8],
        why: &str,
    ) {
        let why = cut(why, LONGEST_TEXT);
        let frame = |why: &str| {
            let (reason, text) = (reason.code(), u16::try_from(why.len()).unwrap_or(0));
            match number {
                Some(number) => Frame::Return {
                    number,
                    reason,
                    word,
                    text,
                },
                None => Frame::Bounce {
                    handler,
                    reason,
                    word,
                    text,
                },
            }
        };
        let segments = [IoSlice::new(payload), IoSlice::new(why.as_bytes())];
        let sent = self.send(frame(why).header(credit), &segments);
        if let Err(SendError::TooLarge { .. }) = sent {
            // A peer that takes next to nothing may have the reason alone.
            let _ = self.send(frame("").header(credit), &[]);
        }
    }

    /// A handler waits. Whether its request is still wanted.
    pub(super) fn note_moved(&self, number: u32, task: &Arc<dyn Cancel>) -> bool {
        self.ledger().note_moved(number, task)
    }

    /// Whether nobody wants the answer to a request that is open.
    pub(super) fn is_cancelled(&self, number: u32) -> bool {
        self.ledger().is_cancelled(number)
    }

    /// Runs a request again, a little later.
    pub(super) fn run_later(&self, request: Request) {
        self.bundle().run_later(request);
    }

    /// Takes no more requests: they go back.
    pub(super) fn stop(&self) {
        self.stopping.store(true, Ordering::Relaxed);
    }

    /// What came back though nobody waited for it, the oldest first.
    pub(super) fn take_returned(&self) -> Option<Returned> {
        lock_plainly(&self.returned).pop_front()
    }

    /// A message has come. Before a handler runs, others may receive.
    #[inline]
    pub(super) fn arrived(self: &Arc<Self>, message: Message, driving: &mut Driving<'_>) {
        if self.starves.load(Ordering::Relaxed) {
            self.has_room();
        }
        if let Err(violation) = self.take_in(message, driving) {
            self.break_off(violation);
        }
    }

    #[inline]
    fn take_in(
        self: &Arc<Self>,
        message: Message,
        driving: &mut Driving<'_>,
    ) -> Result<(), Violation> {
        let Message { header, payload } = message;
        let unknown = Violation("it sends what is no active message");
        let (frame, credit) = Frame::of(&header).ok_or(unknown)?;
        let mut wake = Vec::new();
        let mut ledger = self.ledger();
        ledger.absorb(credit, &mut wake)?;
        match frame {
            Frame::Request {
                number,
                handler,
                word,
            } => {
                ledger.accept(Some(number), header.length)?;
                drop(ledger);
                self.serve(Some(number), handler, word, payload, driving);
            }
            Frame::Send { handler, word } => {
                ledger.accept(None, header.length)?;
                drop(ledger);
                self.serve(None, handler, word, payload, driving);
            }
            Frame::Reply { number, word } => {
                let told = ledger.answer(number, Answer::Reply { word, payload })?;
                drop(ledger);
                tell(told, driving);
            }
            Frame::Return {
                number,
                reason,
                word,
                text,
            } => {
                let answer = Answer::Returned {
                    reason,
                    word,
                    payload,
                    text,
                };
                let told = ledger.answer(number, answer)?;
                drop(ledger);
                tell(told, driving);
            }
            Frame::Bounce {
                handler,
                reason,
                word,
                text,
            } => {
                drop(ledger);
                self.keep(returned(handler, reason, word, payload, text));
            }
            Frame::Cancel { number } => {
                let task = ledger.cancelled(number);
                drop(ledger);
                if let Some(task) = task {
                    task.cancel();
                }
            }
            Frame::Credit => drop(ledger),
            Frame::Hello { .. } => return Err(unknown),
        }
        wake.into_iter().for_each(Waker::wake);
        Ok(())
    }

    #[inline]
    fn serve(
        self: &Arc<Self>,
        number: Option<u32>,
        handler: u16,
        word: u64,
        payload: Filled,
        driving: &mut Driving<'_>,
    ) {
        if !self.has_served() {
            self.served.store(true, Ordering::Relaxed);
        }
        let request = Request::new(self.clone(), number, handler, word, payload);
        let Some(request) = driving.serves(request) else {
            return;
        };
        if self.stopping.load(Ordering::Relaxed) {
            return request.give_back(Reason::Ending, "");
        }
        match self.handlers.entry(handler) {
            Some(entry) => entry.run(request, turn::depth() >= self.settings.nesting),
            None => request.give_back(Reason::NoSuchHandler, ""),
        }
    }

    /// Runs a request that was put aside, unless it was cancelled there.
    pub(super) fn serve_put_aside(request: Request) {
        let number = request.number();
        if number.is_some_and(|number| request.link().is_cancelled(number)) {
            return request.give_back(Reason::Cancelled, "");
        }
        Self::serve_again(request);
    }

    /// Runs a request that could not run before.
    pub(super) fn serve_again(request: Request) {
        let link = request.link().clone();
        match link.handlers.entry(request.handler()) {
            Some(entry) => entry.run(request, turn::depth() >= link.settings.nesting),
            None => request.give_back(Reason::NoSuchHandler, ""),
        }
    }

    fn keep(&self, returned: Returned) {
        let mut kept = lock_plainly(&self.returned);
        if kept.len() < self.settings.kept_returns {
            return kept.push_back(returned);
        }
        tracing::debug!(peer = %self.endpoint.peer(), %returned, "a message that came back is dropped");
    }

    /// Nothing more is received.
    pub(super) fn lost(&self, error: &RecvError) {
        tracing::debug!(peer = %self.endpoint.peer(), %error, "no more active messages");
        self.end();
    }

    #[cold]
    fn break_off(&self, violation: Violation) {
        tracing::warn!(peer = %self.endpoint.peer(), reason = violation.0, "broke the rules of active messages");
        self.endpoint.shared().facts().control.reject();
        self.endpoint.close();
        self.end();
    }

    fn end(&self) {
        let (wake, tasks) = self.ledger().end();
        self.bundle().leave(self.id);
        wake.into_iter().for_each(Waker::wake);
        tasks.into_iter().for_each(|task| task.cancel());
        let at_end = lock_plainly(&self.at_end).take();
        at_end.into_iter().flatten().for_each(|work| work());
    }

    /// Ends the connection.
    pub(super) fn hang_up(&self) {
        self.endpoint.close();
        self.end();
    }

    pub(super) fn has_ended(&self) -> bool {
        self.ledger().has_ended()
    }

    /// Begins a request; `Err` gives what it was about back.
    pub(super) fn begin(
        &self,
        handler: u16,
        word: u64,
        length: u64,
    ) -> Result<(u32, Header), Held> {
        let (number, credit) = self.ledger().begin(length)?;
        let frame = Frame::Request {
            number,
            handler,
            word,
        };
        Ok((number, frame.header(credit)))
    }
}

/// As [`lock`], for what no model looks at.
fn lock_plainly<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Wakes who waits for an answer. A handler that does is gone on with at once.
#[inline]
fn tell((waker, unwanted): (Option<Waker>, Option<Answer>), driving: &mut Driving<'_>) {
    drop(unwanted);
    if let Some(waker) = waker {
        turn::gathering(|| waker.wake());
        if turn::has_jobs() {
            driving.release();
            turn::go_on();
        }
    }
}

/// Whether the other side takes no message like that; what ended the connection whoever receives finds.
fn only_refused(sent: Result<(), SendError>) -> Result<(), SendError> {
    match sent {
        Err(error @ SendError::TooLarge { .. }) => Err(error),
        _ => Ok(()),
    }
}

/// What came back, as programs have it.
pub(super) fn returned(
    handler: u16,
    reason: u16,
    word: u64,
    mut payload: Filled,
    text: u16,
) -> Returned {
    let length = payload.len().saturating_sub(usize::from(text));
    let why = payload.as_bytes().get(length..).unwrap_or_default();
    let why = String::from_utf8_lossy(why).into_owned();
    payload.truncate(length);
    let payload = (length > 0).then_some(payload);
    Returned {
        reason: Reason::of(reason),
        text: why,
        handler,
        word,
        payload,
    }
}
