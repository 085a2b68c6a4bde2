//! The handlers of a side.

use std::any::type_name;
use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use jstream::schema::Schema;
use jstream::{Received, Transportable};

use super::executor::{Executor, ThreadPool};
use super::request::Request;
use super::runs::{Later, Runs, Sooner};
use super::task::Place;
use super::turn;

/// What a handler without a type says of what it takes and gives.
pub(super) const RAW: &str = "bytes";

/// The most handlers of a table.
const MOST: usize = 4096;

/// The longest name, in bytes.
pub(super) const LONGEST_NAME: usize = 256;

/// What a handler leaves when it returns.
#[derive(Debug)]
#[must_use = "a request that is dropped comes back to its sender"]
pub enum Outcome {
    /// It has answered, or somebody else is going to.
    Done,
    /// It could not, and has changed nothing: it is run again with the same request, a little later.
    Rerun(Request),
}

impl From<()> for Outcome {
    fn from((): ()) -> Self {
        Self::Done
    }
}

/// The handlers of a side, which the peers of its connections name. Cheap to clone; clones have the same
/// handlers.
///
/// ```
/// use jstream::Received;
/// use jstream_transport::active::Handlers;
///
/// let handlers = Handlers::builder()
///     // Bytes, and a word.
///     .on("echo", |request| request.echo())
///     // Objects.
///     .function("sum", |numbers: Received<Vec<f64>>| numbers.get().iter().sum::<f64>())
///     .build();
/// assert_eq!(handlers.len(), 2);
/// ```
#[derive(Clone)]
pub struct Handlers {
    table: Arc<Table>,
}

struct Table {
    entries: Vec<Entry>,
}

pub(super) struct Entry {
    pub(super) name: String,
    pub(super) takes: u64,
    pub(super) gives: u64,
    pub(super) types: String,
    /// It runs at a worker at once.
    worker: bool,
    budget: Option<Duration>,
    runs: Box<dyn Runs>,
    place: Place,
    pub(super) tally: Tally,
}

/// What has become of a handler's requests.
#[derive(Debug, Default)]
pub(super) struct Tally {
    inline: AtomicU64,
    moved: AtomicU64,
    rerun: AtomicU64,
    refused: AtomicU64,
    overrun: AtomicU64,
    panicked: AtomicU64,
}

/// How handlers ran so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Counters {
    /// Ended in the receive loop, at the first attempt.
    pub ran_inline: u64,
    /// Went on elsewhere: because they waited, because they are to run at a worker, or because the receive loops
    /// of a thread were nested too deep.
    pub moved: u64,
    /// Were run again, each time counted.
    pub rerun: u64,
    /// Were given back for now, by [`Request::nack`].
    pub refused: u64,
    /// Ran in the receive loop for longer than their budget.
    pub overrun: u64,
    /// Panicked at the first attempt.
    pub panicked: u64,
}

impl Tally {
    fn add(count: &AtomicU64) {
        count.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn inline(&self) {
        Self::add(&self.inline);
    }

    pub(super) fn moved(&self) {
        Self::add(&self.moved);
    }

    pub(super) fn rerun(&self) {
        Self::add(&self.rerun);
    }

    pub(super) fn panicked(&self) {
        Self::add(&self.panicked);
    }

    fn counters(&self) -> Counters {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Counters {
            ran_inline: read(&self.inline),
            moved: read(&self.moved),
            rerun: read(&self.rerun),
            refused: read(&self.refused),
            overrun: read(&self.overrun),
            panicked: read(&self.panicked),
        }
    }
}

impl Handlers {
    /// Begins a table.
    pub fn builder() -> Builder {
        Builder {
            entries: Vec::new(),
            place: Arc::default(),
            executor: None,
        }
    }

    /// A table without handlers, of a side that only asks.
    #[must_use]
    pub fn none() -> Self {
        Self::builder().build()
    }

    /// How many handlers there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.table.entries.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.table.entries.is_empty()
    }

