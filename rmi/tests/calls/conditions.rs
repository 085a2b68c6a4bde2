//! Methods that wait for a state of their object: wake-ups, cancellation and deadlines.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::Duration;

use jstream_rmi::{
    CallError, Client, Guarded, Outcome, Server, ServerOptions, Serving, Stub, remote,
};

use testing::until;

/// A bounded buffer of numbers.
#[remote]
trait Buffer {
    async fn put(&self, n: u64);
    async fn take(&self) -> u64;
    /// Takes a number without waiting.
    fn try_take(&self) -> Option<u64>;
    /// Waits for a condition that panics when it is evaluated after a `put`.
    async fn panics(&self);
    /// Waits until `callers` calls have arrived.
    async fn meet(&self, callers: u64) -> u64;
    fn waiting(&self) -> u64;
}

#[derive(Default)]
struct Bounded {
    numbers: Guarded<VecDeque<u64>>,
    met: Guarded<u64>,
    /// The number of methods that are waiting.
    waiting: Arc<AtomicU64>,
}

const ROOM: usize = 4;

struct Counted(Arc<AtomicU64>);

impl Counted {
    fn new(of: &Arc<AtomicU64>) -> Self {
        of.fetch_add(1, Ordering::SeqCst);
        Self(of.clone())
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

#[remote]
impl Buffer for Bounded {
    async fn put(&self, n: u64) {
        let _counted = Counted::new(&self.waiting);
        let mut numbers = self.numbers.when(|numbers| numbers.len() < ROOM).await;
        numbers.push_back(n);
    }

    async fn take(&self) -> u64 {
        let _counted = Counted::new(&self.waiting);
        let mut numbers = self.numbers.when(|numbers| !numbers.is_empty()).await;
        numbers.pop_front().unwrap()
    }

    fn try_take(&self) -> Option<u64> {
        self.numbers.lock().pop_front()
    }

    async fn panics(&self) {
        let _counted = Counted::new(&self.waiting);
        let condition = |numbers: &VecDeque<u64>| {
            assert!(numbers.is_empty(), "as it should");
            false
        };
        drop(self.numbers.when(condition).await);
    }

    async fn meet(&self, callers: u64) -> u64 {
        *self.met.lock() += 1;
        *self.met.when(|met| *met >= callers).await
    }

    fn waiting(&self) -> u64 {
        self.waiting.load(Ordering::SeqCst)
    }
}

fn serve(address: &str) -> Serving {
    let mut options = ServerOptions::default();
    options.max_waiting = 16;
    let server = Server::new(options);
    let buffer = Arc::new(Bounded::default());
    server.bind::<dyn Buffer>("buffer", buffer).unwrap();
    server.listen(&address.parse().unwrap()).unwrap()
}

/// Returns a stub with a connection of its own.
fn joined(serving: &Serving) -> BufferStub {
    let client = Client::connect(serving.address()).wait().unwrap();
    client.lookup::<dyn Buffer>("buffer").wait().unwrap()
}

/// Blocks until `count` methods wait at the server.
#[track_caller]
fn until_waiting(buffer: &BufferStub, count: u64) {
    until(|| *buffer.waiting().wait().unwrap().get() == count);
}

fn each_device(name: &str, test: impl Fn(&str)) {
    test("tcp://127.0.0.1:0");
    test(&format!("inproc://conditions-{name}"));
    test(&format!("shm://conditions-{name}-{}", std::process::id()));
}

#[test]
fn whoever_brings_the_state_about_wakes_who_waits() {
    each_device("wakes", |address| {
        let serving = serve(address);
        let (one, other) = (joined(&serving), joined(&serving));
        for n in 0..50 {
            let taken = one.take();
            if n % 2 == 0 {
                until_waiting(&other, 1);
            }
            other.put(n).wait().unwrap();
            assert_eq!(*taken.wait().unwrap().get(), n);
        }
        // The same for two calls of one connection.
        let taken = one.take();
        one.put(50).wait().unwrap();
        assert_eq!(*taken.wait().unwrap().get(), 50);
    });
}

#[test]
fn who_puts_waits_for_room() {
    each_device("room", |address| {
        let serving = serve(address);
        let (one, other) = (joined(&serving), joined(&serving));
        let mut puts: Vec<_> = (0..2 * ROOM as u64).map(|n| Box::pin(one.put(n))).collect();
        let mut context = Context::from_waker(Waker::noop());
        let mut pending = || {
            puts.retain_mut(|put| match put.as_mut().poll(&mut context) {
                Poll::Ready(done) => {
                    done.unwrap();
                    false
                }
                Poll::Pending => true,
            });
            puts.len()
        };
        // The test does not check which calls found room: the calls begin in order, but a delayed
        // thread can be overtaken.
        until(|| pending() <= ROOM);
        until_waiting(&other, ROOM as u64);
        assert_eq!(pending(), ROOM);
        let mut taken: Vec<u64> = (0..2 * ROOM)
            .map(|_| *other.take().wait().unwrap().get())
            .collect();
        until(|| pending() == 0);
        taken.sort_unstable();
        assert_eq!(taken, (0..2 * ROOM as u64).collect::<Vec<_>>());
    });
}

#[test]
fn nothing_is_lost_between_many() {
    const EACH: u64 = 100;
    each_device("many", |address| {
        let serving = serve(address);
        let sum = AtomicU64::new(0);
        thread::scope(|scope| {
            for client in 0..3 {
                let (puts, takes) = (joined(&serving), joined(&serving));
                scope.spawn(move || {
                    for n in 0..EACH {
                        puts.put(client * EACH + n).wait().unwrap();
                    }
                });
                let sum = &sum;
                scope.spawn(move || {
                    for _ in 0..EACH {
                        sum.fetch_add(*takes.take().wait().unwrap().get(), Ordering::SeqCst);
                    }
                });
            }
        });
        let all = 3 * EACH;
        assert_eq!(sum.into_inner(), all * (all - 1) / 2);
        assert_eq!(*joined(&serving).try_take().wait().unwrap().get(), None);
    });
}

#[test]
fn who_is_given_up_or_too_late_takes_nothing() {
    each_device("given-up", |address| {
        let serving = serve(address);
        let (one, other) = (joined(&serving), joined(&serving));
        let given_up = one.take();
        until_waiting(&other, 1);
        drop(given_up);
        let late = one.within(Duration::from_millis(20)).take().wait();
        let late = late.unwrap_err();
        assert!(matches!(late, CallError::Deadline { .. }), "{late}");
        assert_ne!(late.outcome(), Outcome::Ran);
        // The end of a connection cancels its calls.
        let gone = joined(&serving);
        let left = gone.take();
        until_waiting(&other, 1);
        drop((left, gone));
        until_waiting(&other, 0);
        other.put(1).wait().unwrap();
        assert_eq!(*other.try_take().wait().unwrap().get(), Some(1));
    });
}

#[test]
fn those_that_wait_are_bounded_and_the_others_go_on() {
    each_device("bounded", |address| {
        let serving = serve(address);
        let (greedy, other) = (joined(&serving), joined(&serving));
        let waiting: Vec<_> = (0..16).map(|_| greedy.take()).collect();
        until_waiting(&other, 16);
        let busy = greedy.take().wait().unwrap_err();
        assert!(matches!(busy, CallError::Busy { .. }), "{busy}");
        assert!(busy.can_be_repeated());
        for n in 0..16 {
            other.put(n).wait().unwrap();
        }
        let mut taken: Vec<u64> = waiting
            .into_iter()
            .map(|call| *call.wait().unwrap().get())
            .collect();
        taken.sort_unstable();
        assert_eq!(taken, (0..16).collect::<Vec<_>>());
    });
}

#[test]
fn a_condition_that_panics_ends_its_call_alone() {
    each_device("panics", |address| {
        let serving = serve(address);
        let (one, other) = (joined(&serving), joined(&serving));
        let (panics, taken) = (one.panics(), one.take());
        until_waiting(&other, 2);
        // Either of the two methods may evaluate its condition first.
        other.put(1).wait().unwrap();
        assert_eq!(*taken.wait().unwrap().get(), 1);
        other.put(2).wait().unwrap();
        if *other.waiting().wait().unwrap().get() > 0 {
            until_waiting(&other, 0);
        }
        let error = panics.wait().unwrap_err();
        assert!(matches!(error, CallError::Panicked { .. }), "{error}");
        assert_eq!(*other.take().wait().unwrap().get(), 2);
    });
}

#[test]
fn all_meet() {
    each_device("meet", |address| {
        let serving = serve(address);
        let clients: Vec<_> = (0..5).map(|_| joined(&serving)).collect();
        let calls: Vec<_> = clients.iter().map(|client| client.meet(5)).collect();
        for call in calls {
            assert_eq!(*call.wait().unwrap().get(), 5);
        }
    });
}

struct Quiet;

impl Wake for Quiet {
    fn wake(self: Arc<Self>) {}
}

#[test]
fn who_was_given_up_is_forgotten() {
    let quiet = Arc::new(Quiet);
    let waker = quiet.clone().into();
    let guarded = Guarded::new(0);
    for _ in 0..100 {
        let mut when = pin!(guarded.when(|n| *n > 0));
        assert!(
            when.as_mut()
                .poll(&mut Context::from_waker(&waker))
                .is_pending()
        );
        assert!(
            when.as_mut()
                .poll(&mut Context::from_waker(&waker))
                .is_pending()
        );
        assert_eq!(Arc::strong_count(&quiet), 3);
    }
    assert_eq!(Arc::strong_count(&quiet), 2);
    // A future that was woken registers its waker again at the next poll.
    let mut when = pin!(guarded.when(|n| *n > 1));
    for n in 0..2 {
        let poll = when.as_mut().poll(&mut Context::from_waker(&waker));
        assert!(poll.is_pending());
        assert_eq!(Arc::strong_count(&quiet), 3);
        *guarded.lock() = n;
        assert_eq!(Arc::strong_count(&quiet), 2);
    }
}
