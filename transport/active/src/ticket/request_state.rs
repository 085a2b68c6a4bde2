//! The state of an outstanding request: queued, sent, waiting for a retry, or answered.

use std::mem;
use std::sync::Arc;
use std::task::Waker;

use jstream::buffer::MessageBuffer;

use super::reply::{Outcome, Reply};
use crate::error::{Reason, RequestError, Returned};
use crate::ledger::Answer;
use crate::link::{Asked, Link, Message, Turn};
use jstream_device::deadline::Deadline;
use jstream_endpoint::timer::Timer;

/// An outstanding request.
pub(super) struct RequestState {
    handler: u16,
    /// Number of times that the request was returned as busy.
    times: u32,
    /// Length of the payload in bytes.
    length: u64,
    state: RequestStateInner,
}

enum RequestStateInner {
    /// The request waits for credit.
    Queued(Box<Turn>),
    /// The request is on its way; see [`Asked`].
    Sent {
        number: u32,
        answers: u64,
    },
    /// The request was returned as busy.
    Paused(Box<Pause>),
    Over,
}

impl From<Asked> for RequestStateInner {
    #[inline]
    fn from(asked: Asked) -> Self {
        Self::Sent {
            number: asked.number,
            answers: asked.answers,
        }
    }
}

/// A request that was returned as busy, until its retry.
pub(super) struct Pause {
    then: Deadline,
    message: Message,
    timer: Option<Timer>,
}

impl Pause {
    /// Wakes a task when the delay is over. Returns false if there is no timer for that.
    pub(super) fn register(&mut self, task: &Waker) -> bool {
        if self.timer.is_none() {
            self.timer = Timer::new().ok();
        }
        if let Some(timer) = &self.timer {
            timer.set(self.then, task);
        }
        self.timer.is_some()
    }
}

impl RequestState {
    #[inline]
    pub(super) fn sent(handler: u16, asked: Asked, length: u64) -> Self {
        Self {
            handler,
            times: 0,
            length,
            state: asked.into(),
        }
    }

    pub(super) fn queued(handler: u16, turn: Turn, length: u64) -> Self {
        Self {
            handler,
            times: 0,
            length,
            state: RequestStateInner::Queued(Box::new(turn)),
        }
    }

    #[inline]
    pub(super) fn is_over(&self) -> bool {
        matches!(self.state, RequestStateInner::Over)
    }

    /// Returns the number of the request while it is on its way.
    #[inline]
    pub(super) fn number(&self) -> Option<u32> {
        self.asked().map(|asked| asked.number)
    }

    /// Returns the identification of the request while it is on its way.
    #[inline]
    pub(super) fn asked(&self) -> Option<Asked> {
        match self.state {
            RequestStateInner::Sent { number, answers } => Some(Asked { number, answers }),
            _ => None,
        }
    }

    /// Returns the time of the next retry, if the request waits for one.
    #[inline]
    pub(super) fn paused(&self) -> Option<Deadline> {
        match &self.state {
            RequestStateInner::Paused(pause) => Some(pause.then),
            _ => None,
        }
    }

    /// Returns the delay before the next retry, if the request waits for one.
    pub(super) fn pause(&mut self) -> Option<&mut Pause> {
        match &mut self.state {
            RequestStateInner::Paused(pause) => Some(pause),
            _ => None,
        }
    }

    /// Prevents further sending of the request. Returns its number if it is on its way.
    pub(super) fn revoke(&mut self) -> Option<u32> {
        // No retry follows if the request comes back as busy.
        self.times = u32::MAX;
        if let RequestStateInner::Queued(turn) = &mut self.state {
            // The request may have been sent meanwhile.
            if let Some(asked) = turn.collect(None).and_then(|grant| grant.ok()?.asked) {
                self.state = asked.into();
            }
        }
        match self.number() {
            Some(number) => Some(number),
            None => self.abandon(),
        }
    }

    /// Withdraws the request unless it was sent. Returns true if it was withdrawn.
    pub(super) fn withdraw(&mut self) -> bool {
        let is_withdrawn = match &mut self.state {
            RequestStateInner::Queued(turn) => turn.withdraw(),
            RequestStateInner::Paused(_) => true,
            RequestStateInner::Sent { .. } | RequestStateInner::Over => false,
        };
        if is_withdrawn {
            self.state = RequestStateInner::Over;
        }
        is_withdrawn
    }

    /// Takes the state. What is left is that of a request that is over.
    pub(super) fn move_out(&mut self) -> Self {
        Self {
            state: mem::replace(&mut self.state, RequestStateInner::Over),
            ..*self
        }
    }

    /// Abandons the request. Returns its number if it is on its way.
    #[inline]
    pub(super) fn abandon(&mut self) -> Option<u32> {
        match mem::replace(&mut self.state, RequestStateInner::Over) {
            RequestStateInner::Sent { number, .. } => Some(number),
            RequestStateInner::Queued(_)
            | RequestStateInner::Paused(_)
            | RequestStateInner::Over => None,
        }
    }

