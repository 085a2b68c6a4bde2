//! A call that was sent, and the handling of its answer.

use std::sync::Arc;
use std::time::{Duration, Instant};

use jstream::{Limits, MessageBuffer};
use jstream_active as active;
use jstream_active::{Reason, RequestError, Ticket};

use crate::call::outgoing::failure::{failure, unanswered};
use crate::call::outgoing::reply::UnreadResult;
use crate::frame::Code;
use crate::interface::{MessageConversion, Method, MethodMap};
use crate::reference::{Became, CallEffect, CountedCall, Giving, MemberObject, Renewal};
use crate::session::{
    Connection, Import, MUCH, Session, Watched, discard_answer, discard_kept, number_of,
};
use crate::support::{CallError, Outcome, RareBox};

/// Function that drops a result with references, so that the owner is notified.
pub(crate) type DropResult = fn(&Connection, MessageBuffer);

/// A call in flight. Dropping it cancels the call at the server.
pub(crate) struct Sent {
    pub(crate) ticket: Ticket,
    pub(super) method: &'static Method,
    pub(crate) deadline: Option<Instant>,
    /// True if the deadline is a time of the system clock.
    pub(crate) by_system: bool,
    /// Keeps the reference to the object until the call is over.
    pub(crate) kept: KeptObject,
    /// The source of the object if its connection is lost.
    pub(super) renewal: Option<Arc<dyn Renewal>>,
    /// Keeps the number by which later calls of the same pipelined object name it.
    pub(crate) _ahead: Option<Arc<Became>>,
    pub(crate) rest: RareBox<Rest>,
}

/// The reference to the object of a call in flight.
pub(crate) enum KeptObject {
    /// An object with a fixed number.
    None,
    Import(Arc<Import>),
    /// An object of a set.
    Member(CountedCall),
}

impl KeptObject {
    pub(crate) fn of_member(object: &Arc<MemberObject>, is_counted: bool) -> Self {
        Self::Member(CountedCall::new(object.clone(), is_counted))
    }

    /// Returns the reference, if there is one.
    pub(super) fn import(&self) -> Option<&Arc<Import>> {
        match self {
            Self::None => None,
            Self::Import(import) => Some(import),
            Self::Member(call) => Some(call.object().import()),
        }
    }

    /// Returns the source of an object of a set.
    pub(super) fn source(&self) -> Option<&Arc<dyn Renewal>> {
        match self {
            Self::None | Self::Import(_) => None,
            Self::Member(call) => Some(call.object().source()),
        }
    }

    /// Records an answer that says something about the server.
    #[inline]
    fn record_answer(&mut self, answer: &Result<active::Reply, RequestError>) {
        if let Self::Member(call) = self {
            match answer {
                Ok(reply) if reply.word == 0 => {}
                Ok(reply) => match Code::from_word(reply.word) {
                    // The server has forgotten the object, so the set looks it up anew. This is no
                    // fault of the server.
                    Some(Code::UnknownObject) => call.lose_object(),
                    Some(Code::Panicked | Code::Streams) => call.record(CallEffect::Failed),
                    _ => {}
                },
                Err(RequestError::Returned { returned, .. })
                    if matches!(returned.reason, Reason::Busy | Reason::Panicked) =>
                {
                    call.record(CallEffect::Failed);
                }
                // Most of these are lost connections, which the set notices by itself.
                Err(_) => call.record(CallEffect::Unknown),
            }
        }
    }

    /// Records the end of a call that is not an ordinary answer.
    fn record(&mut self, effect: CallEffect) {
        if let Self::Member(call) = self {
            call.record(effect);
        }
    }
}

/// State that most calls do not need.
#[derive(Default)]
pub(crate) struct Rest {
    /// References among the arguments.
    kept: Option<KeptReferences>,
    pub(crate) watched: Option<Arc<Watched>>,
    /// Number of the kept result, if the method has run and its result was requested.
    fetching: Option<[u8; 4]>,
    /// The conversion of the result, if the server has another version of the method.
    conversion: Option<Arc<MessageConversion>>,
    /// The methods of the object, if its interface has another version and the call may be
    /// repeated.
    methods: Option<Arc<MethodMap>>,
}

