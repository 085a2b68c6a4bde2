//! Objects of the other side to which this side has references.
//!
//! Decision 078 has the reasons.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};

use rustc_hash::FxHashMap;

use crate::session::connection::Connection;
use crate::support::lock;

/// Reason for which a reference is not accepted.
pub(crate) const TOO_MANY: &str = "the limit of references is reached (max_references)";

/// An object of the other side. Its owner keeps it as long as this exists.
pub(crate) struct Import {
    connection: Connection,
    number: u32,
    /// Number of times that the reference has arrived.
    times: AtomicU64,
    /// True if the object arrived as a reference, and not only by its name.
    leased: AtomicBool,
}

/// The imports of a connection, one for each object.
#[derive(Default)]
pub(crate) struct Imports {
    table: Mutex<ImportTable>,
}

#[derive(Default)]
struct ImportTable {
    objects: FxHashMap<u32, Weak<Import>>,
    leased: usize,
    /// Dropped references that have to be given back.
    dropped: Vec<(u32, u64)>,
}

impl ImportTable {
    /// Queues a dropped reference to be given back. Returns true if the queue was empty.
    fn put_down(&mut self, number: u32, times: u64) -> bool {
        // The caller that made the queue non-empty sets the timer, so that a thousand dropped stubs
        // set it once.
        let is_first = self.dropped.is_empty();
        match self.dropped.last_mut() {
            // Entries with number 0 carry the number of a returned reference instead of a count, so
            // they are not merged.
            Some((last, more)) if *last == number && number != 0 => {
                *more = more.saturating_add(times);
            }
            _ => self.dropped.push((number, times)),
        }
        is_first
    }
}

impl Import {
    /// Returns true if the object has arrived as a reference, and not only by its name.
    pub(crate) fn is_reference(&self) -> bool {
        self.leased.load(Ordering::Relaxed)
    }

    pub(crate) fn connection(&self) -> &Connection {
        &self.connection
    }

    pub(crate) fn number(&self) -> u32 {
        self.number
    }
}

impl Imports {
    /// Records the arrival of an object. Returns `None` if the limit is reached.
    pub(crate) fn enter(
        &self,
        connection: &Connection,
        number: u32,
        leased: bool,
        most: usize,
    ) -> Option<Arc<Import>> {
        let mut table = lock(&self.table);
        // Fails for an object whose last handle is being dropped. It gets a new entry then, and the
        // old one still gives back its own arrivals.
        let known = table.objects.get(&number).and_then(Weak::upgrade);
        if let Some(import) = known {
            import.times.fetch_add(1, Ordering::Relaxed);
            if leased && !import.leased.swap(true, Ordering::Relaxed) {
                table.leased = table.leased.saturating_add(1);
            }
            drop(table);
            return Some(import);
        }
        if table.objects.len() >= most {
            return None;
        }
        let import = Arc::new(Import {
            connection: connection.clone(),
            number,
            times: AtomicU64::new(1),
            leased: AtomicBool::new(leased),
        });
        if leased {
            table.leased = table.leased.saturating_add(1);
        }
        table.objects.insert(number, Arc::downgrade(&import));
        Some(import)
    }

    /// Returns the number of imports, and how many of them have leases.
    pub(crate) fn count(&self) -> (usize, usize) {
        let table = lock(&self.table);
        (table.objects.len(), table.leased)
    }

    /// Takes up to `most` dropped references from the queue.
    pub(crate) fn dropped(&self, most: usize) -> Vec<(u32, u64)> {
        let dropped = &mut lock(&self.table).dropped;
        let count = dropped.len().min(most);
        dropped.drain(..count).collect()
    }

    /// Puts references back into the queue, because they could not be sent.
    pub(crate) fn keep(&self, dropped: Vec<(u32, u64)>) {
        // The order does not matter, since counts are given back and not states.
        lock(&self.table).dropped.extend(dropped);
    }

    /// Queues a dropped reference to be given back. Returns true if the queue was empty.
    pub(crate) fn put_down(&self, number: u32, times: u64) -> bool {
        lock(&self.table).put_down(number, times)
    }

    /// Empties the queue, because the connection has ended.
    pub(crate) fn end(&self) {
        lock(&self.table).dropped.clear();
    }

    fn release(&self, import: &Import) -> bool {
        let mut table = lock(&self.table);
        let known = table.objects.get(&import.number);
        // The object may have arrived again and have a new entry.
        if known.is_some_and(|known| std::ptr::eq(known.as_ptr(), import)) {
            table.objects.remove(&import.number);
        }
        if import.leased.load(Ordering::Relaxed) {
            table.leased = table.leased.saturating_sub(1);
        }
        let times = import.times.load(Ordering::Relaxed);
        table.put_down(import.number, times)
    }
}

impl Drop for Import {
    fn drop(&mut self) {
        // Asked of the connection, because a lane uses the table of the first one.
        let references = self.connection.references();
        // The message is sent by a timer. A stub may be dropped by any thread, also in a task or
        // under a lock of the program, where nothing may block or send.
        if references.imports.release(self) {
            references.schedule_return(&self.connection);
        }
    }
}

impl fmt::Debug for Import {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Import").field(&self.number).finish()
    }
}
