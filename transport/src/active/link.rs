//! A connection, as all who use it share it.

use std::collections::VecDeque;
use std::io::IoSlice;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::Waker;

use jstream::buffer::Filled;

use super::driving::{Core, Driving, Wait};
use super::error::{JoinError, Reason, Returned};
use super::frame::{Credit, Frame};
use super::handlers::Handlers;
use super::hello::{Known, Theirs, cut};
use super::ledger::{Answer, Held, Ledger, Number, Violation, Window};
use super::request::Request;
use super::settings::Settings;
use super::sync::lock;
use super::task::Cancel;
use super::turn;
use crate::device::connection::Body;
use crate::device::deadline::Deadline;
use crate::endpoint::Endpoint;
use crate::endpoint::ops::Notify;
use crate::error::{RecvError, SendError};
use crate::header::Header;

/// The longest reason that is told to a peer, in bytes.
const LONGEST_TEXT: usize = 1024;

/// A request that is on its way.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asked {
    pub(super) number: u32,
    /// How many answers there were before.
    pub(super) answers: u64,
}

/// One side of a connection.
pub(super) struct Link {
    /// By which bundles know it.
    pub(super) id: u64,
    endpoint: Endpoint,
    handlers: Handlers,
    known: Vec<Known>,
    pub(super) settings: Settings,
    ledger: super::sync::Mutex<Ledger>,
    /// How many answers were noted in the ledger, and whether it has ended; both change under its lock.
    answers: AtomicU64,
    ended: AtomicBool,
    /// Where it is served as long as it was not moved.
    first: Arc<Core>,
    seat: Mutex<Seat>,
    /// Held by who moves it.
    moving: Mutex<()>,
    /// As the seat says; changes under its lock.
    posted: AtomicBool,
    /// How often it was moved from one bundle to another.
    moves: AtomicUsize,
    returned: Mutex<VecDeque<Returned>>,
    /// It takes no more requests.
    stopping: AtomicBool,
    /// How many handles of the program there are.
    pub(super) handles: AtomicUsize,
}

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
        let bundle = Core::new(endpoint.shared().facts().spin);
        let link = Arc::new(Self {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            ledger: super::sync::Mutex::new(Ledger::new(theirs.window, inward)),
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
            returned: Mutex::default(),
            stopping: AtomicBool::new(false),
            handles: AtomicUsize::new(0),
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

    /// The one that stands on an endpoint.
    pub(super) fn of(endpoint: &Endpoint) -> Option<Arc<Self>> {
        endpoint.shared().attached()?.downcast().ok()
    }

    /// Serves the bundle that it is in, until `attempt` answers or the time is over; `number` is the request whose
    /// answer is waited for. What `attempt` gets [`Core::wait`] says.
    #[inline]
    pub(super) fn wait<R>(
        self: &Arc<Self>,
        number: Option<u32>,
        until: Deadline,
        mut attempt: impl FnMut(Option<Answer>, Option<&Waker>) -> Option<R>,
    ) -> Option<R> {
        let wait = Wait {
            link: Some(self),
            number,
            until,
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

    /// As [`bundle`](Self::bundle), for a while; costs nothing for one that was never moved.
    #[inline]
    fn with_bundle<R>(&self, work: impl FnOnce(&Arc<Core>) -> R) -> R {
        if self.moves.load(Ordering::Acquire) == 0 {
            return work(&self.first);
        }
        work(&self.bundle())
    }

    /// Held while it is moved.
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

    /// Sends a frame without waiting: one for which there is no room goes on by itself, from a copy. How many
    /// such there are the windows bound, as what a frame gives back counts when it has gone.
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
        // The peer can't use what a frame gives back before it has the frame.
        let credit = Frame::of(&header).map_or_else(Credit::default, |(_, credit)| credit);
        let unsent = shared.count_unsent();
        let mut ledger = self.ledger();
        ledger.give(unsent);
        ledger.withhold(credit);
        drop(ledger);
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
    pub(super) fn close(&self, number: Number, length: u64) -> Credit {
        let (credit, open) = self.ledger().close(number, length);
        drop(open);
        credit
    }

    /// The same where no frame goes.
    pub(super) fn close_silently(&self, number: Number, length: u64) {
        let (credit, open) = self.ledger().close_silently(number, length);
        drop(open);
        if let Some(credit) = credit {
            let _ = self.send(Frame::Credit.header(credit), &[]);
        }
    }

    /// Gives a message back to its sender, with what is left of its payload.
    pub(super) fn give_back(
        &self,
        (number, handler, word): (Number, u16, u64),
        credit: Credit,
        reason: Reason,
        payload: &[u8],
        why: &str,
    ) {
        let why = cut(why, LONGEST_TEXT);
        let frame = |why: &str| {
            let (reason, text) = (reason.code(), u16::try_from(why.len()).unwrap_or(0));
            match number {
                Number::Asked(number) => Frame::Return {
                    number,
                    reason,
                    word,
                    text,
                },
                Number::Told(_) => Frame::Bounce {
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
    pub(super) fn note_moved(&self, number: Number, task: &Arc<dyn Cancel>) -> bool {
        self.ledger().note_moved(number, task)
    }

    /// Runs a request again, a little later.
    pub(super) fn run_later(&self, request: Request) {
        self.bundle().run_later(request);
    }

    /// Takes no more requests: they go back.
    pub(super) fn stop(&self) {
        self.stopping.store(true, Ordering::Relaxed);
    }

    /// The program has no handle of it any more: what was put off does not keep it.
    #[cold]
    pub(super) fn purge(&self) {
        self.bundle().purge(self.id);
    }

    /// What came back though nobody waited for it, the oldest first.
    pub(super) fn take_returned(&self) -> Option<Returned> {
        lock_plainly(&self.returned).pop_front()
    }

    /// A message has come. Before a handler runs, others may receive.
    #[inline]
    pub(super) fn arrived(
        self: &Arc<Self>,
        header: &Header,
        payload: Filled,
        driving: &mut Driving<'_>,
    ) {
        if let Err(violation) = self.take_in(header, payload, driving) {
            driving.release();
            self.break_off(violation);
        }
    }

    #[inline]
    fn take_in(
        self: &Arc<Self>,
        header: &Header,
        payload: Filled,
        driving: &mut Driving<'_>,
    ) -> Result<(), Violation> {
        let unknown = Violation("it sends what is no active message");
        let (frame, credit) = Frame::of(header).ok_or(unknown)?;
        let mut wake = Vec::new();
        let mut ledger = self.ledger();
        ledger.absorb(credit, &mut wake)?;
        match frame {
            Frame::Request {
                number,
                handler,
                word,
            } => {
                let number = self.accept(ledger, Some(number), header.length)?;
                driving.release();
                self.serve(number, handler, word, payload);
            }
            Frame::Send { handler, word } => {
                let number = self.accept(ledger, None, header.length)?;
                driving.release();
                self.serve(number, handler, word, payload);
            }
            Frame::Reply { number, word } => {
                let answer = Answer::Reply { word, payload };
                self.take_answer(ledger, number, answer, driving)?;
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
                self.take_answer(ledger, number, answer, driving)?;
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
                    // What is dropped with it is the program's.
                    driving.release();
                    task.cancel();
                }
            }
            Frame::Credit => drop(ledger),
            Frame::Hello { .. } => return Err(unknown),
        }
        wake.into_iter().for_each(Waker::wake);
        Ok(())
    }

    /// Takes a message of the peer into the accounts. Where its window is used up as far as is known, frames that gave
    /// something back may have gone since.
    #[inline]
    fn accept(
        &self,
        mut ledger: super::sync::MutexGuard<'_, Ledger>,
        number: Option<u32>,
        length: u64,
    ) -> Result<Number, Violation> {
        match ledger.accept(number, length) {
            Err(_) if ledger.withholds() => {
                drop(ledger);
                let unsent = self.endpoint.shared().count_unsent();
                let mut ledger = self.ledger();
                ledger.give(unsent);
                ledger.accept(number, length)
            }
            accepted => accepted,
        }
    }

    /// Leaves an answer to whoever drives, if that is who waits for it, and else notes it.
    #[inline]
    fn take_answer(
        &self,
        mut ledger: super::sync::MutexGuard<'_, Ledger>,
        number: u32,
        answer: Answer,
        driving: &mut Driving<'_>,
    ) -> Result<(), Violation> {
        if driving.wants(self, number) {
            ledger.hand_out(number)?;
            driving.found = Some(answer);
            return Ok(());
        }
        let told = ledger.answer(number, answer)?;
        self.count_answer();
        drop(ledger);
        tell(told, driving);
        Ok(())
    }

    fn serve(self: &Arc<Self>, number: Number, handler: u16, word: u64, payload: Filled) {
        let request = Request::new(self.clone(), number, handler, word, payload);
        if self.stopping.load(Ordering::Relaxed) {
            return request.give_back(Reason::Ending, "");
        }
        match self.handlers.entry(handler) {
            Some(entry) => entry.run(self, request, turn::depth() >= self.settings.nesting),
            None => request.give_back(Reason::NoSuchHandler, ""),
        }
    }

    /// Runs a request that could not run before.
    pub(super) fn serve_again(request: Request) {
        let link = request.link().clone();
        match link.handlers.entry(request.handler()) {
            Some(entry) => entry.run(&link, request, turn::depth() >= link.settings.nesting),
            None => request.give_back(Reason::NoSuchHandler, ""),
        }
    }

    fn keep(&self, returned: Returned) {
        let mut kept = lock_plainly(&self.returned);
        let lengths = kept.iter().chain([&returned]).filter_map(|returned| {
            let payload = returned.payload.as_ref()?;
            Some(payload.len() as u64)
        });
        let bytes = lengths.fold(0, u64::saturating_add);
        let has_room = kept.is_empty() || bytes <= self.settings.window_bytes;
        if kept.len() < self.settings.kept_returns && has_room {
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
        let mut ledger = self.ledger();
        let (wake, tasks) = ledger.end();
        self.ended.store(true, Ordering::Release);
        self.count_answer();
        drop(ledger);
        self.bundle().leave(self.id);
        wake.into_iter().for_each(Waker::wake);
        tasks.into_iter().for_each(|task| task.cancel());
    }

    /// Ends the connection.
    pub(super) fn hang_up(&self) {
        self.endpoint.close();
        self.end();
    }

    pub(super) fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Acquire)
    }

    /// Begins a request: its number, how many answers were noted before, and its header.
    pub(super) fn begin(
        &self,
        handler: u16,
        word: u64,
        length: u64,
    ) -> Result<(Asked, Header), Held> {
        let mut ledger = self.ledger();
        let (number, credit) = ledger.begin(length)?;
        let answers = self.answers.load(Ordering::Relaxed);
        drop(ledger);
        let frame = Frame::Request {
            number,
            handler,
            word,
        };
        Ok((Asked { number, answers }, frame.header(credit)))
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
