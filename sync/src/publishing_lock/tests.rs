//! Tests of releases: what they publish, and when callbacks run.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::unwrap_used,
    reason = "test code"
)]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;

use super::*;
use crate::AtomicU32;
use crate::callbacks::{self, DeferringGuard};

/// A counter that notifies the program of each change.
#[derive(Default)]
struct CountedState {
    count: u32,
    is_announced: bool,
}

/// Number of notifications, and the function that is called for each.
struct TestListeners {
    notifications: AtomicU32,
    callback: fn(&Shared),
    shared: std::sync::Weak<Shared>,
}

type Shared = PublishingLock<CountedState>;

impl Publish for CountedState {
    type Summary = Word<u32>;
    type Listeners = TestListeners;

    fn summary(&self) -> u32 {
        self.count
    }

    fn is_quiet(&mut self, _: &TestListeners) -> bool {
        !self.is_announced
    }

    fn prepare(&mut self, _: &TestListeners) {
        if std::mem::take(&mut self.is_announced) {
            self.count += 100;
        }
    }

    fn notify(&mut self, listeners: &TestListeners, before: u32) {
        listeners.notifications.fetch_add(1, Relaxed);
        if before < self.count {
            let (callback, shared) = (listeners.callback, listeners.shared.upgrade());
            callbacks::run(move || callback(&shared.unwrap()));
        }
    }
}

fn shared(callback: fn(&Shared)) -> Arc<Shared> {
    Arc::new_cyclic(|shared| {
        let listeners = TestListeners {
            notifications: AtomicU32::new(0),
            callback,
            shared: shared.clone(),
        };
        Shared::new(CountedState::default(), listeners)
    })
}

fn notifications(shared: &Shared) -> u32 {
    shared.listeners().notifications.load(Relaxed)
}

#[test]
fn a_release_publishes_what_has_changed() {
    let shared = shared(|_| {});
    drop(shared.lock());
    assert_eq!((shared.summary().get(), notifications(&shared)), (0, 0));
    shared.lock().count = 3;
    assert_eq!((shared.summary().get(), notifications(&shared)), (3, 1));
    shared.try_lock().unwrap().count = 3;
    assert_eq!((shared.summary().get(), notifications(&shared)), (3, 1));
}

#[test]
fn a_change_of_the_release_itself_is_published() {
    let shared = shared(|_| {});
    shared.lock().is_announced = true;
    assert_eq!(shared.summary().get(), 100);
    assert_eq!(shared.lock().count, 100);
}

#[test]
fn a_panic_under_the_lock_publishes() {
    let shared = shared(|_| {});
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        let mut guard = shared.lock();
        guard.count = 5;
        panic!("code under the lock panics");
    }));
    assert!(panicked.is_err());
    assert_eq!((shared.summary().get(), shared.lock().count), (5, 5));
}

#[test]
fn a_callback_uses_the_lock_whose_release_calls_it() {
    // It changes the state only once, as otherwise it would call itself for ever.
    let shared = shared(|shared| {
        let mut guard = DeferringGuard::new(shared.lock());
        if guard.count < 2 {
            guard.count = 2;
        }
    });
    DeferringGuard::new(shared.lock()).count = 1;
    assert_eq!((shared.summary().get(), notifications(&shared)), (2, 2));
}

#[test]
fn a_callback_that_panics_leaves_the_lock_free() {
    let shared = shared(|_| panic!("a callback panics"));
    DeferringGuard::new(shared.lock()).count = 1;
    assert_eq!(shared.summary().get(), 1);
    assert!(shared.try_lock().is_some());
}

#[test]
fn a_callback_runs_when_the_thread_holds_no_lock() {
    let inner = shared(|inner| {
        assert!(inner.try_lock().is_some());
        inner.listeners().notifications.fetch_add(10, Relaxed);
    });
    let outer = shared(|_| {});
    let guard = DeferringGuard::new(outer.lock());
    DeferringGuard::new(inner.lock()).count = 1;
    assert_eq!((inner.summary().get(), notifications(&inner)), (1, 1));
    drop(guard);
    assert_eq!(notifications(&inner), 11);
}

#[test]
fn a_wait_publishes_before_it_blocks() {
    struct Turns(u32);

    impl Publish for Turns {
        type Summary = Word<u32>;
        type Listeners = Condvar;

        fn summary(&self) -> u32 {
            self.0
        }

        fn notify(&mut self, changed: &Condvar, _: u32) {
            changed.notify_all();
        }
    }

    let shared = Arc::new(PublishingLock::new(Turns(0), Condvar::new()));
    let other = {
        let shared = shared.clone();
        thread::spawn(move || {
            // Nothing but the summary tells that the other thread waits.
            while shared.summary().get_acquire() == 0 {
                thread::yield_now();
            }
            shared.lock().0 = 2;
        })
    };
    let mut guard = shared.lock();
    guard.0 = 1;
    while guard.0 == 1 {
        guard = guard.wait(shared.listeners(), None);
    }
    drop(guard);
    other.join().unwrap();
}
