//! Operations that consist of calls.

use std::pin::Pin;
use std::task::{Context, Poll};

use jstream::Transportable;

use crate::call::outgoing::in_flight::Call;
use crate::call::outgoing::reply::Reply;
use crate::support::{CallError, Operation, StepEnd, Steps};

/// A call, and the function that continues with its outcome.
struct CallThen<R: Transportable + 'static, F> {
    call: Option<Call<R>>,
    then: Option<F>,
}

impl<R: Transportable + 'static> Call<R> {
    /// Returns the operation that continues with `then` when this call has ended.
    pub(crate) fn then<T, F>(self, then: F) -> Operation<T>
    where
        T: 'static,
        F: FnOnce(Result<Reply<R>, CallError>) -> StepEnd<T> + Send + 'static,
    {
        Operation::new(CallThen {
            call: Some(self),
            then: Some(then),
        })
    }
}

impl<R, T, F> Steps<T> for CallThen<R, F>
where
    R: Transportable + 'static,
    F: FnOnce(Result<Reply<R>, CallError>) -> StepEnd<T> + Send,
{
    fn wait(mut self: Box<Self>) -> StepEnd<T> {
        match (self.call.take(), self.then.take()) {
            (Some(call), Some(then)) => then(call.outcome()),
            _ => panic!("the operation has already returned its result"),
        }
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<StepEnd<T>> {
        let Some(call) = &mut self.call else {
            panic!("the operation has already returned its result");
        };
        let Poll::Ready(outcome) = Pin::new(call).poll(context) else {
            return Poll::Pending;
        };
        self.call = None;
        match self.then.take() {
            Some(then) => Poll::Ready(then(outcome)),
            None => unreachable!("a call ends once"),
        }
    }
}
