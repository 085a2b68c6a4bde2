//! Execution of a schedule step by step, for an operation that was posted in a scope.
//!
//! Decision 090 has the reasons.

use std::cell::RefCell;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::Waker;
use std::thread;
use std::time::Duration;

use jstream_collective::{Schedule, Step};
use jstream_device::deadline::Deadline;

use super::execution::{Execution, messages};
use super::round::Round;
use super::scratch::Scratch;
use crate::element::Element;
use crate::error::Error;
use crate::progress::PostedOperation;
use crate::scope::Scope;

/// The result of an operation, or the panic of a function of the user.
type Outcome = thread::Result<Result<(), Error>>;

/// A posted operation. The list of its thread, and so its scope, keeps it until it has ended.
pub(super) struct PostedExecution<'scope, 'env, E: Element, C: Fn(&E, &E) -> E> {
    scope: &'scope Scope<'scope, 'env>,
    stepper: RefCell<Stepper<'scope, E, C>>,
}

/// An execution whose rounds are posted.
///
/// If it fails, the rest of the schedule is executed in the reduced form that [`Execution`]
/// describes, step by step too.
struct Stepper<'scope, E: Element, C: Fn(&E, &E) -> E> {
    execution: Execution<'scope, E, C, Arc<Schedule>>,
    /// INVARIANT: while messages of the round have not ended, nothing else accesses the memory of
    /// the execution, and the operation has not ended.
    round: Round<'scope>,
    /// Number of rounds that have begun.
    rounds: usize,
    /// The first failure.
    failure: Option<Outcome>,
    has_ended: bool,
    /// The outcome, until it is taken.
    outcome: Option<Outcome>,
}

impl<'scope, 'env, E: Element, C: Fn(&E, &E) -> E> PostedExecution<'scope, 'env, E, C> {
    /// Creates an operation without executing any of its steps.
    pub(super) fn new(
        scope: &'scope Scope<'scope, 'env>,
        mut execution: Execution<'scope, E, C, Arc<Schedule>>,
    ) -> Self {
        let failure = execution.begin().err().map(|error| Ok(Err(error)));
        Self {
            scope,
            stepper: RefCell::new(Stepper {
                execution,
                round: Round::default(),
                rounds: 0,
                failure,
                has_ended: false,
                outcome: None,
            }),
        }
    }
}

impl<'scope, E: Element, C: Fn(&E, &E) -> E> Stepper<'scope, E, C> {
    fn advance(&mut self, scope: &'scope Scope<'scope, '_>) {
        // A round without messages is over at once, so several steps may follow one another here.
        while !self.has_ended && self.round.poll(scope, self.execution.party()) {
            self.end_round();
            let schedule = self.execution.schedule();
            let steps = schedule.steps();
            let steps = steps.get(self.execution.next..).unwrap_or_default();
            match steps.first() {
                None => self.end(),
                Some(Step::Copy { .. } | Step::Combine { .. }) => self.work(steps),
                Some(_) => self.post(scope, messages(steps)),
            }
        }
    }

    fn end_round(&mut self) {
        let errors = self.round.take_errors();
        // The operation reports its first failure.
        if self.failure.is_some() {
            return;
        }
        // Each rank that disagrees has to be told. The first error is that of the operation.
        for error in errors.into_iter().rev() {
            let error = self.execution.record_failure(error);
            self.failure = Some(Ok(Err(error)));
        }
    }

    /// Executes a step without messages.
    fn work(&mut self, steps: &[Step]) {
        let Self {
            execution, failure, ..
        } = self;
        execution.next = execution.next.saturating_add(1);
        // A failed operation executes only its messages, so that the other ranks go on.
        if let (None, Some(step)) = (&failure, steps.first()) {
            let work = AssertUnwindSafe(|| execution.work(*step));
            // This may be an unrelated call of the thread, so the panic is kept for the owner of
            // the request.
            *failure = catch_unwind(work).err().map(Err);
        }
    }

    /// Posts the messages of the next round.
    fn post(&mut self, scope: &'scope Scope<'scope, '_>, steps: &[Step]) {
        let Self {
            execution, round, ..
        } = self;
        let passed = steps.len().saturating_add(1);
        execution.next = execution.next.saturating_add(passed);
        self.rounds = self.rounds.saturating_add(1);
        if self.failure.is_none() {
            // SAFETY: the memory of the caller is borrowed for `'scope`. The list of the thread
            // keeps the execution in place until the operation has ended, which is when the round
            // has no message left. Until then, `advance` and `give_up` do not access the memory,
            // and dropping the stepper leaks the scratch area.
            unsafe { execution.post(scope, steps, round) };
            return;
        }
        round.post_failures(scope, execution.party(), execution.reason(), steps);
        let is_told = |rank: &usize| {
            let mut steps = steps.iter();
            steps.any(|step| matches!(step, Step::Send { to, .. } if to == rank))
        };
        execution.disagreeing.retain(|rank| !is_told(rank));
    }

