//! Mutex access without poisoning.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a mutex, and ignores poisoning: the guarded data is consistent between statements, so a
/// panic of another thread does no harm.
pub(crate) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
