//! Repetition of failed calls: after a pause, if the stub retries, and over another connection, if
//! the object can be found again.
//!
//! A call whose method did not run is repeated over another connection until its deadline, or until
//! its waits for a connection together exceed the patience of the client. A call that may have run
//! is repeated only if its method is idempotent, and a few times at most, because it may be what
//! ends the server. A call that was refused by a server which says when to try again waits for that
//! time and a random part of it more, if its deadline allows that.
//!
//! Decision 118 has the reasons.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use jstream::MessageBuffer;
use jstream_active::{Reason, RequestError};

use crate::call::outgoing::failure::lost;
use crate::call::outgoing::sent::{Answered, Sent};
use crate::frame::{CallHeader, Metadata, metadata_of};
use crate::interface::Method;
use crate::reference::{Object, Renewal, RenewalError, RenewalWait, RenewedObject, Retries};
use crate::session::{Import, until_ready};
use crate::support::{CallError, Outcome};

/// Maximum number of repetitions, over other connections, of a call that may have run.
const UNCERTAIN_REPETITIONS: u32 = 3;

/// Maximum number of repetitions of a call that members of a set, or a server which says when to
/// try again, have refused.
const REFUSED_REPETITIONS: u32 = 3;

/// State needed to repeat a call.
pub(crate) struct RetryState {
    object: Object,
    /// The name of the interface, which is empty if it is not known.
    interface: &'static str,
    method: &'static Method,
    index: usize,
    message: MessageBuffer,
    deadline: Option<Instant>,
    metadata: Metadata,
    /// The retries after a pause.
    retries: Option<Retries>,
    /// Number of retries after a pause.
    times: u32,
    /// Number of repetitions of a call that may have run.
    uncertain_repetitions: u32,
    /// Number of repetitions of a call that was refused.
    refused_repetitions: u32,
    /// True if an attempt that has failed may have run.
    may_have_run: bool,
    /// The wait for the object.
    waiting: Option<RenewalWait>,
    /// Time that the call may still wait for the object. `None` before the first wait.
    patience: Option<Duration>,
    /// The second attempt at another server, if the call may have one.
    hedge: Option<Hedge>,
    /// The object to which the second attempt was sent.
    second: Option<Object>,
}

/// A second attempt of a call, before the first one has ended.
#[derive(Clone, Copy)]
struct Hedge {
    /// The time of the first attempt.
    begun: Instant,
    /// The time of the second attempt. `None` if it was made, or the time is not known.
    at: Option<Instant>,
}

/// The start of the next attempt of a call.
pub(crate) enum NextAttempt {
    /// After a pause until this time.
    At(Instant),
    /// When the object is found again.
    AfterRenewal,
}

impl RetryState {
    pub(crate) fn new(
        object: Object,
        (interface, method, index): (&'static str, &'static Method, usize),
        message: MessageBuffer,
        (deadline, metadata): (Option<Instant>, Metadata),
        retries: Option<Retries>,
    ) -> Self {
        Self {
            object,
            interface,
            method,
            index,
            message,
            deadline,
            metadata,
            retries,
            times: 0,
            uncertain_repetitions: 0,
            refused_repetitions: 0,
            may_have_run: false,
            waiting: None,
            patience: None,
            hedge: None,
            second: None,
        }
    }

    /// Lets the call, which was just sent, be made at another server after a while, if its set does
    /// that.
    pub(super) fn with_hedge(mut self) -> Self {
        let renewal = self.object.renewal().filter(|one| one.hedges());
        // A program that controls the clock also controls the order of calls.
        if let Some(renewal) = renewal.filter(|_| !self.object.clock().is_paused()) {
            let begun = Instant::now();
            let delay = renewal.hedge_delay(self.index);
            let at = delay.and_then(|delay| begun.checked_add(delay));
            self.hedge = Some(Hedge { begun, at });
        }
        self
    }

