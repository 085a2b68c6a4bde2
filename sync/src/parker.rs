//! Parking of threads through the [`Waker`] interface.

use std::marker::PhantomData;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use crate::{AtomicBool, Ordering};
#[cfg(loom)]
use loom::thread::{self, Thread};
#[cfg(not(loom))]
use std::thread::{self, Thread};

/// The parker of the current thread.
pub struct Parker {
    waker: Waker,
    /// Only the thread that the waker unparks may park.
    of_thread: PhantomData<*const ()>,
}

struct Unparker(Thread);

impl Wake for Unparker {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.unpark();
    }
}

/// Returns a waker that unparks the current thread.
fn waker_of_thread() -> Waker {
    Arc::new(Unparker(thread::current())).into()
}

#[cfg(not(loom))]
thread_local! {
    static WAKER: Waker = waker_of_thread();
}

impl Parker {
    /// Returns the parker of the current thread.
    #[must_use]
    pub fn of_thread() -> Self {
        #[cfg(not(loom))]
        let waker = WAKER.try_with(Waker::clone);
        // Threads of a model are of one execution.
        #[cfg(loom)]
        let waker = Ok::<_, ()>(waker_of_thread());
        Self {
            waker: waker.unwrap_or_else(|_| waker_of_thread()),
            of_thread: PhantomData,
        }
    }

    /// Returns the waker that unparks the thread.
    #[must_use]
    pub fn waker(&self) -> &Waker {
        &self.waker
    }

    /// Parks the thread until it is woken, or `time` has passed; `None` for no limit. May return
    /// spuriously. Returns at once if the thread was woken since it parked last.
    pub fn park(&self, time: Option<Duration>) {
        match time {
            None => thread::park(),
            #[cfg(not(loom))]
            Some(time) => thread::park_timeout(time),
            // Loom has no time.
            #[cfg(loom)]
            Some(_) => thread::yield_now(),
        }
    }
}

/// Blocks this thread until `future` is ready, and runs no other work meanwhile.
///
/// The future may block the thread in another way, which would use up a wake-up that only unparks
/// the thread. So a wake-up of the future is stored.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let blocked = Arc::new(BlockedThread {
        thread: Unparker(thread::current()),
        is_woken: AtomicBool::new(false),
    });
    let waker = blocked.clone().into();
    let mut context = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
        while !blocked.is_woken.swap(false, Ordering::Acquire) {
            thread::park();
        }
    }
}

/// The thread of [`block_on`], and whether it was woken since it polled last.
struct BlockedThread {
    thread: Unparker,
    is_woken: AtomicBool,
}

impl Wake for BlockedThread {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.is_woken.store(true, Ordering::Release);
        self.thread.0.unpark();
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_wake_up_outlasts_other_blocking_calls() {
        let mut polls = 0;
        block_on(std::future::poll_fn(|context| {
            polls += 1;
            if polls == 2 {
                return Poll::Ready(());
            }
            context.waker().wake_by_ref();
            // Uses up the wake-up of the thread.
            Parker::of_thread().park(Some(Duration::from_secs(10)));
            Poll::Pending
        }));
        assert_eq!(polls, 2);
    }
}
