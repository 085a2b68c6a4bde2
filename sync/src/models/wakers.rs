//! Models of waiters in a queue, and of a thread that parks. The models of the flag have the
//! mistakes in its barriers.

use std::task::Waker;

use loom::thread;

use crate::mpmc::PositionRing;
use crate::parker::Parker;
use crate::wakers::WaitQueue;
use crate::{Arc, AtomicU32, Ordering};

/// A waker that counts its calls.
struct CountingWaker(std::sync::atomic::AtomicU32);

impl std::task::Wake for CountingWaker {
    fn wake(self: std::sync::Arc<Self>) {
        self.0.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
    }
}

impl CountingWaker {
    fn new() -> (std::sync::Arc<Self>, Waker) {
        let counting = std::sync::Arc::new(Self(0.into()));
        (counting.clone(), counting.into())
    }

    fn calls(&self) -> u32 {
        self.0.load(std::sync::atomic::Ordering::SeqCst)
    }
}

/// A queue of waiters for a counter.
struct Counter {
    count: AtomicU32,
    waiters: WaitQueue,
}

impl Counter {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            count: AtomicU32::new(0),
            waiters: WaitQueue::new(),
        })
    }

    fn is_set(&self) -> bool {
        self.count.load(Ordering::Relaxed) > 0
    }
}

/// One thread waits for a change that another one makes. Returns true if it goes to sleep.
fn waiting(join: fn(&Counter, &Waker) -> bool) -> impl Fn() + Send + Sync + 'static {
    move || {
        let counter = Counter::new();
        let changing = {
            let counter = counter.clone();
            thread::spawn(move || {
                counter.count.store(1, Ordering::Relaxed);
                counter.waiters.notify_one();
            })
        };
        let (counting, waker) = CountingWaker::new();
        let sleeps = join(&counter, &waker);
        changing.join().unwrap();
        assert!(!sleeps || counting.calls() == 1, "it would sleep for ever");
    }
}

#[test]
fn a_waiter_is_woken_or_sees_the_change() {
    loom::model(waiting(|counter, waker| {
        let mut key = None;
        counter.waiters.join(&mut key, waker, || counter.is_set())
    }));
}

#[test]
fn the_only_waiter_is_woken_or_sees_the_change() {
    loom::model(waiting(|counter, waker| {
        let waker = waker.clone();
        counter.waiters.join_alone(waker, || counter.is_set())
    }));
}

#[test]
#[should_panic(expected = "it would sleep for ever")]
fn a_waiter_that_checks_before_it_registers_is_found() {
    loom::model(waiting(|counter, waker| {
        let mut key = None;
        !counter.is_set() && counter.waiters.join(&mut key, waker, || false)
    }));
}

/// A thread parks until a value has come, while another one brings it and wakes it.
#[test]
fn a_parked_thread_is_woken() {
    loom::model(|| {
        let counter = Counter::new();
        let changing = {
            let counter = counter.clone();
            thread::spawn(move || {
                counter.count.store(1, Ordering::Relaxed);
                counter.waiters.notify_one();
            })
        };
        let parker = Parker::of_thread();
        while !counter.is_set() {
            let waker = parker.waker().clone();
            if counter.waiters.join_alone(waker, || counter.is_set()) {
                parker.park(None);
                counter.waiters.leave_alone();
            }
        }
        changing.join().unwrap();
    });
}

/// Two values are pushed for two waiting threads. No thread is left asleep while there is a value.
#[test]
fn each_value_wakes_one_waiter() {
    loom::model(|| {
        let queue = Arc::new((PositionRing::<u32>::new(2), WaitQueue::new()));
        let takers = [(); 2].map(|()| {
            let queue = queue.clone();
            thread::spawn(move || {
                let (ring, waiters) = &*queue;
                let (counting, waker) = CountingWaker::new();
                let sleeps = waiters.join(&mut None, &waker, || !ring.is_empty());
                (sleeps, counting)
            })
        });
        for number in [1, 2] {
            let (ring, waiters) = &*queue;
            ring.push(number).unwrap();
            waiters.notify_one();
        }
        for (sleeps, counting) in takers.map(|taker| taker.join().unwrap()) {
            assert!(!sleeps || counting.calls() == 1, "it would sleep for ever");
        }
    });
}

/// A waiter leaves while another thread notifies one of two. If the notification went to the one
/// that leaves, it passes it on.
fn leaving(passes_on: bool) -> impl Fn() + Send + Sync + 'static {
    move || {
        let counter = Counter::new();
        let (_, first) = CountingWaker::new();
        let (counting, second) = CountingWaker::new();
        let (mut of_first, mut of_second) = (None, None);
        assert!(counter.waiters.join(&mut of_first, &first, || false));
        assert!(counter.waiters.join(&mut of_second, &second, || false));
        let changing = {
            let counter = counter.clone();
            thread::spawn(move || {
                counter.count.store(1, Ordering::Relaxed);
                counter.waiters.notify_one();
            })
        };
        if counter.waiters.leave(&mut of_first) && passes_on {
            counter.waiters.notify_one();
        }
        changing.join().unwrap();
        assert_eq!(counting.calls(), 1, "it would sleep for ever");
    }
}

#[test]
fn a_waiter_that_leaves_passes_its_notification_on() {
    loom::model(leaving(true));
}

#[test]
#[should_panic(expected = "it would sleep for ever")]
fn a_notification_that_is_kept_by_a_leaving_waiter_is_found() {
    loom::model(leaving(false));
}
