//! Timeouts, cancellation and retries of calls.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, mpsc};
use std::task::Poll;
use std::thread;
use std::time::{Duration, Instant};

use jstream_rmi::{
    CallError, Client, ClientOptions, Outcome, Retries, Server, ServerOptions, Serving, Stub,
    context, remote,
};

use testing::tasks::block_on;
use testing::until;

/// A timeout that expires before the methods end by themselves, and that is long enough for a
/// method to begin on a busy machine.
const BRIEF: Duration = Duration::from_millis(200);

#[remote]
trait Slow {
    fn ping(&self);
    /// Runs until the call is cancelled or its deadline has passed. Returns true if it was
    /// cancelled.
    fn runs(&self) -> bool;
    /// Never completes.
    async fn waits(&self);
    /// Returns the time left, in microseconds, or `None` if there is no deadline.
    fn time(&self) -> Option<u64>;
    async fn time_later(&self) -> Option<u64>;
    /// Returns the time left that a nested call sees.
    fn time_of_a_call(&self) -> Option<u64>;
    fn time_on_a_thread(&self) -> Option<u64>;
    #[remote(one_way)]
    fn note(&self, text: &str);
    #[remote(one_way)]
    async fn note_later(&self, text: &str);
    #[remote(one_way)]
    fn fails(&self);
    #[remote(idempotent)]
    async fn waits_again(&self);
    fn notes(&self) -> Vec<String>;
}

#[derive(Default)]
struct Object {
    begun: Mutex<Option<mpsc::Sender<()>>>,
    over: AtomicUsize,
    notes: Mutex<Vec<String>>,
    ended: Arc<AtomicUsize>,
    itself: OnceLock<SlowStub>,
}

struct CountsDrop(Arc<AtomicUsize>);

impl Drop for CountsDrop {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

fn micros_left() -> Option<u64> {
    let left = context().time_left()?;
    Some(u64::try_from(left.as_micros()).unwrap())
}

#[remote]
impl Slow for Object {
    fn ping(&self) {}

    fn runs(&self) -> bool {
        if let Some(begun) = self.begun.lock().unwrap().take() {
            begun.send(()).unwrap();
        }
        let call = context();
        until(|| call.is_over());
        self.over.fetch_add(1, Ordering::SeqCst);
        call.is_cancelled()
    }

    async fn waits(&self) {
        let _ended = CountsDrop(self.ended.clone());
        std::future::pending().await
    }

    fn time(&self) -> Option<u64> {
        micros_left()
    }

