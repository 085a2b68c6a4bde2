//! More calls than the window of the peer permits: they are sent in order, and making them does not
//! block.

use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use jstream_rmi::{
    CallError, Client, ClientOptions, Outcome, Server, ServerOptions, Serving, Stub, context,
    remote,
};
use tokio::sync::{mpsc as tasks, oneshot};

use testing::until;

const LONG: Duration = Duration::from_secs(120);

#[remote]
trait Asker {
    /// Calls the caller back and waits for the answer.
    async fn doubled(&self, number: u64) -> u64;
    fn note(&self, number: u64);
    fn noted(&self) -> Vec<u64>;
    #[remote(one_way)]
    fn tell(&self, number: u64);
    fn told(&self) -> u64;
    /// Blocks until the gate is opened.
    fn wait(&self);
    fn length(&self, of: &[u8]) -> u64;
}

#[remote]
trait Answerer {
    async fn double(&self, number: u64) -> u64;
}

#[derive(Default)]
struct Asking {
    noted: Mutex<Vec<u64>>,
    told: AtomicU64,
    gate: Mutex<Option<mpsc::Receiver<()>>>,
    waits: AtomicBool,
}

#[remote]
impl Asker for Asking {
    async fn doubled(&self, number: u64) -> u64 {
        let caller = context().caller().unwrap();
        let answerer = caller.lookup::<dyn Answerer>("answerer").wait().unwrap();
        *answerer.double(number).await.unwrap().get()
    }

    fn note(&self, number: u64) {
        self.noted.lock().unwrap().push(number);
    }

    fn noted(&self) -> Vec<u64> {
        self.noted.lock().unwrap().clone()
    }

    fn tell(&self, number: u64) {
        self.told.fetch_add(number, Ordering::Relaxed);
    }

    fn told(&self) -> u64 {
        self.told.load(Ordering::Relaxed)
    }

    fn wait(&self) {
        self.waits.store(true, Ordering::Release);
        let gate = self.gate.lock().unwrap().take();
        if let Some(gate) = gate {
            gate.recv_timeout(LONG).unwrap();
        }
    }

    fn length(&self, of: &[u8]) -> u64 {
        of.len() as u64
    }
}

/// Forwards each call to another task of the program.
struct Answering(tasks::UnboundedSender<(u64, oneshot::Sender<u64>)>);

#[remote]
impl Answerer for Answering {
    async fn double(&self, number: u64) -> u64 {
        let (sender, answer) = oneshot::channel();
        self.0.send((number, sender)).unwrap();
        answer.await.unwrap()
    }
}

struct Setup {
    asking: Arc<Asking>,
    asker: AskerStub,
    client: Client,
    _serving: Serving,
}

/// Starts a server with one thread and a window of two messages, and connects a client.
fn setup(address: &str) -> Setup {
    let mut options = ServerOptions::default();
    options.threads = 1;
    options.messages.window_messages = 2;
    let asking = Arc::new(Asking::default());
    let server = Server::new(options);
    server.bind::<dyn Asker>("asker", asking.clone()).unwrap();
    let serving = server.listen(&address.parse().unwrap()).unwrap();
    let mut options = ClientOptions::default();
    options.messages.window_messages = 2;
    options.messages.credit_timeout = LONG;
    options.call_timeout = LONG;
    let client = Client::connect_with(serving.address(), &options)
        .wait()
        .unwrap();
    Setup {
        asker: client.lookup::<dyn Asker>("asker").wait().unwrap(),
        asking,
        client,
        _serving: serving,
    }
}

fn block_on<F: Future>(future: F) -> F::Output {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime
        .enable_time()
        .build()
        .unwrap()
        .block_on(async { tokio::time::timeout(LONG, future).await.unwrap() })
}

fn a_thousand_calls_of_one_thread_that_is_called_back(address: &str) {
    const CALLS: u64 = 1000;
    let setup = setup(address);
    let (sender, mut asked) = tasks::unbounded_channel();
    let answers = Server::default();
    let answering = Arc::new(Answering(sender));
    answers.bind::<dyn Answerer>("answerer", answering).unwrap();
    assert!(setup.client.export_server(&answers));
    let sum: u64 = block_on(async {
        tokio::spawn(async move {
            while let Some((number, answer)) = asked.recv().await {
                answer.send(2 * number).unwrap();
            }
        });
        // All calls are made before any of them is awaited.
        let calls: Vec<_> = (0..CALLS).map(|n| setup.asker.doubled(n)).collect();
        let mut tasks = tokio::task::JoinSet::new();
        for call in calls {
            tasks.spawn(async move { *call.await.unwrap().get() });
        }
        tasks.join_all().await.into_iter().sum()
    });
    assert_eq!(sum, CALLS * (CALLS - 1));
}

