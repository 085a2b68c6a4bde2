//! Outstanding requests.

mod object;
mod reply;
mod request_state;
mod weak;

use std::any::Any;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

pub use self::object::ObjectTicket;
use self::reply::Outcome;
pub use self::reply::Reply;
use self::request_state::RequestState;
pub use self::weak::WeakTicket;
use super::error::RequestError;
use super::link::{Asked, Link, Turn, waiting};
use super::peer::Peer;
use super::poll_loop::{Attended, DirectWait, PollLoop};
use jstream_device::deadline::Deadline;
use jstream_endpoint::receiving::Inbound;

/// An outstanding request.
///
/// A thread that waits for the ticket serves requests of the peer meanwhile. A ticket is also a
/// future for any runtime, which does the same when it is polled. Dropping it
/// [cancels](Self::cancel) the request.
///
/// A request that is returned because its handler is [busy](super::Reason::Busy) is retried with a
/// delay that doubles each time, up to [`Settings::retries`](super::Settings::retries) times.
#[must_use = "a request whose ticket is dropped is cancelled"]
pub struct Ticket {
    link: Arc<Link>,
    state: RequestState,
    waiting: Waiting,
}

/// The wait of a task.
#[derive(Default)]
pub(super) struct Waiting {
    place: Option<WaitPlace>,
}

/// Registrations of a task: its poll group, its number in the queue of that group, and its key at
/// the poller lock.
struct WaitPlace {
    poll_loop: Arc<PollLoop>,
    number: Option<u64>,
    key: Option<u64>,
}

impl Drop for WaitPlace {
    fn drop(&mut self) {
        self.poll_loop.forget(self.number, &mut self.key);
    }
}

impl Ticket {
    #[inline]
    pub(super) fn new(link: Arc<Link>, handler: u16, asked: Asked, length: u64) -> Self {
        Self {
            link,
            state: RequestState::sent(handler, asked, length),
            waiting: Waiting::default(),
        }
    }