    async fn time_later(&self) -> Option<u64> {
        let mut again = false;
        std::future::poll_fn(|context| {
            context.waker().wake_by_ref();
            if std::mem::replace(&mut again, true) {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        })
        .await;
        micros_left()
    }

    fn time_of_a_call(&self) -> Option<u64> {
        let itself = self.itself.get().unwrap();
        *itself.time().wait().unwrap().get()
    }

    fn time_on_a_thread(&self) -> Option<u64> {
        let call = context();
        thread::spawn(move || {
            assert_eq!(micros_left(), None);
            call.enter(micros_left)
        })
        .join()
        .unwrap()
    }

    fn note(&self, text: &str) {
        self.notes.lock().unwrap().push(text.to_owned());
    }

    async fn note_later(&self, text: &str) {
        self.note(text);
    }

    fn fails(&self) {
        panic!("nobody hears this");
    }

    async fn waits_again(&self) {
        self.waits().await;
    }

    fn notes(&self) -> Vec<String> {
        self.notes.lock().unwrap().clone()
    }
}

struct Setup {
    object: Arc<Object>,
    serving: Serving,
    slow: SlowStub,
}

fn set_up(address: &str) -> Setup {
    set_up_with(address, ServerOptions::default())
}

/// Uses one server thread, so that a call begins only when the earlier calls have ended or wait.
fn set_up_in_order(address: &str) -> Setup {
    let mut options = ServerOptions::default();
    options.threads = 1;
    set_up_with(address, options)
}

fn set_up_with(address: &str, options: ServerOptions) -> Setup {
    let object = Arc::new(Object::default());
    let server = Server::new(options);
    server.bind::<dyn Slow>("slow", object.clone()).unwrap();
    let serving = server.listen(&address.parse().unwrap()).unwrap();
    let slow = connected(&serving, &ClientOptions::default());
    Setup {
        object,
        serving,
        slow,
    }
}

fn connected(serving: &Serving, options: &ClientOptions) -> SlowStub {
    let client = Client::connect_with(serving.address(), options)
        .wait()
        .unwrap();
    client.lookup::<dyn Slow>("slow").wait().unwrap()
}

const SECOND: u64 = 1_000_000;
const TCP: &str = "tcp://127.0.0.1:0";

#[test]
fn methods_know_the_deadline() {
    let of = set_up(TCP);
    // The default timeout of the connection, which is a minute, and an explicit one.
    let left = of.slow.time().wait().unwrap().get().unwrap();
    assert!((50 * SECOND..=60 * SECOND).contains(&left), "{left}");
    let hour = of.slow.within(Duration::from_secs(3600));
    let left = hour.time_later().wait().unwrap().get().unwrap();
    assert!((3500 * SECOND..=3600 * SECOND).contains(&left), "{left}");
    let ever = of.slow.within(Duration::MAX);
    assert_eq!(*ever.time().wait().unwrap().get(), None);
    assert_eq!(*ever.time_later().wait().unwrap().get(), None);
    assert!(context().deadline().is_none() && !context().is_over());
}

#[test]
fn calls_inherit_the_deadline() {
    let of = set_up(TCP);
    let mut options = ClientOptions::default();
    options.call_timeout = Duration::from_secs(1000);
    let itself = connected(&of.serving, &options);
    of.object.itself.set(itself).unwrap();
    let some = of.slow.within(Duration::from_secs(100));
    let left = some.time_of_a_call().wait().unwrap().get().unwrap();
    assert!((90 * SECOND..=100 * SECOND).contains(&left), "{left}");
    // The timeout of the nested call's own connection is shorter than the inherited one.
    let long = of.slow.within(Duration::from_secs(5000));
    let left = long.time_of_a_call().wait().unwrap().get().unwrap();
    assert!((900 * SECOND..=1000 * SECOND).contains(&left), "{left}");
    let left = some.time_on_a_thread().wait().unwrap().get().unwrap();
    assert!((90 * SECOND..=100 * SECOND).contains(&left), "{left}");
}

fn assert_overdue(error: &CallError, by: Outcome) {
    assert!(matches!(error, CallError::Deadline { .. }), "{error}");
    assert_eq!(error.outcome(), by);
}

#[test]
fn who_waits_too_long_is_told() {
    for address in [TCP, "inproc://who-waits-too-long"] {
        let of = set_up(address);
        let brief = of.slow.within(BRIEF);
        assert_overdue(&brief.waits().wait().unwrap_err(), Outcome::MayHaveRun);
        assert_overdue(&block_on(brief.waits()).unwrap_err(), Outcome::MayHaveRun);
        let error = brief.waits_again().wait().unwrap_err();
        assert_overdue(&error, Outcome::MayHaveRun);
        assert!(error.can_be_repeated());
        assert!(!brief.waits().wait().unwrap_err().can_be_repeated());
        of.slow.ping().wait().unwrap();
        // The server ended the waiting methods.
        until(|| of.object.ended.load(Ordering::SeqCst) == 4);
        let gone = of.slow.within(Duration::ZERO).ping().wait().unwrap_err();
        assert_overdue(&gone, Outcome::DidNotRun);
        assert!(gone.can_be_repeated());
    }
}

#[test]
fn a_method_sees_that_nobody_waits() {
    for address in [TCP, "inproc://a-method-sees"] {
        let of = set_up(address);
        // The deadline passes.
        let brief = of.slow.within(BRIEF);
        // The method may end first.
        let ended = brief.runs().wait();
        assert!(ended.is_err() || ended.is_ok_and(|cancelled| !cancelled.get()));
        until(|| of.object.over.load(Ordering::SeqCst) == 1);
        // The call is dropped.
        let (begun, has_begun) = mpsc::channel();
        *of.object.begun.lock().unwrap() = Some(begun);
        let call = of.slow.within(Duration::MAX).runs();
        has_begun.recv().unwrap();
        drop(call);
        until(|| of.object.over.load(Ordering::SeqCst) == 2);
        of.slow.ping().wait().unwrap();
    }
}

#[test]
fn what_was_given_up_does_not_begin() {
    for address in [TCP, "inproc://what-was-given-up"] {
        let of = set_up_in_order(address);
        let (begun, has_begun) = mpsc::channel();
        *of.object.begun.lock().unwrap() = Some(begun);
        let runs = of.slow.within(Duration::MAX).runs();
        has_begun.recv().unwrap();
        let behind: Vec<_> = (0..20).map(|_| of.slow.runs()).collect();
        drop(behind);
        drop(runs);
        of.slow.ping().wait().unwrap();
        assert_eq!(of.object.over.load(Ordering::SeqCst), 1);
    }
}

#[test]
fn a_method_that_waits_is_ended_when_its_call_is_dropped() {
    for address in [TCP, "inproc://a-method-that-waits"] {
        let of = set_up(address);
        let calls: Vec<_> = (0..5).map(|_| of.slow.waits()).collect();
        of.slow.ping().wait().unwrap();
        assert_eq!(of.object.ended.load(Ordering::SeqCst), 0);
        drop(calls);
        of.slow.ping().wait().unwrap();
        until(|| of.object.ended.load(Ordering::SeqCst) == 5);
    }
}

#[test]
fn one_way_calls_are_not_answered() {
    for address in [TCP, "inproc://one-way"] {
        let of = set_up_in_order(address);
        of.slow.note("one").unwrap();
        of.slow.fails().unwrap();
        of.slow.note_later("two").unwrap();
        let notes = of.slow.notes().wait().unwrap();
        assert_eq!(*notes.get(), ["one", "two"]);
        let error = of.slow.within(Duration::ZERO).note("three").unwrap_err();
        assert_overdue(&error, Outcome::DidNotRun);
        of.serving.stop();
        until(|| of.slow.note("four").is_err());
    }
}

#[remote]
trait Flaky {
    /// Fails the first `failures` times.
    #[remote(idempotent)]
    fn tries(&self, failures: usize) -> usize;
    fn tries_once(&self, failures: usize) -> usize;
    fn forget(&self);
}

#[derive(Default)]
struct Fails(AtomicUsize);

impl Flaky for Fails {
    fn tries(&self, failures: usize) -> usize {
        let times = self.0.fetch_add(1, Ordering::SeqCst);
        assert!(times >= failures, "not yet");
        times
    }

