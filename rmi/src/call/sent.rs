//! A call that was sent, and what comes of it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use jstream::{Filled, Limits, Transportable};
use jstream_transport::active::{self, Reason, RequestError, Ticket};

use super::failure::{failure, unanswered};
use super::reply::{Reply, read_result};
use crate::error::{CallError, Outcome};
use crate::frame::Code;
use crate::intercept::Watched;
use crate::interface::Method;
use crate::object::DropResult;
use crate::promise::Became;
use crate::reference::{Giving, Import};
use crate::seldom::Seldom;
use crate::session::{Connection, MUCH, Session, number_of};

/// A call whose reply is to come. The server is told when it is dropped before.
pub(crate) struct Sent {
    pub(crate) ticket: Ticket,
    pub(crate) method: &'static Method,
    pub(crate) deadline: Option<Instant>,
    /// It is a moment of the system's clock.
    pub(crate) by_system: bool,
    /// The object is not given back before the call is over.
    pub(crate) _import: Option<Arc<Import>>,
    /// Those that call the same object behind it call it by the same number.
    pub(crate) _ahead: Option<Arc<Became>>,
    pub(crate) rest: Seldom<Rest>,
}

/// What most calls have nothing of.
#[derive(Default)]
pub(crate) struct Rest {
    /// The references that it has.
    kept: Option<KeptReferences>,
    watched: Option<Arc<Watched>>,
    /// It has run, and its result is asked for, by this number.
    fetching: Option<[u8; 4]>,
}

impl Rest {
    /// Of a call that is seen.
    #[cold]
    pub(crate) fn watched(watched: Arc<Watched>) -> Box<Self> {
        Box::new(Self {
            watched: Some(watched),
            ..Self::default()
        })
    }
}

/// The references of a call on its way.
pub(crate) struct KeptReferences {
    pub(crate) giving: Giving,
    /// Drops its result, if that has some.
    pub(crate) result: Option<DropResult>,
}

impl KeptReferences {
    /// It is known what came of the call, or it is given up.
    fn settle(self, ticket: Ticket, answer: Option<&Result<active::Reply, RequestError>>) {
        if answer.is_some() {
            return self.giving.arrived(answer.is_some_and(has_arrived));
        }
        let connection = Connection::of(ticket.peer());
        let settle = move |connection: &Connection, answer: Answered| {
            self.giving
                .arrived(answer.as_ref().is_some_and(has_arrived));
            connection.leave_answer(answer.as_ref());
            if let (Some(drop_result), Some(Ok(reply))) = (self.result, answer) {
                if reply.word == 0 {
                    drop_result(connection, reply.payload);
                }
            }
        };
        let references = connection.references().clone();
        references.follow(&connection, ticket, Box::new(settle));
    }
}

/// What came of a request; nothing in time.
pub(super) type Answered = Option<Result<active::Reply, RequestError>>;

impl Sent {
    /// Waits for the message of the result.
    pub(crate) fn wait_for_message(mut self) -> Result<Filled, CallError> {
        let answer = self.answer();
        let ended = self.end(answer.as_ref());
        let message = ended.message(answer);
        let bytes = message.as_ref().map_or(0, |message| message.len() as u64);
        ended.seen(&message, bytes);
        message
    }

    /// References go with it.
    pub(crate) fn keep(&mut self, kept: KeptReferences) {
        self.rest.get_or_insert_default().kept = Some(kept);
    }

    /// Waits for what comes of it.
    fn answer(&mut self) -> Answered {
        let answer = self.wait();
        self.answer_behind(answer)
    }

    /// Waits for what is here next.
    #[inline]
    pub(super) fn wait(&mut self) -> Answered {
        match self.deadline {
            Some(deadline) => self.wait_until(deadline),
            None => self.ticket.wait_timeout(Duration::MAX),
        }
    }

    /// What comes of it where that has come: the same, as a rule.
    pub(super) fn answer_behind(&mut self, mut answer: Answered) -> Answered {
        while !is_small(&answer) {
            if let Some(answer) = self.fetch(answer) {
                return answer;
            }
            answer = self.wait();
        }
        answer
    }

    /// Whether nothing is to be done but to read that as its result.
    #[inline]
    pub(super) fn ends_with(&self, payload: &Filled) -> bool {
        self.rest.is_none() && payload.len() < MUCH
    }

    /// Asks for a result that is kept, which is the answer from now on: any other one comes back.
    #[cold]
    pub(super) fn fetch(&mut self, answer: Answered) -> Option<Answered> {
        let Some(Ok(reply)) = &answer else {
            return Some(answer);
        };
        if self.fetching().is_none() {
            if let Some(number) = number_of(reply) {
                return self.fetch_kept(number);
            }
            if reply.payload.len() >= MUCH {
                Connection::of(self.ticket.peer()).note_large_result();
            }
        }
        Some(answer)
    }

    fn fetch_kept(&mut self, number: [u8; 4]) -> Option<Answered> {
        self.rest.get_or_insert_default().fetching = Some(number);
        match Connection::of(self.ticket.peer()).fetch(number) {
            Ok(ticket) => {
                self.ticket = ticket;
                None
            }
            Err(error) => Some(Some(Err(error))),
        }
    }

