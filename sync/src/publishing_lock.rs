//! A lock that publishes a summary of its state whenever it is released.
//!
//! Many states have a lock, and a word that other threads read without it: the number of waiters,
//! or whether there is work. The word has to be stored, and sleeping threads have to be notified,
//! before the lock is released. A [`PublishingLock`] does both when its [guard](PublishingGuard) is
//! dropped, and before a thread that has the guard [waits](PublishingGuard::wait). So each release
//! publishes, on each path of each caller, also while a panic unwinds. Only this module stores the
//! word.
//!
//! A release takes three steps under the lock:
//!
//! 1. The state [prepares](Publish::prepare) what depends on the release, and may change.
//! 2. Its [summary](Publish::summary) is computed, and stored if it has changed.
//! 3. The state [notifies](Publish::notify) those who wait.
//!
//! If the summary is the same as before and the state [is quiet](Publish::is_quiet), these two
//! checks are the whole cost. They are inlined; the steps are not.
//!
//! The steps run under the lock, so they must not call the program. A step hands wakers and other
//! calls to [`callbacks`](crate::callbacks), which run them when the thread holds no lock. The
//! guard of such a state is in a [`DeferringGuard`](crate::callbacks::DeferringGuard), or beside a
//! [`Deferral`](crate::callbacks::Deferral) that is dropped after it.
//!
//! Decision 117 has the reasons.

mod summary;

use std::fmt;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::sync::TryLockError;
use std::time::Duration;

use self::summary::sealed::Store;
pub use self::summary::{Summary, Word};
use crate::{AtomicU32, Condvar, Mutex, MutexGuard, Ordering, lock, unpoisoned, wait, wait_for};

/// A state that is published whenever its lock is released.
pub trait Publish {
    /// The words that threads read without the lock.
    type Summary: Summary;

    /// Means to notify threads, and other parts that are used without the lock.
    type Listeners;

    /// Computes the summary.
    fn summary(&self) -> <Self::Summary as Summary>::Value;

    /// Returns true if a release has nothing to do besides storing the summary.
    #[inline]
    fn is_quiet(&mut self, _: &Self::Listeners) -> bool {
        true
    }

    /// Does what depends on the release, before the summary is computed.
    fn prepare(&mut self, _: &Self::Listeners) {}

    /// Notifies those who wait, after the summary was stored. `before` is the previous summary.
    fn notify(&mut self, _: &Self::Listeners, before: <Self::Summary as Summary>::Value) {
        let _ = before;
    }
}

/// A state, its lock, and its summary.
pub struct PublishingLock<S: Publish> {
    summary: S::Summary,
    listeners: S::Listeners,
    state: Mutex<S>,
}

/// Guard of a locked state. Dropping it publishes the state, and then releases the lock.
#[must_use = "the lock is released at once if the guard is not used"]
pub struct PublishingGuard<'l, S: Publish> {
    lock: &'l PublishingLock<S>,
    /// Taken out when the guard is dropped.
    state: ManuallyDrop<MutexGuard<'l, S>>,
}

impl<S: Publish> PublishingLock<S> {
    /// Creates the lock of a state, with the summary of that state.
    pub fn new(state: S, listeners: S::Listeners) -> Self {
        Self {
            summary: S::Summary::new(state.summary()),
            listeners,
            state: Mutex::new(state),
        }
    }

