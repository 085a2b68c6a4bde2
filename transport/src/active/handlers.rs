//! The handlers of a side.

mod builder;
mod counters;

use std::any::type_name;
use std::fmt;
use std::sync::Arc;

use jstream::Transportable;
use jstream::schema::Schema;

pub use self::builder::Builder;
pub use self::counters::Counters;
pub(super) use self::counters::Tally;
use super::budget::{Budget, Tick};
use super::request::Request;
use super::runs::Runs;
use super::task::Place;
use super::turn::{self, Side};

/// What a handler without a type says of what it takes and gives.
pub(super) const RAW: &str = "bytes";

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

/// What sees messages in order, and the bits of their words by which it is known which.
pub(super) type First = (u64, Box<See>);

/// Sees a message, and gives it back unless it keeps it.
pub(super) type See = dyn Fn(Request) -> Option<Request> + Send + Sync;

/// What runs, on cache lines of its own: who asks has its memory elsewhere.
#[repr(align(128))]
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) takes: u64,
    pub(super) gives: u64,
    pub(super) types: String,
    /// It runs at a worker at once.
    worker: bool,
    /// It never waits.
    short: bool,
    first: Option<First>,
    budget: Budget,
    runs: Box<dyn Runs>,
    place: Place,
    pub(super) tally: Tally,
}

impl Handlers {
    /// Begins a table.
    pub fn builder() -> Builder {
        Builder::new()
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

    /// Whether both are one table: clones are.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.table, &other.table)
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
            entry.tally.refused();
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

    /// Who sees a message with that word first, and may keep it.
    #[inline]
    pub(super) fn first(&self, word: u64) -> Option<&See> {
        let (mask, see) = self.first.as_ref()?;
        (word & mask != 0).then_some(&**see)
    }

    /// Runs the handler: here, unless it is to run elsewhere. `side` is for whom its caller receives, and `last` when that was
    /// done with what was before; when this was done, if it ran.
    #[inline]
    pub(super) fn run(&self, request: &mut Option<Request>, side: Side, last: Tick) -> Tick {
        let Some(here) = request else {
            return Tick::default();
        };
        let nested = !self.short && turn::depth() >= here.link().settings.nesting;
        if self.worker || nested {
            self.run_elsewhere(request, nested);
            return Tick::default();
        }
        let begun = self.budget.begin(last);
        here.begin(begun.tick());
        turn::handling(side, || self.runs.run(request, self));
        self.budget.end(&begun, &self.name, &self.tally.overrun)
    }

    #[inline(never)]
    fn run_elsewhere(&self, request: &mut Option<Request>, nested: bool) {
        let Some(request) = request.take() else {
            return;
        };
        if nested && !self.has_room() {
            return request.nack();
        }
        self.tally.moved();
        self.runs.send(request, self);
    }
}

impl fmt::Debug for Handlers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.table.entries.iter().map(|entry| &entry.name);
        f.debug_list().entries(names).finish()
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
