//! Mutex access without poisoning, and without callbacks.

use std::sync::{Mutex, MutexGuard};

use jstream_sync::callbacks::DeferringGuard;

/// Locks a mutex and ignores poisoning. Wakers, events and objects of the program that are called
/// or dropped under the lock wait until it is released; see [`jstream_sync::callbacks`].
pub(crate) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> DeferringGuard<MutexGuard<'_, T>> {
    DeferringGuard::new(jstream_sync::lock(mutex))
}
