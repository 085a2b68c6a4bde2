//! Threads and tasks that wait for an event.
//!
//! A sleeper registers itself before it checks a last time for the event, and counts itself in a
//! [`DekkerFlag`]. If there are no sleepers, notifying is a check of the flag.
//!
//! The bell of the `inproc` device shares only the flag. It has a single sleeper, which is a thread
//! on a condition variable, a task, or a thread that polls a descriptor. A crowd has any number of
//! wakers in order, and keys by which they leave.

use std::collections::VecDeque;
use std::mem;
use std::task::Waker;

use jstream_sync::flag::DekkerFlag;
use jstream_sync::watcher::wake;
use jstream_sync::{Mutex, Ordering, lock};

/// Queue of sleepers, which are woken in order, each once.
///
/// A sleeper that was woken but does not handle the event notifies again.
pub(crate) struct Crowd {
    /// Number of sleepers.
    armed: DekkerFlag,
    waiting: Mutex<CrowdWaiter>,
}

#[derive(Default)]
struct CrowdWaiter {
    /// Ordered by number.
    sleepers: VecDeque<(u64, Waker)>,
    next: u64,
}

impl Crowd {
    pub(crate) fn new() -> Self {
        Self {
            armed: DekkerFlag::new(),
            waiting: Mutex::new(CrowdWaiter::default()),
        }
    }

    /// Wakes one sleeper after an event.
    #[inline]
    pub(crate) fn ring(&self) {
        if self.armed.is_set_after_change() {
            self.wake_one();
        }
    }

    #[cold]
    fn wake_one(&self) {
        let mut waiting = lock(&self.waiting);
        let first = waiting.sleepers.pop_front();
        self.count(&waiting);
        drop(waiting);
        if let Some((_, waker)) = first {
            wake(waker);
        }
    }

    /// Wakes all sleepers.
    pub(crate) fn ring_all(&self) {
        if !self.armed.is_set_after_change() {
            return;
        }
        let mut waiting = lock(&self.waiting);
        let sleepers = mem::take(&mut waiting.sleepers);
        self.count(&waiting);
        drop(waiting);
        for (_, waker) in sleepers {
            wake(waker);
        }
    }

    /// Registers `waker`, and stores the key in `place`; an existing registration is updated. If
    /// `ready` returns true after that, removes the registration and returns false.
    pub(crate) fn join(
        &self,
        place: &mut Option<u64>,
        waker: &Waker,
        ready: impl FnOnce() -> bool,
    ) -> bool {
        // Cloning and dropping wakers runs code of the program, so it is done without the lock.
        let waker = waker.clone();
        let mut waiting = lock(&self.waiting);
        let number = place.unwrap_or(waiting.next);
        let found = waiting
            .sleepers
            .binary_search_by_key(&number, |(number, _)| *number);
        let mut before = None;
        match found.ok().and_then(|at| waiting.sleepers.get_mut(at)) {
            Some((_, there)) => before = Some(mem::replace(there, waker)),
            None => {
                let number = waiting.next;
                waiting.next = number.wrapping_add(1);
                waiting.sleepers.push_back((number, waker));
                *place = Some(number);
            }
        }
        self.count(&waiting);
        drop(waiting);
        drop(before);
        self.armed.make_all_pass();
        if ready() {
            self.leave(place);
            return false;
        }
        true
    }

    /// Removes a sleeper. Returns true if it was woken.
    pub(crate) fn leave(&self, place: &mut Option<u64>) -> bool {
        let Some(number) = place.take() else {
            return false;
        };
        let mut waiting = lock(&self.waiting);
        let found = waiting
            .sleepers
            .binary_search_by_key(&number, |(number, _)| *number);
        let left = found.ok().and_then(|at| waiting.sleepers.remove(at));
        self.count(&waiting);
        drop(waiting);
        left.is_none()
    }

    /// Publishes the number of sleepers. The caller holds the lock.
    fn count(&self, waiting: &CrowdWaiter) {
        let count = u32::try_from(waiting.sleepers.len()).unwrap_or(u32::MAX);
        self.armed.store(count, Ordering::Relaxed);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::AtomicUsize;
    use std::task::Wake;

    use super::*;

    #[derive(Default)]
    struct CountedWake(AtomicUsize);

    impl Wake for CountedWake {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn each_is_woken_once_in_turn() {
        let crowd = Crowd::new();
        let woken: Vec<_> = (0..3).map(|_| Arc::new(CountedWake::default())).collect();
        let mut places = [None; 3];
        let counts = || -> Vec<_> { woken.iter().map(|w| w.0.load(Ordering::Relaxed)).collect() };
        for (woken, place) in woken.iter().zip(&mut places) {
            assert!(crowd.join(place, &woken.clone().into(), || false));
        }
        // Registering twice keeps the position in the queue.
        assert!(crowd.join(&mut places[1], &woken[1].clone().into(), || false));
        crowd.ring();
        assert_eq!(counts(), [1, 0, 0]);
        // A removed sleeper is not woken.
        assert!(!crowd.leave(&mut places[1]));
        assert!(crowd.leave(&mut places[0]));
        assert!(!crowd.join(&mut places[0], &woken[0].clone().into(), || true));
        crowd.ring();
        crowd.ring();
        assert_eq!(counts(), [1, 0, 1]);
        for (woken, place) in woken.iter().zip(&mut places) {
            assert!(crowd.join(place, &woken.clone().into(), || false));
        }
        crowd.ring_all();
        assert_eq!(counts(), [2, 1, 2]);
    }
}
