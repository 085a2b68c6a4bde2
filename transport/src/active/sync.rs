//! What threads share: of `std`, or of loom, which tries all interleavings.

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

/// A panic elsewhere can't leave what is locked half changed: it holds between statements.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(super) fn wait<'m, T>(changed: &Condvar, guard: MutexGuard<'m, T>) -> MutexGuard<'m, T> {
    changed.wait(guard).unwrap_or_else(PoisonError::into_inner)
}

/// As [`wait`], for so long at most. Loom knows no time: there nobody ends it before.
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