    /// Returns the arguments.
    pub(super) fn into_message(self) -> MessageBuffer {
        self.message
    }

    /// Returns true if the call may be made at another server before it has an answer.
    pub(super) fn hedges(&self) -> bool {
        self.hedge.is_some()
    }

    /// Returns the time of the second attempt, if there is to be one.
    pub(super) fn hedge_time(&self) -> Option<Instant> {
        self.hedge?.at
    }

    /// Makes the second attempt, if another server has the object and the budget allows it.
    pub(super) fn begin_hedge(&mut self) -> Option<Sent> {
        if let Some(hedge) = &mut self.hedge {
            // Before the attempt, so that a failed one is not made again.
            hedge.at = None;
        }
        // Also takes from the budget. A second attempt at the same server would share the fate of
        // the first.
        let other = self.object.renewal()?.alternative(self.object.import()?)?;
        let object = self.object.at(other);
        let sent = self.send_to(&object).ok()?;
        self.second = Some(object);
        Some(sent)
    }

    /// Records that the first attempt has failed, and that the second one becomes the call.
    pub(super) fn adopt_second(&mut self, error: &CallError) {
        self.record_failure(error);
        if let (Some(renewal), Some(import)) = (self.object.renewal(), self.object.import()) {
            report(renewal.as_ref(), import, error);
        }
        if let Some(object) = self.second.take() {
            self.object = object;
        }
    }

    /// Records that an attempt has failed.
    pub(super) fn record_failure(&mut self, error: &CallError) {
        self.may_have_run |= error.outcome() != Outcome::DidNotRun;
    }

    /// Returns the error of all attempts, of which this is the last one's: the method may have run
    /// if any attempt may have.
    pub(super) fn error_of_all(&self, mut error: CallError) -> CallError {
        if !self.may_have_run || error.outcome() != Outcome::DidNotRun {
            return error;
        }
        match &mut error {
            CallError::Deadline { outcome, .. } | CallError::Cancelled { outcome, .. } => {
                *outcome = Outcome::MayHaveRun;
                error
            }
            last => {
                let reason = format!("an earlier attempt may have run; the last one: {last}");
                lost(self.method, reason)
            }
        }
    }

    /// Records that a call was answered by a result.
    pub(super) fn record_result(&self) {
        if let (Some(hedge), Some(renewal)) = (self.hedge, self.object.renewal()) {
            renewal.record_latency(self.index, hedge.begun.elapsed());
        }
    }

    /// Returns the state for repeating a call that the peer has returned because it is shutting
    /// down. The arguments are those that it has returned. Calls with references or streams are not
    /// repeated.
    pub(super) fn of_returned(sent: &Sent, answer: &mut Answered) -> Option<Self> {
        let Some(Err(RequestError::Returned { returned, .. })) = answer else {
            return None;
        };
        let import = sent.kept.import()?;
        let renewal = sent.renewal.as_ref().or(sent.kept.source())?;
        let header = CallHeader::from_word(returned.word);
        let is_plain = sent.rest.as_ref().is_none_or(|rest| rest.is_plain());
        let is_repeated = match returned.reason {
            Reason::Ending => true,
            // Only with another server or a stated time: otherwise the ticket repeats the request
            // by itself.
            Reason::Busy => renewal.has_alternatives() || returned.retry_after.is_some(),
            _ => false,
        };
        // The numbers of streams belong to the connection.
        let has_streams = sent.method.has_streams();
        // A pipelined call has flags in this number. Its repetition would be another call.
        if !is_repeated || !is_plain || has_streams || header.object != import.number() {
            return None;
        }
        let mut payload = match returned.payload.take() {
            // An empty payload is not returned.
            None if sent.method.takes_nothing() => MessageBuffer::nothing(),
            payload => payload?,
        };
        let (arguments, metadata) = metadata_of(returned.word, payload.as_bytes())?;
        let len = arguments.len();
        payload.truncate(len);
        let methods = sent.rest.as_ref().and_then(|rest| rest.methods().cloned());
        let object = Object::imported(import.clone()).mapped(methods);
        let object = object.renewed_by(renewal.clone());
        let interface = renewal.interface();
        // The header has the index that the method has at the object, whose interface may be of
        // another version.
        let index = interface.index_of(sent.method)?;
        let named = (interface.name(), sent.method, index);
        let terms = (sent.deadline, metadata);
        Some(Self::new(object, named, payload, terms, None))
    }

