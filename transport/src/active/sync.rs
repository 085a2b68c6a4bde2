//! Synchronization primitives of `std`, or of loom in models, which tries all interleavings.

#[cfg(loom)]
pub(super) use loom::sync::{
    Condvar, Mutex, MutexGuard,
    atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering},
};
use std::sync::PoisonError;
#[cfg(not(loom))]
pub(super) use std::sync::{
    Condvar, Mutex, MutexGuard,
    atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering},
};
use std::time::Duration;

/// Locks a mutex and ignores poisoning: the locked state is consistent between statements, so a
/// panic can't leave it half changed.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(super) fn wait<'m, T>(changed: &Condvar, guard: MutexGuard<'m, T>) -> MutexGuard<'m, T> {
    changed.wait(guard).unwrap_or_else(PoisonError::into_inner)
}

/// As [`wait`], for `time` at most. Loom has no time, so there it returns immediately.
pub(super) fn wait_for<'m, T>(
    mutex: &'m Mutex<T>,
    changed: &Condvar,
    guard: MutexGuard<'m, T>,
    time: Duration,
) -> MutexGuard<'m, T> {
    #[cfg(loom)]
    {
        let _ = (changed, time);
        drop(guard);
        lock(mutex)
    }
    #[cfg(not(loom))]
    {
        let _ = mutex;
        let waited = changed.wait_timeout(guard, time);
        waited.unwrap_or_else(PoisonError::into_inner).0
    }
}