impl Rest {
    /// Returns the state of a call with references.
    pub(crate) fn with_references(kept: KeptReferences) -> Box<Self> {
        Box::new(Self {
            kept: Some(kept),
            ..Self::default()
        })
    }

    /// Adds the interceptors of a call, if there are any.
    #[inline]
    pub(crate) fn with_interceptors(
        rest: Option<Box<Self>>,
        watched: Option<Arc<Watched>>,
    ) -> Option<Box<Self>> {
        match watched {
            Some(watched) => Some(Self::insert(rest, watched)),
            None => rest,
        }
    }

    /// Adds what a call of an object of another version needs: the conversion of the result, and
    /// the methods if the call may be repeated.
    pub(super) fn with_methods(
        rest: Option<Box<Self>>,
        (methods, method): (&Arc<MethodMap>, &'static Method),
        may_be_repeated: bool,
    ) -> Option<Box<Self>> {
        let conversion = methods.result_of(method);
        if conversion.is_none() && !may_be_repeated {
            return rest;
        }
        let mut rest = rest.unwrap_or_default();
        rest.conversion = conversion;
        rest.methods = may_be_repeated.then(|| methods.clone());
        Some(rest)
    }

    /// Returns the methods of the object, if its interface has another version.
    pub(super) fn methods(&self) -> Option<&Arc<MethodMap>> {
        self.methods.as_ref()
    }

    fn insert(rest: Option<Box<Self>>, watched: Arc<Watched>) -> Box<Self> {
        let mut rest = rest.unwrap_or_default();
        rest.watched = Some(watched);
        rest
    }

    /// Returns true if the call has no references, and its result was not requested.
    pub(super) fn is_plain(&self) -> bool {
        self.kept.is_none() && self.fetching.is_none()
    }

    /// Returns the function that drops a result with references.
    pub(super) fn drop_result(&self) -> Option<DropResult> {
        self.kept.as_ref()?.result
    }

    /// Returns the numbers of the calls in flight whose results are among the arguments.
    pub(crate) fn promised(&self) -> &[u32] {
        let kept = self.kept.as_ref();
        kept.map_or(&[], |kept| kept.giving.promised())
    }
}

/// References of a call in flight.
pub(crate) struct KeptReferences {
    pub(crate) giving: Giving,
    /// Function that drops a result which contains references.
    pub(crate) result: Option<DropResult>,
}

impl KeptReferences {
    /// Settles the references of an abandoned call when its outcome is known.
    fn follow(self, ticket: Ticket) {
        let connection = Connection::from_peer(ticket.peer());
        // The settle function must not hold the connection, see `Settle`.
        let (given, result) = (self.giving.abandon(), self.result);
        let settle = move |connection: &Connection, answer: Answered| {
            given.arrived(connection, answer.as_ref().is_some_and(has_arrived));
            discard_answer(connection, answer.as_ref());
            if let (Some(drop_result), Some(Ok(reply))) = (result, answer) {
                // Only a result has references.
                if reply.word == 0 {
                    drop_result(connection, reply.payload);
                }
            }
        };
        let references = connection.references().clone();
        references.follow(&connection, ticket, Box::new(settle));
    }
}

/// Outcome of a request. `None` if the deadline passed before the answer arrived.
pub(super) type Answered = Option<Result<active::Reply, RequestError>>;

impl Sent {
    /// Blocks until the message of the result arrives.
    pub(crate) fn wait_for_message(mut self) -> Result<MessageBuffer, CallError> {
        let answer = self.answer();
        let ended = match &answer {
            Some(answer) => self.end(answer),
            None => self.abandon(),
        };
        let message = ended.message(answer);
        let bytes = message.as_ref().map_or(0, |message| message.len() as u64);
        let outcome = message.as_ref().map(drop).map_err(CallError::outcome);
        ended.seen(outcome, bytes);
        message
    }

