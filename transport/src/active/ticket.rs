//! Requests whose answers are to come.

mod errand;
mod object;

use std::any::Any;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use jstream::buffer::Filled;

use self::errand::{Errand, Outcome};
pub use self::object::ObjectTicket;
use super::driving::{Core, Directly};
use super::error::RequestError;
use super::link::{Asked, Link, Turn};
use super::peer::Peer;
use crate::device::deadline::Deadline;
use crate::endpoint::Message;

/// What a handler answered.
#[derive(Debug)]
#[non_exhaustive]
pub struct Reply {
    /// A word.
    pub word: u64,
    /// The payload; nobody has believed its bytes yet.
    pub payload: Filled,
}

/// A request whose answer is to come.
///
/// Whoever waits for it serves requests of the other side meanwhile. It is also a future, of any runtime, which
/// does the same when it is polled. Dropping it [cancels](Self::cancel) the request.
///
/// A request that comes back because its handler is [busy](super::Reason::Busy) is sent again after a pause, which
/// doubles each time, as often as [`Settings::retries`](super::Settings::retries) says.
#[must_use = "a request whose ticket is dropped is cancelled"]
pub struct Ticket {
    link: Arc<Link>,
    errand: Errand,
    waiting: Waiting,
}

/// How a task waits.
#[derive(Default)]
pub(super) struct Waiting {
    place: Option<WaitPlace>,
}

/// Where a task waits: in that bundle, with that number in its queue.
struct WaitPlace {
    core: Arc<Core>,
    number: Option<u64>,
    waker: Waker,
}

impl Drop for WaitPlace {
    fn drop(&mut self) {
        self.core.forget(self.number, Some(&self.waker));
    }
}

impl Ticket {
    #[inline]
    pub(super) fn new(link: Arc<Link>, handler: u16, asked: Asked, length: u64) -> Self {
        Self::of(link, Errand::sent(handler, asked, length))
    }

    pub(super) fn queued(link: Arc<Link>, handler: u16, turn: Turn, length: u64) -> Self {
        Self::of(link, Errand::queued(handler, turn, length))
    }

    #[inline]
    fn of(link: Arc<Link>, errand: Errand) -> Self {
        Self {
            link,
            errand,
            waiting: Waiting::default(),
        }
    }

    /// Waits for the answer, and serves meanwhile.
    ///
    /// # Errors
    ///
    /// [`RequestError`].
    ///
    /// # Panics
    ///
    /// When the answer was taken before.
    pub fn wait(mut self) -> Result<Reply, RequestError> {
        match self.wait_until(Deadline::NEVER) {
            Some(outcome) => outcome,
            None => panic!("the answer was taken before"),
        }
    }

    /// As [`wait`](Self::wait), for so long at most: `None` when the answer is not here then, or was taken before.
    pub fn wait_timeout(&mut self, timeout: Duration) -> Option<Result<Reply, RequestError>> {
        self.wait_until(Deadline::after(timeout))
    }

    /// As [`wait`](Self::wait), until then at most: `None` when the answer is not here then, or was taken before.
    pub fn wait_deadline(&mut self, until: Instant) -> Option<Result<Reply, RequestError>> {
        self.wait_until(Deadline::at(until))
    }

    /// The other side.
    #[must_use]
    pub fn peer(&self) -> Peer {
        Peer::of(self.link.clone())
    }

    /// What was [attached](Peer::attach) to the connection, if that is a `T`.
    #[must_use]
    pub fn attached<T: Any + Send + Sync>(&self) -> Option<&T> {
        self.link.attached()
    }

    /// The answer, if it is here; takes the messages that are. It is given once.
    pub fn try_take(&mut self) -> Option<Result<Reply, RequestError>> {
        if let Some(outcome) = self.attempt(None) {
            return Some(outcome);
        }
        self.link.poll();
        self.attempt(None)
    }

    /// Takes the request back, unless it is at the other side. True when nothing of it was handled there, nor will be:
    /// then there is no answer.
    pub fn withdraw(&mut self) -> bool {
        // What the other process may send is not taken back here.
        !self.link.is_elsewhere() && self.errand.withdraw()
    }

    fn attempt(&mut self, waker: Option<&Waker>) -> Option<Outcome> {
        self.errand.attempt(&self.link, None, waker)
    }

