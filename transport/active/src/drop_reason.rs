//! The reason for a drop, per thread: a request that is dropped without an answer is returned to
//! its sender with the reason of the drop in progress.

use std::cell::Cell;

use super::error::Reason;

/// Reason for which a future is dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Why {
    Ended,
    Panicked,
    /// The executor has no room for the task.
    Refused,
}

thread_local! {
    /// Reason for the drop that is in progress in this thread.
    static WHY: Cell<Why> = const { Cell::new(Why::Ended) };
}

/// Calls `work`. Requests that are dropped in it are returned for that reason.
pub(super) fn because(why: Why, work: impl FnOnce()) {
    struct Back(Why);
    impl Drop for Back {
        fn drop(&mut self) {
            WHY.set(self.0);
        }
    }
    let _back = Back(WHY.replace(why));
    work();
}

/// Returns the reason for a request that is dropped without an answer.
pub(super) fn reason() -> Reason {
    match WHY.get() {
        Why::Refused => Reason::Busy,
        Why::Panicked => Reason::Panicked,
        Why::Ended if std::thread::panicking() => Reason::Panicked,
        Why::Ended => Reason::Unanswered,
    }
}

/// Calls `work`, which drops the values of a handler that has panicked.
pub(super) fn panicked(work: impl FnOnce()) {
    because(Why::Panicked, work);
}

/// Calls `work`, which drops the value attached to a returned request. The request may be retried
/// if it is `busy`.
pub(super) fn giving_back(busy: bool, work: impl FnOnce()) {
    because(if busy { Why::Refused } else { Why::Ended }, work);
}

/// Returns true during the drop of a value that is [attached to a request](super::Request::keep),
/// if the request is returned as [busy](Reason::Busy) and may therefore be retried.
#[must_use]
pub fn is_given_back() -> bool {
    WHY.get() == Why::Refused
}
