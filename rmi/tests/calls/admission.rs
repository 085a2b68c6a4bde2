//! Servers that limit their calls: the limit of running calls, the queue, and quotas of callers.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use jstream_rmi::{
    AddressList, AdmissionOptions, CallError, Client, ClientSet, Clock, Outcome, Remote, Retries,
    Server, ServerOptions, Serving, Stream, Stub, remote,
};
use testing::until;
use tokio::sync::Semaphore;

use crate::connect_once;

/// Long enough for any machine. Only a hang reaches it.
const LONG: Duration = Duration::from_secs(3600);

#[remote]
trait Mill {
    /// Returns the number at once.
    fn quick(&self, number: u64) -> u64;
    /// Returns the number when the test opens the gate for one call.
    async fn hold(&self, number: u64) -> u64;
    /// Takes the time that the test has set.
    fn work(&self);
    fn counter(&self) -> Remote<dyn Counter>;
    async fn drain(&self, numbers: Stream<u64>) -> u64;
    async fn numbers(&self) -> Stream<u64>;
}

#[remote]
trait Counter {
    fn next(&self) -> u64;
}

struct Plain {
    gate: Semaphore,
    running: AtomicUsize,
    most_running: AtomicUsize,
    ran: Mutex<Vec<u64>>,
    work_millis: AtomicU64,
    server: jstream_rmi::WeakServer,
}

struct Counting(AtomicU64);

#[remote]
impl Counter for Counting {
    fn next(&self) -> u64 {
        self.0.fetch_add(1, Ordering::SeqCst)
    }
}

#[remote]
impl Mill for Plain {
    fn quick(&self, number: u64) -> u64 {
        self.ran.lock().unwrap().push(number);
        number
    }

    async fn hold(&self, number: u64) -> u64 {
        let running = self.running.fetch_add(1, Ordering::SeqCst) + 1;
        self.most_running.fetch_max(running, Ordering::SeqCst);
        self.ran.lock().unwrap().push(number);
        self.gate.acquire().await.unwrap().forget();
        self.running.fetch_sub(1, Ordering::SeqCst);
        number
    }

    fn work(&self) {
        thread::sleep(Duration::from_millis(
            self.work_millis.load(Ordering::SeqCst),
        ));
    }

    fn counter(&self) -> Remote<dyn Counter> {
        let server = self.server.upgrade().unwrap();
        server
            .export::<dyn Counter>(Arc::new(Counting(AtomicU64::new(0))))
            .into_remote()
    }

    async fn drain(&self, mut numbers: Stream<u64>) -> u64 {
        let mut sum = 0;
        while let Some(number) = numbers.next().await {
            sum += *number.unwrap().get();
        }
        sum
    }

    async fn numbers(&self) -> Stream<u64> {
        Stream::of(std::iter::repeat(7))
    }
}

struct Running {
    server: Server,
    serving: Serving,
    mill: Arc<Plain>,
}

impl Running {
    fn new(change: impl FnOnce(&mut ServerOptions)) -> Self {
        let mut options = ServerOptions::default();
        options.threads = 4;
        options.admission.max_queue_time = LONG;
        change(&mut options);
        let server = Server::new(options);
        let mill = Arc::new(Plain {
            gate: Semaphore::new(0),
            running: AtomicUsize::new(0),
            most_running: AtomicUsize::new(0),
            ran: Mutex::default(),
            work_millis: AtomicU64::new(0),
            server: server.downgrade(),
        });
        server.bind::<dyn Mill>("mill", mill.clone()).unwrap();
        let name = format!("inproc://admission-{:p}", Arc::as_ptr(&mill));
        let addresses = ["tcp://127.0.0.1:0".parse().unwrap(), name.parse().unwrap()];
        let serving = server.listen_all(&addresses).unwrap();
        Self {
            server,
            serving,
            mill,
        }
    }

    /// Starts a server on which this number of calls may run, and as many may wait.
    fn fixed(running: usize, queued: usize) -> Self {
        Self::new(|options| limit(&mut options.admission, running, queued))
    }

    /// Returns a stub of a caller known by its address. Its calls are not repeated.
    fn stub(&self) -> MillStub {
        self.stub_at(0)
    }

    /// Returns a stub of another caller.
    fn other_stub(&self) -> MillStub {
        self.stub_at(1)
    }

    fn stub_at(&self, address: usize) -> MillStub {
        let client = connect_once(&self.serving.addresses()[address]);
        client.lookup::<dyn Mill>("mill").wait().unwrap()
    }