    /// Blocks until the final answer arrives.
    fn answer(&mut self) -> Answered {
        let answer = self.wait();
        self.answer_behind(answer)
    }

    /// Blocks until the next answer arrives.
    #[inline]
    pub(super) fn wait(&mut self) -> Answered {
        match self.deadline {
            Some(deadline) => self.wait_until(deadline),
            None => self.ticket.wait_timeout(Duration::MAX),
        }
    }

    /// Returns the final answer. This is `answer` itself, unless the result has to be fetched.
    pub(super) fn answer_behind(&mut self, mut answer: Answered) -> Answered {
        // At most twice: a fetched result is not fetched again.
        while !is_small(&answer) {
            if let Some(answer) = self.fetch(answer) {
                return answer;
            }
            answer = self.wait();
        }
        answer
    }

    /// Returns true if the payload is the complete result and needs no further handling.
    #[inline]
    pub(super) fn ends_with(&self, payload: &MessageBuffer) -> bool {
        self.rest.is_none() && payload.len() < MUCH
    }

    /// Requests a kept result; the call then waits for the answer to that request. Returns any
    /// other answer unchanged.
    pub(super) fn fetch(&mut self, answer: Answered) -> Option<Answered> {
        let Some(Ok(reply)) = &answer else {
            return Some(answer);
        };
        // A server that answers a fetch with another number would otherwise keep the caller busy
        // for ever.
        if self.fetching().is_none() {
            if let Some(number) = number_of(reply) {
                return self.fetch_kept(number);
            }
            if reply.payload.len() >= MUCH {
                Connection::from_peer(self.ticket.peer()).record_large_result();
            }
        }
        Some(answer)
    }

