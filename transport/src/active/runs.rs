//! Handlers as a table has them.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use super::handlers::{Entry, Outcome};
use super::request::Request;
use super::task::{Cancel, First, Place, Slots, forget_panic};

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

impl<O, F> Sooner<F>
where
    O: Into<Outcome>,
    F: Fn(Request) -> O + Send + Sync + 'static,
{
    pub(super) fn new(handler: F, place: &Place) -> Self {
        Self {
            handler: Arc::new(handler),
            slots: Slots::new(place.clone()),
        }
    }
}

impl<O, F> Runs for Sooner<F>
where
    O: Into<Outcome>,
    F: Fn(Request) -> O + Send + Sync + 'static,
{
    fn run(&self, request: &mut Option<Request>, entry: &Entry) {
        // The program's own objects are shared, so it guards them with locks, which are poisoned.
        let done = catch_unwind(AssertUnwindSafe(|| match request.take() {
            Some(request) => (self.handler)(request).into(),
            None => Outcome::Done,
        }));
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

/// A function with its request, at a worker.
struct AtWorker<F> {
    handler: Arc<F>,
    request: Option<Request>,
}

impl<F> Unpin for AtWorker<F> {}

impl<O, F> Future for AtWorker<F>
where
    O: Into<Outcome>,
    F: Fn(Request) -> O + Send + Sync + 'static,
{
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let Some(request) = self.request.take() else {
            return Poll::Ready(());
        };
        match (self.handler)(request).into() {
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
