//! Wake-ups of a sleeping thread or task: a [`WaitQueue`] with one waiter, and the descriptor of a
//! waiter that polls.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::{Arc, OnceLock};
use std::task::Waker;

use crate::connection::Armed;
use crate::deadline::Deadline;
use jstream_sync::event_fd::EventFd;
use jstream_sync::parker::Parker;
use jstream_sync::wakers::WaitQueue;

/// Wake-up mechanism for one sleeping thread or task at a time.
pub(super) struct Bell {
    waiting: WaitQueue,
    /// Created when a caller first polls it.
    event: OnceLock<Arc<EventFd>>,
}

impl Bell {
    pub(super) fn new() -> Self {
        Self {
            waiting: WaitQueue::new(),
            event: OnceLock::new(),
        }
    }

    /// Wakes the sleeper, if there is one. The caller has changed the shared state before.
    #[inline]
    pub(super) fn ring(&self) {
        self.waiting.notify_one();
    }

    /// Prepares to sleep, unless `ready` returns true. Without a waker, the caller sleeps by
    /// polling [`event`](Self::event).
    pub(super) fn arm(&self, waker: Option<&Waker>, ready: impl FnOnce() -> bool) -> Armed {
        let (sleeper, armed) = match waker {
            Some(waker) => (waker.clone(), Armed::Waker),
            None => {
                let polled = self.polled();
                // Without a descriptor of its own, the caller must not sleep: until it does,
                // another thread may have created the descriptor, which nobody would signal.
                let Some(event) = self.event.get().filter(|event| Arc::ptr_eq(event, polled))
                else {
                    return Armed::Ready;
                };
                // A signal that another thread still gives for an earlier sleep is spurious.
                event.clear();
                (event.clone().into(), Armed::Source)
            }
        };
        if self.waiting.join_alone(sleeper, ready) {
            armed
        } else {
            Armed::Ready
        }
    }

    /// Blocks until a wake-up, until the deadline has passed, or until a spurious wake-up. Returns
    /// at once if `ready` returns true.
    pub(super) fn wait(&self, deadline: Deadline, ready: impl FnOnce() -> bool) {
        let parker = Parker::of_thread();
        if self.waiting.join_alone(parker.waker().clone(), ready) {
            parker.park(deadline.left());
            self.waiting.leave_alone();
        }
    }

    /// Returns the descriptor that becomes readable when the bell rings for a polling sleeper. If
    /// the process cannot open another descriptor, returns one that is always readable, so the
    /// caller polls in a loop.
    pub(super) fn event(&self) -> BorrowedFd<'_> {
        self.polled().as_fd()
    }

    fn polled(&self) -> &Arc<EventFd> {
        if let Some(event) = self.event.get() {
            return event;
        }
        match EventFd::new() {
            Ok(event) => self.event.get_or_init(|| Arc::new(event)),
            Err(_) => always_readable(),
        }
    }
}

static ALWAYS: OnceLock<Arc<EventFd>> = OnceLock::new();

/// Creates the descriptor that [`Bell::event`] falls back to. Must be called before the first bell
/// is created.
pub(super) fn prepare() -> io::Result<()> {
    if ALWAYS.get().is_none() {
        let event = EventFd::new()?;
        event.signal();
        ALWAYS.get_or_init(|| Arc::new(event));
    }
    Ok(())
}

fn always_readable() -> &'static Arc<EventFd> {
    match ALWAYS.get() {
        Some(event) => event,
        None => unreachable!("`Backlog::register` has called `prepare`"),
    }
}