    fn fetch_kept(&mut self, number: [u8; 4]) -> Option<Answered> {
        // Set before the request: from now on the method is known to have run, also if the fetch
        // fails.
        self.rest.get_or_insert_default().fetching = Some(number);
        match Connection::from_peer(self.ticket.peer()).fetch(number) {
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

    /// Ends the call, which has its final answer. Call this only once.
    pub(super) fn end(&mut self, answer: &Result<active::Reply, RequestError>) -> EndedCall {
        self.kept.record_answer(answer);
        let mut ended = EndedCall {
            method: self.method,
            watched: None,
            conversion: None,
            was_sent: true,
            has_run: false,
        };
        if let Some(mut rest) = self.rest.take() {
            ended.watched = rest.watched.take();
            ended.conversion = rest.conversion.take();
            ended.has_run = rest.fetching.is_some();
            if let Some(kept) = &mut rest.kept {
                // A method that has run has received the references, whatever becomes of its
                // result.
                kept.giving.arrived(ended.has_run || has_arrived(answer));
            }
        }
        ended
    }

    /// Ends the call without an answer.
    pub(super) fn abandon(mut self) -> EndedCall {
        let effect = match self.is_overdue() {
            true => CallEffect::Overdue,
            false => CallEffect::Unknown,
        };
        self.kept.record(effect);
        let rest = self.rest.take().map_or_else(Rest::default, |rest| *rest);
        // A request that still waits for credit is taken back, so its method did not run for
        // certain.
        let was_sent = rest.fetching.is_some() || !self.ticket.withdraw();
        let ended = EndedCall {
            method: self.method,
            watched: rest.watched,
            conversion: rest.conversion,
            was_sent,
            has_run: rest.fetching.is_some(),
        };
        match (rest.kept, rest.fetching) {
            // The method has run, so it has received the references.
            (kept, Some(number)) => {
                if let Some(mut kept) = kept {
                    kept.giving.arrived(true);
                }
                discard_kept(&Connection::from_peer(self.ticket.peer()), number);
            }
            (Some(kept), None) if was_sent => kept.follow(self.ticket),
            // The references have not arrived, which dropping them says.
            (Some(_), None) => {}
            (None, None) if was_sent => discard(self.ticket),
            (None, None) => {}
        }
        ended
    }

    /// Returns true if the server may hold state of this call after the caller has abandoned it.
    pub(super) fn leaves_something(&self) -> bool {
        let rest = self.rest.as_ref();
        rest.is_some_and(|rest| rest.kept.is_some() || rest.fetching.is_some())
            || Connection::from_peer(self.ticket.peer()).fetches()
    }

    /// Drops a call whose answer is not wanted.
    pub(super) fn discard(mut self) {
        self.record_drop();
        if self.leaves_something() {
            drop(self.abandon());
        }
    }

    /// Records that the caller does not wait for the answer.
    pub(super) fn record_drop(&mut self) {
        self.kept.record(CallEffect::Unknown);
    }

    /// Records that the time until the answer depends on the call, and not on the server.
    pub(super) fn record_streams(&mut self) {
        self.kept.record(CallEffect::Streamed);
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

/// Returns true if the answer is the result of the method, or says that the server keeps it.
pub(super) fn is_result(answer: &Answered) -> bool {
    let word = match answer {
        Some(Ok(reply)) => reply.word,
        _ => return false,
    };
    word == 0 || word == Code::Kept.to_word()
}

/// Returns true if the answer needs no fetch and is too small to open a lane.
#[inline]
pub(super) fn is_small(answer: &Answered) -> bool {
    match answer {
        Some(Ok(reply)) => reply.word != Code::Kept.to_word() && reply.payload.len() < MUCH,
        _ => true,
    }
}

/// A call that was answered or abandoned.
pub(super) struct EndedCall {
    method: &'static Method,
    watched: Option<Arc<Watched>>,
    conversion: Option<Arc<MessageConversion>>,
    /// False if the server never received the call.
    was_sent: bool,
    /// True if the method ran and its result was requested.
    has_run: bool,
}

impl EndedCall {
    /// Converts the answer to the message of the result.
    fn message(&self, answer: Answered) -> Result<MessageBuffer, CallError> {
        match answer {
            Some(Ok(reply)) if reply.word == 0 => Ok(reply.payload),
            Some(_) if self.has_run => Err(CallError::NoResult {
                method: self.method.name(),
                reason: "the server kept it, but it could not be fetched".to_owned(),
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

    /// Converts the answer to the message of the result.
    pub(super) fn result(
        self,
        limits: Limits,
        answer: Answered,
    ) -> Result<UnreadResult, CallError> {
        match self.message(answer) {
            Ok(payload) => {
                let mut result = UnreadResult::new(self.method, limits, payload);
                result.watched = self.watched;
                result.conversion = self.conversion;
                Ok(result)
            }
            Err(error) => {
                self.seen(Err(error.outcome()), 0);
                Err(error)
            }
        }
    }

    /// Reports the outcome to the interceptors.
    #[inline]
    fn seen(&self, result: Result<(), Outcome>, bytes: u64) {
        if let Some(watched) = &self.watched {
            watched.end(result, bytes);
        }
    }
}

/// Abandons a call whose result may be kept by the server.
fn discard(ticket: Ticket) {
    let connection = Connection::from_peer(ticket.peer());
    if !connection.fetches() {
        return;
    }
    let settle = |connection: &Connection, answer: Answered| {
        discard_answer(connection, answer.as_ref());
    };
    let references = connection.references().clone();
    references.follow(&connection, ticket, Box::new(settle));
}

/// Returns true if the answer implies that the arguments were read.
fn has_arrived(answer: &Result<active::Reply, RequestError>) -> bool {
    match answer {
        Ok(reply) => Code::implies_arrival(reply.word),
        Err(RequestError::Returned { returned, .. }) => matches!(
            returned.reason,
            Reason::Panicked | Reason::Unanswered | Reason::Unsendable
        ),
        Err(_) => false,
    }
}