    fn tries_once(&self, failures: usize) -> usize {
        self.tries(failures)
    }

    fn forget(&self) {
        self.0.store(0, Ordering::SeqCst);
    }
}

#[test]
fn calls_are_made_again_where_that_is_harmless() {
    for address in [TCP, "inproc://made-again"] {
        let server = Server::default();
        let object = Arc::new(Fails::default());
        server.bind::<dyn Flaky>("flaky", object.clone()).unwrap();
        let serving = server.listen(&address.parse().unwrap()).unwrap();
        let client = crate::connect_once(serving.address());
        let plain = client.lookup::<dyn Flaky>("flaky").wait().unwrap();
        let mut retries = Retries::default();
        retries.pause = Duration::from_millis(1);
        let stub = plain.retrying(retries);
        assert_eq!(*stub.tries(3).wait().unwrap().get(), 3);
        stub.forget().wait().unwrap();
        assert_eq!(*block_on(stub.tries(3)).unwrap().get(), 3);
        for call in [stub.tries(100), plain.tries(100), stub.tries_once(100)] {
            let error = call.wait().unwrap_err();
            assert!(matches!(error, CallError::Panicked { .. }), "{error}");
        }
        assert!(block_on(stub.tries(100)).is_err());
        // Four attempts with retries; one without them, or if the method is not idempotent.
        assert_eq!(object.0.load(Ordering::SeqCst), 4 + 4 + 1 + 1 + 4);
        retries.pause = Duration::from_secs(1000);
        retries.longest_pause = retries.pause;
        let brief = plain.retrying(retries).within(Duration::from_secs(100));
        assert!(brief.tries(100).wait().is_err());
        serving.stop();
        assert!(stub.tries(0).wait().is_err());
    }
}

#[remote]
trait Stuck {
    fn stays(&self);
    fn stays_with(&self, bytes: &[u8]);
}

#[derive(Default)]
struct Latch(AtomicBool);

#[remote]
impl Stuck for Latch {
    fn stays(&self) {
        // The callers are to give up before this loop ends.
        for _ in 0..60_000 {
            if self.0.load(Ordering::Relaxed) {
                break;
            }
            thread::sleep(Duration::from_millis(1));
        }
    }

    fn stays_with(&self, _: &[u8]) {
        self.stays();
    }
}

/// A caller waits no longer than its timeout, even if the timeout is so long that the clock is read
/// only after the send, and the server never answers.
#[test]
fn who_waits_long_waits_no_longer() {
    let latch = Arc::new(Latch::default());
    let server = Server::new(ServerOptions::default());
    server.bind::<dyn Stuck>("stuck", latch.clone()).unwrap();
    let serving = server.listen(&TCP.parse().unwrap()).unwrap();
    let client = Client::connect(serving.address()).wait().unwrap();
    let time = Duration::from_secs(5);
    let stuck = client
        .lookup::<dyn Stuck>("stuck")
        .wait()
        .unwrap()
        .within(time);
    let begun = Instant::now();
    let calls = [
        stuck.stays(),
        stuck.stays_with(&[7; 100]),
        stuck.stays_with(&[7; 10_000]),
    ];
    for call in calls {
        assert_overdue(&call.wait().unwrap_err(), Outcome::MayHaveRun);
    }
    let waited = begun.elapsed();
    // The clock may be off by a few ticks.
    assert!(waited > time - Duration::from_millis(100), "{waited:?}");
    assert!(waited < time * 10, "{waited:?}");
    latch.0.store(true, Ordering::Relaxed);
}