fn calls_begin_in_the_order_in_which_they_were_made(address: &str) {
    const CALLS: u64 = 500;
    let setup = setup(address);
    let calls: Vec<_> = (0..CALLS).map(|n| setup.asker.note(n)).collect();
    // The order in which they are waited for does not matter.
    for (n, call) in calls.into_iter().enumerate().rev() {
        match n % 2 {
            0 => drop(call.wait().unwrap()),
            _ => block_on(async { drop(call.await.unwrap()) }),
        }
    }
    let noted = setup.asker.noted().wait().unwrap();
    assert!(noted.get().iter().copied().eq(0..CALLS), "{noted:?}");
}

/// Makes the server busy and uses up its window.
fn closed(setup: &Setup) -> (mpsc::Sender<()>, [jstream_rmi::Call<()>; 2]) {
    let (open, gate) = mpsc::channel();
    *setup.asking.gate.lock().unwrap() = Some(gate);
    let one = setup.asker.wait();
    until(|| setup.asking.waits.load(Ordering::Acquire));
    (open, [one, setup.asker.note(1)])
}

fn what_was_given_up_before_its_turn_does_not_run(address: &str) {
    let setup = setup(address);
    let (open, calls) = closed(&setup);
    drop(setup.asker.note(2));
    let short = setup.asker.within(Duration::from_millis(20));
    let (one, other) = (short.note(3), short.note(4));
    for error in [one.wait().unwrap_err(), block_on(other).unwrap_err()] {
        let outcome = error.outcome();
        assert!(matches!(error, CallError::Deadline { .. }), "{error}");
        assert_eq!(outcome, Outcome::DidNotRun);
    }
    let last = setup.asker.note(5);
    open.send(()).unwrap();
    for call in calls {
        call.wait().unwrap();
    }
    last.wait().unwrap();
    assert_eq!(setup.asker.noted().wait().unwrap().get(), &[1, 5]);
}

fn one_way_calls_follow_those_that_wait(address: &str) {
    let setup = setup(address);
    let calls: Vec<_> = (0..50).map(|n| setup.asker.note(n)).collect();
    setup.asker.tell(1).unwrap();
    assert_eq!(*setup.asker.told().wait().unwrap().get(), 1);
    // The one-way call was queued behind all of them.
    assert_eq!(setup.asking.noted.lock().unwrap().len(), 50);
    drop(calls);
    block_on(async {
        let calls: Vec<_> = (0..50).map(|_| setup.asker.length(&[0; 100])).collect();
        for _ in 0..100 {
            setup.client.ready(8).await;
            setup.asker.tell(1).unwrap();
        }
        for call in calls {
            assert_eq!(*call.await.unwrap().get(), 100);
        }
    });
    assert_eq!(*setup.asker.told().wait().unwrap().get(), 101);
}

fn arguments_of_any_length_wait_for_their_turn(address: &str) {
    let setup = setup(address);
    let lengths = [0, 5000, 40_000, 200_000, 8].into_iter().cycle().take(60);
    let calls: Vec<_> = lengths
        .map(|length| (length, setup.asker.length(&vec![7; length])))
        .collect();
    for (length, call) in calls {
        assert_eq!(*call.wait().unwrap().get(), length as u64);
    }
}

fn those_who_wait_are_told_of_the_end(address: &str) {
    let setup = setup(address);
    let (open, calls) = closed(&setup);
    let (one, other) = (setup.asker.note(2), setup.asker.note(3));
    let mut other = pin!(other);
    let polled = other.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    assert!(matches!(polled, Poll::Pending));
    setup.client.close();
    for error in [one.wait().unwrap_err(), block_on(other).unwrap_err()] {
        assert_eq!(error.outcome(), Outcome::DidNotRun, "{error}");
    }
    let after = setup.asker.note(4).wait().unwrap_err();
    assert_eq!(after.outcome(), Outcome::DidNotRun, "{after}");
    open.send(()).unwrap();
    drop(calls);
}

macro_rules! over {
    ($($test:ident)*) => {
        mod inproc { $(#[test] fn $test() { super::$test(concat!("inproc://turns-", stringify!($test))); })* }
        mod shm { $(#[test] fn $test() { super::$test(concat!("shm://turns-", stringify!($test))); })* }
        mod tcp { $(#[test] fn $test() { super::$test("tcp://127.0.0.1:0"); })* }
    };
}

over! {
    a_thousand_calls_of_one_thread_that_is_called_back
    calls_begin_in_the_order_in_which_they_were_made
    what_was_given_up_before_its_turn_does_not_run
    one_way_calls_follow_those_that_wait
    arguments_of_any_length_wait_for_their_turn
    those_who_wait_are_told_of_the_end
}