    /// Sends the call. Returns `None` if it waits for an object that is known over no connection
    /// which is open.
    pub(crate) fn begin(&mut self) -> Option<Result<Sent, CallError>> {
        self.finds_object().then(|| self.send())
    }

    /// Returns true if the object is known over a connection that is open. Else begins to wait for
    /// it.
    pub(super) fn finds_object(&mut self) -> bool {
        if let (true, Some(renewal)) = (self.object.needs_renewal(), self.object.renewal()) {
            match self.object.renewed_handle() {
                Some(object) => self.object = object,
                None => {
                    self.begin_wait(renewal.clone());
                    return false;
                }
            }
        }
        true
    }

    /// Returns the handle of the object that the next attempt calls.
    pub(super) fn object(&self) -> &Object {
        &self.object
    }

    /// Lets the next attempt call the object at another server.
    pub(super) fn choose_object(&mut self, renewed: RenewedObject) {
        self.object = self.object.at(renewed);
    }

    /// Begins to wait for the object over another connection than that of the present attempt.
    pub(super) fn next_object(&self) -> Option<RenewalWait> {
        let renewal = self.object.renewal()?;
        let patience = renewal.patience();
        Some(RenewalWait::new(renewal.clone(), patience, self.deadline))
    }

    /// Records that the call has made progress: what failed before it does not count for later
    /// repetitions.
    pub(super) fn record_progress(&mut self) {
        (self.times, self.uncertain_repetitions) = (0, 0);
        self.refused_repetitions = 0;
        self.patience = None;
    }

    /// Records progress if an attempt that may have run has lasted for longer than a call waits for
    /// a connection: it is not what ends the server.
    pub(super) fn record_duration(&mut self, duration: Duration, outcome: Outcome) {
        // A server could hold each attempt for that long and return it, without an end.
        if outcome == Outcome::DidNotRun {
            return;
        }
        let patience = self.object.renewal().map(|renewal| renewal.patience());
        if patience.is_some_and(|patience| patience <= duration) {
            self.record_progress();
        }
    }

    /// Sends the call again after a pause. If several servers have the object, chooses one of them.
    pub(crate) fn send_after_pause(&mut self) -> Result<Sent, CallError> {
        self.choose_after_pause();
        self.send()
    }

    /// If several servers have the object, chooses one of them after a pause.
    pub(super) fn choose_after_pause(&mut self) {
        let renewal = self.object.renewal();
        // The member that was tried last may still be busy.
        let renewal = renewal.filter(|renewal| renewal.has_alternatives());
        if let Some(chosen) = renewal.and_then(|renewal| renewal.known()) {
            self.object = self.object.at(chosen);
        }
    }

    pub(crate) fn send(&self) -> Result<Sent, CallError> {
        self.send_to(&self.object)
    }

    fn send_to(&self, object: &Object) -> Result<Sent, CallError> {
        let terms = (self.deadline, self.metadata.clone());
        let message = self.message.as_bytes();
        let named = (self.interface, self.method);
        object.send_message(named, self.index, message, terms)
    }

