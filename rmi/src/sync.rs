//! Locks.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// What these locks guard is consistent between statements, so a panic elsewhere ends nothing.
pub(crate) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
