//! Objects whose handlers wait for conditions.

use std::fmt;
use std::future::Future;
use std::mem;
use std::ops::{Deref, DerefMut};
use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::task::{Context, Poll, Waker};

/// An object with a lock, whose users can wait until it is in a state: the guards of optimistic active messages
/// (the paper's `AwaitValue`).
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
    waiting: Mutex<Waiting>,
    object: Mutex<T>,
}

#[derive(Debug, Default)]
struct Waiting {
    /// By numbers that grow.
    tasks: Vec<(u64, Waker)>,
    /// The number of the last that waited.
    last: u64,
    /// Somebody did not even get to look.
    contended: bool,
}

impl<T> Guarded<T> {
    /// An object.
    pub const fn new(object: T) -> Self {
        Self {
            waiting: Mutex::new(Waiting {
                tasks: Vec::new(),
                last: 0,
                contended: false,
            }),
            object: Mutex::new(object),
        }
    }

    /// The object.
    pub fn into_inner(self) -> T {
        self.object
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: ?Sized> Guarded<T> {
    /// Waits until nobody else has it. A handler that has it should not wait for answers, nor for anything
    /// else, as other handlers may run inside.
    pub fn lock(&self) -> Held<'_, T> {
        Held {
            guarded: self,
            object: Some(self.object.lock().unwrap_or_else(PoisonError::into_inner)),
            changed: false,
        }
    }

    /// The object, if nobody else has it.
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

    /// The object, once nobody else has it and `condition` holds. Who waits is woken whenever somebody else has changed
    /// it, and looks again; in which order is not said.
    pub fn when<C: FnMut(&T) -> bool>(&self, condition: C) -> When<'_, T, C> {
        When {
            guarded: self,
            condition,
            number: None,
        }
    }

    /// Nothing of the program runs while it is held, but the cloning of wakers.
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has `waker` called when somebody lets go of the object; the object, if nobody has it now. `number` is that
    /// of who waits, which it has until it is woken.
    fn enter(&self, number: &mut Option<u64>, waker: &Waker) -> Option<Held<'_, T>> {
        let mut waiting = self.waiting();
        let mut before = None;
        match number.and_then(|number| waiting.task(number)) {
            Some((_, waits)) if waits.will_wake(waker) => {}
            Some((_, waits)) => before = Some(mem::replace(waits, waker.clone())),
            None => {
                waiting.last = waiting.last.wrapping_add(1);
                let last = waiting.last;
                waiting.tasks.push((last, waker.clone()));
                *number = Some(last);
            }
        }
        let held = self.try_lock();
        // Who has it lets go of it first and gets this lock then: it finds the note.
        waiting.contended |= held.is_none();
        drop(waiting);
        drop(before);
        held
    }

    /// Wakes those who wait now; where nothing has changed, only if one could not look.
    fn wake(&self, changed: bool) {
        let mut waiting = self.waiting();
        let contended = mem::take(&mut waiting.contended);
        if waiting.tasks.is_empty() || !(changed || contended) {
            return;
        }
        let mut woken = mem::take(&mut waiting.tasks);
        drop(waiting);
        for (_, waker) in woken.drain(..) {
            waker.wake();
        }
        // Its memory is for those who wait next.
        let mut waiting = self.waiting();
        if waiting.tasks.capacity() == 0 {
            waiting.tasks = woken;
        }
    }
}

impl Waiting {
    /// The task of that number, if it was not woken since.
    fn task(&mut self, number: u64) -> Option<&mut (u64, Waker)> {
        let place = self.place(number)?;
        self.tasks.get_mut(place)
    }

    fn place(&self, number: u64) -> Option<usize> {
        self.tasks.binary_search_by_key(&number, |(of, _)| *of).ok()
    }
}

/// A guarded object, held. Those who wait for it look again when it is dropped, if it may have been changed: if
/// somebody has borrowed it as `&mut`. A change inside a cell does not count.
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
        drop(self.object.take());
        self.guarded.wake(self.changed);
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Held<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

/// The wait for a condition; see [`Guarded::when`].
#[must_use = "a future does nothing unless it is polled"]
pub struct When<'g, T: ?Sized, C> {
    guarded: &'g Guarded<T>,
    condition: C,
    /// Where it waits.
    number: Option<u64>,
}

impl<T: ?Sized, C> Unpin for When<'_, T, C> {}

impl<'g, T: ?Sized, C: FnMut(&T) -> bool> Future for When<'g, T, C> {
    type Output = Held<'g, T>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let guarded = this.guarded;
        if let Some(held) = guarded.try_lock() {
            if (this.condition)(&held) {
                return Poll::Ready(held);
            }
        }
        // Who changes it from here on wakes this; who did before is seen now.
        match guarded.enter(&mut this.number, context.waker()) {
            Some(held) if (this.condition)(&held) => Poll::Ready(held),
            _ => Poll::Pending,
        }
    }
}

impl<T: ?Sized, C> Drop for When<'_, T, C> {
    /// Who was given up is not woken, and its waker is not kept until somebody else is.
    fn drop(&mut self) {
        let Some(number) = self.number else { return };
        let mut waiting = self.guarded.waiting();
        let left = waiting
            .place(number)
            .map(|place| waiting.tasks.remove(place));
        drop(waiting);
        drop(left);
    }
}

impl<T: ?Sized, C> fmt::Debug for When<'_, T, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("When").finish_non_exhaustive()
    }
}