    /// Waits until so many calls run and are queued.
    fn until_holding(&self, running: usize, queued: usize) {
        until(|| {
            let status = self.server.admission();
            (status.running, status.queued) == (running, queued)
        });
    }

    fn ran(&self) -> Vec<u64> {
        self.mill.ran.lock().unwrap().clone()
    }
}

fn limit(options: &mut AdmissionOptions, running: usize, queued: usize) {
    options.min_running = running;
    options.max_running = running;
    options.max_queued = queued;
}

/// Checks that a call was refused. Returns the time after which it may be repeated.
fn refused<R>(result: Result<R, CallError>) -> Duration {
    let error = result.map(drop).unwrap_err();
    assert_eq!(error.outcome(), Outcome::DidNotRun);
    assert!(error.can_be_repeated());
    let CallError::Busy { retry_after, .. } = error else {
        panic!("{error}");
    };
    retry_after.unwrap()
}

#[test]
fn a_burst_beyond_the_limit_waits_and_runs() {
    let running = Running::fixed(2, 1000);
    let mill = running.stub();
    let calls: Vec<_> = (0..50).map(|number| mill.hold(number)).collect();
    running.until_holding(2, 48);
    until(|| running.ran().len() == 2);
    running.mill.gate.add_permits(50);
    for (number, call) in (0..).zip(calls) {
        assert_eq!(*call.wait().unwrap().get(), number);
    }
    running.until_holding(0, 0);
    let mut ran = running.ran();
    ran.sort_unstable();
    assert_eq!(ran, (0..50).collect::<Vec<_>>());
    assert_eq!(running.mill.most_running.load(Ordering::SeqCst), 2);
    assert_eq!(running.server.admission().refused, Default::default());
}

#[test]
fn a_full_queue_refuses_calls_and_leaves_room_to_others() {
    let running = Running::fixed(1, 4);
    let (mill, other) = (running.stub(), running.other_stub());
    let calls: Vec<_> = (0..3).map(|number| mill.hold(number)).collect();
    running.until_holding(1, 2);
    for number in 3..10 {
        assert!(refused(mill.quick(number).wait()) > Duration::ZERO);
    }
    let late = other.quick(10);
    running.until_holding(1, 3);
    assert_eq!(running.server.admission().refused.queue_full, 7);
    running.mill.gate.add_permits(3);
    assert_eq!(*late.wait().unwrap().get(), 10);
    for call in calls {
        call.wait().unwrap();
    }
    // The other caller had its turn before the last call of the first one.
    assert_eq!(running.ran(), [0, 1, 10, 2]);
}

#[test]
fn a_call_whose_deadline_passes_in_the_queue_never_runs() {
    let clock = Clock::paused();
    let running = Running::new(|options| {
        limit(&mut options.admission, 1, 100);
        options.clock = clock.clone();
        options.lease = Duration::from_secs(24 * 3600);
    });
    let mill = running.stub().within(LONG);
    let held = running.stub().within(LONG * 100);
    let held = held.hold(0);
    running.until_holding(1, 0);
    let late = [1, 2].map(|number| mill.quick(number));
    running.until_holding(1, 2);
    clock.advance(LONG * 2);
    for call in late {
        let error = call.wait().unwrap_err();
        assert_eq!(error.outcome(), Outcome::DidNotRun);
        assert!(matches!(error, CallError::Deadline { .. }), "{error}");
    }
    running.until_holding(1, 0);
    running.mill.gate.add_permits(1);
    held.wait().unwrap();
    mill.quick(3).wait().unwrap();
    assert_eq!(running.ran(), [0, 3]);
    assert_eq!(running.server.admission().refused.deadline, 2);
}

#[test]
fn a_call_that_waits_for_too_long_is_refused() {
    let clock = Clock::paused();
    let running = Running::new(|options| {
        limit(&mut options.admission, 1, 100);
        options.clock = clock.clone();
    });
    // Without a deadline, too.
    let mill = running.stub().within(Duration::MAX);
    let held = mill.hold(0);
    running.until_holding(1, 0);
    let late = mill.quick(1);
    running.until_holding(1, 1);
    clock.advance(LONG);
    refused(late.wait());
    assert_eq!(running.server.admission().refused.queue_time, 1);
    running.mill.gate.add_permits(1);
    held.wait().unwrap();
    assert_eq!(running.ran(), [0]);
}

