//! Interleavings of a task's state, and of the right to receive, tried by loom: each model beside a twin with a
//! mistake that it must find.

use std::sync::Arc as StdArc;
use std::task::{Wake, Waker};

use loom::sync::Arc;
use loom::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use loom::thread;

use super::role::Role;
use super::state::{Paused, State};

/// A future that is ready when it was told, and who polls it: by the state, or, as its twin, without asking it.
struct Told {
    state: State,
    told: AtomicBool,
    /// How many poll it.
    polling: AtomicU32,
    done: AtomicBool,
}

impl Told {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            state: State::new(),
            told: AtomicBool::new(false),
            polling: AtomicU32::new(0),
            done: AtomicBool::new(false),
        })
    }

    /// Polls it until it waits or is ready, by whom its state is.
    fn poll(&self) {
        loop {
            assert_eq!(
                self.polling.fetch_add(1, Ordering::AcqRel),
                0,
                "polled twice"
            );
            let is_ready = self.told.load(Ordering::Acquire);
            self.polling.fetch_sub(1, Ordering::AcqRel);
            if is_ready {
                self.done.store(true, Ordering::Release);
                return self.state.end();
            }
            match self.state.pause() {
                Paused::Again if self.state.start() => {}
                Paused::Again | Paused::Cancelled => return self.state.end(),
                Paused::Waits => return,
            }
        }
    }

    fn wake(&self) {
        if self.state.wake() && self.state.start() {
            self.poll();
        }
    }
}

#[test]
fn a_task_is_polled_by_one_and_sees_what_woke_it() {
    loom::model(|| {
        let task = Told::new();
        let wakers: Vec<_> = (0..2)
            .map(|number| {
                let task = task.clone();
                thread::spawn(move || {
                    if number == 0 {
                        task.told.store(true, Ordering::Release);
                    }
                    task.wake();
                })
            })
            .collect();
        task.poll();
        for waker in wakers {
            waker.join().unwrap();
        }
        assert!(task.done.load(Ordering::Acquire), "it was woken in vain");
    });
}

#[test]
#[should_panic(expected = "polled twice")]
fn a_task_that_is_polled_by_whoever_wakes_it_is_found() {
    loom::model(|| {
        let task = Told::new();
        let other = task.clone();
        let waker = thread::spawn(move || {
            other.told.store(true, Ordering::Release);
            other.poll();
        });
        task.poll();
        waker.join().unwrap();
    });
}

#[test]
fn a_task_that_is_cancelled_is_ended_by_one() {
    loom::model(|| {
        let task = Told::new();
        let ended = Arc::new(AtomicU32::new(0));
        let (other, its) = (task.clone(), ended.clone());
        let canceller = thread::spawn(move || {
            if other.state.cancel() {
                its.fetch_add(1, Ordering::Relaxed);
            }
        });
        if task.state.pause() == Paused::Cancelled {
            ended.fetch_add(1, Ordering::Relaxed);
        }
        canceller.join().unwrap();
        assert_eq!(ended.load(Ordering::Relaxed), 1);
    });
}

struct Called(AtomicBool);

impl Wake for Called {
    fn wake(self: StdArc<Self>) {
        self.0.store(true, Ordering::Release);
    }
}

/// One who leaves the role, and one who waits for it.
fn handed_over(leave: Ordering, wait: Ordering) -> impl Fn() + Send + Sync + 'static {
    move || {
        let role = Arc::new(Role::new());
        assert!(role.take(1));
        let called = StdArc::new(Called(AtomicBool::new(false)));
        let waker: Waker = called.clone().into();
        let its = role.clone();
        let leaving = thread::spawn(move || its.leave_by(leave));
        let is_free = role.wait_by(&waker, wait);
        leaving.join().unwrap();
        let was_called = called.0.load(Ordering::Acquire);
        assert!(is_free || was_called, "nobody told it");
    }
}

#[test]
fn who_waits_for_the_role_is_told() {
    loom::model(handed_over(Ordering::AcqRel, Ordering::AcqRel));
}

#[test]
#[should_panic(expected = "nobody told it")]
fn one_who_leaves_without_seeing_who_waits_is_found() {
    loom::model(handed_over(Ordering::Relaxed, Ordering::Relaxed));
}