    pub(super) fn queued(link: Arc<Link>, handler: u16, turn: Turn, length: u64) -> Self {
        Self {
            link,
            state: RequestState::queued(handler, turn, length),
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
    /// If the answer was taken before.
    pub fn wait(mut self) -> Result<Reply, RequestError> {
        match self.wait_until(Deadline::NEVER) {
            Some(outcome) => outcome,
            None => panic!("the answer was taken before"),
        }
    }

    /// As [`wait`](Self::wait), for `timeout` at most. Returns `None` if the answer has not come by
    /// then, or was taken before.
    pub fn wait_timeout(&mut self, timeout: Duration) -> Option<Result<Reply, RequestError>> {
        self.wait_until(Deadline::after(timeout))
    }

    /// As [`wait`](Self::wait), until a deadline. Returns `None` if the answer has not come by
    /// then, or was taken before.
    pub fn wait_deadline(&mut self, until: Instant) -> Option<Result<Reply, RequestError>> {
        self.wait_until(Deadline::at(until))
    }

    /// Returns the peer.
    #[must_use]
    pub fn peer(&self) -> Peer {
        Peer::from_link(self.link.clone())
    }

    /// Returns the value that was [attached](Peer::attach) to the connection, if its type is `T`.
    #[must_use]
    pub fn attached<T: Any + Send + Sync>(&self) -> Option<&T> {
        self.link.attached()
    }

    /// Handles the available messages, and takes the answer if it has come. The answer can be taken
    /// once.
    pub fn try_take(&mut self) -> Option<Result<Reply, RequestError>> {
        // Looked for first, because polling may run handlers.
        if let Some(outcome) = self.attempt(None) {
            return Some(outcome);
        }
        let found = self.link.poll_for(self.state.number());
        self.state.attempt(&self.link, found, None)
    }

    /// Withdraws the request if it was not sent or was returned as busy. If this returns true, the
    /// peer has not handled it and never will, and there is no answer.
    pub fn withdraw(&mut self) -> bool {
        // In a forked child, the parent process may still send the request.
        !self.link.is_elsewhere() && self.state.withdraw()
    }

    fn attempt(&mut self, waker: Option<&Waker>) -> Option<Outcome> {
        self.state.attempt(&self.link, None, waker)
    }

    #[inline]
    fn wait_until(&mut self, until: Deadline) -> Option<Outcome> {
        let (link, state) = (&self.link, &mut self.state);
        let mut slept = false;
        if let Some(asked) = state.asked() {
            let mut inbound = Inbound::empty();
            match waiting::receive_answer(link, &asked, until, &mut inbound) {
                DirectWait::Answered => {
                    // The request is over, so that dropping the ticket does not cancel it.
                    state.abandon();
                    let [_, word, _] = inbound.message.header.words;
                    let payload = inbound.message.payload;
                    return Some(Ok(Reply { word, payload }));
                }
                DirectWait::Unavailable => {}
                DirectWait::Idle => slept = true,
            }
        }
        loop {
            if state.is_over() {
                return None;
            }
            // The wait also ends when a retry is due.
            let was_paused = state.paused();
            let pause = was_paused.map_or(until, |then| until.or_sooner(then));
            let number = state.number();
            let waited = waiting::wait_on(link, (number, slept), pause, |found, waker| {
                match state.attempt(link, found, waker) {
                    Some(outcome) => Some(Some(outcome)),
                    // The deadline of the wait has changed.
                    None if state.paused().is_some() != was_paused.is_some() => Some(None),
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
        request_state::lost(&self.link)
    }

    /// Cancels the request: the answer is not wanted, and a suspended handler is cancelled.
    pub fn cancel(self) {
        drop(self);
    }

    /// As [`cancel`](Self::cancel), for callers that still want the outcome. A request that is
    /// queued or waits for a retry is not sent. Returns true if there will be an answer.
    pub fn revoke(&mut self) -> bool {
        match self.state.revoke() {
            Some(number) => {
                self.link.revoke(number);
                true
            }
            None => false,
        }
    }

    /// Takes the answer if it was received before. Handles no messages. The answer can be taken
    /// once.
    pub fn try_noted(&mut self) -> Option<Result<Reply, RequestError>> {
        self.attempt(None)
    }

    /// Converts the ticket to one that does not keep the connection. The caller has
    /// [revoked](Self::revoke) the request.
    #[must_use]
    pub fn downgrade(mut self) -> WeakTicket {
        WeakTicket::new(&self.link, self.state.move_out())
    }

    /// Lets the request complete, and drops its answer. A request that is still queued is not sent.
    pub fn detach(mut self) {
        if let Some(number) = self.state.detach() {
            self.link.forget(number);
        }
    }

    fn poll_outcome(&mut self, context: &mut Context<'_>) -> Poll<Outcome> {
        assert!(!self.state.is_over(), "polled after it was ready");
        let (mut found, mut waker) = (None, None);
        loop {
            if let Some(outcome) = self.state.attempt(&self.link, found.take(), waker) {
                return Poll::Ready(outcome);
            }
            if let Some(pause) = self.state.pause() {
                if !pause.register(context.waker()) {
                    // Without a timer, the task polls continuously.
                    context.waker().wake_by_ref();
                }
                return Poll::Pending;
            }
            // The attempt above has registered the waker, and an answer that comes later calls it.
            if waker.take().is_some() {
                return Poll::Pending;
            }
            let number = self.state.number();
            match self.waiting.attend_for(&self.link, number, context.waker()) {
                Attended::Progress(answer) => found = answer,
                // The last attempt registers the task for an answer that another thread receives.
                // An answer that this task receives itself needs no waker.
                Attended::Registered => waker = Some(context.waker()),
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
    /// Handles the available messages, and registers the task to be woken when there are more.
    /// Returns true if the task should check its condition again.
    pub(super) fn attend(&mut self, link: &Arc<Link>, waker: &Waker) -> bool {
        matches!(self.attend_for(link, None, waker), Attended::Progress(_))
    }

    /// As [`attend`](Self::attend), for a task that waits for the answer to the request `number`.
    fn attend_for(&mut self, link: &Arc<Link>, number: Option<u32>, waker: &Waker) -> Attended {
        let place = link.membership().with_group(|poll_loop| {
            // The connection may have moved to another group, which does not know this task.
            let is_other = |place: &WaitPlace| !Arc::ptr_eq(&place.poll_loop, poll_loop);
            if self.place.as_ref().is_some_and(is_other) {
                self.unregister();
            }
            self.place.get_or_insert_with(|| WaitPlace {
                poll_loop: poll_loop.clone(),
                number: None,
                key: None,
            })
        });
        let wanted = number.map(|number| (link.id, number));
        let keys = (&mut place.number, &mut place.key);
        match place.poll_loop.attend(wanted, keys, waker) {
            Ok(Attended::Registered) => {
                // Another thread may have held the request back to coalesce it with other frames.
                link.flush();
                Attended::Registered
            }
            Ok(progress) => progress,
            Err(_) => {
                // The task will not be woken, so it polls continuously.
                waker.wake_by_ref();
                Attended::Registered
            }
        }
    }

    pub(super) fn unregister(&mut self) {
        drop(self.place.take());
    }
}

impl Future for Ticket {
    type Output = Result<Reply, RequestError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let polled = self.poll_outcome(context);
        // Without this, the group could wake a task that waits for something else by now, instead
        // of one that waits for it.
        if polled.is_ready() {
            self.waiting.unregister();
        }
        polled
    }
}

impl Drop for Ticket {
    #[inline]
    fn drop(&mut self) {
        if let Some(number) = self.state.abandon() {
            self.link.give_up(number);
        }
    }
}

impl fmt::Debug for Ticket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ticket").finish_non_exhaustive()
    }
}
