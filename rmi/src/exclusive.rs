//! Objects whose methods take `&mut self`: whoever has the turn has the object alone.

use std::collections::VecDeque;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use crate::sync::lock;
use crate::wait::block_on;

/// An object of a trait with methods on `&mut self`, to be served. A handle: clones lead to one object.
///
/// Calls take turns, in the order in which they came; those of methods on `&self` share one. A method that
/// panics leaves the object as it is at that moment.
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
/// let stub = Client::connect(serving.address())?.lookup::<dyn Counter>("counter")?;
/// assert_eq!(*stub.add(2).wait()?.get(), 2);
/// counter.with(|counter| counter.0 = 40);
/// assert_eq!(*stub.add(2).wait()?.get(), 42);
/// # Ok(())
/// # }
/// ```
pub struct Exclusive<O: ?Sized> {
    state: Arc<Mutex<State<O>>>,
}

struct State<O: ?Sized> {
    /// Not here while somebody has it alone. Else there are as many other handles as readers.
    object: Option<Arc<O>>,
    readers: usize,
    /// Who waits, in the order of coming. The first goes in as soon as it can.
    waiting: VecDeque<(u64, Waker)>,
    /// The number of the last that waited.
    last: u64,
}

impl<O: ?Sized> State<O> {
    /// The object, if it can be had now, and nobody else comes first.
    fn take(&mut self, number: Option<u64>, alone: bool) -> Option<Arc<O>> {
        let first = self.waiting.front().map(|(number, _)| *number);
        if first.is_some() && first != number {
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

    /// Whom to tell that it may come first now.
    fn first(&self) -> Option<Waker> {
        self.waiting.front().map(|(_, waker)| waker.clone())
    }

    fn forget(&mut self, number: u64) {
        self.waiting.retain(|(waiting, _)| *waiting != number);
    }
}

impl<O> Exclusive<O> {
    /// An object.
    pub fn new(object: O) -> Self {
        Self::of(Arc::new(object))
    }
}

impl<O: ?Sized> From<Box<O>> for Exclusive<O> {
    fn from(object: Box<O>) -> Self {
        Self::of(object.into())
    }
}

impl<O: ?Sized> Exclusive<O> {
    /// Of a handle that is the only one.
    fn of(object: Arc<O>) -> Self {
        Self {
            state: Arc::new(Mutex::new(State {
                object: Some(object),
                readers: 0,
                waiting: VecDeque::new(),
                last: 0,
            })),
        }
    }

    /// Waits for a turn, and has the object alone.
    pub fn write(&self) -> impl Future<Output = Alone<O>> + use<O> {
        let turn = Turn::new(self.clone(), true);
        async move {
            let (state, object) = turn.await;
            Alone { state, object }
        }
    }

    /// Waits for a turn, which others who only look may have at the same time.
    pub fn read(&self) -> impl Future<Output = Shared<O>> + use<O> {
        let turn = Turn::new(self.clone(), false);
        async move {
            let (state, object) = turn.await;
            Shared { state, object }
        }
    }

    /// Blocks until it has a turn, and visits the object.
    ///
    /// A method of the object that calls this waits for itself.
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

/// Waits for the object.
struct Turn<O: ?Sized> {
    of: Exclusive<O>,
    alone: bool,
    /// Its place among those who wait.
    number: Option<u64>,
}

impl<O: ?Sized> Turn<O> {
    fn new(of: Exclusive<O>, alone: bool) -> Self {
        Self {
            of,
            alone,
            number: None,
        }
    }
}

impl<O: ?Sized> Future for Turn<O> {
    type Output = (Arc<Mutex<State<O>>>, Option<Arc<O>>);

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let mut state = lock(&this.of.state);
        let Some(object) = state.take(this.number, this.alone) else {
            let number = this.number;
            let waiting = state.waiting.iter_mut();
            match waiting
                .filter(|(waiting, _)| Some(*waiting) == number)
                .last()
            {
                Some((_, waker)) => waker.clone_from(context.waker()),
                None => {
                    let number = state.last.wrapping_add(1);
                    state.last = number;
                    state.waiting.push_back((number, context.waker().clone()));
                    this.number = Some(number);
                }
            }
            return Poll::Pending;
        };
        let mut next = None;
        if let Some(number) = this.number.take() {
            state.forget(number);
            // Who comes next may be another one that only looks.
            next = state.first();
        }
        drop(state);
        if let Some(next) = next {
            next.wake();
        }
        Poll::Ready((this.of.state.clone(), Some(object)))
    }
}

impl<O: ?Sized> Drop for Turn<O> {
    fn drop(&mut self) {
        let Some(number) = self.number else { return };
        let mut state = lock(&self.of.state);
        state.forget(number);
        let next = state.first();
        drop(state);
        if let Some(next) = next {
            next.wake();
        }
    }
}

macro_rules! guard {
    ($(#[$doc:meta])* $guard:ident, $back:ident) => {
        $(#[$doc])*
        pub struct $guard<O: ?Sized> {
            state: Arc<Mutex<State<O>>>,
            /// Here until it is dropped.
            object: Option<Arc<O>>,
        }

        impl<O: ?Sized> Deref for $guard<O> {
            type Target = O;

            fn deref(&self) -> &O {
                match &self.object {
                    Some(object) => object,
                    None => unreachable!("it is here until this is dropped"),
                }
            }
        }

        impl<O: ?Sized> Drop for $guard<O> {
            fn drop(&mut self) {
                let object = self.object.take();
                let mut state = lock(&self.state);
                state.$back(object);
                let next = state.first();
                drop(state);
                if let Some(next) = next {
                    next.wake();
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
    /// The object of an [`Exclusive`], alone.
    Alone, back
}

guard! {
    /// The object of an [`Exclusive`], to look at.
    Shared, looked
}

impl<O: ?Sized> State<O> {
    fn back(&mut self, object: Option<Arc<O>>) {
        self.object = object;
    }

    fn looked(&mut self, object: Option<Arc<O>>) {
        drop(object);
        self.readers = self.readers.saturating_sub(1);
    }
}

impl<O: ?Sized> DerefMut for Alone<O> {
    fn deref_mut(&mut self) -> &mut O {
        match self.object.as_mut().and_then(Arc::get_mut) {
            Some(object) => object,
            None => unreachable!("readers have given their handles back, and there are no others"),
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
