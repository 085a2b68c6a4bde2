//! The state machine of a task, which decides which thread may poll it.

use jstream_sync::{AtomicU32, Ordering};

/// The task waits for its waker.
const WAITS: u32 = 0;
/// A thread polls the task.
const RUNS: u32 = 1;
/// A thread polls the task, and it was woken meanwhile.
const WOKEN: u32 = 2;
/// The task is in the queue of an executor.
const QUEUED: u32 = 3;
/// The task has ended.
const DONE: u32 = 4;
/// Flag in addition to the others: the thread that polls the task next, or now, ends it.
const CANCELLED: u32 = 8;

/// The state of a task.
///
/// INVARIANT: the owner of a task is the caller to which [`begin`](Self::begin),
/// [`start`](Self::start) or [`cancel`](Self::cancel) has given it. No other caller becomes the
/// owner until that caller leaves the task by [`pause`](Self::pause) or [`end`](Self::end). So a
/// task is never polled twice at the same time, not even by a receive loop nested in its poll. A
/// wake-up or cancellation during a poll is recorded in the state, and the owner finds it when it
/// pauses.
#[derive(Debug)]
pub(super) struct State(AtomicU32);

/// Next step for a task that was not ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Paused {
    /// None: the waker will be called.
    Waits,
    /// Queue the task: it was woken.
    Again,
    /// End the task: it was cancelled.
    Cancelled,
}

impl State {
    /// Returns the state of a new task, which is owned by its creator.
    pub(super) fn new() -> Self {
        Self(AtomicU32::new(RUNS))
    }

    /// Resets the state of a reused task. The caller must have its only handle.
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
            // The next owner of the task must see what the previous owner did.
            match self
                .0
                .compare_exchange_weak(state, to, Ordering::AcqRel, Ordering::Relaxed)
            {
                Ok(_) => return result,
                Err(now) => state = now,
            }
        }
    }

    /// Records a wake-up. Returns true if the caller must queue the task.
    pub(super) fn wake(&self) -> bool {
        self.change(|state| match state {
            WAITS => (Some(QUEUED), true),
            // A repeated wake-up also writes the word, so that the next owner sees what this caller
            // did before.
            RUNS => (Some(WOKEN), false),
            WOKEN | QUEUED => (Some(state), false),
            _ => (None, false),
        })
    }

    /// Takes a queued task. Returns true if the caller must poll it, or false if the task was
    /// cancelled and the caller must end it.
    pub(super) fn start(&self) -> bool {
        self.change(|state| {
            let cancelled = state & CANCELLED;
            (Some(RUNS | cancelled), cancelled == 0)
        })
    }

    /// Leaves a task that was polled and is not ready.
    pub(super) fn pause(&self) -> Paused {
        self.change(|state| match state {
            RUNS => (Some(WAITS), Paused::Waits),
            WOKEN => (Some(QUEUED), Paused::Again),
            _ => (None, Paused::Cancelled),
        })
    }

    /// Cancels the task. Returns true if the caller must end it; otherwise its owner does.
    pub(super) fn cancel(&self) -> bool {
        self.change(|state| match state {
            WAITS => (Some(RUNS | CANCELLED), true),
            RUNS | WOKEN | QUEUED => (Some(state | CANCELLED), false),
            _ => (None, false),
        })
    }

    /// Marks the task as ended.
    pub(super) fn end(&self) {
        self.0.store(DONE, Ordering::Release);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn polling_finds_earlier_events() {
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
    fn cancelling_ends_a_wait() {
        let state = State::new();
        assert_eq!(state.pause(), Paused::Waits);
        assert!(state.cancel());
        assert!(!state.wake() && !state.cancel());
        let state = State::new();
        assert!(!state.cancel());
        assert_eq!(state.pause(), Paused::Cancelled);
    }
}
