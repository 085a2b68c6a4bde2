//! Objects whose methods take `&mut self`: a fair read-write lock gives each call its turn.
//!
//! Decision 017 has the reasons.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use jstream_sync::callbacks;
use jstream_sync::wakers::{WakerList, wake};

use crate::support::{block_on, lock};

/// An object of a trait with methods on `&mut self`, for use by a server. A handle: clones refer to
/// the same object.
///
/// Calls get access in the order in which they arrived. Consecutive calls of methods on `&self`
/// share access. If a method panics, the object keeps the state that it had at that moment.
///
/// ```
/// use jstream_rmi::{Client, Exclusive, Server, remote};
///
/// #[remote]
/// trait Counter {
///     fn add(&mut self, n: u64) -> u64;
/// }
///
/// struct Plain(u64);
///
/// impl Counter for Plain {
///     fn add(&mut self, n: u64) -> u64 {
///         self.0 += n;
///         self.0
///     }
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let counter = Exclusive::new(Plain(0));
/// let server = Server::default();
/// server.bind::<dyn Counter>("counter", counter.clone())?;
/// let serving = server.listen(&"inproc://doc-counter".parse()?)?;
///
/// let stub = Client::connect(serving.address()).wait()?.lookup::<dyn Counter>("counter").wait()?;
/// assert_eq!(*stub.add(2).wait()?.get(), 2);
/// counter.with(|counter| counter.0 = 40);
/// assert_eq!(*stub.add(2).wait()?.get(), 42);
/// # Ok(())
/// # }
/// ```
pub struct Exclusive<O: ?Sized> {
    state: Arc<Mutex<ExclusiveState<O>>>,
}

struct ExclusiveState<O: ?Sized> {
    /// The object. `None` while a writer has it. Otherwise, there is one further handle per reader.
    object: Option<Arc<O>>,
    readers: usize,
    /// Queue of waiters, in order of arrival. The first gets access as soon as possible.
    waiting: WakerList,
}

impl<O: ?Sized> ExclusiveState<O> {
    /// Takes the object if it is available and the caller is first in the queue, or the queue is
    /// empty.
    fn lend(&mut self, key: Option<u64>, alone: bool) -> Option<Arc<O>> {
        let first = self.waiting.first().map(|(first, _)| first);
        // A call that arrives does not overtake those that wait, so readers do not starve writers.
        if first.is_some() && first != key {
            return None;
        }
        if !alone {
            let object = self.object.clone()?;
            self.readers = self.readers.saturating_add(1);
            return Some(object);
        }
        if self.readers > 0 {
            return None;
        }
        self.object.take()
    }

    /// Returns the waker of the first waiter, which may be able to take the object now.
    fn first(&self) -> Option<Waker> {
        self.waiting.first().map(|(_, waker)| waker.clone())
    }
}

impl<O> Exclusive<O> {
    /// Wraps an object.
    pub fn new(object: O) -> Self {
        Self::from_shared(Arc::new(object))
    }
}

impl<O: ?Sized> From<Box<O>> for Exclusive<O> {
    fn from(object: Box<O>) -> Self {
        Self::from_shared(object.into())
    }
}

impl<O: ?Sized> Exclusive<O> {
    /// Wraps an object. The handle must be the only one.
    fn from_shared(object: Arc<O>) -> Self {
        Self {
            state: Arc::new(Mutex::new(ExclusiveState {
                object: Some(object),
                readers: 0,
                waiting: WakerList::new(),
            })),
        }
    }

    /// Waits for exclusive access to the object.
    pub fn write(&self) -> impl Future<Output = Alone<O>> + use<O> {
        let turn = Turn::new(self.clone(), true);
        async move {
            let (state, object) = turn.await;
            Alone { state, object }
        }
    }

    /// Waits for shared access to the object.
    pub fn read(&self) -> impl Future<Output = Shared<O>> + use<O> {
        let turn = Turn::new(self.clone(), false);
        async move {
            let (state, object) = turn.await;
            Shared { state, object }
        }
    }

