//! What a thread is at while it receives: how deep its receive loops are nested, and what is to be gone on with
//! when the handler that runs has ended.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

use super::executor::Job;

/// How many tasks a thread goes on with at most before it receives again.
const MOST: usize = 64;

struct Turn {
    /// How many handlers of this thread run, one inside the other.
    depth: Cell<usize>,
    jobs: RefCell<VecDeque<Job>>,
}

thread_local! {
    static TURN: Turn = const {
        Turn {
            depth: Cell::new(0),
            jobs: RefCell::new(VecDeque::new()),
        }
    };
}

/// How many handlers of this thread run, one inside the other.
pub(super) fn depth() -> usize {
    TURN.with(|turn| turn.depth.get())
}

/// What identifies this thread as long as it lives; not 0.
pub(super) fn token() -> usize {
    TURN.with(|turn| std::ptr::from_ref(turn).addr())
}

/// Runs a handler: what it wakes is gone on with behind it.
#[inline]
pub(super) fn handling<R>(work: impl FnOnce() -> R) -> R {
    let result = gathering(work);
    go_on();
    result
}

/// Does something that may wake tasks. They wait until [`go_on`] is called.
#[inline]
pub(super) fn gathering<R>(work: impl FnOnce() -> R) -> R {
    struct Back(usize);
    impl Drop for Back {
        fn drop(&mut self) {
            TURN.with(|turn| turn.depth.set(self.0));
        }
    }
    let depth = depth();
    let back = Back(depth);
    TURN.with(|turn| turn.depth.set(depth.saturating_add(1)));
    let result = work();
    drop(back);
    result
}

/// Whether something was woken that waits for [`go_on`].
#[inline]
pub(super) fn has_jobs() -> bool {
    TURN.with(|turn| !turn.jobs.borrow().is_empty())
}

/// A task that was woken inside a handler, to be gone on with behind that; it comes back from a thread without
/// one.
pub(super) fn offer(job: Job) -> Result<(), Job> {
    let offered = TURN.try_with(|turn| {
        let is_full = turn.depth.get() == 0 || turn.jobs.borrow().len() >= MOST;
        (!is_full).then_some(())
    });
    match offered {
        Ok(Some(())) => {
            TURN.with(|turn| turn.jobs.borrow_mut().push_back(job));
            Ok(())
        }
        _ => Err(job),
    }
}

/// Goes on with what was woken. What that wakes in turn has its turn, too, up to a number.
pub(super) fn go_on() {
    for turns in 0..=MOST {
        let Some(job) = TURN.with(|turn| turn.jobs.borrow_mut().pop_front()) else {
            return;
        };
        if turns == MOST {
            job.elsewhere();
        } else {
            gathering(|| job.run());
        }
    }
    while let Some(job) = TURN.with(|turn| turn.jobs.borrow_mut().pop_front()) {
        job.elsewhere();
    }
}