#[test]
fn an_overloaded_server_is_found_and_observed() {
    let running = Running::fixed(1, 0);
    let held = running.stub().hold(0);
    running.until_holding(1, 0);
    let client = connect_once(running.serving.address());
    let mill = client.lookup::<dyn Mill>("mill").wait().unwrap();
    assert!(client.reflection().health().wait().unwrap().get().serving);
    refused(mill.quick(1).wait());
    running.mill.gate.add_permits(1);
    held.wait().unwrap();
    running.until_holding(0, 0);
    mill.quick(2).wait().unwrap();
}

/// Makes calls until they are refused. Returns the number of those that ran.
fn calls_that_run(mill: &MillStub) -> u64 {
    let ran = (0..1000).map(|number| mill.quick(number).wait());
    ran.take_while(Result::is_ok).count() as u64
}

#[test]
fn the_quota_of_one_caller_does_not_shut_another_out() {
    let running = Running::new(|options| {
        options.admission.calls_per_second = 1;
        options.admission.burst = 20;
    });
    let begun = Instant::now();
    let (mill, other) = (running.stub(), running.other_stub());
    let ran = calls_that_run(&mill);
    assert!(ran >= 20, "{ran}");
    assert!(ran <= 20 + begun.elapsed().as_secs(), "{ran}");
    let wait = refused(mill.quick(0).wait());
    assert!(wait > Duration::ZERO && wait <= Duration::from_secs(1));
    assert!(calls_that_run(&other) >= 19);
    assert!(running.server.admission().refused.rate >= 3);
}

#[test]
fn lookups_do_not_need_the_quota_of_calls() {
    let running = Running::new(|options| {
        options.admission.calls_per_second = 1;
        options.admission.burst = 1;
    });
    let client = connect_once(running.serving.address());
    let mill = client.lookup::<dyn Mill>("mill").wait().unwrap();
    assert!(calls_that_run(&mill) >= 1);
    for _ in 0..8 {
        client.lookup::<dyn Mill>("mill").wait().unwrap();
        client.describe("mill").wait().unwrap();
    }
    // The allowance is bounded, too.
    let ran = (0..1000).map(|_| client.lookup::<dyn Mill>("mill").wait().is_ok());
    assert!(ran.take_while(|is_ok| *is_ok).count() < 1000);
}

#[test]
fn a_caller_beside_others_cannot_hold_all_places_with_calls_that_do_not_end() {
    let running = Running::fixed(16, 100);
    let hog = running.stub();
    // Alone, it uses all places.
    let held: Vec<_> = (0..20).map(|number| hog.hold(number)).collect();
    running.until_holding(16, 4);
    // Places that are taken are not taken back, but free ones go to others first.
    let other = running.other_stub();
    let first = other.hold(100);
    running.until_holding(16, 5);
    running.mill.gate.add_permits(1);
    running.until_holding(16, 4);
    drop(held);
    running.until_holding(1, 0);
    // Beside another caller, it leaves the last places to it.
    let held: Vec<_> = (0..20).map(|number| hog.hold(number)).collect();
    running.until_holding(14, 7);
    assert_eq!(*other.quick(7).wait().unwrap().get(), 7);
    let second = other.hold(101);
    running.until_holding(15, 7);
    // When the other caller has left, it gets them.
    drop((first, second, other));
    running.until_holding(16, 4);
    drop(held);
    running.until_holding(0, 0);
}

#[test]
fn a_stranger_with_many_connections_has_one_quota() {
    let running = Running::new(|options| {
        options.admission.calls_per_second = 1;
        options.admission.burst = 50;
        options.max_connections = 100;
    });
    let begun = Instant::now();
    let mut ran = 0;
    for _ in 0..60 {
        // Each connection is closed before the next one, or with it.
        let client = connect_once(running.serving.address());
        if let Ok(mill) = client.lookup::<dyn Mill>("mill").wait() {
            ran += 1;
            ran += mill.quick(0).wait().is_ok() as u64;
        }
    }
    let kept: Vec<_> = (0..20)
        .map(|_| connect_once(running.serving.address()))
        .collect();
    for client in kept.iter().cycle().take(100) {
        ran += client.lookup::<dyn Mill>("mill").wait().is_ok() as u64;
    }
    // Beside the calls, there are 64 lookups at once, and 8 per second.
    let seconds = begun.elapsed().as_secs() + 1;
    assert!(ran <= 50 + 64 + 9 * seconds, "{ran}");
    assert!(running.server.admission().callers <= 1);
    assert!(calls_that_run(&running.other_stub()) >= 49);
}

