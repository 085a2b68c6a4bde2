//! The poller lock of a poll group: the word of its owner, and a list of wakers.
//!
//! The order of the changes of that word takes the place of the barrier of a
//! [`DekkerFlag`](jstream_sync::flag::DekkerFlag), which would be a second one in each release.

use std::task::Waker;

use jstream_sync::callbacks::discard;
use jstream_sync::publishing_lock::{Publish, PublishingLock, Word};
use jstream_sync::wakers::{WakerList, wake};
use jstream_sync::{AtomicUsize, Ordering};

/// The right to receive, which one thread holds at a time, and the threads that wait for it.
///
/// A thread that releases the lock frees the word and then checks for waiters. A waiter registers
/// first and then checks the word. Both use a read-modify-write of the word, and these have one
/// total order, so the second of the two sees what the first did before.
#[derive(Debug)]
pub(super) struct PollerLock {
    /// Token of the owner, or 0.
    owner: AtomicUsize,
    /// The summary is the number of waiters.
    waiters: PublishingLock<ParkedWaiters>,
}

/// The wakers of the waiters.
#[derive(Debug, Default)]
struct ParkedWaiters(WakerList);

impl Publish for ParkedWaiters {
    type Summary = Word<usize>;
    type Listeners = ();

    fn summary(&self) -> usize {
        self.0.len()
    }
}

impl PollerLock {
    pub(super) fn new() -> Self {
        Self {
            owner: AtomicUsize::new(0),
            waiters: PublishingLock::new(ParkedWaiters::default(), ()),
        }
    }

    /// Tries to acquire the lock for `token`. It is not reentrant.
    #[inline]
    pub(super) fn try_lock(&self, token: usize) -> bool {
        self.owner
            .compare_exchange(0, token, Ordering::AcqRel, Ordering::Relaxed)
            .is_ok()
    }

    pub(super) fn is_held_by(&self, token: usize) -> bool {
        self.owner.load(Ordering::Relaxed) == token
    }

    /// Returns true if the lock is free. The read-modify-write synchronizes with that of a thread
    /// that releases the lock, in whichever order they occur.
    pub(super) fn is_free(&self) -> bool {
        // A read-modify-write operation sees the latest value of the word. A load might see an
        // older one, and the caller would sleep although the lock is free.
        self.owner.fetch_add(0, Ordering::AcqRel) == 0
    }

    /// Releases the lock, and wakes one waiter.
    #[inline]
    pub(super) fn release(&self) {
        self.release_by(Ordering::AcqRel);
    }

    #[inline]
    pub(super) fn release_by(&self, order: Ordering) {
        // A swap instead of a store, because of the order with the `fetch_add` of a waiter: either
        // the waiter finds the lock free, or this thread finds the waiter in the list.
        self.owner.swap(0, order);
        if self.waiters.summary().get() > 0 {
            self.wake_one();
        }
    }

    /// Registers `waker` to be called when the lock may be free, under a key, which is `None` for a
    /// new waiter. Several waiters may have one waker. Returns true if the lock is free now.
    pub(super) fn wait(&self, key: &mut Option<u64>, waker: &Waker) -> bool {
        self.wait_by(key, waker, Ordering::AcqRel)
    }

    pub(super) fn wait_by(&self, key: &mut Option<u64>, waker: &Waker, order: Ordering) -> bool {
        // Cloning and dropping wakers runs code of the program, so it is done without the lock.
        let waker = waker.clone();
        let before = self.waiters.lock().0.register(key, waker);
        discard(before);
        self.owner.fetch_add(0, order) == 0
    }

    /// Removes a waiter. If the lock is free, wakes another one instead.
    ///
    /// The waiter may have been chosen by the release of the lock even if it is in the list: it
    /// registers anew if it looks once more before it ends.
    pub(super) fn forget(&self, key: &mut Option<u64>) {
        let Some(key) = key.take() else { return };
        let forgotten = self.waiters.lock().0.remove(key);
        // A release may have chosen this waiter, which does not need the lock any more. Its wake-up
        // is passed on.
        if self.owner.fetch_add(0, Ordering::AcqRel) == 0 {
            self.wake_waiter();
        }
        discard(forgotten);
    }

    /// Wakes one waiter, if there is one.
    pub(super) fn wake_waiter(&self) {
        if self.waiters.summary().get() > 0 {
            self.wake_one();
        }
    }

    /// Wakes all waiters.
    pub(super) fn wake_all(&self) {
        let all = self.waiters.lock().0.take();
        all.wake_all();
    }

    #[cold]
    fn wake_one(&self) {
        let first = self.waiters.lock().0.pop();
        if let Some(waker) = first {
            wake(waker);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::{Wake, Waker};

    use super::PollerLock;

    #[derive(Default)]
    struct WakeCount(AtomicUsize);

    impl Wake for WakeCount {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// A waiter that a release has chosen may look again, find what it waited for, and end. The
    /// other waiter must not sleep while the lock is free.
    #[test]
    fn a_waiter_that_registers_twice_and_ends_wakes_another_one() {
        let counts = [(); 2].map(|()| Arc::new(WakeCount::default()));
        let [first, second] = counts.clone().map(Waker::from);
        let woken = || counts.clone().map(|count| count.0.load(Ordering::Relaxed));
        let poller_lock = PollerLock::new();
        assert!(poller_lock.try_lock(1));
        let (mut key, mut other) = (None, None);
        assert!(!poller_lock.wait(&mut key, &first));
        assert!(!poller_lock.wait(&mut other, &second));
        poller_lock.release();
        assert_eq!(woken(), [1, 0]);
        assert!(poller_lock.wait(&mut key, &first), "the lock is free");
        poller_lock.forget(&mut key);
        assert_eq!(woken(), [1, 1]);
    }

    #[test]
    fn a_waiter_that_ends_while_the_lock_is_held_wakes_none() {
        let count = Arc::new(WakeCount::default());
        let waker = Waker::from(count.clone());
        let poller_lock = PollerLock::new();
        assert!(poller_lock.try_lock(1));
        let (mut key, mut other) = (None, None);
        poller_lock.wait(&mut key, &waker);
        poller_lock.wait(&mut other, &waker);
        poller_lock.forget(&mut key);
        assert_eq!(count.0.load(Ordering::Relaxed), 0);
        poller_lock.release();
        assert_eq!(count.0.load(Ordering::Relaxed), 1);
    }
}
