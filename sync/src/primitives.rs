//! Synchronisation primitives: those of `std`, or those of loom, which explores all interleavings.

use std::sync::{LockResult, PoisonError};
use std::time::Duration;

#[cfg(loom)]
pub use loom::{
    cell::UnsafeCell,
    sync::atomic::{
        AtomicBool, AtomicIsize, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
    },
    sync::{Arc, Condvar, Mutex, MutexGuard},
};
#[cfg(not(loom))]
pub use std::sync::{
    Arc, Condvar, Mutex, MutexGuard,
    atomic::{
        AtomicBool, AtomicIsize, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
    },
};

/// `UnsafeCell` of `std` with loom's interface.
#[cfg(not(loom))]
#[derive(Debug)]
pub struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

#[cfg(not(loom))]
impl<T> UnsafeCell<T> {
    /// Creates a cell.
    pub fn new(value: T) -> Self {
        Self(std::cell::UnsafeCell::new(value))
    }

    /// Calls `f` with a pointer to the value.
    #[inline]
    pub fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
        f(self.0.get())
    }
}

/// A value in its own pair of cache lines. Processors prefetch lines in pairs.
#[repr(align(128))]
#[derive(Debug, Default)]
pub struct CacheLines<T>(pub T);

/// Returns the guard or the value of a lock and ignores poisoning: the locked data is consistent
/// between any two statements, so a panic cannot leave it half changed.
#[inline]
pub fn unpoisoned<G>(locked: LockResult<G>) -> G {
    locked.unwrap_or_else(PoisonError::into_inner)
}

/// Locks a mutex and ignores poisoning, as [`unpoisoned`] does.
#[cfg(not(loom))]
#[inline]
pub fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    unpoisoned(mutex.lock())
}

/// Locks a mutex of loom or of `std`. Code that no model executes uses the latter.
#[cfg(loom)]
pub fn lock<M: AnyMutex + ?Sized>(mutex: &M) -> M::Guard<'_> {
    mutex.lock_unpoisoned()
}

/// A mutex of loom or of `std`.
#[cfg(loom)]
pub trait AnyMutex {
    /// The guard of the mutex.
    type Guard<'m>
    where
        Self: 'm;

    /// Implements [`lock`].
    fn lock_unpoisoned(&self) -> Self::Guard<'_>;
}

#[cfg(loom)]
impl<T: ?Sized> AnyMutex for Mutex<T> {
    type Guard<'m>
        = MutexGuard<'m, T>
    where
        T: 'm;

    fn lock_unpoisoned(&self) -> MutexGuard<'_, T> {
        unpoisoned(self.lock())
    }
}

#[cfg(loom)]
impl<T: ?Sized> AnyMutex for std::sync::Mutex<T> {
    type Guard<'m>
        = std::sync::MutexGuard<'m, T>
    where
        T: 'm;

    fn lock_unpoisoned(&self) -> std::sync::MutexGuard<'_, T> {
        unpoisoned(self.lock())
    }
}

/// Waits for a notification, and ignores poisoning as [`lock`] does.
pub fn wait<'m, T>(changed: &Condvar, guard: MutexGuard<'m, T>) -> MutexGuard<'m, T> {
    unpoisoned(changed.wait(guard))
}

/// As [`wait`], for `time` at most. Loom has no time, so there it returns immediately.
pub fn wait_for<'m, T>(
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
        unpoisoned(changed.wait_timeout(guard, time)).0
    }
}
