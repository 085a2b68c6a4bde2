//! Handlers as stored in a table.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::thread;

use super::drop_reason::panicked;
use super::executor::Place;
use super::handlers::{Entry, Outcome, RunHandler};
use super::ledger::Cancel;
use super::request::Request;
use super::task::{First, Slots};
use jstream_sync::panics::forget_panic;

/// A handler that is a synchronous function.
pub(super) struct SyncHandler<F> {
    handler: Arc<F>,
    /// Slots for runs at a worker.
    slots: Arc<Slots<WorkerHandler<F>>>,
}

impl<F> SyncHandler<F>
where
    F: Fn(&mut Option<Request>) -> Outcome + Send + Sync + 'static,
{
    /// Wraps a function that takes the request out of its place.
    pub(super) fn new(handler: F, place: &Place) -> Self {
        Self {
            handler: Arc::new(handler),
            slots: Slots::new(place.clone()),
        }
    }
}

impl<F> RunHandler for SyncHandler<F>
where
    F: Fn(&mut Option<Request>) -> Outcome + Send + Sync + 'static,
{
    fn run(&self, request: &mut Option<Request>, entry: &Entry) {
        // Unwind safety: objects of the program are shared, so they are protected by locks, which
        // are poisoned.
        let mut done = catch_unwind(AssertUnwindSafe(|| (self.handler)(request)));
        // The handler has neither answered nor taken the request.
        if request.is_some() {
            done = left(request, done);
        }
        match done {
            Ok(Outcome::Done) => entry.tally.inline(),
            Ok(Outcome::Rerun(request)) => {
                entry.tally.rerun();
                request.run_later();
            }
            Err(panic) => {
                entry.tally.panicked();
                forget_panic(panic);
            }
        }
    }

    fn send(&self, mut request: Request, _: &Entry) {
        // Made before the request moves into the future.
        let moved = task_registration(&request);
        request.wait();
        let future = WorkerHandler {
            handler: self.handler.clone(),
            request: Some(request),
        };
        self.slots.send(future, moved);
    }
}

/// Returns a request that the handler did not take, before other values of the program are dropped.
#[cold]
fn left(request: &mut Option<Request>, done: thread::Result<Outcome>) -> thread::Result<Outcome> {
    let given_back = catch_unwind(AssertUnwindSafe(|| {
        if done.is_err() {
            panicked(|| drop(request.take()));
        } else {
            drop(request.take());
        }
    }));
    match (done, given_back) {
        (Ok(Outcome::Done), Err(panic)) => Err(panic),
        (done, Err(panic)) => {
            forget_panic(panic);
            done
        }
        (done, Ok(())) => done,
    }
}

/// A function with its request, run at a worker.
struct WorkerHandler<F> {
    handler: Arc<F>,
    request: Option<Request>,
}

impl<F> Unpin for WorkerHandler<F> {}

impl<F> Future for WorkerHandler<F>
where
    F: Fn(&mut Option<Request>) -> Outcome + Send + Sync + 'static,
{
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        match (this.handler)(&mut this.request) {
            Outcome::Done => Poll::Ready(()),
            Outcome::Rerun(request) => {
                self.request = Some(request);
                context.waker().wake_by_ref();
                Poll::Pending
            }
        }
    }
}

/// A handler that is an `async` function.
pub(super) struct AsyncHandler<F, Fut> {
    handler: F,
    slots: Arc<Slots<Fut>>,
}

impl<F, Fut> AsyncHandler<F, Fut>
where
    Fut: Future<Output = ()> + Send + 'static,
{
    pub(super) fn new(handler: F, place: &Place) -> Self {
        Self {
            handler,
            slots: Slots::new(place.clone()),
        }
    }

    /// Creates the future; `None` if that panics.
    fn begin(&self, request: Request, entry: &Entry) -> Option<Fut>
    where
        F: Fn(Request) -> Fut,
    {
        match catch_unwind(AssertUnwindSafe(|| (self.handler)(request))) {
            Ok(future) => Some(future),
            Err(panic) => {
                entry.tally.panicked();
                forget_panic(panic);
                None
            }
        }
    }
}

impl<F, Fut> RunHandler for AsyncHandler<F, Fut>
where
    F: Fn(Request) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = ()> + Send + 'static,
{
    fn run(&self, request: &mut Option<Request>, entry: &Entry) {
        let Some(request) = request.take() else {
            return;
        };
        let moved = task_registration(&request);
        let Some(future) = self.begin(request, entry) else {
            return;
        };
        match self.slots.run(future, moved) {
            First::Ready => entry.tally.inline(),
            First::Moved => entry.tally.moved(),
            First::Panicked => entry.tally.panicked(),
        }
    }

    fn send(&self, mut request: Request, entry: &Entry) {
        let moved = task_registration(&request);
        request.wait();
        if let Some(future) = self.begin(request, entry) {
            self.slots.send(future, moved);
        }
    }
}

/// Returns a function that registers the task of a suspended handler, so that it can be cancelled,
/// and returns true if its request is still wanted.
fn task_registration(request: &Request) -> impl FnOnce(&Arc<dyn Cancel>) -> bool + use<> {
    let mark = request.mark();
    move |task| mark.register_task(task)
}
