//! How handlers are named.

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use jstream::{Received, Transportable};

use super::{Entry, Handlers, LONGEST_NAME, Outcome, RAW, Table, Tally, descriptors, types};
use crate::active::budget::Budget;
use crate::active::executor::{Executor, ThreadPool};
use crate::active::request::Request;
use crate::active::runs::{Later, Runs, Sooner};
use crate::active::task::Place;

/// The most handlers of a table.
const MOST: usize = 4096;

/// What handlers are named with; see [`Handlers::builder`].
///
/// What is said of a handler beside its name is said right behind it.
#[must_use = "handlers are there when they are built"]
pub struct Builder {
    pub(super) entries: Vec<Entry>,
    pub(super) place: Place,
    pub(super) executor: Option<Arc<dyn Executor>>,
}

impl Builder {
    pub(super) fn new() -> Self {
        Self {
            entries: Vec::new(),
            place: Arc::default(),
            executor: None,
        }
    }

    /// A handler of bytes, in a function.
    ///
    /// It runs in the receive loop, so it should not wait for long. While it does, by
    /// [waiting](crate::active::Ticket::wait) for an answer itself, other requests are served inside it.
    ///
    /// # Panics
    ///
    /// As [`on_async`](Self::on_async).
    pub fn on<O, F>(self, name: &str, handler: F) -> Self
    where
        O: Into<Outcome>,
        F: Fn(Request) -> O + Send + Sync + 'static,
    {
        self.on_lent(name, taking(handler))
    }

    /// The same of one that takes its request from where it is: what is passed on is copied each time. A request that it
    /// leaves there comes back to its sender as one that is dropped does, or, where the handler panics, as one whose handler
    /// has.
    ///
    /// # Panics
    ///
    /// As [`on_async`](Self::on_async).
    #[doc(hidden)]
    pub fn on_lent<F>(self, name: &str, handler: F) -> Self
    where
        F: Fn(&mut Option<Request>) -> Outcome + Send + Sync + 'static,
    {
        let runs = Box::new(Sooner::new(handler, &self.place));
        self.add(name, (0, 0), format!("{RAW} -> {RAW}"), runs)
    }

    /// A handler of bytes, in an `async` function. It is polled once in the receive loop; if it has to wait, it
    /// goes on elsewhere, as it is.
    ///
    /// # Panics
    ///
    /// When there is one of that name, when the name is longer than 256 bytes, or when there are 4,096 handlers.
    pub fn on_async<F, Fut>(self, name: &str, handler: F) -> Self
    where
        F: Fn(Request) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = ()> + Send + 'static,
    {
        let runs = Box::new(Later::new(handler, &self.place));
        self.add(name, (0, 0), format!("{RAW} -> {RAW}"), runs)
    }

    /// A function from an object, which stands in the receive buffer and which it may keep, to another one.
    ///
    /// # Panics
    ///
    /// As [`on_async`](Self::on_async).
    pub fn function<T, R, F>(self, name: &str, function: F) -> Self
    where
        T: Transportable + 'static,
        R: Transportable + 'static,
        F: Fn(Received<T>) -> R + Send + Sync + 'static,
    {
        let handler = move |request: Request| {
            if let Some((object, replier)) = request.read::<T>() {
                replier.reply_object(&function(object));
            }
        };
        let runs = Box::new(Sooner::new(taking(handler), &self.place));
        self.add(name, descriptors::<T, R>(), types::<T, R>(), runs)
    }

    /// The same in an `async` function.
    ///
    /// # Panics
    ///
    /// As [`on_async`](Self::on_async).
    pub fn async_function<T, R, F, Fut>(self, name: &str, function: F) -> Self
    where
        T: Transportable + 'static,
        Received<T>: Send,
        R: Transportable + Send + 'static,
        F: Fn(Received<T>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = R> + Send + 'static,
    {
        let function = Arc::new(function);
        let handler = move |request: Request| {
            let function = function.clone();
            async move {
                if let Some((object, replier)) = request.read::<T>() {
                    let result = function(object).await;
                    replier.reply_object(&result);
                }
            }
        };
        let runs = Box::new(Later::new(handler, &self.place));
        self.add(name, descriptors::<T, R>(), types::<T, R>(), runs)
    }

    /// The handler named last runs at a worker at once: it is known to wait, or to compute for long.
    pub fn worker(mut self) -> Self {
        if let Some(entry) = self.entries.last_mut() {
            entry.worker = true;
        }
        self
    }

    /// The handler named last never waits: it runs where it is received, however deep handlers are nested.
    pub fn short(mut self) -> Self {
        if let Some(entry) = self.entries.last_mut() {
            entry.short = true;
        }
        self
    }

    /// Messages for the handler named last whose words have one of these bits are shown to `first`, one at a time in the
    /// order in which they come over each connection, before more is received: it may [keep](Request::keep) something with
    /// a request, or keep the request itself and have it [run](Request::run_again) later. It may not wait, answer, or
    /// drop one.
    pub fn in_order<F>(mut self, bits: u64, first: F) -> Self
    where
        F: Fn(Request) -> Option<Request> + Send + Sync + 'static,
    {
        if let Some(entry) = self.entries.last_mut() {
            entry.first = Some((bits, Box::new(first)));
        }
        self
    }

    /// Has the handler named last counted and reported (as a warning of `tracing`) when it runs in the receive loop
    /// for longer than `budget` at a time, and with it what it wakes (default: 10 ms). Waiting for answers does not
    /// count. Budgets of 10 ms and more are watched to the tick of the system's clock, 1 to 10 ms; shorter ones cost two
    /// looks at the clock for each request.
    pub fn budget(mut self, budget: Duration) -> Self {
        if let Some(entry) = self.entries.last_mut() {
            entry.budget = Budget::of(budget);
        }
        self
    }

    /// Where handlers go that wait (default: a [`ThreadPool`] of as many threads as there are processors).
    pub fn executor(mut self, executor: Arc<dyn Executor>) -> Self {
        self.executor = Some(executor);
        self
    }

    /// The table.
    #[must_use]
    pub fn build(self) -> Handlers {
        let executor = self
            .executor
            .unwrap_or_else(|| Arc::new(ThreadPool::default()));
        let _ = self.place.set(executor);
        Handlers {
            table: Arc::new(Table {
                entries: self.entries,
            }),
        }
    }

    fn add(mut self, name: &str, of: (u64, u64), types: String, runs: Box<dyn Runs>) -> Self {
        let is_new = self.entries.iter().all(|entry| entry.name != name);
        assert!(is_new, "there is a handler \"{name}\" already");
        assert!(
            name.len() <= LONGEST_NAME,
            "the name of a handler is too long"
        );
        assert!(self.entries.len() < MOST, "there are too many handlers");
        self.entries.push(Entry {
            name: name.to_owned(),
            takes: of.0,
            gives: of.1,
            types,
            worker: false,
            short: false,
            first: None,
            budget: Budget::default(),
            runs,
            place: self.place.clone(),
            tally: Tally::default(),
        });
        self
    }
}

/// A handler that takes its request.
fn taking<O, F>(handler: F) -> impl Fn(&mut Option<Request>) -> Outcome + Send + Sync + 'static
where
    O: Into<Outcome>,
    F: Fn(Request) -> O + Send + Sync + 'static,
{
    move |lent| match lent.take() {
        Some(request) => handler(request).into(),
        None => Outcome::Done,
    }
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("handlers", &self.entries.len())
            .finish_non_exhaustive()
    }
}
