//! Loom models of the task state, the poller lock, the standby threads and the shared ledger. Each
//! model has a deliberately incorrect variant, which loom must detect.

use std::sync::Arc as StdArc;
use std::task::{Wake, Waker};

use loom::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use loom::sync::{Arc, Condvar, Mutex};
use loom::thread;

use super::frame::Credit;
use super::ledger::{Accounts, Ledger, Lent, Number, SingleRequest, Window};
use super::poller_lock::PollerLock;
use super::standby::Standby;
use super::state::{Paused, State};
use super::thread_pool::ThreadCounts;
use jstream_sync::{lock, wait};

/// A future that is ready when it was told, with its task state. The incorrect variant polls it
/// without asking the state.
struct Told {
    state: State,
    told: AtomicBool,
    /// Number of threads that poll the future.
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

    /// Polls the future until it is suspended or ready. The caller must own the state.
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

/// One thread releases the poller lock while another one waits for it.
fn handed_over(leave: Ordering, wait: Ordering) -> impl Fn() + Send + Sync + 'static {
    move || {
        let poller_lock = Arc::new(PollerLock::new());
        assert!(poller_lock.try_lock(1));
        let called = StdArc::new(Called(AtomicBool::new(false)));
        let waker: Waker = called.clone().into();
        let its = poller_lock.clone();
        let leaving = thread::spawn(move || its.release_by(leave));
        let is_free = poller_lock.wait_by(&mut None, &waker, wait);
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

/// The poller releases the lock and is then blocked forever, while another thread is on standby.
fn taken_over(leave: fn(&Standby, &PollerLock)) -> impl Fn() + Send + Sync {
    move || {
        let shared = Arc::new((Standby::new(), PollerLock::new()));
        assert!(shared.1.try_lock(1));
        let its = shared.clone();
        let leaving = thread::spawn(move || leave(&its.0, &its.1));
        let (standby, poller_lock) = &*shared;
        standby.wait(poller_lock, &mut false, |_| false);
        assert!(poller_lock.try_lock(2), "it was told too soon");
        assert!(standby.end(), "nobody else stands by");
        leaving.join().unwrap();
    }
}

#[test]
fn who_is_held_up_is_replaced() {
    loom::model(taken_over(Standby::release));
}

#[test]
#[should_panic(expected = "deadlock")]
fn one_who_leaves_behind_its_look_at_who_sleeps_is_found() {
    loom::model(taken_over(|standby, poller_lock| {
        standby.wake_watcher();
        poller_lock.release();
    }));
}

/// A poll group with `count` received messages. All handlers wait until that of the last message
/// has run, which stops the group.
struct Served {
    standby: Standby,
    poller_lock: PollerLock,
    places: Mutex<ThreadCounts>,
    count: u32,
    /// Number of messages received.
    messages: Mutex<u32>,
    /// Signalled when there are messages, or the group is stopped.
    changed: Condvar,
    stopped: AtomicBool,
    /// Number of threads that have ended.
    ended: AtomicU32,
}

impl Served {
    /// Serves like a thread of a pool. `stop` ends all threads.
    fn work(this: &Arc<Self>, token: usize, mut waits: bool, stop: fn(&Self)) {
        let (mut stands, mut more) = (false, None);
        while !this.stopped.load(Ordering::Acquire) {
            if !std::mem::take(&mut waits) && this.poller_lock.try_lock(token) {
                let was_last = std::mem::take(&mut stands) && this.standby.end();
                if was_last && more.is_none() && this.may_grow() {
                    let (its, token) = (this.clone(), token + 1);
                    more = Some(thread::spawn(move || Self::work(&its, token, true, stop)));
                }
                let message = this.receive();
                this.standby.release(&this.poller_lock);
                match message {
                    Some(number) if number < this.count => this.until_stopped(),
                    Some(_) => stop(this),
                    None => {}
                }
                continue;
            }
            let mut leaves = false;
            this.standby.wait(&this.poller_lock, &mut stands, |others| {
                leaves = lock(&this.places).leave(others);
                leaves || this.stopped.load(Ordering::Acquire)
            });
            if leaves {
                break;
            }
        }
        if stands {
            this.standby.end();
        }
        this.ended.fetch_add(1, Ordering::Relaxed);
        if let Some(more) = more {
            more.join().unwrap();
        }
    }

    fn may_grow(&self) -> bool {
        let mut places = lock(&self.places);
        let has_room = places.has_room();
        if has_room {
            places.take();
        }
        has_room
    }

    /// Waits for a message like the poller. Returns `None` when the group is stopped.
    fn receive(&self) -> Option<u32> {
        let mut messages = lock(&self.messages);
        while *messages == self.count && !self.stopped.load(Ordering::Acquire) {
            messages = wait(&self.changed, messages);
        }
        (*messages < self.count).then(|| {
            *messages += 1;
            *messages
        })
    }

    fn until_stopped(&self) {
        let mut messages = lock(&self.messages);
        while !self.stopped.load(Ordering::Acquire) {
            messages = wait(&self.changed, messages);
        }
    }

    fn stop(&self) {
        let messages = lock(&self.messages);
        self.stopped.store(true, Ordering::Release);
        drop(messages);
    }

    fn call(&self) {
        let messages = lock(&self.messages);
        self.changed.notify_all();
        drop(messages);
        self.standby.call_all();
    }
}

/// Starts two threads for a group of `count` messages, which is also the maximum number of threads.
fn served(count: u32, stop: fn(&Served)) -> impl Fn() + Send + Sync {
    move || {
        let served = Arc::new(Served {
            standby: Standby::new(),
            poller_lock: PollerLock::new(),
            places: Mutex::new(ThreadCounts::new(2, count as usize)),
            count,
            messages: Mutex::new(0),
            changed: Condvar::new(),
            stopped: AtomicBool::new(false),
            ended: AtomicU32::new(0),
        });
        for _ in 0..2 {
            lock(&served.places).take();
        }
        let its = served.clone();
        let other = thread::spawn(move || Served::work(&its, 2, true, stop));
        Served::work(&served, 1, false, stop);
        other.join().unwrap();
        assert!(served.ended.load(Ordering::Relaxed) >= 2);
    }
}

fn in_order(served: &Served) {
    served.stop();
    served.call();
}

#[test]
fn a_crew_goes_on_and_ends() {
    loom::model(served(2, in_order));
}

#[test]
fn a_crew_grows_where_all_are_held_up() {
    loom::model(served(3, in_order));
}

#[test]
#[should_panic(expected = "deadlock")]
fn a_crew_that_is_called_before_it_is_stopped_is_found() {
    loom::model(served(2, |served| {
        served.call();
        served.stop();
    }));
}

/// Two threads make one request each on a ledger that has lent its slots. The peer answers one on
/// the fast path and one through the ledger, which is locked with `take_back`. Then the ledger has
/// its initial state again.
fn asked_beside(
    take_back: fn(&SingleRequest) -> Option<Lent>,
) -> impl Fn() + Send + Sync + 'static {
    move || {
        let window = Window::new(2, 100);
        let accounts = Arc::new(Accounts::new(Ledger::new(window, window)));
        let given = Credit {
            messages: 1,
            bytes: 1,
        };
        let (number, ..) = accounts.begin(1).unwrap();
        assert!(accounts.settle_answer(number, given));
        let other = accounts.clone();
        let beside = thread::spawn(move || {
            let mut ledger = other.lock_by(take_back);
            let (number, _) = ledger.begin(1).unwrap();
            drop(ledger);
            let settled = other.lock_by(take_back).settle_answer(number, given);
            assert!(settled.is_some(), "it is open");
            number
        });
        let (number, ..) = accounts.begin(1).unwrap();
        assert!(accounts.settle_answer(number, given), "it is open");
        beside.join().unwrap();
        let mut ledger = accounts.lock();
        assert_eq!(ledger.outstanding(), 0);
        let numbers = [(); 2].map(|()| ledger.begin(1).unwrap().0);
        assert_ne!(numbers[0], numbers[1]);
        assert!(ledger.begin(1).is_err(), "its window grew");
    }
}

#[test]
fn who_asks_alone_and_who_asks_beside_have_their_own_numbers() {
    loom::model(asked_beside(SingleRequest::take_back));
}

#[test]
#[should_panic = "NoCredit"]
fn one_who_takes_back_what_is_taken_meanwhile_is_found() {
    loom::model(asked_beside(SingleRequest::take_back_late));
}

/// A request of the peer is opened and closed while another thread reads the number of open
/// messages.
fn opened_beside(
    take_back: fn(&SingleRequest) -> Option<Lent>,
) -> impl Fn() + Send + Sync + 'static {
    move || {
        let window = Window::new(1, 100);
        let accounts = Arc::new(Accounts::new(Ledger::new(window, window)));
        accounts.lock().accept(Some(0), 1).unwrap();
        let given = accounts.close(Number::Asked(0), 1);
        let other = accounts.clone();
        let beside = thread::spawn(move || {
            assert!(other.lock_by(take_back).under_way() < 2);
        });
        for number in [1, 2] {
            if !accounts.accept_alone(number, 1, Credit::default()) {
                accounts.lock().accept(Some(number), 1).unwrap();
            }
            assert_eq!(accounts.close(Number::Asked(number), 1), given);
        }
        beside.join().unwrap();
        let mut ledger = accounts.lock();
        assert_eq!(ledger.under_way(), 0);
        assert!(ledger.accept(Some(3), 1).is_ok(), "its window shrank");
    }
}

#[test]
fn what_comes_alone_is_accounted_for_though_somebody_looks() {
    loom::model(opened_beside(SingleRequest::take_back));
}

#[test]
#[should_panic = "assertion"]
fn one_who_looks_and_loses_what_comes_alone_is_found() {
    loom::model(opened_beside(SingleRequest::take_back_late));
}
