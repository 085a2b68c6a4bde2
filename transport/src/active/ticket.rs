//! Requests whose answers are to come.

use std::any::Any;
use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use jstream::buffer::Filled;
use jstream::{Received, Transportable};

use super::driving::Core;
use super::error::{Reason, RequestError, Returned};
use super::frame::{Credit, Frame};
use super::ledger::{Answer, Held};
use super::link::{Link, returned};
use super::peer::Peer;
use crate::device::deadline::Deadline;
use crate::endpoint::object::read;
use crate::endpoint::timer::Timer;
use crate::endpoint::{Message, RecvObjectError};
use crate::header::Header;

/// What a handler answered.
#[derive(Debug)]
#[non_exhaustive]
pub struct Reply {
    /// A word.
    pub word: u64,
    /// The payload; nobody has believed its bytes yet.
    pub payload: Filled,
}

/// A request that is not on its way yet.
#[derive(Debug)]
pub(super) struct Unsent {
    word: u64,
    filled: Filled,
}

impl Unsent {
    pub(super) fn new(word: u64, filled: Filled) -> Self {
        Self { word, filled }
    }
}

/// A request whose answer is to come.
///
/// Whoever waits for it serves requests of the other side meanwhile. It is also a future, of any runtime, which
/// does the same when it is polled. Dropping it [cancels](Self::cancel) the request.
///
/// A request that comes back because its handler is [busy](Reason::Busy) is sent again after a pause, which
/// doubles each time, as often as [`Settings::retries`](super::Settings::retries) says.
#[must_use = "a request whose ticket is dropped is cancelled"]
pub struct Ticket {
    link: Arc<Link>,
    handler: u16,
    state: State,
    /// How often it came back.
    times: u32,
    waiting: Waiting,
}

enum State {
    Unsent(Unsent),
    Sent(u32),
    /// It came back, and is sent again then; what came back.
    Paused(Deadline, Option<Unsent>),
    Over,
}

/// How a task waits.
#[derive(Default)]
struct Waiting {
    /// In that bundle, with that number in its queue.
    place: Option<(Arc<Core>, Option<u64>, Waker)>,
    timer: Option<Timer>,
}

type Outcome = Result<Reply, RequestError>;

impl Ticket {
    pub(super) fn new(link: Arc<Link>, handler: u16, number: u32) -> Self {
        Self::of(link, handler, State::Sent(number))
    }

    pub(super) fn unsent(link: Arc<Link>, handler: u16, unsent: Unsent) -> Self {
        Self::of(link, handler, State::Unsent(unsent))
    }

    fn of(link: Arc<Link>, handler: u16, state: State) -> Self {
        Self {
            link,
            handler,
            state,
            times: 0,
            waiting: Waiting::default(),
        }
    }

    /// Sends a request now, if there is credit; else it stays where it is.
    pub(super) fn begin(
        link: &Arc<Link>,
        handler: u16,
        unsent: &mut Option<Unsent>,
    ) -> Result<Self, RequestError> {
        let number = Self::send(link, handler, unsent)?;
        Ok(Self::new(link.clone(), handler, number))
    }

