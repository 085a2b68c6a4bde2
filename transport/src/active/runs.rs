//! Handlers as a table has them.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::thread;

use super::handlers::{Entry, Outcome};
use super::request::Request;
use super::task::{Cancel, First, Place, Slots, forget_panic, panicked};

/// A handler.
pub(super) trait Runs: Send + Sync {
    /// Runs it in the receive loop. The request is taken from where it is, as one that is passed on is copied each time.
    fn run(&self, request: &mut Option<Request>, entry: &Entry);

    /// Has it run by the executor.
    fn send(&self, request: Request, entry: &Entry);
}

/// A function.
pub(super) struct Sooner<F> {
    handler: Arc<F>,
    /// For those that run at a worker.
    slots: Arc<Slots<AtWorker<F>>>,
}

impl<F> Sooner<F>
where
    F: Fn(&mut Option<Request>) -> Outcome + Send + Sync + 'static,
{
    /// Of a function that takes its request from where it is.
    pub(super) fn new(handler: F, place: &Place) -> Self {
        Self {
            handler: Arc::new(handler),
            slots: Slots::new(place.clone()),
        }
    }
}

impl<F> Runs for Sooner<F>
where
    F: Fn(&mut Option<Request>) -> Outcome + Send + Sync + 'static,
{
    fn run(&self, request: &mut Option<Request>, entry: &Entry) {
        // The program's own objects are shared, so it guards them with locks, which are poisoned.
        let mut done = catch_unwind(AssertUnwindSafe(|| (self.handler)(request)));
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
        let moved = noted(&request);
        request.wait();
        let future = AtWorker {
            handler: self.handler.clone(),
            request: Some(request),
        };
        self.slots.send(future, moved);
    }
}

/// Gives a request back that its handler has left where it was, before anything else that is the program's is dropped.
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

/// A function with its request, at a worker.
struct AtWorker<F> {
    handler: Arc<F>,
    request: Option<Request>,
}

impl<F> Unpin for AtWorker<F> {}

impl<F> Future for AtWorker<F>
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

/// An `async` function.
pub(super) struct Later<F, Fut> {
    handler: F,
    slots: Arc<Slots<Fut>>,
}

impl<F, Fut> Later<F, Fut>
where
    Fut: Future<Output = ()> + Send + 'static,
{
    pub(super) fn new(handler: F, place: &Place) -> Self {
        Self {
            handler,
            slots: Slots::new(place.clone()),
        }
    }

    /// The future, unless making it panics.
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

impl<F, Fut> Runs for Later<F, Fut>
where
    F: Fn(Request) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = ()> + Send + 'static,
{
    fn run(&self, request: &mut Option<Request>, entry: &Entry) {
        let Some(request) = request.take() else {
            return;
        };
        let moved = noted(&request);
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
        let moved = noted(&request);
        request.wait();
        if let Some(future) = self.begin(request, entry) {
            self.slots.send(future, moved);
        }
    }
}

/// Notes the task of a request that waits, so that it can be cancelled. Whether it is still wanted.
fn noted(request: &Request) -> impl FnOnce(&Arc<dyn Cancel>) -> bool + use<> {
    let mark = request.mark();
    move |task| mark.note(task)
}
