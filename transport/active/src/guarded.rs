//! Objects with condition waits for handlers.

use std::fmt;
use std::future::Future;
use std::mem;
use std::ops::{Deref, DerefMut};
use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, TryLockError};
use std::task::{Context, Poll, Waker};

use jstream_sync::callbacks;
use jstream_sync::wakers::{WakerList, wake_each};

/// An object with a lock, whose users can wait for a condition: the guards of optimistic active
/// messages (`AwaitValue` in the paper).
///
/// ```
/// use std::sync::Arc;
/// use jstream_transport::active::{Guarded, Handlers};
///
/// let count = Arc::new(Guarded::new(0u64));
/// let (waited, changed) = (count.clone(), count);
/// let handlers = Handlers::builder()
///     .on_async("await value", move |request| {
///         let count = waited.clone();
///         async move {
///             let wanted = request.word();
///             let value = *count.when(|value| *value >= wanted).await;
///             request.reply(value, &[]);
///         }
///     })
///     .on("inc", move |request| {
///         let mut value = changed.lock();
///         *value += 1;
///         let now = *value;
///         drop(value);
///         request.reply(now, &[]);
///     })
///     .build();
/// # assert_eq!(handlers.len(), 2);
/// ```
#[derive(Debug, Default)]
pub struct Guarded<T: ?Sized> {
    waiting: Mutex<ConditionWaiter>,
    object: Mutex<T>,
}

#[derive(Debug, Default)]
struct ConditionWaiter {
    tasks: WakerList,
    /// True if a wait could not check its condition because the object was locked.
    contended: bool,
}

impl<T> Guarded<T> {
    /// Creates a guarded object.
    pub const fn new(object: T) -> Self {
        Self {
            waiting: Mutex::new(ConditionWaiter {
                tasks: WakerList::new(),
                contended: false,
            }),
            object: Mutex::new(object),
        }
    }

    /// Returns the object.
    pub fn into_inner(self) -> T {
        jstream_sync::unpoisoned(self.object.into_inner())
    }
}

impl<T: ?Sized> Guarded<T> {
    /// Locks the object, and blocks until it is free. A handler that holds the lock should not wait
    /// for answers or other events, because other handlers may run inside this wait.
    pub fn lock(&self) -> Held<'_, T> {
        Held {
            guarded: self,
            object: Some(jstream_sync::lock(&self.object)),
            changed: false,
        }
    }

    /// Locks the object if it is free.
    pub fn try_lock(&self) -> Option<Held<'_, T>> {
        let object = match self.object.try_lock() {
            Ok(object) => object,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        Some(Held {
            guarded: self,
            object: Some(object),
            changed: false,
        })
    }

    /// Returns a future that locks the object when it is free and `condition` holds. Waiting tasks
    /// check again whenever the object was changed, in no particular order.
    pub fn when<C: FnMut(&T) -> bool>(&self, condition: C) -> When<'_, T, C> {
        When {
            guarded: self,
            condition,
            key: None,
        }
    }

    /// Locks the list of waits. No code of the program runs under this lock. In particular, no
    /// waker is dropped, because that may drop a task.
    fn waiting(&self) -> MutexGuard<'_, ConditionWaiter> {
        jstream_sync::lock(&self.waiting)
    }

    /// Registers `waker` to be called when the object is unlocked. Returns the locked object if it
    /// is free now. `key` is the key of the wait, assigned by its registration.
    fn enter(&self, key: &mut Option<u64>, waker: &Waker) -> Option<Held<'_, T>> {
        // Cloning a waker runs code of the program, so it is done without the lock.
        let waker = waker.clone();
        let mut waiting = self.waiting();
        let before = waiting.tasks.register(key, waker);
        let held = self.try_lock();
        // The current holder unlocks the object before it takes this lock, so it sees the flag.
        waiting.contended |= held.is_none();
        drop(waiting);
        callbacks::discard(before);
        held
    }

    /// Removes a wait that has ended or was dropped.
    fn unregister(&self, key: u64) {
        let mut waiting = self.waiting();
        let left = waiting.tasks.remove(key);
        drop(waiting);
        callbacks::discard(left);
    }

    /// Wakes the registered waits if the object was changed, or if one of them could not check its
    /// condition.
    fn wake(&self, changed: bool) {
        let mut waiting = self.waiting();
        let contended = mem::take(&mut waiting.contended);
        if waiting.tasks.is_empty() || !(changed || contended) {
            return;
        }
        wake_each(waiting, || self.waiting(), |waiting| &mut waiting.tasks);
    }
}