    #[inline]
    fn wait_until(&mut self, until: Deadline) -> Option<Outcome> {
        let (link, errand) = (&self.link, &mut self.errand);
        let mut slept = false;
        if let Some(asked) = errand.asked() {
            let mut message = Message::nothing();
            match link.receive_answer(&asked, until, &mut message) {
                Directly::Answered => {
                    errand.leave();
                    let [_, word, _] = message.header.words;
                    let payload = message.payload;
                    return Some(Ok(Reply { word, payload }));
                }
                Directly::Else => {}
                Directly::Slept => slept = true,
            }
        }
        loop {
            if errand.is_over() {
                return None;
            }
            let was_paused = errand.paused();
            let pause = was_paused.map_or(until, |then| until.or_sooner(then));
            let waited = link.wait_on((errand.number(), slept), pause, |found, waker| {
                match errand.attempt(link, found, waker) {
                    Some(outcome) => Some(Some(outcome)),
                    // How long to wait has changed.
                    None if errand.paused().is_some() != was_paused.is_some() => Some(None),
                    None => None,
                }
            });
            match waited {
                Some(Some(outcome)) => return Some(outcome),
                Some(None) => {}
                None if until.has_passed() => return None,
                None => {}
            }
        }
    }

    fn lost(&self) -> RequestError {
        errand::lost(&self.link)
    }

    /// Tells the other side that nobody wants the answer any more: a handler that waits ends.
    pub fn cancel(self) {
        drop(self);
    }

    /// As [`cancel`](Self::cancel), for who wants to know all the same what came of the request. One that was not sent
    /// yet, or comes back for now, is not sent any more. Whether there will be an answer.
    pub fn revoke(&mut self) -> bool {
        match self.errand.revoke() {
            Some(number) => {
                self.link.revoke(number);
                true
            }
            None => false,
        }
    }

    /// The answer, if it is among those that were received; takes none itself. It is given once.
    pub fn try_noted(&mut self) -> Option<Result<Reply, RequestError>> {
        self.attempt(None)
    }

    /// Lets the request be carried out, and its answer be dropped. One that was not sent yet is not sent.
    pub fn detach(mut self) {
        if let Some(number) = self.errand.detach() {
            self.link.forget(number);
        }
    }

    fn poll_outcome(&mut self, context: &mut Context<'_>) -> Poll<Outcome> {
        assert!(!self.errand.is_over(), "polled after it was ready");
        loop {
            if let Some(outcome) = self.attempt(Some(context.waker())) {
                return Poll::Ready(outcome);
            }
            if let Some(pause) = self.errand.pause() {
                if !pause.tell(context.waker()) {
                    // Without a timer it asks again and again.
                    context.waker().wake_by_ref();
                }
                return Poll::Pending;
            }
            if !self.waiting.attend(&self.link, context.waker()) {
                return Poll::Pending;
            }
        }
    }
}

impl fmt::Debug for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Waiting").finish_non_exhaustive()
    }
}

impl Waiting {
    /// Takes what is here, and has the task woken when there is more. Whether to look again.
    pub(super) fn attend(&mut self, link: &Arc<Link>, waker: &Waker) -> bool {
        let core = link.bundle();
        let is_other = |place: &WaitPlace| !Arc::ptr_eq(&place.core, &core);
        if self.place.as_ref().is_some_and(is_other) {
            self.leave();
        }
        let WaitPlace {
            core,
            number,
            waker: known,
        } = self.place.get_or_insert_with(|| WaitPlace {
            core,
            number: None,
            waker: waker.clone(),
        });
        if !known.will_wake(waker) {
            // Whoever leaves the role wakes one who waits for it: not one who is there no more.
            core.forget(None, Some(known));
            known.clone_from(waker);
        }
        match core.attend(number, waker) {
            Ok(true) => true,
            Ok(false) => {
                // Another thread may have left the request to be sent with others.
                link.flush();
                false
            }
            Err(_) => {
                // Nobody is going to call: it asks again and again.
                waker.wake_by_ref();
                false
            }
        }
    }

    pub(super) fn leave(&mut self) {
        drop(self.place.take());
    }
}

impl Future for Ticket {
    type Output = Result<Reply, RequestError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let polled = self.poll_outcome(context);
        if polled.is_ready() {
            self.waiting.leave();
        }
        polled
    }
}

impl Drop for Ticket {
    #[inline]
    fn drop(&mut self) {
        if let Some(number) = self.errand.leave() {
            self.link.give_up(number);
        }
    }
}

impl fmt::Debug for Ticket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ticket").finish_non_exhaustive()
    }
}
