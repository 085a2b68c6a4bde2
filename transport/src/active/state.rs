//! Who may poll a task.

use super::sync::{AtomicU32, Ordering};

/// It waits for its waker.
const WAITS: u32 = 0;
/// Somebody polls it.
const RUNS: u32 = 1;
/// Somebody polls it, and it was woken meanwhile.
const WOKEN: u32 = 2;
/// It is in a queue of an executor.
const QUEUED: u32 = 3;
/// It has ended.
const DONE: u32 = 4;
/// Added to the others: whoever polls it next, or now, ends it.
const CANCELLED: u32 = 8;

/// The state of a task.
///
/// Invariant: between [`begin`](Self::begin), or a [`start`](Self::start) or [`cancel`](Self::cancel) that gives the
/// task to its caller, and the [`pause`](Self::pause) or [`end`](Self::end) by which that caller leaves it, nobody
/// else is given it. So a task that is being polled is polled by nobody else, also not by a receive loop inside it:
/// who wakes or cancels it meanwhile leaves a note, which its owner finds when it pauses.
#[derive(Debug)]
pub(super) struct State(AtomicU32);

/// What to do with a task that was not ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Paused {
    /// Nothing: its waker is going to be called.
    Waits,
    /// Queue it: it was woken.
    Again,
    /// End it.
    Cancelled,
}

impl State {
    /// Of a task that was just made, and is its maker's.
    pub(super) fn new() -> Self {
        Self(AtomicU32::new(RUNS))
    }

    /// Of a task that is used again, whose only handle the caller has.
    pub(super) fn begin(&mut self, queued: bool) {
        let state = if queued { QUEUED } else { RUNS };
        *self = Self(AtomicU32::new(state));
    }

    fn change<R>(&self, next: impl Fn(u32) -> (Option<u32>, R)) -> R {
        let mut state = self.0.load(Ordering::Relaxed);
        loop {
            let (to, result) = next(state);
            let Some(to) = to else {
                return result;
            };
            // Whoever gets the task sees what its owner before did to it.
            match self
                .0
                .compare_exchange_weak(state, to, Ordering::AcqRel, Ordering::Relaxed)
            {
                Ok(_) => return result,
                Err(now) => state = now,
            }
        }
    }

    /// The waker was called. True when the caller is to queue the task.
    pub(super) fn wake(&self) -> bool {
        self.change(|state| match state {
            WAITS => (Some(QUEUED), true),
            // Also what is woken already is written: whoever polls it next is to see what this one did.
            RUNS => (Some(WOKEN), false),
            WOKEN | QUEUED => (Some(state), false),
            _ => (None, false),
        })
    }

    /// A queued task is taken. True when it is to be polled; else it was cancelled, and is to be ended.
    pub(super) fn start(&self) -> bool {
        self.change(|state| {
            let cancelled = state & CANCELLED;
            (Some(RUNS | cancelled), cancelled == 0)
        })
    }

    /// It was polled and is not ready.
    pub(super) fn pause(&self) -> Paused {
        self.change(|state| match state {
            RUNS => (Some(WAITS), Paused::Waits),
            WOKEN => (Some(QUEUED), Paused::Again),
            _ => (None, Paused::Cancelled),
        })
    }

    /// It is not wanted any more. True when the caller is to end it; else whoever polls it does.
    pub(super) fn cancel(&self) -> bool {
        self.change(|state| match state {
            WAITS => (Some(RUNS | CANCELLED), true),
            RUNS | WOKEN | QUEUED => (Some(state | CANCELLED), false),
            _ => (None, false),
        })
    }

    /// It has ended.
    pub(super) fn end(&self) {
        self.0.store(DONE, Ordering::Release);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn who_polls_finds_what_happened_meanwhile() {
        let state = State::new();
        assert!(!state.wake());
        assert_eq!(state.pause(), Paused::Again);
        assert!(!state.wake());
        assert!(state.start());
        assert_eq!(state.pause(), Paused::Waits);
        assert!(state.wake());
        assert!(!state.cancel());
        assert!(!state.start());
        assert_eq!(state.pause(), Paused::Cancelled);
        state.end();
        assert!(!state.wake() && !state.cancel());
    }

    #[test]
    fn one_that_waits_is_ended_by_who_cancels_it() {
        let state = State::new();
        assert_eq!(state.pause(), Paused::Waits);
        assert!(state.cancel());
        assert!(!state.wake() && !state.cancel());
        let state = State::new();
        assert!(!state.cancel());
        assert_eq!(state.pause(), Paused::Cancelled);
    }
}
