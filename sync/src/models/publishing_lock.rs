//! Models of a lock that publishes its state: of the summary, and of threads that wait.

use loom::thread;

use crate::publishing_lock::{Publish, PublishingGuard, PublishingLock, Word};
use crate::{Arc, AtomicU32, Condvar, Ordering};

/// A counter for whose changes threads wait.
#[derive(Default)]
struct AwaitedCount {
    count: u32,
    /// Number of waiting threads.
    waiting: u32,
}

impl Publish for AwaitedCount {
    type Summary = Word<u32>;
    type Listeners = Condvar;

    fn summary(&self) -> u32 {
        self.count
    }

    fn is_quiet(&mut self, _: &Condvar) -> bool {
        self.waiting == 0
    }

    fn notify(&mut self, changed: &Condvar, _: u32) {
        changed.notify_all();
    }
}

type Lock = PublishingLock<AwaitedCount>;
type Guard<'l> = PublishingGuard<'l, AwaitedCount>;

fn lock_of_counter() -> Arc<Lock> {
    Arc::new(Lock::new(AwaitedCount::default(), Condvar::new()))
}

/// Returns a guard, after comparing the state with its summary.
fn locked(lock: &Lock) -> Guard<'_> {
    let guard = lock.lock();
    assert_eq!(guard.count, lock.summary().get(), "the summary is stale");
    guard
}

/// Two threads count, and release the lock by `release`.
fn counting(release: fn(Guard<'_>)) -> impl Fn() + Send + Sync + 'static {
    move || {
        let lock = lock_of_counter();
        let count = move |lock: &Lock| {
            let mut guard = locked(lock);
            guard.count += 1;
            release(guard);
        };
        let other = {
            let lock = lock.clone();
            thread::spawn(move || count(&lock))
        };
        count(&lock);
        other.join().unwrap();
        assert_eq!(lock.summary().get(), 2, "the summary is stale");
    }
}

#[test]
fn the_summary_is_that_of_the_state_whenever_the_lock_is_held() {
    loom::model(counting(|guard| drop(guard)));
}

#[test]
#[should_panic(expected = "the summary is stale")]
fn a_summary_that_is_stored_after_the_release_is_found() {
    loom::model(counting(|guard| {
        guard.release_before_publishing();
    }));
}

/// A thread waits until another one has counted and released the lock by `release`.
fn waiting(release: fn(Guard<'_>)) -> impl Fn() + Send + Sync + 'static {
    move || {
        let lock = lock_of_counter();
        let counting = {
            let lock = lock.clone();
            thread::spawn(move || {
                let mut guard = locked(&lock);
                guard.count += 1;
                release(guard);
            })
        };
        let mut guard = locked(&lock);
        while guard.count == 0 {
            guard.waiting += 1;
            guard = guard.wait(lock.listeners(), None);
            guard.waiting -= 1;
        }
        drop(guard);
        counting.join().unwrap();
    }
}

#[test]
fn a_waiting_thread_is_notified() {
    loom::model(waiting(|guard| drop(guard)));
}

#[test]
#[should_panic(expected = "deadlock")]
fn a_release_without_a_notification_is_found() {
    loom::model(waiting(|guard| guard.release_silently()));
}

/// A thread counts and then waits by `wait`; another one counts on.
fn counting_before_a_wait(
    wait: for<'l> fn(Guard<'l>, &Condvar) -> Guard<'l>,
) -> impl Fn() + Send + Sync + 'static {
    move || {
        let lock = lock_of_counter();
        let other = {
            let lock = lock.clone();
            thread::spawn(move || locked(&lock).count = 2)
        };
        let mut guard = locked(&lock);
        if guard.count == 0 {
            guard.count = 1;
            guard.waiting += 1;
            while guard.count == 1 {
                guard = wait(guard, lock.listeners());
            }
            guard.waiting -= 1;
        }
        drop(guard);
        other.join().unwrap();
    }
}

#[test]
fn a_state_is_published_before_a_wait() {
    loom::model(counting_before_a_wait(|guard, changed| {
        guard.wait(changed, None)
    }));
}

#[test]
#[should_panic(expected = "the summary is stale")]
fn a_wait_without_publishing_is_found() {
    loom::model(counting_before_a_wait(|guard, changed| {
        guard.wait_silently(changed)
    }));
}

/// A thread that finds a count by `look` reads what was written before the release.
fn looking(look: fn(&Lock) -> u32) -> impl Fn() + Send + Sync + 'static {
    move || {
        let shared = Arc::new((lock_of_counter(), AtomicU32::new(0)));
        let looking = {
            let shared = shared.clone();
            thread::spawn(move || {
                let count = look(&shared.0);
                let written = shared.1.load(Ordering::Relaxed);
                assert!(
                    count == 0 || written == 7,
                    "it was written before the release"
                );
            })
        };
        shared.1.store(7, Ordering::Relaxed);
        shared.0.lock().count = 1;
        looking.join().unwrap();
    }
}

#[test]
fn a_thread_that_acquires_the_summary_sees_what_was_done_before() {
    loom::model(looking(|lock| lock.summary().get_acquire()));
}

#[test]
#[should_panic(expected = "it was written before the release")]
fn a_summary_that_is_not_acquired_is_found() {
    loom::model(looking(|lock| lock.summary().get()));
}