    /// Abandons the request, but lets a queued one that is being sent complete. Returns its number
    /// if it is on its way.
    pub(super) fn detach(&mut self) -> Option<u32> {
        if let RequestStateInner::Queued(turn) = &mut self.state {
            turn.detach();
        }
        self.abandon()
    }

    /// Returns the outcome if it is known, from the answer `found` by this thread or from a
    /// recorded answer. Otherwise registers `waker`.
    #[inline]
    pub(super) fn attempt(
        &mut self,
        link: &Arc<Link>,
        found: Option<Answer>,
        waker: Option<&Waker>,
    ) -> Option<Outcome> {
        if let (Err(error), false) = (link.check(), self.is_over()) {
            self.state = RequestStateInner::Over;
            return Some(Err(error));
        }
        if let Some(asked) = self.asked() {
            // A returned request may have to be retried, so the slow path handles it.
            if let Some(Answer::Reply { word, payload }) = found {
                self.state = RequestStateInner::Over;
                return Some(Ok(Reply { word, payload }));
            }
            // An answer that was recorded before the request can't be the awaited one.
            let is_new = link.answers() != asked.answers || link.shortage().is_active();
            if found.is_none() && waker.is_none() && !is_new {
                return None;
            }
        }
        self.attempt_slowly(link, found, waker)
    }

    fn attempt_slowly(
        &mut self,
        link: &Arc<Link>,
        mut found: Option<Answer>,
        waker: Option<&Waker>,
    ) -> Option<Outcome> {
        loop {
            match mem::replace(&mut self.state, RequestStateInner::Over) {
                RequestStateInner::Queued(mut turn) => match turn.collect(waker) {
                    Some(Ok(grant)) => match grant.asked {
                        Some(asked) => self.state = asked.into(),
                        None => unreachable!("it is a request"),
                    },
                    Some(Err(error)) => return Some(Err(error)),
                    None => {
                        self.state = RequestStateInner::Queued(turn);
                        return None;
                    }
                },
                RequestStateInner::Sent { number, answers } => {
                    let taken = match found.take() {
                        Some(answer) => Ok(Some(answer)),
                        None => link.take_answer(number, waker),
                    };
                    match taken {
                        Ok(Some(answer)) => {
                            if let Some(outcome) = self.outcome(link, answer) {
                                return Some(outcome);
                            }
                        }
                        Ok(None) => {
                            let Some(why) = link.shortage().report(link.settings.room_timeout)
                            else {
                                self.state = RequestStateInner::Sent { number, answers };
                                return None;
                            };
                            link.give_up(number);
                            let peer = link.endpoint().peer().clone();
                            return Some(Err(RequestError::NoRoom { peer, why }));
                        }
                        Err(_) => return Some(Err(link.unanswered(self.handler))),
                    }
                }
                RequestStateInner::Paused(pause) => {
                    if !pause.then.has_passed() {
                        self.state = RequestStateInner::Paused(pause);
                        return None;
                    }
                    self.state = RequestStateInner::Queued(Box::new(link.enqueue(pause.message)));
                }
                RequestStateInner::Over => return None,
            }
        }
    }

    /// Converts an answer into the outcome, or starts the delay before a retry and returns `None`.
    fn outcome(&mut self, link: &Link, answer: Answer) -> Option<Outcome> {
        let (reason, word, payload, text) = match answer {
            Answer::Reply { word, payload } => return Some(Ok(Reply { word, payload })),
            Answer::Returned {
                reason,
                word,
                payload,
                text,
            } => (reason, word, payload, text),
        };
        let settings = &link.settings;
        let returned = Returned::new(self.handler, reason, word, payload, text);
        let came_back = returned.payload.as_ref().map_or(0, |payload| payload.len());
        // A retry needs the complete payload.
        let is_whole = came_back as u64 == self.length;
        // If the peer says how long it will be busy, the caller decides whether to wait for that.
        let is_retried = returned.reason == Reason::Busy && returned.retry_after.is_none();
        if is_retried && is_whole && self.times < settings.retries {
            let then = Deadline::after(settings.pause(self.times));
            self.times = self.times.saturating_add(1);
            let Returned { word, payload, .. } = returned;
            let message = Message {
                handler: self.handler,
                word,
                length: self.length,
                asks: true,
                payload: Some(payload.unwrap_or_else(MessageBuffer::nothing)),
            };
            self.state = RequestStateInner::Paused(Box::new(Pause {
                then,
                message,
                timer: None,
            }));
            return None;
        }
        Some(Err(RequestError::Returned {
            peer: link.endpoint().peer().clone(),
            returned: Box::new(returned),
        }))
    }
}

/// Returns the error of a connection that ended before the answer came.
pub(super) fn lost(link: &Link) -> RequestError {
    RequestError::Lost {
        peer: link.endpoint().peer().clone(),
    }
}