#[test]
fn concurrent_calls_of_a_caller_are_limited_in_whatever_way_they_last() {
    let running = Running::new(|options| options.admission.max_running_per_caller = 3);
    let (mill, other) = (running.stub(), running.other_stub());
    let held = mill.hold(0);
    // A method that reads a stream lasts as long as the caller wants.
    let endless = mill.drain(Stream::of(std::iter::repeat(0)));
    let more = mill.hold(1);
    running.until_holding(3, 0);
    refused(mill.quick(2).wait());
    assert_eq!(*other.quick(3).wait().unwrap().get(), 3);
    assert_eq!(running.server.admission().refused.running_per_caller, 1);
    drop((endless, held, more));
    until(|| mill.quick(4).wait().is_ok());
}

#[test]
fn streams_as_results_do_not_occupy_the_limit() {
    let running = Running::fixed(1, 10);
    let mill = running.stub();
    let mut streams: Vec<_> = (0..5).map(|_| mill.numbers()).collect();
    for stream in &mut streams {
        let item = jstream_sync::parker::block_on(stream.next());
        assert_eq!(*item.unwrap().unwrap().get(), 7);
    }
    mill.quick(1).wait().unwrap();
    running.until_holding(0, 0);
}

#[test]
fn clients_wait_for_the_time_that_the_server_states() {
    let running = Running::new(|options| {
        options.admission.calls_per_second = 4;
        options.admission.burst = 1;
    });
    // A client that connects again repeats refused calls, and so does a stub that retries.
    let client = Client::connect(running.serving.address()).wait().unwrap();
    until(|| client.lookup::<dyn Mill>("mill").wait().is_ok());
    let mut found = None;
    until(|| {
        found = client.lookup::<dyn Mill>("mill").wait().ok();
        found.is_some()
    });
    let mill = found.unwrap();
    let before = running.server.admission().refused.rate;
    for number in 0..4 {
        mill.quick(number).wait().unwrap();
        let task = mill.quick(number);
        jstream_sync::parker::block_on(task).unwrap();
    }
    // A call that had come back too early would have been refused twice.
    let after = running.server.admission().refused.rate;
    assert!(after - before <= 8, "{before} {after}");
    assert!(after > before);
    // A deadline that is too short for that ends the call at once, as refused.
    until(|| {
        let error = mill.within(Duration::from_millis(1)).quick(9).wait();
        matches!(
            error,
            Err(CallError::Busy {
                retry_after: Some(_),
                ..
            })
        )
    });
}

#[test]
fn stubs_that_retry_wait_for_the_time_that_the_server_states() {
    let running = Running::new(|options| {
        options.admission.calls_per_second = 4;
        options.admission.burst = 1;
    });
    let client = connect_once(running.serving.address());
    let mut retries = Retries::default();
    retries.pause = Duration::from_micros(1);
    let mut found = None;
    until(|| {
        found = client.lookup::<dyn Mill>("mill").wait().ok();
        found.is_some()
    });
    let mill = found.unwrap().retrying(retries);
    let before = running.server.admission().refused.rate;
    for number in 0..6 {
        mill.quick(number).wait().unwrap();
    }
    let after = running.server.admission().refused.rate;
    assert!(after > before && after - before <= 6, "{before} {after}");
}

#[test]
fn a_set_calls_other_members_while_one_refuses_calls() {
    let overloaded = Running::fixed(1, 0);
    let idle = Running::fixed(100, 100);
    // The estimate is the time that calls take, so that is made long.
    overloaded.mill.work_millis.store(200, Ordering::SeqCst);
    for _ in 0..40 {
        overloaded.other_stub().work().wait().unwrap();
    }
    let held = overloaded.other_stub().hold(0);
    overloaded.until_holding(1, 0);
    let members = [&overloaded, &idle].map(|one| one.serving.address().clone());
    let set = ClientSet::open(AddressList::new(members).unwrap()).unwrap();
    let mill = set.get::<dyn Mill>("mill");
    assert!(set.ready().wait());
    for number in 0..500 {
        assert_eq!(*mill.quick(number).wait().unwrap().get(), number);
    }
    assert_eq!(idle.ran().len(), 500);
    drop(held);
}

#[test]
fn a_set_waits_while_all_members_refuse_calls() {
    let running = Running::new(|options| {
        options.admission.calls_per_second = 4;
        options.admission.burst = 2;
    });
    let members = [running.serving.address().clone()];
    let set = ClientSet::open(AddressList::new(members).unwrap()).unwrap();
    let mill = set.get::<dyn Mill>("mill");
    assert!(set.ready().wait());
    let before = running.server.admission().refused.rate;
    for number in 0..6 {
        mill.quick(number).wait().unwrap();
    }
    let after = running.server.admission().refused.rate;
    assert!(after > before && after - before <= 6, "{before} {after}");
}