    /// Returns the start of the next attempt, or `None` if it cannot help or is not allowed.
    pub(crate) fn after(&mut self, error: &CallError) -> Option<NextAttempt> {
        // First, so that the error at the end of all attempts says that one of them may have run,
        // also if no other follows.
        self.record_failure(error);
        if self.begin_renewal_after(error) {
            // The servers may have asked to be left alone for some time.
            let rest = match error {
                CallError::Busy { .. } => self.object.renewal()?.rests_until(),
                _ => None,
            };
            let Some(rest) = rest else {
                return Some(NextAttempt::AfterRenewal);
            };
            // The wait for the object and the pause exclude each other.
            self.waiting = None;
            let pause = rest.saturating_duration_since(Instant::now());
            return self.end_of_pause(with_jitter(pause)).map(NextAttempt::At);
        }
        let then = self.pause_after(error);
        then.or_else(|| self.pause_after_refusal(error))
            .map(NextAttempt::At)
    }

    /// Begins to wait for the object over another connection if this one was lost. Returns false if
    /// the call is not repeated there.
    fn begin_renewal_after(&mut self, error: &CallError) -> bool {
        let Some(renewal) = self.object.renewal() else {
            return false;
        };
        let is_final = matches!(
            error,
            // The wait for the object has ended with this error, and a second wait would double the
            // patience.
            CallError::Disconnected { .. } | CallError::ObjectLost { .. }
        );
        let is_refused = renewal.has_alternatives()
            && matches!(
                error,
                CallError::Busy { .. } | CallError::UnknownObject { .. }
            );
        // The error of a call that was being sent does not know whether the method is idempotent.
        let is_repeatable = error.outcome() == Outcome::MayHaveRun && self.method.is_idempotent();
        if is_final
            || !(error.is_disconnected() || is_refused)
            || !(error.can_be_repeated() || is_repeatable)
        {
            return false;
        }
        let (times, most) = match is_refused {
            true => (&mut self.refused_repetitions, REFUSED_REPETITIONS),
            false => (&mut self.uncertain_repetitions, UNCERTAIN_REPETITIONS),
        };
        if is_refused || error.outcome() != Outcome::DidNotRun {
            *times = times.saturating_add(1);
            // Asked last, because asking takes from the budget.
            if *times > most || !renewal.takes_repetition() {
                return false;
            }
        }
        if let Some(import) = self.object.import() {
            // Before the wait begins, so that the object is not found again at the server that has
            // just refused the call.
            report(renewal.as_ref(), import, error);
        }
        self.begin_wait(renewal.clone());
        true
    }

    /// Begins to wait for the object, for the rest of the patience: a server that takes the call
    /// and does not run it must not make it wait for ever.
    fn begin_wait(&mut self, renewal: Arc<dyn Renewal>) {
        let patience = self.patience.unwrap_or_else(|| renewal.patience());
        self.patience = Some(patience);
        self.waiting = Some(RenewalWait::new(renewal, patience, self.deadline));
    }

    fn pause_after(&mut self, error: &CallError) -> Option<Instant> {
        let retries = self.retries?;
        let is_in_vain = matches!(
            error,
            CallError::Arguments { .. }
                | CallError::Deadline { .. }
                | CallError::UnknownObject { .. }
                | CallError::UnknownMethod { .. }
                | CallError::OtherVersion { .. }
                | CallError::Denied { .. }
                | CallError::Layer { .. }
                | CallError::Refused { .. }
        );
        let connection = self.object.connection();
        // A pause does not open a connection again. Stubs that were found by name have waited for
        // another one before this.
        let has_ended = connection.is_none_or(|connection| connection.peer().has_ended());
        if is_in_vain || has_ended || !error.can_be_repeated() || self.times >= retries.most {
            return None;
        }
        // A shift by 32 or more would be an overflow. The longest pause is the limit anyway.
        let factor = 1u32.checked_shl(self.times).unwrap_or(u32::MAX);
        let pause = retries.pause.saturating_mul(factor);
        let pause = pause.min(retries.longest_pause);
        self.times = self.times.saturating_add(1);
        let stated = match error {
            CallError::Busy { retry_after, .. } => *retry_after,
            _ => None,
        };
        self.end_of_pause(pause.max(stated.map_or(Duration::ZERO, with_jitter)))
    }