/// Guard of a locked object. When it is dropped, waits check their conditions again if the object
/// was borrowed as `&mut`. Changes through interior mutability are not detected.
#[must_use = "the object is let go of when this is dropped"]
pub struct Held<'g, T: ?Sized> {
    guarded: &'g Guarded<T>,
    object: Option<MutexGuard<'g, T>>,
    changed: bool,
}

impl<T: ?Sized> Deref for Held<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        match &self.object {
            Some(object) => object,
            None => unreachable!("it is there until it is dropped"),
        }
    }
}

impl<T: ?Sized> DerefMut for Held<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.changed = true;
        match &mut self.object {
            Some(object) => object,
            None => unreachable!("it is there until it is dropped"),
        }
    }
}

impl<T: ?Sized> Drop for Held<'_, T> {
    fn drop(&mut self) {
        // Unlocked before the tasks are woken, because each of them tries the lock.
        drop(self.object.take());
        self.guarded.wake(self.changed);
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Held<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

/// Wait for a condition; see [`Guarded::when`].
#[must_use = "a future does nothing unless it is polled"]
pub struct When<'g, T: ?Sized, C> {
    guarded: &'g Guarded<T>,
    condition: C,
    /// Key of the wait, after its registration.
    key: Option<u64>,
}

impl<T: ?Sized, C> Drop for When<'_, T, C> {
    fn drop(&mut self) {
        if let Some(key) = self.key {
            self.guarded.unregister(key);
        }
    }
}

impl<T: ?Sized, C> Unpin for When<'_, T, C> {}

impl<'g, T: ?Sized, C: FnMut(&T) -> bool> Future for When<'g, T, C> {
    type Output = Held<'g, T>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let guarded = self.guarded;
        // Most conditions hold at once, and then no task has to be registered.
        if let Some(held) = guarded.try_lock() {
            if (self.condition)(&held) {
                return Poll::Ready(held);
            }
        }
        // A change from here on wakes this task, and an earlier one is seen by the next check.
        match guarded.enter(&mut self.key, context.waker()) {
            Some(held) if (self.condition)(&held) => Poll::Ready(held),
            _ => Poll::Pending,
        }
    }
}

impl<T: ?Sized, C> fmt::Debug for When<'_, T, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("When").finish_non_exhaustive()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::pin::pin;
    use std::sync::Arc;
    use std::task::Wake;

    use super::*;

    #[test]
    fn waits_that_are_given_up_leave_nothing() {
        let guarded = Guarded::new(0);
        let mut context = Context::from_waker(Waker::noop());
        {
            let mut one = pin!(guarded.when(|count| *count > 0));
            let mut other = pin!(guarded.when(|count| *count > 1));
            for _ in 0..3 {
                assert!(one.as_mut().poll(&mut context).is_pending());
                assert!(other.as_mut().poll(&mut context).is_pending());
            }
            assert_eq!(guarded.waiting().tasks.len(), 2);
            *guarded.lock() = 1;
            assert!(guarded.waiting().tasks.is_empty());
            assert!(other.as_mut().poll(&mut context).is_pending());
            let held = one.as_mut().poll(&mut context);
            assert!(held.is_ready());
            drop(held);
            assert_eq!(guarded.waiting().tasks.len(), 1);
        }
        assert!(guarded.waiting().tasks.is_empty());
    }

    /// A waker that holds the last handle of another waiting task.
    struct Last {
        _waits: Mutex<Pin<Box<dyn Waits>>>,
    }

    trait Waits: Send {}

    impl<T: Send> Waits for T {}

    impl Wake for Last {
        fn wake(self: Arc<Self>) {}
    }

    #[test]
    fn a_waker_may_drop_another_wait_when_it_is_replaced() {
        static GUARDED: Guarded<u32> = Guarded::new(0);
        let mut context = Context::from_waker(Waker::noop());
        let mut inner = Box::pin(GUARDED.when(|count| *count > 0));
        assert!(inner.as_mut().poll(&mut context).is_pending());
        let last = Waker::from(Arc::new(Last {
            _waits: Mutex::new(inner),
        }));
        let mut outer = pin!(GUARDED.when(|count| *count > 1));
        let polled = outer.as_mut().poll(&mut Context::from_waker(&last));
        assert!(polled.is_pending());
        drop(last);
        assert!(outer.as_mut().poll(&mut context).is_pending());
        assert_eq!(GUARDED.waiting().tasks.len(), 1);
    }
}
