//! Wake-ups of a sleeping thread or task.
//!
//! The ringing thread changes the shared state before it rings. The sleeping thread sets a
//! [`DekkerFlag`] before it checks that state a last time. If no thread sleeps, ringing is a check
//! of the flag.

use std::mem;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::OnceLock;
use std::task::Waker;

use rustix::event::{EventfdFlags, eventfd};

use crate::connection::Armed;
use crate::deadline::Deadline;
use jstream_sync::flag::DekkerFlag;
use jstream_sync::{Condvar, Mutex, Ordering, lock, unpoisoned};

/// Wake-up mechanism for one sleeping thread or task at a time.
pub(super) struct Bell {
    armed: DekkerFlag,
    state: Mutex<BellState>,
    woken: Condvar,
    /// Created when a caller first polls it.
    event: OnceLock<OwnedFd>,
}

#[derive(Default)]
struct BellState {
    sleeper: BellSleeper,
    /// True if the event is readable.
    signalled: bool,
}

#[derive(Default)]
enum BellSleeper {
    #[default]
    Nobody,
    /// A thread blocked in `wait`.
    Here,
    Waker(Waker),
    /// A thread or task that polls the event.
    Event,
}

impl Bell {
    pub(super) fn new() -> Self {
        Self {
            armed: DekkerFlag::new(),
            state: Mutex::new(BellState::default()),
            woken: Condvar::new(),
            event: OnceLock::new(),
        }
    }

    /// Wakes the sleeper, if there is one.
    #[inline]
    pub(super) fn ring(&self) {
        if self.armed.is_set_after_change() {
            self.wake();
        }
    }

    #[cold]
    fn wake(&self) {
        let mut state = lock(&self.state);
        self.armed.store(0, Ordering::Relaxed);
        match mem::take(&mut state.sleeper) {
            BellSleeper::Nobody => {}
            BellSleeper::Here => self.woken.notify_one(),
            BellSleeper::Waker(waker) => {
                // Waking may run code of the program.
                drop(state);
                waker.wake();
            }
            BellSleeper::Event => {
                if !state.signalled {
                    state.signalled = true;
                    signal(self.event());
                }
            }
        }
    }

    /// Prepares to sleep, unless `ready` returns true. Without a waker, the caller sleeps by
    /// polling [`event`](Self::event).
    pub(super) fn arm(&self, waker: Option<&Waker>, ready: impl FnOnce() -> bool) -> Armed {
        // Cloning and dropping a waker may run code of the program, so both happen outside the
        // lock.
        let (sleeper, armed) = match waker {
            Some(waker) => (BellSleeper::Waker(waker.clone()), Armed::Waker),
            None => (BellSleeper::Event, Armed::Source),
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

    /// Blocks until a wake-up or until the deadline has passed. Returns at once if `ready` returns
    /// true.
    pub(super) fn wait(&self, deadline: Deadline, ready: impl FnOnce() -> bool) {
        let mut state = lock(&self.state);
        let before = mem::replace(&mut state.sleeper, BellSleeper::Here);
        if self.set(&mut state, ready).is_ok() {
            while matches!(state.sleeper, BellSleeper::Here) {
                state = match deadline.left() {
                    None => unpoisoned(self.woken.wait(state)),
                    Some(left) if left.is_zero() => {
                        self.armed.store(0, Ordering::Relaxed);
                        state.sleeper = BellSleeper::Nobody;
                        break;
                    }
                    Some(left) => unpoisoned(self.woken.wait_timeout(state, left)).0,
                };
            }
        }
        drop(state);
        drop(before);
    }

    /// Sets the flag and checks `ready` once more. If `ready` returns true, clears the flag and
    /// returns the sleeper as an error.
    fn set(&self, state: &mut BellState, ready: impl FnOnce() -> bool) -> Result<(), BellSleeper> {
        self.armed.store(1, Ordering::Relaxed);
        self.armed.make_all_pass();
        if ready() {
            self.armed.store(0, Ordering::Relaxed);
            return Err(mem::take(&mut state.sleeper));
        }
        Ok(())
    }

    /// Returns the descriptor that becomes readable when the bell rings for a polling sleeper. If
    /// the process cannot open another descriptor, returns one that is always readable, so the
    /// caller polls in a loop.
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

impl BellState {
    /// Makes the event unreadable.
    fn silence(&mut self, event: BorrowedFd<'_>) {
        if mem::take(&mut self.signalled) {
            silence(event);
        }
    }
}

/// Returns an eventfd, which is readable while its count is not 0.
pub(super) fn new_event(count: u32) -> rustix::io::Result<OwnedFd> {
    eventfd(count, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)
}

/// Makes an event readable. The write fails only if the event is readable already.
pub(super) fn signal(event: BorrowedFd<'_>) {
    let _ = rustix::io::write(event, &1u64.to_ne_bytes());
}

/// Makes an event unreadable. The read fails only if the event is unreadable already.
pub(super) fn silence(event: BorrowedFd<'_>) {
    let _ = rustix::io::read(event, &mut [0; 8]);
}

static ALWAYS: OnceLock<OwnedFd> = OnceLock::new();

/// Creates the descriptor that [`Bell::event`] falls back to. Must be called before the first bell
/// is created.
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
        None => unreachable!("`Backlog::register` has called `prepare`"),
    }
}
