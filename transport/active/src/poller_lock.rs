//! The poller lock of a poll group.

use std::task::Waker;

use jstream_sync::{AtomicUsize, Mutex, Ordering, lock};

/// The right to receive, which one thread holds at a time, and the threads that wait for it.
///
/// A thread that releases the lock frees the word and then checks for waiters. A waiter registers
/// first and then checks the word. Both use a read-modify-write of the word, and these have one
/// total order, so the second of the two sees what the first did before.
#[derive(Debug)]
pub(super) struct PollerLock {
    /// Token of the owner, or 0.
    owner: AtomicUsize,
    waiting: AtomicUsize,
    parked: Mutex<Vec<Waker>>,
}

impl PollerLock {
    pub(super) fn new() -> Self {
        Self {
            owner: AtomicUsize::new(0),
            waiting: AtomicUsize::new(0),
            parked: Mutex::new(Vec::new()),
        }
    }

    /// Tries to acquire the lock for `token`. It is not reentrant.
    #[inline]
    pub(super) fn take(&self, token: usize) -> bool {
        self.owner
            .compare_exchange(0, token, Ordering::AcqRel, Ordering::Relaxed)
            .is_ok()
    }

    pub(super) fn is_of(&self, token: usize) -> bool {
        self.owner.load(Ordering::Relaxed) == token
    }

    /// Returns true if the lock is free. The read-modify-write synchronizes with that of a thread
    /// that releases the lock, in whichever order they occur.
    pub(super) fn is_free(&self) -> bool {
        self.owner.fetch_add(0, Ordering::AcqRel) == 0
    }

    /// Releases the lock, and wakes one waiter.
    #[inline]
    pub(super) fn leave(&self) {
        self.leave_by(Ordering::AcqRel);
    }

    #[inline]
    pub(super) fn leave_by(&self, order: Ordering) {
        self.owner.swap(0, order);
        if self.waiting.load(Ordering::Relaxed) > 0 {
            self.wake_one();
        }
    }

    /// Registers `waker` to be called when the lock may be free. Returns true if it is free now.
    pub(super) fn wait(&self, waker: &Waker) -> bool {
        self.wait_by(waker, Ordering::AcqRel)
    }

    pub(super) fn wait_by(&self, waker: &Waker, order: Ordering) -> bool {
        let mut parked = lock(&self.parked);
        if !parked.iter().any(|other| other.will_wake(waker)) {
            parked.push(waker.clone());
        }
        self.waiting.store(parked.len(), Ordering::Relaxed);
        drop(parked);
        self.owner.fetch_add(0, order) == 0
    }

    /// Removes a waker. If it was called already and the lock is free, wakes another waiter
    /// instead.
    pub(super) fn forget(&self, waker: &Waker) {
        let mut parked = lock(&self.parked);
        let place = parked.iter().position(|other| other.will_wake(waker));
        let forgotten = place.map(|place| parked.swap_remove(place));
        self.waiting.store(parked.len(), Ordering::Relaxed);
        drop(parked);
        if forgotten.is_none() && self.owner.fetch_add(0, Ordering::AcqRel) == 0 {
            self.wake_one();
        }
    }

    /// Wakes one waiter, if there is one.
    pub(super) fn nudge(&self) {
        if self.waiting.load(Ordering::Relaxed) > 0 {
            self.wake_one();
        }
    }

    /// Wakes all waiters.
    pub(super) fn nudge_all(&self) {
        let mut parked = lock(&self.parked);
        let all = std::mem::take(&mut *parked);
        self.waiting.store(0, Ordering::Relaxed);
        drop(parked);
        all.into_iter().for_each(Waker::wake);
    }

    #[cold]
    fn wake_one(&self) {
        let mut parked = lock(&self.parked);
        let waker = if parked.is_empty() {
            None
        } else {
            Some(parked.remove(0))
        };
        self.waiting.store(parked.len(), Ordering::Relaxed);
        drop(parked);
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}