    /// Locks the state. Poisoning is ignored, because the state is consistent after every
    /// statement.
    #[inline]
    pub fn lock(&self) -> PublishingGuard<'_, S> {
        self.guard(lock(&self.state))
    }

    /// Locks the state unless another thread has locked it.
    #[inline]
    pub fn try_lock(&self) -> Option<PublishingGuard<'_, S>> {
        self.try_lock_state().map(|state| self.guard(state))
    }

    /// Locks the state. While this thread waits for the lock, it counts in `waiting`.
    #[inline]
    pub fn lock_counted(&self, waiting: &AtomicU32) -> PublishingGuard<'_, S> {
        let state = match self.try_lock_state() {
            Some(state) => state,
            None => self.lock_slowly(waiting),
        };
        self.guard(state)
    }

    /// Returns the state. Exclusive access needs no lock, and publishes nothing.
    pub fn get_mut(&mut self) -> &mut S {
        unpoisoned(self.state.get_mut())
    }

    /// Returns the summary as of the last release.
    #[inline]
    pub fn summary(&self) -> &S::Summary {
        &self.summary
    }

    /// Returns the means to notify threads.
    #[inline]
    pub fn listeners(&self) -> &S::Listeners {
        &self.listeners
    }

    #[inline(always)]
    fn try_lock_state(&self) -> Option<MutexGuard<'_, S>> {
        match self.state.try_lock() {
            Ok(state) => Some(state),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Returns the mutex's guard, which fits registers.
    #[cold]
    fn lock_slowly(&self, waiting: &AtomicU32) -> MutexGuard<'_, S> {
        waiting.fetch_add(1, Ordering::Relaxed);
        let state = lock(&self.state);
        waiting.fetch_sub(1, Ordering::Relaxed);
        state
    }

    /// Returns the guard of the locked state.
    #[inline(always)]
    fn guard<'l>(&'l self, state: MutexGuard<'l, S>) -> PublishingGuard<'l, S> {
        PublishingGuard {
            lock: self,
            state: ManuallyDrop::new(state),
        }
    }

    /// Returns true if a release has to publish nothing.
    #[inline(always)]
    fn is_published(&self, state: &mut S) -> bool {
        state.is_quiet(&self.listeners) && state.summary() == self.summary.load()
    }

    /// Takes the steps of a release.
    #[inline(always)]
    fn publish(&self, state: &mut S) {
        state.prepare(&self.listeners);
        let before = self.summary.load();
        let now = state.summary();
        if before != now {
            self.summary.store(now);
        }
        state.notify(&self.listeners, before);
    }

    /// Publishes the state if it has to be, and releases the lock. Takes the mutex's guard by
    /// value: that stays in registers, and is dropped also if a step panics.
    #[inline(always)]
    fn release(&self, mut state: MutexGuard<'_, S>) {
        if self.is_published(&mut state) {
            drop(state);
        } else {
            self.publish_and_release(state);
        }
    }

    #[inline(never)]
    fn publish_and_release(&self, mut state: MutexGuard<'_, S>) {
        self.publish(&mut state);
    }
}

impl<'l, S: Publish> PublishingGuard<'l, S> {
    /// Publishes the state, releases the lock, and waits for a notification of `changed`, for
    /// `time` at most. The lock is held again on return.
    pub fn wait(mut self, changed: &Condvar, time: Option<Duration>) -> Self {
        self.publish();
        let (lock, state) = self.into_parts();
        let state = match time {
            None => wait(changed, state),
            Some(time) => wait_for(&lock.state, changed, state, time),
        };
        lock.guard(state)
    }

    /// Drops the guard. The check of a release is inlined, which the compiler may not do for a drop
    /// at the end of a scope. For hot paths only.
    #[inline(always)]
    pub fn release(self) {
        let (lock, state) = self.into_parts();
        lock.release(state);
    }

    /// Publishes the state before the lock is released, for a thread that then checks what others
    /// do which look at the summary.
    pub fn publish(&mut self) {
        if !self.lock.is_published(&mut self.state) {
            self.lock.publish(&mut self.state);
        }
    }

    /// Takes the guard apart, without publishing the state.
    #[inline(always)]
    fn into_parts(self) -> (&'l PublishingLock<S>, MutexGuard<'l, S>) {
        let mut guard = ManuallyDrop::new(self);
        // SAFETY: `guard` is neither used nor dropped from here on, so the guard of the mutex is
        // taken once.
        let state = unsafe { ManuallyDrop::take(&mut guard.state) };
        (guard.lock, state)
    }
}

/// Mistakes, which the models must find.
#[cfg(all(test, loom))]
impl<S: Publish> PublishingGuard<'_, S> {
    pub(crate) fn release_before_publishing(self) {
        let now = self.state.summary();
        let (lock, state) = self.into_parts();
        drop(state);
        lock.summary.store(now);
    }

    pub(crate) fn release_silently(self) {
        self.lock.summary.store(self.state.summary());
        drop(self.into_parts());
    }

    pub(crate) fn wait_silently(self, changed: &Condvar) -> Self {
        let (lock, state) = self.into_parts();
        let state = wait(changed, state);
        lock.guard(state)
    }
}

impl<S: Publish> Drop for PublishingGuard<'_, S> {
    #[inline(always)]
    fn drop(&mut self) {
        // SAFETY: The guard is dropped, so this is the last use of the field. `into_parts`, which
        // takes it as well, does not drop the guard.
        let state = unsafe { ManuallyDrop::take(&mut self.state) };
        self.lock.release(state);
    }
}

impl<S: Publish> Deref for PublishingGuard<'_, S> {
    type Target = S;

    #[inline]
    fn deref(&self) -> &S {
        &self.state
    }
}

impl<S: Publish> DerefMut for PublishingGuard<'_, S> {
    #[inline]
    fn deref_mut(&mut self) -> &mut S {
        &mut self.state
    }
}

impl<S: Publish + fmt::Debug> fmt::Debug for PublishingLock<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PublishingLock")
            .field("state", &self.state)
            .finish_non_exhaustive()
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