    fn send(
        link: &Arc<Link>,
        handler: u16,
        unsent: &mut Option<Unsent>,
    ) -> Result<u32, RequestError> {
        let Some(Unsent { word, filled }) = unsent.take() else {
            unreachable!("it is sent once")
        };
        let length = filled.len() as u64;
        match link.begin(handler, word, length) {
            Ok((number, header)) => match link.send_filled(header, filled) {
                Ok(()) => Ok(number),
                Err((error, _)) => {
                    link.ledger().unsend(number, length);
                    Err(error.into())
                }
            },
            Err(Held::NoCredit) => {
                *unsent = Some(Unsent { word, filled });
                Err(RequestError::NoCredit)
            }
            Err(Held::Ended) => Err(RequestError::Ended {
                peer: link.endpoint().peer().clone(),
            }),
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
        self.link.bundle().poll();
        self.attempt(None)
    }

    fn wait_until(&mut self, until: Deadline) -> Option<Outcome> {
        if matches!(self.state, State::Over) {
            return None;
        }
        let link = self.link.clone();
        loop {
            let pause = match &self.state {
                State::Paused(then, _) => until.or_sooner(*then),
                _ => until,
            };
            let mut settled = |waker: Option<&Waker>| {
                let was_paused = matches!(self.state, State::Paused(..));
                match self.attempt(waker) {
                    Some(outcome) => Some(Some(outcome)),
                    // How long to wait has changed.
                    None if matches!(self.state, State::Paused(..)) != was_paused => Some(None),
                    None => None,
                }
            };
            match link.wait(pause, &mut settled) {
                Some(Some(outcome)) => return Some(outcome),
                Some(None) => {}
                None if until.has_passed() => return None,
                None => {}
            }
        }
    }

    /// What came of it, if that is known; else `waker` is told when it may be.
    fn attempt(&mut self, waker: Option<&Waker>) -> Option<Outcome> {
        loop {
            match mem::replace(&mut self.state, State::Over) {
                State::Unsent(unsent) => {
                    if let Some(waker) = waker {
                        self.link.ledger().want(waker);
                    }
                    let mut unsent = Some(unsent);
                    match (Self::send(&self.link, self.handler, &mut unsent), unsent) {
                        (Ok(number), _) => self.state = State::Sent(number),
                        (Err(RequestError::NoCredit), Some(unsent)) => {
                            self.state = State::Unsent(unsent);
                            return None;
                        }
                        (Err(error), _) => return Some(Err(error)),
                    }
                }
                State::Sent(number) => {
                    let taken = self.link.ledger().take(number, waker);
                    match taken {
                        Ok(Some(answer)) => {
                            if let Some(outcome) = self.outcome(answer) {
                                return Some(outcome);
                            }
                        }
                        Ok(None) => {
                            self.state = State::Sent(number);
                            let why = self.link.starved()?;
                            self.give_up();
                            return Some(Err(RequestError::NoRoom {
                                peer: self.link.endpoint().peer().clone(),
                                why,
                            }));
                        }
                        Err(_) => return Some(Err(self.lost())),
                    }
                }
                State::Paused(then, mut unsent) => {
                    if !then.has_passed() {
                        self.state = State::Paused(then, unsent);
                        return None;
                    }
                    match unsent.take() {
                        Some(unsent) => self.state = State::Unsent(unsent),
                        None => return Some(Err(self.lost())),
                    }
                }
                State::Over => return None,
            }
        }
    }

    /// What an answer says, unless the request is sent again.
    fn outcome(&mut self, answer: Answer) -> Option<Outcome> {
        let (reason, word, payload, text) = match answer {
            Answer::Reply { word, payload } => return Some(Ok(Reply { word, payload })),
            Answer::Returned {
                reason,
                word,
                payload,
                text,
            } => (reason, word, payload, text),
        };
        let settings = &self.link.settings;
        let returned = returned(self.handler, reason, word, payload, text);
        if returned.reason == Reason::Busy && self.times < settings.retries {
            let then = Deadline::after(settings.pause(self.times));
            self.times = self.times.saturating_add(1);
            let Returned { word, payload, .. } = returned;
            let filled = payload.unwrap_or_else(Filled::nothing);
            self.state = State::Paused(then, Some(Unsent { word, filled }));
            return None;
        }
        Some(Err(RequestError::Returned {
            peer: self.link.endpoint().peer().clone(),
            returned: Box::new(returned),
        }))
    }

    fn lost(&self) -> RequestError {
        RequestError::Lost {
            peer: self.link.endpoint().peer().clone(),
        }
    }

    /// Tells the other side that nobody wants the answer any more: a handler that waits ends.
    pub fn cancel(self) {
        drop(self);
    }

    /// Lets the request be carried out, and its answer be dropped.
    pub fn detach(mut self) {
        if let State::Sent(number) = mem::replace(&mut self.state, State::Over) {
            let (_, answer) = self.link.ledger().forget(number);
            drop(answer);
        }
    }

    fn poll_outcome(&mut self, context: &mut Context<'_>) -> Poll<Outcome> {
        assert!(
            !matches!(self.state, State::Over),
            "polled after it was ready"
        );
        loop {
            if let Some(outcome) = self.attempt(Some(context.waker())) {
                return Poll::Ready(outcome);
            }
            if let State::Paused(then, _) = &self.state {
                let then = *then;
                if self.waiting.set_timer(then, context.waker()) {
                    return Poll::Pending;
                }
                // Without a timer it asks again and again.
                context.waker().wake_by_ref();
                return Poll::Pending;
            }
            if !self.waiting.attend(&self.link, context.waker()) {
                return Poll::Pending;
            }
        }
    }
}

impl Waiting {
    fn set_timer(&mut self, then: Deadline, waker: &Waker) -> bool {
        if self.timer.is_none() {
            self.timer = Timer::new().ok();
        }
        match &self.timer {
            Some(timer) => {
                timer.set(then, waker);
                true
            }
            None => false,
        }
    }

