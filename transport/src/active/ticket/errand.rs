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

/// What comes of a request.
pub(super) type Outcome = Result<Reply, RequestError>;

/// A request on its way.
pub(super) struct Errand {
    handler: u16,
    state: State,
    /// How long its payload is.
    length: u64,
    /// How often it came back.
    times: u32,
}

enum State {
    /// It waits for its turn.
    Queued(Turn),
    Sent(Asked),
    /// It came back, and is sent again then.
    Paused(Deadline, Box<Message>),
    Over,
}

impl Errand {
    #[inline]
    pub(super) fn sent(handler: u16, asked: Asked, length: u64) -> Self {
        Self {
            handler,
            state: State::Sent(asked),
            length,
            times: 0,
        }
    }

    pub(super) fn queued(handler: u16, turn: Turn, length: u64) -> Self {
        Self {
            handler,
            state: State::Queued(turn),
            length,
            times: 0,
        }
    }

    #[inline]
    pub(super) fn is_over(&self) -> bool {
        matches!(self.state, State::Over)
    }

    /// Its number, while it is on its way.
    #[inline]
    pub(super) fn number(&self) -> Option<u32> {
        self.asked().map(|asked| asked.number)
    }

    /// What was asked, while it is on its way.
    #[inline]
    pub(super) fn asked(&self) -> Option<&Asked> {
        match &self.state {
            State::Sent(asked) => Some(asked),
            _ => None,
        }
    }

    /// When it is sent again.
    #[inline]
    pub(super) fn paused(&self) -> Option<Deadline> {
        match &self.state {
            State::Paused(then, _) => Some(*then),
            _ => None,
        }
    }

    /// It is not sent again; its number, if it is on its way.
    pub(super) fn revoke(&mut self) -> Option<u32> {
        self.times = u32::MAX;
        if let State::Queued(turn) = &mut self.state {
            // It may have gone by now.
            if let Some(asked) = turn.come(None).and_then(|grant| grant.ok()?.asked) {
                self.state = State::Sent(asked);
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
            State::Queued(turn) => turn.withdraw(),
            State::Paused(..) => true,
            State::Sent(_) | State::Over => false,
        };
        if is_here {
            self.state = State::Over;
        }
        is_here
    }

    /// Nobody follows it any more; its number, if it is on its way.
    #[inline]
    pub(super) fn leave(&mut self) -> Option<u32> {
        match mem::replace(&mut self.state, State::Over) {
            State::Sent(asked) => Some(asked.number),
            State::Over | State::Queued(_) | State::Paused(..) => None,
        }
    }

    /// The same where it goes on, if it is on its way.
    pub(super) fn detach(&mut self) -> Option<u32> {
        if let State::Queued(turn) = &mut self.state {
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
            self.state = State::Over;
            return Some(Err(error));
        }
        if let State::Sent(asked) = &self.state {
            if let Some(Answer::Reply { word, payload }) = found {
                self.state = State::Over;
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
            match mem::replace(&mut self.state, State::Over) {
                State::Queued(mut turn) => match turn.come(waker) {
                    Some(Ok(grant)) => match grant.asked {
                        Some(asked) => self.state = State::Sent(asked),
                        None => unreachable!("it is a request"),
                    },
                    Some(Err(error)) => return Some(Err(error)),
                    None => {
                        self.state = State::Queued(turn);
                        return None;
                    }
                },
                State::Sent(asked) => {
                    let taken = match found.take() {
                        Some(answer) => Ok(Some(answer)),
                        None => link.take_answer(asked.number, waker),
                    };
                    match taken {
                        Ok(Some(answer)) => {
                            if let Some(outcome) = self.outcome(link, answer) {
                                return Some(outcome);
                            }
                        }
                        Ok(None) => {
                            let Some(why) = link.starved() else {
                                self.state = State::Sent(asked);
                                return None;
                            };
                            link.give_up(asked.number);
                            let peer = link.endpoint().peer().clone();
                            return Some(Err(RequestError::NoRoom { peer, why }));
                        }
                        Err(_) => return Some(Err(lost(link))),
                    }
                }
                State::Paused(then, message) => {
                    if !then.has_passed() {
                        self.state = State::Paused(then, message);
                        return None;
                    }
                    self.state = State::Queued(link.enqueue(*message));
                }
                State::Over => return None,
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
            self.state = State::Paused(then, Box::new(message));
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
