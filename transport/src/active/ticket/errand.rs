//! The way of a request: sent, sent again where it came back for now, and answered.

use std::mem;
use std::sync::Arc;
use std::task::Waker;

use jstream::buffer::Filled;

use super::Reply;
use crate::active::error::{Reason, RequestError, Returned};
use crate::active::ledger::Answer;
use crate::active::link::{Asked, Link, Message, Turn, returned};
use crate::device::deadline::Deadline;
use crate::endpoint::timer::Timer;

/// What comes of a request.
pub(super) type Outcome = Result<Reply, RequestError>;

/// A request on its way.
pub(super) struct Errand {
    handler: u16,
    /// How often it came back.
    times: u32,
    /// How long its payload is.
    length: u64,
    state: ErrandState,
}

enum ErrandState {
    /// It waits for its turn.
    Queued(Box<Turn>),
    /// As [`Asked`] has it.
    Sent {
        number: u32,
        answers: u64,
    },
    /// It came back.
    Paused(Box<Pause>),
    Over,
}

impl From<Asked> for ErrandState {
    #[inline]
    fn from(asked: Asked) -> Self {
        Self::Sent {
            number: asked.number,
            answers: asked.answers,
        }
    }
}

/// A request that came back, until it is sent again.
pub(super) struct Pause {
    then: Deadline,
    message: Message,
    timer: Option<Timer>,
}

impl Pause {
    /// Has a task woken when it is over. False where there is no timer for that.
    pub(super) fn tell(&mut self, task: &Waker) -> bool {
        if self.timer.is_none() {
            self.timer = Timer::new().ok();
        }
        if let Some(timer) = &self.timer {
            timer.set(self.then, task);
        }
        self.timer.is_some()
    }
}

impl Errand {
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
            state: ErrandState::Queued(Box::new(turn)),
        }
    }

    #[inline]
    pub(super) fn is_over(&self) -> bool {
        matches!(self.state, ErrandState::Over)
    }

    /// Its number, while it is on its way.
    #[inline]
    pub(super) fn number(&self) -> Option<u32> {
        self.asked().map(|asked| asked.number)
    }

    /// What was asked, while it is on its way.
    #[inline]
    pub(super) fn asked(&self) -> Option<Asked> {
        match self.state {
            ErrandState::Sent { number, answers } => Some(Asked { number, answers }),
            _ => None,
        }
    }

    /// When it is sent again.
    #[inline]
    pub(super) fn paused(&self) -> Option<Deadline> {
        match &self.state {
            ErrandState::Paused(pause) => Some(pause.then),
            _ => None,
        }
    }

    /// The pause that it makes.
    pub(super) fn pause(&mut self) -> Option<&mut Pause> {
        match &mut self.state {
            ErrandState::Paused(pause) => Some(pause),
            _ => None,
        }
    }

    /// It is not sent again; its number, if it is on its way.
    pub(super) fn revoke(&mut self) -> Option<u32> {
        self.times = u32::MAX;
        if let ErrandState::Queued(turn) = &mut self.state {
            // It may have gone by now.
            if let Some(asked) = turn.come(None).and_then(|grant| grant.ok()?.asked) {
                self.state = asked.into();
            }
        }
        match self.number() {
            Some(number) => Some(number),
            None => self.leave(),
        }
    }

    /// Takes it back, unless it is at the other side. Whether that is so.
    pub(super) fn withdraw(&mut self) -> bool {
        let is_here = match &mut self.state {
            ErrandState::Queued(turn) => turn.withdraw(),
            ErrandState::Paused(_) => true,
            ErrandState::Sent { .. } | ErrandState::Over => false,
        };
        if is_here {
            self.state = ErrandState::Over;
        }
        is_here
    }

    /// Nobody follows it any more; its number, if it is on its way.
    #[inline]
    pub(super) fn leave(&mut self) -> Option<u32> {
        match mem::replace(&mut self.state, ErrandState::Over) {
            ErrandState::Sent { number, .. } => Some(number),
            ErrandState::Queued(_) | ErrandState::Paused(_) | ErrandState::Over => None,
        }
    }

    /// The same where it goes on, if it is on its way.
    pub(super) fn detach(&mut self) -> Option<u32> {
        if let ErrandState::Queued(turn) = &mut self.state {
            turn.detach();
        }
        self.leave()
    }

    /// What came of it, if that is known: by the answer that was `found`, or that was noted. Else `waker` is told
    /// when it may be.
    #[inline]
    pub(super) fn attempt(
        &mut self,
        link: &Arc<Link>,
        found: Option<Answer>,
        waker: Option<&Waker>,
    ) -> Option<Outcome> {
        if let (Err(error), false) = (link.check(), self.is_over()) {
            self.state = ErrandState::Over;
            return Some(Err(error));
        }
        if let Some(asked) = self.asked() {
            if let Some(Answer::Reply { word, payload }) = found {
                self.state = ErrandState::Over;
                return Some(Ok(Reply { word, payload }));
            }
            // The answer is not among those that were noted before it was asked for.
            let is_new = link.answers() != asked.answers || link.starves();
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
            match mem::replace(&mut self.state, ErrandState::Over) {
                ErrandState::Queued(mut turn) => match turn.come(waker) {
                    Some(Ok(grant)) => match grant.asked {
                        Some(asked) => self.state = asked.into(),
                        None => unreachable!("it is a request"),
                    },
                    Some(Err(error)) => return Some(Err(error)),
                    None => {
                        self.state = ErrandState::Queued(turn);
                        return None;
                    }
                },
                ErrandState::Sent { number, answers } => {
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
                            let Some(why) = link.starved() else {
                                self.state = ErrandState::Sent { number, answers };
                                return None;
                            };
                            link.give_up(number);
                            let peer = link.endpoint().peer().clone();
                            return Some(Err(RequestError::NoRoom { peer, why }));
                        }
                        Err(_) => return Some(Err(lost(link))),
                    }
                }
                ErrandState::Paused(pause) => {
                    if !pause.then.has_passed() {
                        self.state = ErrandState::Paused(pause);
                        return None;
                    }
                    self.state = ErrandState::Queued(Box::new(link.enqueue(pause.message)));
                }
                ErrandState::Over => return None,
            }
        }
    }

    /// What an answer says, unless the request is sent again.
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
        let returned = returned(self.handler, reason, word, payload, text);
        let came_back = returned.payload.as_ref().map_or(0, |payload| payload.len());
        // Without all of its payload it would be another one.
        let is_whole = came_back as u64 == self.length;
        if returned.reason == Reason::Busy && is_whole && self.times < settings.retries {
            let then = Deadline::after(settings.pause(self.times));
            self.times = self.times.saturating_add(1);
            let Returned { word, payload, .. } = returned;
            let message = Message {
                handler: self.handler,
                word,
                length: self.length,
                asks: true,
                payload: Some(payload.unwrap_or_else(Filled::nothing)),
            };
            self.state = ErrandState::Paused(Box::new(Pause {
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

/// The connection ended before the answer came.
pub(super) fn lost(link: &Link) -> RequestError {
    RequestError::Lost {
        peer: link.endpoint().peer().clone(),
    }
}
