//! The builder of a handler table.

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use jstream::{Received, Transportable};

use super::{
    Entry, Handlers, LONGEST_NAME, Outcome, RAW, RunHandler, Table, Tally, descriptors, types,
};
use crate::budget::Budget;
use crate::executor::{Executor, Place, ThreadPool};
use crate::handler::{AsyncHandler, SyncHandler};
use crate::request::Request;

/// Maximum number of handlers of a table.
const MOST: usize = 4096;

/// Builder of a handler table; see [`Handlers::builder`].
///
/// The options of a handler are set directly after the handler was added.
#[must_use = "handlers are there when they are built"]
pub struct Builder {
    entries: Vec<Entry>,
    place: Place,
    executor: Option<Arc<dyn Executor>>,
}

impl Handlers {
    /// Returns a builder of a handler table.
    pub fn builder() -> Builder {
        Builder::new()
    }

    /// Returns a table without handlers, for a side that only sends requests.
    #[must_use]
    pub fn none() -> Self {
        Self::builder().build()
    }
}

impl Builder {
    fn new() -> Self {
        Self {
            entries: Vec::new(),
            place: Arc::default(),
            executor: None,
        }
    }

    /// Adds a handler of bytes that is a function.
    ///
    /// The handler runs in the receive loop, so it should not block for long. While it
    /// [waits](crate::Ticket::wait) for an answer, other requests are served inside it.
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

    /// As [`on`](Self::on), for a handler that takes its request out of a slot, which avoids
    /// copying the request. A request that is left in the slot is returned to its sender, like one
    /// that is dropped, or as panicked if the handler panics.
    ///
    /// # Panics
    ///
    /// As [`on_async`](Self::on_async).
    #[doc(hidden)]
    pub fn on_lent<F>(self, name: &str, handler: F) -> Self
    where
        F: Fn(&mut Option<Request>) -> Outcome + Send + Sync + 'static,
    {
        let runs = Box::new(SyncHandler::new(handler, &self.place));
        self.add(name, (0, 0), format!("{RAW} -> {RAW}"), runs)
    }

    /// Adds a handler of bytes that is an `async` function. It is polled once in the receive loop;
    /// if it is not ready, it continues elsewhere.
    ///
    /// # Panics
    ///
    /// If there is a handler of that name, if the name is longer than 256 bytes, or if there are
    /// 4,096 handlers.
    pub fn on_async<F, Fut>(self, name: &str, handler: F) -> Self
    where
        F: Fn(Request) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = ()> + Send + 'static,
    {
        let runs = Box::new(AsyncHandler::new(handler, &self.place));
        self.add(name, (0, 0), format!("{RAW} -> {RAW}"), runs)
    }

    /// Adds a function from one object to another. The argument is in the receive buffer, and the
    /// function may keep it.
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
            if let Some((object, replier, is_described)) = request.read_argument::<T>() {
                replier.reply_result(&function(object), is_described);
            }
        };
        let runs = Box::new(SyncHandler::new(taking(handler), &self.place));
        self.add(name, descriptors::<T, R>(), types::<T, R>(), runs)
    }

    /// As [`function`](Self::function), for an `async` function.
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
                if let Some((object, replier, is_described)) = request.read_argument::<T>() {
                    let result = function(object).await;
                    replier.reply_result(&result, is_described);
                }
            }
        };
        let runs = Box::new(AsyncHandler::new(handler, &self.place));
        self.add(name, descriptors::<T, R>(), types::<T, R>(), runs)
    }

    /// Runs the last added handler at a worker from the start, because it is known to wait or to
    /// compute for long.
    pub fn worker(mut self) -> Self {
        if let Some(entry) = self.entries.last_mut() {
            entry.worker = true;
        }
        self
    }

    /// Declares that the last added handler never waits: it runs in the receive loop at any nesting
    /// depth.
    pub fn short(mut self) -> Self {
        if let Some(entry) = self.entries.last_mut() {
            entry.short = true;
        }
        self
    }

    /// Shows messages for the last added handler to `first`, if their words have one of these bits
    /// set: one at a time, in the order of arrival on each connection, before more is received.
    /// `first` may [attach](Request::keep) a value to a request, or keep the request and
    /// [run](Request::run_again) it later. It must not block, answer or drop a request.
    pub fn in_order<F>(mut self, bits: u64, first: F) -> Self
    where
        F: Fn(Request) -> Option<Request> + Send + Sync + 'static,
    {
        if let Some(entry) = self.entries.last_mut() {
            entry.first = Some((bits, Box::new(first)));
        }
        self
    }

    /// Sets the time budget of the last added handler (default 10 ms). If the handler, together
    /// with the tasks that it wakes, runs longer than that in the receive loop, the overrun is
    /// counted and reported as a warning of `tracing`. Waiting for answers does not count. Budgets
    /// of 10 ms and more are measured with the system's coarse clock, which has a resolution of 1
    /// to 10 ms; shorter ones cost two clock readings for each request.
    pub fn budget(mut self, budget: Duration) -> Self {
        if let Some(entry) = self.entries.last_mut() {
            entry.budget = Budget::new(budget);
        }
        self
    }

    /// Sets the executor of handlers that wait (default: a [`ThreadPool`] with one thread per
    /// processor).
    pub fn executor(mut self, executor: Arc<dyn Executor>) -> Self {
        self.executor = Some(executor);
        self
    }

    /// Builds the table.
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

    fn add(mut self, name: &str, of: (u64, u64), types: String, runs: Box<dyn RunHandler>) -> Self {
        let is_new = self.entries.iter().all(|entry| entry.name != name);
        assert!(is_new, "a handler named \"{name}\" exists already");
        assert!(
            name.len() <= LONGEST_NAME,
            "the handler name exceeds {LONGEST_NAME} bytes"
        );
        assert!(
            self.entries.len() < MOST,
            "a table has at most {MOST} handlers"
        );
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

/// Wraps a handler that takes its request.
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