    /// Ends the operation, after the ranks that disagree have been told.
    fn end(&mut self) {
        let execution = &mut self.execution;
        let disagreeing = mem::take(&mut execution.disagreeing);
        if disagreeing.is_empty() {
            self.has_ended = true;
            self.outcome = Some(self.failure.take().unwrap_or(Ok(Ok(()))));
        }
        // The notices are one more round, after which this is called again.
        for to in disagreeing {
            let party = execution.party();
            self.round
                .send_failure(party, to, execution.reason(), || party.deadline());
        }
    }

    /// Ends the operation with an error, without waiting for other ranks.
    fn give_up(&mut self, after: Duration) {
        if self.has_ended {
            return;
        }
        self.round.give_up(self.execution.party(), after);
        self.end_round();
        if self.failure.is_none() {
            let error = self.execution.record_failure(Error::TimedOut { after });
            self.failure = Some(Ok(Err(error)));
        }
        self.execution.give_up();
        self.has_ended = true;
        self.outcome = self.failure.take();
    }
}

impl<E: Element, C: Fn(&E, &E) -> E> Drop for Stepper<'_, E, C> {
    fn drop(&mut self) {
        if !self.round.is_over() {
            // Other ranks may still write to the memory.
            let scratch = mem::replace(&mut self.execution.scratch, Scratch::new());
            scratch.leak();
        }
    }
}

impl<E: Element, C: Fn(&E, &E) -> E> PostedOperation for PostedExecution<'_, '_, E, C> {
    fn advance(&self) {
        // A function that a step calls may wait for something, and so arrive here again.
        if let Ok(mut stepper) = self.stepper.try_borrow_mut() {
            stepper.advance(self.scope);
        }
    }

    fn round(&self) -> Option<usize> {
        match self.stepper.try_borrow() {
            Ok(stepper) => (!stepper.has_ended).then_some(stepper.rounds),
            Err(_) => Some(0),
        }
    }

    fn is_over(&self) -> bool {
        self.stepper
            .try_borrow()
            .is_ok_and(|stepper| stepper.has_ended && !matches!(stepper.outcome, Some(Err(_))))
    }

    fn wait(&self) {
        let node = self.scope.rank().node();
        let after = node.inbox.options.collective_timeout;
        while let Some(round) = self.round() {
            let is_next = || {
                // The wait advances the operations of the thread after its first attempt. This one
                // may be ready already.
                self.advance();
                (self.round() != Some(round)).then_some(())
            };
            let waited = node.wait_unlocked(None, || Deadline::after(after), is_next);
            if waited.is_none() {
                match self.stepper.try_borrow_mut() {
                    Ok(mut stepper) => stepper.give_up(after),
                    Err(_) => panic!("a function waits for the operation that calls it"),
                }
            }
        }
    }

    fn fail(&self, error: Error) {
        if let Ok(mut stepper) = self.stepper.try_borrow_mut() {
            stepper.failure.get_or_insert(Ok(Err(error)));
        }
    }

    fn take(&self) -> Option<Outcome> {
        self.stepper.try_borrow_mut().ok()?.outcome.take()
    }

    fn register_task(&self, task: &Waker) -> bool {
        let Ok(stepper) = self.stepper.try_borrow() else {
            return true;
        };
        let inbox = &self.scope.rank().node().inbox;
        // Cloned and dropped without the lock, because both may run code of the program.
        let requests: Vec<_> = stepper.round.requests().collect();
        let tasks: Vec<_> = requests.iter().map(|_| task.clone()).collect();
        drop(stepper);
        let mut replaced = Vec::with_capacity(requests.len());
        let mut state = inbox.lock();
        for (id, task) in requests.into_iter().zip(tasks) {
            let has_ended = state.requests.has_ended(id);
            replaced.push(if has_ended {
                Some(task)
            } else {
                state.requests.set_task(id, task)
            });
            // Its end would wake nobody any more, so the caller has to poll again.
            if has_ended {
                drop(state);
                return false;
            }
        }
        // The caller drains the queues afterwards.
        inbox.attention.withdraw();
        drop(state);
        true
    }
}
