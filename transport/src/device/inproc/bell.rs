//! Waking who sleeps.
//!
//! Who rings has changed something before; who sleeps has said so before it looks for the change a
//! last time. A barrier stands between the two steps of each:
//!
//! ```text
//! changes something        armed := 1
//! ---- barrier ----        ---- barrier ----
//! armed?                   was it changed?
//! ```
//!
//! One of both sees the other. So ringing for nobody is one look at a line that stays with who rings.

use std::mem;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::OnceLock;
use std::sync::PoisonError;
use std::task::Waker;

use rustix::event::{EventfdFlags, eventfd};

use super::barrier::Barriers;
use super::sync::{AtomicU32, Condvar, Line, Mutex, Ordering, lock};
use crate::device::connection::Armed;
use crate::device::deadline::Deadline;

/// What one sleeper at a time is woken by.
pub(super) struct Bell {
    armed: Line<AtomicU32>,
    barriers: Barriers,
    state: Mutex<State>,
    woken: Condvar,
    /// Made when somebody wants to poll it.
    event: OnceLock<OwnedFd>,
}

#[derive(Default)]
struct State {
    sleeper: Sleeper,
    /// Whether the event is readable.
    signalled: bool,
}

#[derive(Default)]
enum Sleeper {
    #[default]
    Nobody,
    /// In `wait`.
    Here,
    Waker(Waker),
    /// Polls the event.
    Event,
}

impl Bell {
    pub(super) fn new() -> Self {
        Self {
            armed: Line(AtomicU32::new(0)),
            barriers: Barriers::of_this_process(),
            state: Mutex::new(State::default()),
            woken: Condvar::new(),
            event: OnceLock::new(),
        }
    }

    /// Wakes who sleeps, if somebody does.
    #[inline]
    pub(super) fn ring(&self) {
        self.barriers.pass();
        if self.armed.0.load(Ordering::Relaxed) != 0 {
            self.wake();
        }
    }

    /// What models put in the place of [`ring`](Self::ring).
    #[cfg(all(test, loom))]
    pub(super) fn ring_if_it_looks_armed(&self) {
        if self.armed.0.load(Ordering::Acquire) != 0 {
            self.wake();
        }
    }

    #[cold]
    fn wake(&self) {
        let mut state = lock(&self.state);
        self.armed.0.store(0, Ordering::Relaxed);
        match mem::take(&mut state.sleeper) {
            Sleeper::Nobody => {}
            Sleeper::Here => self.woken.notify_one(),
            Sleeper::Waker(waker) => {
                // It may run the program's code.
                drop(state);
                waker.wake();
            }
            Sleeper::Event => {
                if !state.signalled {
                    state.signalled = true;
                    signal(self.event());
                }
            }
        }
    }

    /// Prepares to sleep, unless `ready` says that there is no need to: without a waker, by polling
    /// [`event`](Self::event).
    pub(super) fn arm(&self, waker: Option<&Waker>, ready: impl FnOnce() -> bool) -> Armed {
        // Clones and drops of wakers may run the program's code, and do it outside the lock.
        let (sleeper, armed) = match waker {
            Some(waker) => (Sleeper::Waker(waker.clone()), Armed::Waker),
            None => (Sleeper::Event, Armed::Source),
        };
        let event = waker.is_none().then(|| self.event());
        let mut state = lock(&self.state);
        if let Some(event) = event {
            state.silence(event);
        }
        let before = mem::replace(&mut state.sleeper, sleeper);
        let slept = self.set(&mut state, ready);
        drop(state);
        drop(before);
        match slept {
            Ok(()) => armed,
            Err(sleeper) => {
                drop(sleeper);
                Armed::Ready
            }
        }
    }

    /// Sleeps until it is woken or the deadline has passed, unless `ready` says that there is no need
    /// to.
    pub(super) fn wait(&self, deadline: Deadline, ready: impl FnOnce() -> bool) {
        let mut state = lock(&self.state);
        let before = mem::replace(&mut state.sleeper, Sleeper::Here);
        if self.set(&mut state, ready).is_ok() {
            while matches!(state.sleeper, Sleeper::Here) {
                state = match deadline.left() {
                    None => self
                        .woken
                        .wait(state)
                        .unwrap_or_else(PoisonError::into_inner),
                    Some(left) if left.is_zero() => {
                        self.armed.0.store(0, Ordering::Relaxed);
                        state.sleeper = Sleeper::Nobody;
                        break;
                    }
                    Some(left) => {
                        self.woken
                            .wait_timeout(state, left)
                            .unwrap_or_else(PoisonError::into_inner)
                            .0
                    }
                };
            }
        }
        drop(state);
        drop(before);
    }

    /// Says that somebody sleeps, and looks once more; gives the sleeper back when it need not.
    fn set(&self, state: &mut State, ready: impl FnOnce() -> bool) -> Result<(), Sleeper> {
        self.armed.0.store(1, Ordering::Relaxed);
        self.barriers.make_all_pass();
        if ready() {
            self.armed.0.store(0, Ordering::Relaxed);
            return Err(mem::take(&mut state.sleeper));
        }
        Ok(())
    }

    /// What is readable once it was rung for who polls. Where the system has no descriptor left, one
    /// that is always readable: who polls it then looks again and again.
    pub(super) fn event(&self) -> BorrowedFd<'_> {
        if let Some(event) = self.event.get() {
            return event.as_fd();
        }
        match new_event(0) {
            Ok(event) => self.event.get_or_init(|| event).as_fd(),
            Err(_) => always_readable(),
        }
    }
}

impl State {
    /// Makes the event unreadable.
    fn silence(&mut self, event: BorrowedFd<'_>) {
        if mem::take(&mut self.signalled) {
            silence(event);
        }
    }
}

/// An event that is readable while its count is not 0.
pub(super) fn new_event(count: u32) -> rustix::io::Result<OwnedFd> {
    eventfd(count, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)
}

/// Makes an event readable. It fails only where the event is readable already.
pub(super) fn signal(event: BorrowedFd<'_>) {
    let _ = rustix::io::write(event, &1u64.to_ne_bytes());
}

/// Makes an event unreadable. It fails only where the event is so already.
pub(super) fn silence(event: BorrowedFd<'_>) {
    let _ = rustix::io::read(event, &mut [0; 8]);
}

static ALWAYS: OnceLock<OwnedFd> = OnceLock::new();

/// Makes the descriptor that is polled where there is no other; to be called before there is a bell.
pub(super) fn prepare() -> rustix::io::Result<()> {
    if ALWAYS.get().is_none() {
        let event = new_event(1)?;
        ALWAYS.get_or_init(|| event);
    }
    Ok(())
}

fn always_readable() -> BorrowedFd<'static> {
    match ALWAYS.get() {
        Some(event) => event.as_fd(),
        None => unreachable!("whoever listens has prepared it"),
    }
}