    /// Returns the end of the pause after a refusal by the only server that has the object, if it
    /// has said when to try again. Such a stub retries without being asked, because it was found by
    /// name, like stubs that look for their object over another connection.
    fn pause_after_refusal(&mut self, error: &CallError) -> Option<Instant> {
        let CallError::Busy {
            retry_after: Some(pause),
            ..
        } = error
        else {
            return None;
        };
        let renewal = self.object.renewal()?;
        if self.retries.is_some() || renewal.has_alternatives() {
            return None;
        }
        self.refused_repetitions = self.refused_repetitions.saturating_add(1);
        let is_allowed = self.refused_repetitions <= REFUSED_REPETITIONS;
        is_allowed.then(|| self.end_of_pause(with_jitter(*pause)))?
    }

    /// Returns the end of a pause, unless the deadline of the call passes before that.
    fn end_of_pause(&self, pause: Duration) -> Option<Instant> {
        // The deadline is a time of the clock of the object, the pause one of the system clock.
        let over = self.object.clock().now().checked_add(pause)?;
        // A repetition after the deadline can't succeed, so the error of this attempt is reported
        // now instead of a later timeout.
        if self.deadline.is_some_and(|deadline| deadline <= over) {
            return None;
        }
        Instant::now().checked_add(pause)
    }

    /// Serves calls from the peer until the given time.
    pub(crate) fn pause(&self, until: Instant) {
        if let Some(connection) = self.object.connection() {
            // The thread serves meanwhile: the peer may be busy because its methods call this side.
            connection.peer().serve(Some(until));
        }
    }

    /// Returns the wait for the object, if the call waits for it.
    pub(crate) fn waiting(&self) -> Option<&RenewalWait> {
        self.waiting.as_ref()
    }

    /// Polls for the object. The call is sent next if it was found.
    pub(crate) fn poll_renewal(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Result<(), CallError>> {
        let Some(waiting) = &mut self.waiting else {
            return Poll::Ready(Ok(()));
        };
        let polled = waiting.poll(context);
        let elapsed = waiting.elapsed();
        polled.map(|found| self.end_wait(found, elapsed))
    }

    /// Blocks until the object was found.
    pub(crate) fn wait_for_renewal(&mut self) -> Result<(), CallError> {
        let Some(mut waiting) = self.waiting.take() else {
            return Ok(());
        };
        let until = waiting.until();
        // No connection to serve: the one of the call may be gone. Another thread connects.
        let found = until_ready(|| None, until, |context| waiting.poll(context));
        let found = found.unwrap_or_else(|| Err(waiting.failure()));
        self.end_wait(found, waiting.elapsed())
    }

    fn end_wait(
        &mut self,
        found: Result<RenewedObject, RenewalError>,
        elapsed: Duration,
    ) -> Result<(), CallError> {
        self.waiting = None;
        self.patience = self.patience.map(|left| left.saturating_sub(elapsed));
        match found {
            Ok(renewed) => {
                self.object = self.object.at(renewed);
                Ok(())
            }
            Err(error) => Err(error.of_call(self.method.name())),
        }
    }
}

/// Tells the source of an object that its server does not take calls, if that is the error.
fn report(renewal: &dyn Renewal, import: &Import, error: &CallError) {
    match error {
        // The connection is open, but its server accepts no more calls.
        CallError::Ending { .. } => renewal.abandon(import),
        CallError::Busy { retry_after, .. } if renewal.has_alternatives() => {
            renewal.avoid(import, *retry_after);
        }
        _ => {}
    }
}

/// Returns a time that is up to a quarter longer, so that callers that were refused together do not
/// come back together.
fn with_jitter(pause: Duration) -> Duration {
    let quarter = pause.checked_div(4).unwrap_or_default();
    let part = RandomState::new().hash_one(0) >> 40;
    pause.saturating_add(quarter.mul_f64(part as f64 / (1u64 << 24) as f64))
}