#[test]
fn the_limit_shrinks_under_load_and_recovers() {
    let running = Running::new(|options| {
        options.threads = 12;
        options.admission.min_running = 2;
        options.admission.max_running = 12;
    });
    let work = |millis| running.mill.work_millis.store(millis, Ordering::SeqCst);
    let is_over = std::sync::atomic::AtomicBool::new(false);
    work(5);
    thread::scope(|scope| {
        for _ in 0..10 {
            let mill = running.stub();
            let is_over = &is_over;
            scope.spawn(move || {
                while !is_over.load(Ordering::SeqCst) {
                    mill.work().wait().unwrap();
                }
            });
        }
        let limit = || running.server.admission().limit;
        until(|| limit() >= 8);
        work(60);
        until(|| limit() <= 3);
        work(5);
        until(|| limit() >= 8);
        is_over.store(true, Ordering::SeqCst);
    });
    running.until_holding(0, 0);
}

#[test]
fn queued_calls_leave_with_their_connection() {
    let running = Running::fixed(1, 100);
    let (mill, other) = (running.stub(), running.other_stub());
    let held = other.hold(0);
    running.until_holding(1, 0);
    let client = connect_once(running.serving.address());
    let stub = client.lookup::<dyn Mill>("mill").wait().unwrap();
    let calls: Vec<_> = (1..10).map(|number| stub.quick(number)).collect();
    let last = mill.quick(10);
    running.until_holding(1, 10);
    client.close();
    running.until_holding(1, 1);
    drop((calls, stub, client));
    running.mill.gate.add_permits(1);
    held.wait().unwrap();
    last.wait().unwrap();
    assert_eq!(running.ran(), [0, 10]);
}

#[test]
fn queued_calls_of_a_server_that_shuts_down_did_not_run() {
    let running = Running::fixed(1, 100);
    let mill = running.stub();
    let held = mill.hold(0);
    running.until_holding(1, 0);
    let queued = mill.quick(1);
    running.until_holding(1, 1);
    let Running {
        serving,
        mill: object,
        ..
    } = running;
    let ending = thread::spawn(move || serving.shutdown(LONG).wait());
    let error = queued.wait().unwrap_err();
    assert!(matches!(error, CallError::Ending { .. }), "{error}");
    object.gate.add_permits(1);
    held.wait().unwrap();
    let ended = ending.join().unwrap();
    assert_eq!((ended.cut_off, ended.abandoned), (0, false));
    assert_eq!(*object.ran.lock().unwrap(), [0]);
}

#[test]
fn pipelined_calls_keep_their_order_in_the_queue() {
    let running = Running::fixed(1, 1000);
    let (mill, other) = (running.stub(), running.other_stub());
    let held = other.hold(0);
    running.until_holding(1, 0);
    let counters: Vec<_> = (0..10).map(|_| mill.counter()).collect();
    let stubs = counters.iter().map(|counter| counter.pipelined());
    let calls: Vec<_> = stubs
        .map(|counter| [(); 5].map(|()| counter.next()))
        .collect();
    running.until_holding(1, 10);
    running.mill.gate.add_permits(1);
    held.wait().unwrap();
    for calls in calls {
        let numbers = calls.map(|call| *call.wait().unwrap().get());
        assert_eq!(numbers, [0, 1, 2, 3, 4]);
    }
    running.until_holding(0, 0);
}

#[test]
fn pipelined_calls_fail_if_the_call_before_them_is_refused() {
    let running = Running::fixed(1, 0);
    let (mill, other) = (running.stub(), running.other_stub());
    let held = other.hold(0);
    running.until_holding(1, 0);
    let call = mill.counter();
    let error = call.pipelined().next().wait().unwrap_err();
    assert!(matches!(error, CallError::NotGiven { .. }), "{error}");
    assert_eq!(error.outcome(), Outcome::DidNotRun);
    running.mill.gate.add_permits(1);
    held.wait().unwrap();
    until(|| mill.quick(1).wait().is_ok());
}

#[test]
fn cancelled_calls_in_the_queue_do_not_run() {
    let running = Running::fixed(1, 100);
    let mill = running.stub();
    let held = mill.hold(0);
    running.until_holding(1, 0);
    for number in 1..20 {
        drop(mill.quick(number));
    }
    let last = mill.quick(20);
    running.until_holding(1, 20);
    running.mill.gate.add_permits(1);
    held.wait().unwrap();
    last.wait().unwrap();
    running.until_holding(0, 0);
    assert_eq!(running.ran(), [0, 20]);
}