    /// Takes what is here, and has the task woken when there is more. Whether to look again.
    fn attend(&mut self, link: &Arc<Link>, waker: &Waker) -> bool {
        let core = link.bundle();
        if self
            .place
            .as_ref()
            .is_some_and(|(known, ..)| !Arc::ptr_eq(known, &core))
        {
            self.leave();
        }
        let (core, number, known) = self
            .place
            .get_or_insert_with(|| (core, None, waker.clone()));
        known.clone_from(waker);
        match core.attend(number, waker) {
            Ok(again) => again,
            Err(_) => {
                // Nobody is going to call: it asks again and again.
                waker.wake_by_ref();
                false
            }
        }
    }

    fn leave(&mut self) {
        if let Some((core, number, waker)) = self.place.take() {
            core.forget(number, Some(&waker));
        }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.leave();
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
    fn drop(&mut self) {
        self.give_up();
    }
}

impl Ticket {
    /// Nobody wants the answer.
    fn give_up(&mut self) {
        if let State::Sent(number) = mem::replace(&mut self.state, State::Over) {
            let (is_open, answer) = self.link.ledger().forget(number);
            drop(answer);
            if is_open {
                let cancel = Frame::Cancel { number }.header(Credit::default());
                let _ = self.link.send(cancel, &[]);
            }
        }
    }
}

impl fmt::Debug for Ticket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ticket").finish_non_exhaustive()
    }
}

/// A call whose result is to come: a [`Ticket`] whose reply is read.
#[must_use = "a call whose ticket is dropped is cancelled"]
pub struct ObjectTicket<R> {
    ticket: Ticket,
    of: PhantomData<fn() -> R>,
}

impl<R: Transportable + 'static> ObjectTicket<R> {
    pub(super) fn new(ticket: Ticket) -> Self {
        Self {
            ticket,
            of: PhantomData,
        }
    }

    fn read(&self, outcome: Outcome) -> Result<Received<R>, RequestError> {
        let message = Message {
            header: Header::default(),
            payload: outcome?.payload,
        };
        match read::<R>(message, self.ticket.link.endpoint().shared()) {
            Ok((_, object)) => Ok(object),
            Err(RecvObjectError::Read { source, .. }) => Err(RequestError::Read(source)),
            Err(RecvObjectError::Receive(_)) => Err(self.ticket.lost()),
        }
    }

    /// Waits for the result, and serves meanwhile.
    ///
    /// # Errors
    ///
    /// [`RequestError`].
    ///
    /// # Panics
    ///
    /// When the result was taken before.
    pub fn wait(mut self) -> Result<Received<R>, RequestError> {
        match self.ticket.wait_until(Deadline::NEVER) {
            Some(outcome) => self.read(outcome),
            None => panic!("the result was taken before"),
        }
    }

    /// As [`wait`](Self::wait), for so long at most: `None` when the result is not here then, or was taken before.
    pub fn wait_timeout(&mut self, timeout: Duration) -> Option<Result<Received<R>, RequestError>> {
        let outcome = self.ticket.wait_timeout(timeout)?;
        Some(self.read(outcome))
    }

    /// The result, if it is here; takes the messages that are. It is given once.
    pub fn try_take(&mut self) -> Option<Result<Received<R>, RequestError>> {
        let outcome = self.ticket.try_take()?;
        Some(self.read(outcome))
    }

    /// As [`Ticket::cancel`].
    pub fn cancel(self) {
        self.ticket.cancel();
    }

    /// As [`Ticket::detach`].
    pub fn detach(self) {
        self.ticket.detach();
    }
}

impl<R: Transportable + 'static> Future for ObjectTicket<R> {
    type Output = Result<Received<R>, RequestError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let polled = Pin::new(&mut self.ticket).poll(context);
        polled.map(|outcome| self.read(outcome))
    }
}

impl<R> fmt::Debug for ObjectTicket<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ObjectTicket").finish_non_exhaustive()
    }
}
