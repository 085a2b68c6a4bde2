//! Writers and readers that are kept from one object to the next.

use std::sync::{Mutex, MutexGuard, PoisonError};

use jstream::{Reader, Writer};

/// How many of each are kept: as many threads send, or receive, at once without making new ones.
const KEPT: usize = 8;

/// What the objects of an endpoint are written and read with.
///
/// A tool is taken out while it is used, and nothing is locked meanwhile: the program's code that runs
/// in it, as adapters do, may use the endpoint, which then takes another tool.
#[allow(
    clippy::vec_box,
    reason = "a tool is large, and is taken out and put back for each object"
)]
pub(crate) struct Tools {
    writers: Mutex<Vec<Box<Writer>>>,
    readers: Mutex<Vec<Box<Reader>>>,
}

impl Tools {
    pub(crate) fn new() -> Self {
        Self {
            writers: Mutex::new(Vec::new()),
            readers: Mutex::new(Vec::new()),
        }
    }

    pub(crate) fn with_writer<R>(&self, work: impl FnOnce(&mut Writer) -> R) -> R {
        with(&self.writers, work)
    }

    pub(crate) fn with_reader<R>(&self, work: impl FnOnce(&mut Reader) -> R) -> R {
        with(&self.readers, work)
    }
}

/// One that a panic comes through is not kept.
fn with<T: Default, R>(kept: &Mutex<Vec<Box<T>>>, work: impl FnOnce(&mut T) -> R) -> R {
    let mut tool = lock(kept).pop().unwrap_or_default();
    let result = work(&mut tool);
    let mut kept = lock(kept);
    if kept.len() < KEPT {
        kept.push(tool);
    }
    result
}

/// A panic elsewhere can't leave what is locked half changed: it holds between statements.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
