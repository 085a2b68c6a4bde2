//! The handler table of one side.
//!
//! Decision 009 has the reasons.

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
use super::error::Reason;
use super::executor::Place;
use super::request::Request;
use super::turn::{self, Side};
use jstream_sync::callbacks;

/// Type description of a handler that takes and returns bytes.
pub(super) const RAW: &str = "bytes";

/// Maximum length of a handler name in bytes.
pub(super) const LONGEST_NAME: usize = 256;

/// Result of a handler.
#[derive(Debug)]
#[must_use = "a request that is dropped comes back to its sender"]
pub enum Outcome {
    /// The handler has answered, or the answer will be sent by another owner of the request.
    Done,
    /// The handler could not do its work and has changed nothing. It runs again with the same
    /// request, a little later.
    Rerun(Request),
}

impl From<()> for Outcome {
    fn from((): ()) -> Self {
        Self::Done
    }
}

/// The handlers of a side, by the names that peers look up. Cheap to clone; clones share one table.
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

impl Drop for Table {
    /// Drops the handlers, which are code of the program, when this thread holds no lock.
    fn drop(&mut self) {
        // The handlers are closures of the program, and the table may be dropped under a lock.
        let entries = std::mem::take(&mut self.entries);
        callbacks::run(move || drop(entries));
    }
}

/// A handler, type-erased.
pub(super) trait RunHandler: Send + Sync {
    /// Runs the handler in the receive loop. It takes the request out of its place, because passing
    /// a request by value would copy it at each call.
    fn run(&self, request: &mut Option<Request>, entry: &Entry);

    /// Has the handler run by the executor.
    fn send(&self, request: Request, entry: &Entry);
}

/// A bit mask of message words, and the function that sees the matching messages in order.
pub(super) type First = (u64, Box<See>);

/// Function that sees a message, and gives it back unless it keeps it.
pub(super) type See = dyn Fn(Request) -> Option<Request> + Send + Sync;

/// A handler with its settings, on cache lines of its own to avoid false sharing with threads that
/// send requests.
#[repr(align(128))]
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) takes: u64,
    pub(super) gives: u64,
    pub(super) types: String,
    /// True if the handler always runs at a worker.
    worker: bool,
    /// True if the handler never waits.
    short: bool,
    first: Option<First>,
    budget: Budget,
    runs: Box<dyn RunHandler>,
    place: Place,
    pub(super) tally: Tally,
}

impl Handlers {
    /// Returns the number of handlers.
    #[must_use]
    pub fn len(&self) -> usize {
        self.table.entries.len()
    }

    /// Returns true if there are no handlers.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.table.entries.is_empty()
    }

    /// Returns true if both share one table, as clones do.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.table, &other.table)
    }

    /// Returns the counters of all handlers, added up.
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

    /// Returns the counters of one handler.
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
    /// Returns true if the executor would soon run a handler that can't be nested any deeper.
    #[cold]
    fn has_room(&self) -> bool {
        self.place.get().is_none_or(|executor| executor.has_room())
    }

    /// Returns the function that sees a message with that word first, if there is one.
    #[inline]
    pub(super) fn first(&self, word: u64) -> Option<&See> {
        let (mask, see) = self.first.as_ref()?;
        (word & mask != 0).then_some(&**see)
    }

    /// Runs the handler of a request in this thread, unless it has to run elsewhere. Returns a
    /// request that has no handler, or that arrives after the connection was stopped, to its
    /// sender. `side` is the side for which the caller receives; `last` is the clock tick at which
    /// the caller completed its previous work. Returns the tick at which the handler ended, if it
    /// ran here.
    #[inline]
    pub(super) fn run(
        entry: Option<&Self>,
        request: &mut Option<Request>,
        side: Side,
        last: Tick,
    ) -> Tick {
        let Some(here) = request else {
            return Tick::default();
        };
        let link = here.link();
        let (Some(entry), false) = (entry, link.is_stopping()) else {
            give_back(request);
            return Tick::default();
        };
        // A handler that waits serves others on the same stack, so a peer could let it grow without
        // end.
        let nested = !entry.short && turn::depth() >= link.settings.nesting;
        if entry.worker || nested {
            entry.run_elsewhere(request, nested);
            return Tick::default();
        }
        let begun = entry.budget.begin(last);
        here.begin(begun.tick());
        turn::handling(side, || entry.runs.run(request, entry));
        entry.budget.end(&begun, &entry.name, &entry.tally.overrun)
    }

    #[inline(never)]
    fn run_elsewhere(&self, request: &mut Option<Request>, nested: bool) {
        let Some(request) = request.take() else {
            return;
        };
        // The executor might never run it, if all of its threads wait for handlers like this one.
        if nested && !self.has_room() {
            return request.nack();
        }
        self.tally.moved();
        self.runs.send(request, self);
    }
}

/// Returns a request that does not run to its sender.
#[cold]
fn give_back(request: &mut Option<Request>) {
    if let Some(request) = request.take() {
        let reason = match request.link().is_stopping() {
            true => Reason::Ending,
            false => Reason::NoSuchHandler,
        };
        request.give_back(reason, "");
    }
}

impl fmt::Debug for Handlers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.table.entries.iter().map(|entry| &entry.name);
        f.debug_list().entries(names).finish()
    }
}

/// Returns the descriptors of the types that a function takes and returns.
pub(super) fn descriptors<T, R>() -> (u64, u64)
where
    T: Transportable + 'static,
    R: Transportable + 'static,
{
    let (takes, root) = Schema::of::<T>();
    let (gives, result) = Schema::of::<R>();
    (takes.descriptor(root), gives.descriptor(result))
}

/// Returns a description of both types.
pub(super) fn types<T, R>() -> String {
    format!("{} -> {}", type_name::<T>(), type_name::<R>())
}
