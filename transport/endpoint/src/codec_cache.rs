//! Cache of writers and readers that are reused from one object to the next.

use std::sync::{Mutex, MutexGuard, PoisonError};

use jstream::{Reader, Writer};

/// Maximum number of cached writers and of cached readers: this many threads can send, or receive,
/// at once without creating new ones.
const KEPT: usize = 8;

/// The writers and readers for the objects of an endpoint.
///
/// A writer or reader is taken out while it is used, and no lock is held meanwhile. The program's
/// code that runs in it, such as adapters, may use the endpoint, which then takes another one.
#[allow(
    clippy::vec_box,
    reason = "a tool is large, and is taken out and put back for each object"
)]
#[derive(Default)]
pub struct CodecCache {
    writers: Mutex<Vec<Box<Writer>>>,
    readers: Mutex<Vec<Box<Reader>>>,
}

impl CodecCache {
    /// Calls `work` with a writer.
    pub fn with_writer<R>(&self, work: impl FnOnce(&mut Writer) -> R) -> R {
        with(&self.writers, work)
    }

    /// Calls `work` with a reader.
    pub fn with_reader<R>(&self, work: impl FnOnce(&mut Reader) -> R) -> R {
        with(&self.readers, work)
    }
}

/// Calls `work` with a cached value. The value is not returned to the cache if `work` panics.
fn with<T: Default, R>(kept: &Mutex<Vec<Box<T>>>, work: impl FnOnce(&mut T) -> R) -> R {
    let mut tool = lock(kept).pop().unwrap_or_default();
    let result = work(&mut tool);
    let mut kept = lock(kept);
    if kept.len() < KEPT {
        kept.push(tool);
    }
    result
}

/// Locks the cache. Poisoning is ignored, because the cache is consistent after every statement.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