    /// How the handlers ran so far, all together.
    #[must_use]
    pub fn counters(&self) -> Counters {
        let all = self
            .table
            .entries
            .iter()
            .map(|entry| entry.tally.counters());
        all.fold(Counters::default(), |sum, one| Counters {
            ran_inline: sum.ran_inline.wrapping_add(one.ran_inline),
            moved: sum.moved.wrapping_add(one.moved),
            rerun: sum.rerun.wrapping_add(one.rerun),
            refused: sum.refused.wrapping_add(one.refused),
            overrun: sum.overrun.wrapping_add(one.overrun),
            panicked: sum.panicked.wrapping_add(one.panicked),
        })
    }

    /// How one handler ran so far.
    #[must_use]
    pub fn counters_of(&self, name: &str) -> Option<Counters> {
        let mut entries = self.table.entries.iter();
        let entry = entries.find(|entry| entry.name == name)?;
        Some(entry.tally.counters())
    }

    pub(super) fn entries(&self) -> &[Entry] {
        &self.table.entries
    }

    pub(super) fn count_nack(&self, number: u16) {
        if let Some(entry) = self.entry(number) {
            Tally::add(&entry.tally.refused);
        }
    }

    #[inline]
    pub(super) fn entry(&self, number: u16) -> Option<&Entry> {
        self.table.entries.get(usize::from(number))
    }
}

impl Entry {
    /// Whether what can't be nested any deeper is run elsewhere soon.
    #[cold]
    fn has_room(&self) -> bool {
        self.place.get().is_none_or(|executor| executor.has_room())
    }

    /// Runs the handler: here, unless it is to run elsewhere.
    #[inline]
    pub(super) fn run(&self, request: Request, nested: bool) {
        if self.worker || nested {
            if nested && !self.has_room() {
                return request.nack();
            }
            self.tally.moved();
            return self.runs.send(request, self);
        }
        let Some(budget) = self.budget else {
            return turn::handling(|| self.runs.run(request, self));
        };
        let begun = Instant::now();
        turn::handling(|| self.runs.run(request, self));
        let took = begun.elapsed();
        if took > budget {
            Tally::add(&self.tally.overrun);
            tracing::warn!(handler = %self.name, ?took, ?budget, "ran over its budget");
        }
    }
}

impl fmt::Debug for Handlers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.table.entries.iter().map(|entry| &entry.name);
        f.debug_list().entries(names).finish()
    }
}

/// What handlers are named with; see [`Handlers::builder`].
///
/// What is said of a handler beside its name is said right behind it.
#[must_use = "handlers are there when they are built"]
pub struct Builder {
    entries: Vec<Entry>,
    place: Place,
    executor: Option<Arc<dyn Executor>>,
}

impl Builder {
    /// A handler of bytes, in a function.
    ///
    /// It runs in the receive loop, so it should not wait for long. While it does, by
    /// [waiting](super::Ticket::wait) for an answer itself, other requests are served inside it.
    ///
    /// # Panics
    ///
    /// As [`on_async`](Self::on_async).
    pub fn on<O, F>(self, name: &str, handler: F) -> Self
    where
        O: Into<Outcome>,
        F: Fn(Request) -> O + Send + Sync + 'static,
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
        let runs = Box::new(Sooner::new(handler, &self.place));
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

    /// Has the handler named last counted and reported (as a warning of `tracing`) when it runs in the receive loop
    /// for longer than `budget` at a time. Costs two looks at the clock for each request.
    pub fn budget(mut self, budget: Duration) -> Self {
        if let Some(entry) = self.entries.last_mut() {
            entry.budget = Some(budget);
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
            budget: None,
            runs,
            place: self.place.clone(),
            tally: Tally::default(),
        });
        self
    }
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("handlers", &self.entries.len())
            .finish_non_exhaustive()
    }
}

/// The descriptors of what a function takes and gives.
pub(super) fn descriptors<T, R>() -> (u64, u64)
where
    T: Transportable + 'static,
    R: Transportable + 'static,
{
    let (takes, root) = Schema::of::<T>();
    let (gives, result) = Schema::of::<R>();
    (takes.descriptor(root), gives.descriptor(result))
}

/// Both in words.
pub(super) fn types<T, R>() -> String {
    format!("{} -> {}", type_name::<T>(), type_name::<R>())
}