    /// Blocks until exclusive access is available, and calls `visit` with the object.
    ///
    /// Deadlocks if called by a method of the object.
    pub fn with<R>(&self, visit: impl FnOnce(&mut O) -> R) -> R {
        visit(&mut block_on(self.write()))
    }
}

impl<O: ?Sized> Clone for Exclusive<O> {
    fn clone(&self) -> Self {
        Self {
            state: self.state.clone(),
        }
    }
}

impl<O: ?Sized> fmt::Debug for Exclusive<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Exclusive").finish_non_exhaustive()
    }
}

/// Future of access to the object.
struct Turn<O: ?Sized> {
    of: Exclusive<O>,
    alone: bool,
    /// Key of this waiter in the queue, once it is queued.
    key: Option<u64>,
}

impl<O: ?Sized> Turn<O> {
    fn new(of: Exclusive<O>, alone: bool) -> Self {
        Self {
            of,
            alone,
            key: None,
        }
    }
}

impl<O: ?Sized> Future for Turn<O> {
    type Output = (Arc<Mutex<ExclusiveState<O>>>, Option<Arc<O>>);

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let mut state = lock(&this.of.state);
        let Some(object) = state.lend(this.key, this.alone) else {
            let waker = context.waker().clone();
            let before = state.waiting.register(&mut this.key, waker);
            drop(state);
            callbacks::discard(before);
            return Poll::Pending;
        };
        let (mut before, mut next) = (None, None);
        if let Some(key) = this.key.take() {
            before = state.waiting.remove(key);
            // The next waiter may be another reader.
            next = state.first();
        }
        drop(state);
        callbacks::discard(before);
        if let Some(next) = next {
            wake(next);
        }
        Poll::Ready((this.of.state.clone(), Some(object)))
    }
}

impl<O: ?Sized> Drop for Turn<O> {
    fn drop(&mut self) {
        let Some(key) = self.key else { return };
        let mut state = lock(&self.of.state);
        let before = state.waiting.remove(key);
        // This waiter may have been woken and is not going to take the object, so the next one is.
        let next = state.first();
        drop(state);
        callbacks::discard(before);
        if let Some(next) = next {
            wake(next);
        }
    }
}

macro_rules! guard {
    ($(#[$doc:meta])* $guard:ident, $back:ident) => {
        $(#[$doc])*
        pub struct $guard<O: ?Sized> {
            state: Arc<Mutex<ExclusiveState<O>>>,
            /// Present until the guard is dropped.
            object: Option<Arc<O>>,
        }

        impl<O: ?Sized> Deref for $guard<O> {
            type Target = O;

            fn deref(&self) -> &O {
                match &self.object {
                    Some(object) => object,
                    None => unreachable!("the object is present until the guard is dropped"),
                }
            }
        }

        impl<O: ?Sized> Drop for $guard<O> {
            fn drop(&mut self) {
                let object = self.object.take();
                let mut state = lock(&self.state);
                state.$back(object);
                // If other readers are left, a writer that is woken here registers again.
                let next = state.first();
                drop(state);
                if let Some(next) = next {
                    wake(next);
                }
            }
        }

        impl<O: ?Sized> fmt::Debug for $guard<O> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($guard)).finish_non_exhaustive()
            }
        }
    };
}

guard! {
    /// Guard for exclusive access to the object of an [`Exclusive`].
    Alone, back
}

guard! {
    /// Guard for shared access to the object of an [`Exclusive`].
    Shared, looked
}

impl<O: ?Sized> ExclusiveState<O> {
    fn back(&mut self, object: Option<Arc<O>>) {
        self.object = object;
    }

    fn looked(&mut self, object: Option<Arc<O>>) {
        // Before the count falls: a writer that finds no readers must have the only handle.
        drop(object);
        self.readers = self.readers.saturating_sub(1);
    }
}

impl<O: ?Sized> DerefMut for Alone<O> {
    fn deref_mut(&mut self) -> &mut O {
        match self.object.as_mut().and_then(Arc::get_mut) {
            Some(object) => object,
            None => unreachable!("a writer has the only handle of the object"),
        }
    }
}

#[cfg(test)]
#[allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "test code"
)]
mod tests;