    fn fetching(&self) -> Option<[u8; 4]> {
        self.rest.as_ref()?.fetching
    }

    /// It is known what came of it, or it is given up.
    pub(super) fn end(mut self, answer: Option<&Result<active::Reply, RequestError>>) -> AbandonedCall {
        let rest = self.rest.take().map_or_else(Rest::default, |rest| *rest);
        let (kept, fetching) = (rest.kept, rest.fetching);
        let was_sent = answer.is_some() || fetching.is_some() || !self.ticket.withdraw();
        let ended = AbandonedCall {
            method: self.method,
            watched: rest.watched,
            was_sent,
            has_run: fetching.is_some(),
        };
        match (kept, fetching) {
            // The method has them, whatever comes of its result.
            (kept, Some(number)) => {
                if let Some(kept) = kept {
                    kept.giving.arrived(true);
                }
                if answer.is_none() {
                    Connection::of(self.ticket.peer()).leave_kept(number);
                }
            }
            (Some(kept), None) if was_sent => kept.settle(self.ticket, answer),
            (Some(kept), None) => kept.giving.arrived(false),
            (None, None) if was_sent && answer.is_none() => leave(self.ticket),
            (None, None) => {}
        }
        ended
    }

    /// Whether something is left of it at the server when nobody waits for it any more.
    pub(super) fn leaves_something(&self) -> bool {
        let rest = self.rest.as_ref();
        rest.is_some_and(|rest| rest.kept.is_some() || rest.fetching.is_some())
            || Connection::of(self.ticket.peer()).fetches()
    }

    #[inline]
    pub(super) fn limits(&self) -> Limits {
        let session = self.ticket.attached::<Session>();
        session.map_or_else(Limits::default, |session| session.terms.limits)
    }

    pub(super) fn is_overdue(&self) -> bool {
        self.deadline
            .is_some_and(|deadline| deadline <= self.clock().now())
    }
}

/// Whether it is an answer with nothing to be fetched, nor to be learnt from.
#[inline]
pub(super) fn is_small(answer: &Answered) -> bool {
    match answer {
        Some(Ok(reply)) => reply.word != Code::Kept as u64 && reply.payload.len() < MUCH,
        _ => true,
    }
}

/// A call that nobody waits for any more.
pub(super) struct AbandonedCall {
    method: &'static Method,
    watched: Option<Arc<Watched>>,
    /// Else the server knows nothing of it.
    was_sent: bool,
    /// It ran, and its result was asked for.
    has_run: bool,
}

impl AbandonedCall {
    /// The message of the result.
    fn message(&self, answer: Answered) -> Result<Filled, CallError> {
        match answer {
            Some(Ok(reply)) if reply.word == 0 => Ok(reply.payload),
            Some(_) if self.has_run => Err(CallError::NoResult {
                method: self.method.name(),
                reason: "it was kept by the server, and could not be fetched".to_owned(),
            }),
            Some(Ok(reply)) => {
                let words = reply.payload.as_bytes();
                Err(failure(self.method, reply.word, words))
            }
            Some(Err(error)) => Err(unanswered(self.method, error)),
            None => Err(CallError::Deadline {
                method: self.method.name(),
                outcome: match self.was_sent {
                    true => Outcome::MayHaveRun,
                    false => Outcome::DidNotRun,
                },
                idempotent: self.method.is_idempotent(),
            }),
        }
    }

    pub(super) fn result<R>(self, limits: Limits, answer: Answered) -> Result<Reply<R>, CallError>
    where
        R: Transportable + 'static,
    {
        let bytes = match &answer {
            Some(Ok(reply)) if self.watched.is_some() => reply.payload.len() as u64,
            _ => 0,
        };
        let message = self.message(answer);
        let result = message.and_then(|message| read_result(self.method, limits, message));
        self.seen(&result, bytes);
        result
    }

    /// The call has ended.
    #[inline]
    fn seen<T>(&self, result: &Result<T, CallError>, bytes: u64) {
        if let Some(watched) = &self.watched {
            watched.end(result.as_ref().map(drop).map_err(CallError::outcome), bytes);
        }
    }
}

/// A call was given up whose result may be kept.
fn leave(ticket: Ticket) {
    let connection = Connection::of(ticket.peer());
    if !connection.fetches() {
        return;
    }
    let settle = |connection: &Connection, answer: Answered| {
        connection.leave_answer(answer.as_ref());
    };
    let references = connection.references().clone();
    references.follow(&connection, ticket, Box::new(settle));
}

/// Whether the arguments of a call have been read, as far as its answer tells.
fn has_arrived(answer: &Result<active::Reply, RequestError>) -> bool {
    match answer {
        Ok(reply) => !matches!(
            Code::of(reply.word),
            Some(
                Code::UnknownObject
                    | Code::UnknownMethod
                    | Code::Arguments
                    | Code::TooLate
                    | Code::NotGiven
            )
        ),
        Err(RequestError::Returned { returned, .. }) => matches!(
            returned.reason,
            Reason::Panicked | Reason::Unanswered | Reason::Unsendable
        ),
        Err(_) => false,
    }
}
