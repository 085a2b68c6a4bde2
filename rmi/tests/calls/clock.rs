//! Deadlines and unused connections with a clock that the test advances. No test waits for a
//! timeout in real time.

use std::future::pending;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::Duration;

use jstream_rmi::{
    CallError, Client, ClientOptions, Clock, Outcome, Server, ServerOptions, Serving, Stream,
    StreamError, Stub, context, remote,
};
use jstream_transport::active::{Tap, Tapped, TappedKind};

use testing::until;

const HOUR: Duration = Duration::from_secs(3600);
const SECOND: Duration = Duration::from_secs(1);

#[remote]
trait Waits {
    fn here(&self);
    async fn wait(&self);
    /// Returns a stream that yields one item and then stays pending.
    fn items(&self) -> Stream<u64>;
    /// Keeps the context of the call.
    fn keep(&self);
    /// Calls the caller back. Returns the time left, in seconds, that the nested call sees.
    fn ask_back(&self) -> u64;
    fn left(&self) -> u64;
    fn much(&self) -> Vec<u8>;
}

#[derive(Default)]
struct Plain {
    waiting: Arc<AtomicU64>,
    kept: Mutex<Option<jstream_rmi::Context>>,
}

struct Counted(Arc<AtomicU64>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

fn seconds_left() -> u64 {
    context().time_left().map_or(0, |left| left.as_secs())
}

#[remote]
impl Waits for Plain {
    fn here(&self) {}

    async fn wait(&self) {
        self.waiting.fetch_add(1, Ordering::SeqCst);
        let _counted = Counted(self.waiting.clone());
        pending().await
    }

    fn items(&self) -> Stream<u64> {
        let mut first = Some(7);
        Stream::polled(move |_| first.take().map_or(Poll::Pending, |n| Poll::Ready(Some(n))))
    }

    fn keep(&self) {
        *self.kept.lock().unwrap() = Some(context());
    }

    fn ask_back(&self) -> u64 {
        let caller = context().caller().unwrap();
        let waits = caller.lookup::<dyn Waits>("waits").wait().unwrap();
        *waits.left().wait().unwrap().get()
    }

    fn left(&self) -> u64 {
        seconds_left()
    }

    fn much(&self) -> Vec<u8> {
        vec![1; 4 << 20]
    }
}

struct Setting {
    clock: Clock,
    object: Arc<Plain>,
    serving: Serving,
}

/// Starts a server with a paused clock.
fn serve(name: &str) -> Setting {
    let clock = Clock::paused();
    let mut options = ServerOptions::default();
    options.clock = clock.clone();
    options.call_timeout = HOUR * 24;
    let server = Server::new(options);
    let object = Arc::new(Plain::default());
    server.bind::<dyn Waits>("waits", object.clone()).unwrap();
    let address = format!("inproc://clock-{name}").parse().unwrap();
    let serving = server.listen(&address).unwrap();
    Setting {
        clock,
        object,
        serving,
    }
}

fn connect(to: &Setting, clock: &Clock) -> Client {
    let mut options = ClientOptions::default();
    options.clock = clock.clone();
    options.call_timeout = HOUR * 24;
    Client::connect_with(to.serving.address(), &options)
        .wait()
        .unwrap()
}

fn is_overdue(error: &CallError, of: Outcome) -> bool {
    matches!(error, CallError::Deadline { outcome, .. } if *outcome == of)
}

/// The server's clock is paused, so the client ends the call.
#[test]
fn a_call_ends_by_the_clock_of_its_client() {
    let setting = serve("client");
    let clock = Clock::paused();
    let client = connect(&setting, &clock);
    let waits = client.lookup::<dyn Waits>("waits").wait().unwrap();
    let brief = waits.within(SECOND);
    let blocked = {
        let brief = brief.clone();
        thread::spawn(move || brief.wait().wait().map(drop))
    };
    until(|| setting.object.waiting.load(Ordering::SeqCst) == 1);
    clock.advance(SECOND / 2);
    // A paused clock does not advance, even if only little time is left.
    thread::sleep(Duration::from_millis(20));
    waits.here().wait().unwrap();
    assert!(!blocked.is_finished());
    clock.advance(SECOND / 2);
    let error = blocked.join().unwrap().unwrap_err();
    assert!(is_overdue(&error, Outcome::MayHaveRun), "{error}");
    until(|| setting.object.waiting.load(Ordering::SeqCst) == 0);
    // Other calls of the connection are not affected.
    waits.here().wait().unwrap();
}

struct Woken(AtomicU64);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn who_awaits_a_call_is_woken_by_the_clock() {
    let setting = serve("awaited");
    let clock = Clock::paused();
    let client = connect(&setting, &clock);
    let waits = client.lookup::<dyn Waits>("waits").wait().unwrap();
    let woken = Arc::new(Woken(AtomicU64::new(0)));
    let waker = Waker::from(woken.clone());
    let mut task = Context::from_waker(&waker);
    let mut call = waits.within(SECOND).wait();
    assert!(Pin::new(&mut call).poll(&mut task).is_pending());
    clock.advance(SECOND / 2);
    assert!(Pin::new(&mut call).poll(&mut task).is_pending());
    let before = woken.0.load(Ordering::SeqCst);
    clock.advance(SECOND);
    assert!(woken.0.load(Ordering::SeqCst) > before);
    let Poll::Ready(Err(error)) = Pin::new(&mut call).poll(&mut task) else {
        panic!("the deadline has passed");
    };
    assert!(is_overdue(&error, Outcome::MayHaveRun), "{error}");

    // A call whose deadline has passed is not sent.
    let late = waits.within(Duration::ZERO).here().wait().unwrap_err();
    assert!(is_overdue(&late, Outcome::DidNotRun), "{late}");
}

#[test]
fn a_stream_ends_by_the_clock() {
    let setting = serve("stream");
    let clock = Clock::paused();
    let client = connect(&setting, &clock);
    let waits = client.lookup::<dyn Waits>("waits").wait().unwrap();
    let mut items = waits.within(SECOND).items();
    assert_eq!(*items.next().wait().unwrap().unwrap().get(), 7);
    let blocked = thread::spawn(move || items.next().wait().map(|item| item.map(drop)));
    thread::sleep(Duration::from_millis(20));
    assert!(!blocked.is_finished());
    clock.advance(SECOND);
    match blocked.join().unwrap() {
        Some(Err(StreamError::Call(CallError::Deadline { .. }))) => {}
        other => panic!("{other:?}"),
    }
}

/// The client's own timeout is a day, so the server ends the method.
#[test]
fn a_method_ends_by_the_clock_of_its_server() {
    let setting = serve("server");
    let client = connect(&setting, &Clock::system());
    let waits = client.lookup::<dyn Waits>("waits").wait().unwrap();
    let calls = [waits.within(HOUR).wait(), waits.wait()];
    let health = || *client.reflection().health().wait().unwrap().get();
    until(|| health().waiting == 2);
    setting.clock.advance(HOUR + SECOND);
    let [ended, waiting] = calls;
    let error = ended.wait().unwrap_err();
    assert!(is_overdue(&error, Outcome::MayHaveRun), "{error}");
    until(|| health().waiting == 1);
    setting.clock.advance(HOUR * 24);
    let error = waiting.wait().unwrap_err();
    assert!(is_overdue(&error, Outcome::MayHaveRun), "{error}");
    until(|| health().waiting == 0);
}

#[test]
fn a_connection_that_is_not_used_ends_by_the_clock() {
    let setting = serve("unused");
    let used = connect(&setting, &Clock::system());
    let health = || *used.reflection().health().wait().unwrap().get();
    let unused = connect(&setting, &Clock::system());
    until(|| health().connections == 2);
    let time = ServerOptions::default().first_call_timeout;
    // A connection counts as soon as its handshake begins, but its first-call timeout starts only
    // after the handshake. The test cannot observe that moment, so it sleeps.
    thread::sleep(Duration::from_millis(20));
    setting.clock.advance(time / 2);
    thread::sleep(Duration::from_millis(20));
    assert_eq!(health().connections, 2);
    let mut moves = 0;
    until(|| {
        setting.clock.advance(time / 2);
        moves += 1;
        health().connections == 1
    });
    assert!(moves < 100, "{moves}");
    unused.lookup::<dyn Waits>("waits").wait().unwrap_err();
}

#[test]
fn what_is_left_goes_by_the_clock() {
    let setting = serve("left");
    let client = connect(&setting, &Clock::system());
    let waits = client.lookup::<dyn Waits>("waits").wait().unwrap();
    waits.within(HOUR).keep().wait().unwrap();
    let kept = setting.object.kept.lock().unwrap().take().unwrap();
    let before = kept.time_left().unwrap();
    // The encoding of the remaining time loses at most one part in a thousand.
    assert!(before <= HOUR && before > HOUR - HOUR / 900, "{before:?}");
    setting.clock.advance(SECOND * 100);
    assert_eq!(kept.time_left(), Some(before - SECOND * 100));
    setting.clock.advance(HOUR);
    assert_eq!(kept.time_left(), Some(Duration::ZERO));
}

/// The remaining time is sent as a duration, so the clocks of both sides need not agree.
#[test]
fn a_deadline_is_handed_on_from_one_clock_to_another() {
    let setting = serve("handed-on");
    setting.clock.advance(HOUR * 100);
    for clock in [Clock::system(), Clock::paused(), setting.clock.clone()] {
        let client = connect(&setting, &clock);
        let own = Server::default();
        own.bind::<dyn Waits>("waits", Arc::new(Plain::default()))
            .unwrap();
        assert!(client.export_server(&own));
        let waits = client.lookup::<dyn Waits>("waits").wait().unwrap();
        let left = *waits.within(HOUR).ask_back().wait().unwrap().get();
        assert!((3000..=3600).contains(&left), "{left}");
    }
}

/// A first-call timeout of zero ends an unused connection too.
#[test]
fn a_connection_that_has_no_time_ends() {
    let clock = Clock::paused();
    let mut options = ServerOptions::default();
    options.clock = clock;
    options.first_call_timeout = Duration::ZERO;
    let server = Server::new(options);
    let serving = server.listen(&"inproc://clock-no-time".parse().unwrap());
    let serving = serving.unwrap();
    let unused = Client::connect(serving.address()).wait().unwrap();
    until(|| unused.lookup::<dyn Waits>("waits").wait().is_err());
    until(|| server.health().connections == 0);
}

/// Counts the received requests.
#[derive(Debug, Default)]
struct Arrived(AtomicU64);

impl Tap for Arrived {
    fn joined(&self, _: &[&str], _: &[&str]) {}

    fn message(&self, message: &Tapped<'_>) {
        if !message.sent && matches!(message.kind, TappedKind::Request { .. }) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
}

/// Starts a proxy in front of the server and returns its gate and address. While the gate is
/// closed, the proxy forwards nothing to the client.
fn behind_a_gate(serving: &Serving) -> (Arc<AtomicBool>, jstream_rmi::Address) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("tcp://{}", listener.local_addr().unwrap());
    let server = serving.address().to_string().replace("tcp://", "");
    let gate = Arc::new(AtomicBool::new(true));
    let is_open = gate.clone();
    thread::spawn(move || {
        let (mut client, _) = listener.accept().unwrap();
        let mut server = TcpStream::connect(server).unwrap();
        let (mut from, mut to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
        thread::spawn(move || std::io::copy(&mut from, &mut to));
        let mut buffer = vec![0; 64 << 10];
        while let Ok(count @ 1..) = server.read(&mut buffer) {
            until(|| is_open.load(Ordering::SeqCst));
            if client.write_all(&buffer[..count]).is_err() {
                break;
            }
        }
    });
    (gate, address.parse().unwrap())
}

/// Calls that the server defers because the client does not read still use up their time.
#[test]
fn what_waits_to_begin_has_its_time_from_its_arrival() {
    let (clock, arrived) = (Clock::paused(), Arc::new(Arrived::default()));
    let mut options = ServerOptions::default();
    options.clock = clock.clone();
    options.max_backlog = 64 << 10;
    options.threads = 1;
    options.messages.tap = Some(arrived.clone());
    let server = Server::new(options);
    let object = Arc::new(Plain::default());
    server.bind::<dyn Waits>("waits", object).unwrap();
    let serving = server.listen(&"tcp://127.0.0.1:0".parse().unwrap());
    let serving = serving.unwrap();
    let (gate, address) = behind_a_gate(&serving);
    // The client's clock is paused, so the client does not end the calls.
    let mut options = ClientOptions::default();
    options.clock = Clock::paused();
    let client = Client::connect_with(&address, &options).wait().unwrap();
    let waits = client.lookup::<dyn Waits>("waits").wait().unwrap();
    gate.store(false, Ordering::SeqCst);
    let before = arrived.0.load(Ordering::SeqCst);
    let brief = waits.within(HOUR);
    let calls: Vec<_> = (0..8).map(|_| brief.much()).collect();
    // By then the server has examined all calls except the last one.
    until(|| arrived.0.load(Ordering::SeqCst) == before + 8);
    clock.advance(HOUR * 2);
    gate.store(true, Ordering::SeqCst);
    let mut results: Vec<_> = calls.into_iter().map(jstream_rmi::Call::wait).collect();
    drop(results.pop());
    let error = results.pop().unwrap().unwrap_err();
    assert!(is_overdue(&error, Outcome::DidNotRun), "{error}");
    assert_eq!(waits.much().wait().unwrap().get().len(), 4 << 20);
}
