//! Opening of a side of a channel in a task.

use std::fmt;
use std::future::Future;
use std::mem;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Waker};
use std::thread::Builder;

use super::error::OpenError;
use jstream_sync::callbacks::discard;
use jstream_sync::wakers::wake;

type Work<S> = Box<dyn FnOnce(&dyn Fn() -> bool) -> Result<S, OpenError> + Send>;

/// Future of a side that is being opened; see
/// [`Channel::sender_async`](super::Channel::sender_async).
#[must_use = "a future does nothing unless it is polled"]
pub struct Opening<S> {
    state: OpeningState<S>,
    /// True if opening may block, and so runs in a separate thread.
    waits: bool,
}

enum OpeningState<S> {
    Begins(Work<S>),
    /// A thread opens the side.
    Waits(Arc<SharedOpening<S>>),
    Done,
}

struct SharedOpening<S> {
    is_wanted: AtomicBool,
    inner: Mutex<Inner<S>>,
}

struct Inner<S> {
    opened: Option<Result<S, OpenError>>,
    task: Option<Waker>,
}

impl<S: Send + 'static> Opening<S> {
    pub(super) fn new<W>(waits: bool, work: W) -> Self
    where
        W: FnOnce(&dyn Fn() -> bool) -> Result<S, OpenError> + Send + 'static,
    {
        Self {
            state: OpeningState::Begins(Box::new(work)),
            waits,
        }
    }

    fn begin(work: Work<S>) -> Result<Arc<SharedOpening<S>>, OpenError> {
        let shared = Arc::new(SharedOpening {
            is_wanted: AtomicBool::new(true),
            inner: Mutex::new(Inner {
                opened: None,
                task: None,
            }),
        });
        let opened_side = shared.clone();
        let name = "jstream-open".to_owned();
        Builder::new().name(name).spawn(move || {
            let opened = work(&|| opened_side.is_wanted.load(Ordering::Relaxed));
            let mut inner = opened_side.lock();
            inner.opened = Some(opened);
            let task = inner.task.take();
            drop(inner);
            if let Some(task) = task {
                wake(task);
            }
        })?;
        Ok(shared)
    }
}

impl<S> SharedOpening<S> {
    /// Locks the state. Poisoning is ignored, because the state is consistent after every
    /// statement.
    fn lock(&self) -> MutexGuard<'_, Inner<S>> {
        jstream_sync::lock(&self.inner)
    }
}

impl<S: Send + 'static> Future for Opening<S> {
    type Output = Result<S, OpenError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        loop {
            match mem::replace(&mut this.state, OpeningState::Done) {
                OpeningState::Begins(work) if this.waits => match Self::begin(work) {
                    Ok(shared) => this.state = OpeningState::Waits(shared),
                    Err(error) => return Poll::Ready(Err(error)),
                },
                OpeningState::Begins(work) => return Poll::Ready(work(&|| true)),
                OpeningState::Waits(shared) => {
                    let task = context.waker().clone();
                    let mut inner = shared.lock();
                    if let Some(opened) = inner.opened.take() {
                        return Poll::Ready(opened);
                    }
                    let before = inner.task.replace(task);
                    drop(inner);
                    discard(before);
                    this.state = OpeningState::Waits(shared);
                    return Poll::Pending;
                }
                OpeningState::Done => panic!("polled after it was ready"),
            }
        }
    }
}

impl<S> Unpin for Opening<S> {}

impl<S> Drop for Opening<S> {
    fn drop(&mut self) {
        if let OpeningState::Waits(shared) = &self.state {
            shared.is_wanted.store(false, Ordering::Relaxed);
            let (opened, task) = {
                let mut inner = shared.lock();
                (inner.opened.take(), inner.task.take())
            };
            discard(task);
            drop(opened);
        }
    }
}

impl<S> fmt::Debug for Opening<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Opening").finish_non_exhaustive()
    }
}
